//! One access of a warp as a picture: the threads that share each sector or bank.

use std::collections::BTreeMap;

use crate::units::Fraction;
use crate::virtual_gpu::machine::{AccessKind, AccessedMemory, WarpAccess};

/// Bytes of a sector.
const SECTOR: u64 = 32;
/// Banks of shared memory.
const BANKS: u64 = 32;
/// Bytes of a word of a bank.
const WORD: u64 = 4;

/// One access of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPicture {
    /// The kind of access.
    pub kind: AccessKind,
    /// Bytes per thread.
    pub bytes: u32,
    /// The name of the buffer or variable, if it is known.
    pub object: Option<String>,
    /// The byte offset of each thread's access from the start of the buffer or of shared memory; `None` for inactive
    /// threads.
    pub lanes: [Option<u64>; 32],
    /// The sectors or banks of the access.
    pub units: Units,
}

/// The sectors or banks of an access.
#[derive(Clone, Debug, PartialEq)]
pub enum Units {
    /// Global memory.
    Sectors(Sectors),
    /// Shared memory.
    Banks(Banks),
}

/// Sectors of 32 bytes, the unit of transfer of global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sectors {
    /// The accessed sectors, ascending.
    pub touched: Vec<Sector>,
    /// The least number of sectors for the distinct bytes requested.
    pub least: u64,
    /// The fraction of the moved bytes that are requested.
    pub efficiency: Fraction,
}

/// One sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sector {
    /// The index from the start of the buffer; negative before it.
    pub number: i64,
    /// The lanes that touch it, one bit each.
    pub lanes: u32,
    /// The requested bytes of the sector, one bit each.
    pub used: u32,
}

/// The 32 banks, each of which serves one word per pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Banks {
    /// All banks, in order.
    pub banks: Vec<Bank>,
    /// The largest number of distinct words in one bank.
    pub ways: u64,
    /// The number of passes, by the rules of the counters.
    pub passes: u64,
    /// As many would be enough without conflicts.
    pub least: u64,
}

/// One bank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bank {
    /// Different words, ascending, each with its lanes, one bit each.
    pub words: Vec<(u64, u32)>,
}

impl AccessPicture {
    /// The picture of one access.
    #[must_use]
    pub fn from_access(access: &WarpAccess) -> Self {
        let start = access.object.as_ref().map_or(0, |(_, start)| *start);
        Self {
            kind: access.kind,
            bytes: access.bytes,
            object: access.object.as_ref().map(|(name, _)| name.clone()),
            lanes: access.lanes.map(|address| address.map(|address| address.wrapping_sub(start))),
            units: match access.memory {
                AccessedMemory::Global => Units::Sectors(sectors(access, start)),
                AccessedMemory::Shared => Units::Banks(banks(access)),
            },
        }
    }

    /// Lanes that take part.
    #[must_use]
    pub fn active(&self) -> usize {
        self.lanes.iter().flatten().count()
    }

    /// The access and its object: `load of x`.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.kind, self.object.as_deref(), matches!(self.units, Units::Banks(_)))
    }

    /// The cost of the access, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.units {
            Units::Sectors(Sectors { touched, least, efficiency }) => {
                let count = touched.len() as u64;
                let enough = if count == *least {
                    "the minimum".to_owned()
                } else {
                    format!("the minimum is {least}")
                };
                let sectors = if count == 1 { "sector" } else { "sectors" };
                format!("{count} {sectors}, {enough}: {efficiency} of the bytes moved are used")
            }
            Units::Banks(Banks { ways, passes, least, .. }) if passes == least => {
                let way = if *ways > 1 { ", each of them full" } else { "" };
                format!("no bank conflict: {passes} {}{way}", plural(*passes, "pass", "passes"))
            }
            Units::Banks(Banks { ways, passes, least, .. }) => format!(
                "a {ways}-way bank conflict: {passes} passes over the banks, the minimum is {least}"
            ),
        }
    }

    /// The sectors or banks of one thread, as text.
    #[must_use]
    pub fn units_of(&self, lane: usize) -> String {
        let Some(Some(address)) = self.lanes.get(lane) else { return String::new() };
        let has = |lanes: u32| lanes >> lane & 1 == 1;
        match &self.units {
            Units::Sectors(Sectors { touched, .. }) => {
                let own = touched.iter().filter(|sector| has(sector.lanes));
                list(own.map(|sector| sector.number.to_string()))
            }
            Units::Banks(_) => {
                let last = address.wrapping_add(u64::from(self.bytes).saturating_sub(1)) / WORD;
                list((address / WORD..=last).map(|word| (word % BANKS).to_string()))
            }
        }
    }
}

/// The title of an access.
pub(super) fn title(kind: AccessKind, object: Option<&str>, is_shared: bool) -> String {
    let kind = match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic => "atomic",
    };
    let (word, what) = match (object, is_shared) {
        (_, true) => ("of", "shared memory"),
        (Some(name), false) => ("of", name),
        (None, false) => ("of", "global memory"),
    };
    let word = if kind == "load" { word } else { "to" };
    format!("{kind} {word} {what}")
}

fn plural(count: u64, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    parts.join(", ")
}

fn sectors(access: &WarpAccess, start: u64) -> Sectors {
    let base = (start / SECTOR) as i64;
    let mut touched: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for (lane, address) in access.lanes.iter().enumerate() {
        let Some(address) = address else { continue };
        for byte in 0..u64::from(access.bytes) {
            let at = address.wrapping_add(byte);
            let (lanes, used) = touched.entry(at / SECTOR).or_default();
            *lanes |= 1 << lane;
            *used |= 1 << (at % SECTOR);
        }
    }
    let cost = access.cost();
    let moved = (SECTOR * cost.sectors).max(1);
    Sectors {
        touched: touched
            .into_iter()
            .map(|(number, (lanes, used))| Sector { number: number as i64 - base, lanes, used })
            .collect(),
        least: cost.distinct_bytes.div_ceil(SECTOR),
        efficiency: Fraction(cost.distinct_bytes as f64 / moved as f64),
    }
}

fn banks(access: &WarpAccess) -> Banks {
    let mut banks: Vec<BTreeMap<u64, u32>> = vec![BTreeMap::new(); BANKS as usize];
    for (lane, address) in access.lanes.iter().enumerate() {
        let Some(address) = address else { continue };
        let last = address.wrapping_add(u64::from(access.bytes).saturating_sub(1)) / WORD;
        for word in address / WORD..=last {
            *banks[(word % BANKS) as usize].entry(word).or_default() |= 1 << lane;
        }
    }
    let banks: Vec<Bank> =
        banks.into_iter().map(|words| Bank { words: words.into_iter().collect() }).collect();
    let ways = banks.iter().map(|bank| bank.words.len() as u64).max().unwrap_or(0);
    let cost = access.cost();
    Banks { banks, ways, passes: cost.passes, least: cost.passes - cost.conflicts }
}
