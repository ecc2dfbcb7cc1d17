//! The description of a real GPU: its attributes, and additional values from an embedded sheet if the sheet describes
//! the same card.
//!
//! A sheet applies if multiprocessors, memory, bus width, memory clock and, if the sheet states it, the PCI device id
//! agree. Names are not compared: an RTX A6000 has other multiprocessors than an RTX 3090, a GH200 another bus than an
//! H100.

use std::sync::{Mutex, PoisonError};

use lightbench_units::Bytes;
use serde::Serialize;

use super::attributes::DriverAttributes;
use super::capability::Capability;
use super::cards;
use super::peaks::Pipe;
use super::sheet::{DescribedBy, DeviceSheet, SheetError};
use super::sourced::Sourced;

/// Smallest fraction of a sheet's memory that the driver reports: ECC in GDDR memory takes one sixteenth, the driver
/// some more.
const LEAST_MEMORY: f64 = 0.89;

/// Largest fraction; data sheets use GB where drivers use GiB.
const MOST_MEMORY: f64 = 1.02;

/// Relative difference of two clocks that are the same.
const SAME_CLOCK: f64 = 0.015;

/// Relative difference up to which a peak agrees with the attributes.
const AGREEMENT: f64 = 0.03;

/// A GPU described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DescribedGpu {
    /// The description: attributes, and the values of the applied sheet.
    pub sheet: DeviceSheet,
    /// The embedded sheet that applies.
    pub applied: Option<String>,
    /// Where attributes disagree with each other, with the compute capability or with the sheet of a similar card.
    pub disagreements: Vec<Disagreement>,
    /// Special properties of this GPU: a MIG slice, a lowered power limit.
    pub notes: Vec<String>,
}

/// Two statements about one quantity that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{quantity}: the driver reports {reported}, {document} states {stated}")]
pub struct Disagreement {
    /// The quantity: `multiprocessors`.
    pub quantity: &'static str,
    /// The driver's value.
    pub reported: String,
    /// The sheet or table that states otherwise.
    pub document: String,
    /// The document's value.
    pub stated: String,
}

impl DescribedGpu {
    /// Describes a GPU.
    ///
    /// # Errors
    /// The table of compute capabilities lacks this one, or an embedded sheet is not sound.
    pub fn from_attributes(attributes: &DriverAttributes) -> Result<Self, SheetError> {
        let mut sheet = attributes.derived(&slug(&attributes.title))?;
        let mut disagreements = limits(attributes, &sheet.capability);
        let mut applied = None;
        for candidate in DeviceSheet::all()? {
            if candidate.capability.compute_capability != attributes.compute_capability {
                continue;
            }
            let found = differences(attributes, candidate);
            if found.is_empty() {
                sheet.adopt(candidate);
                disagreements.extend(peak_differences(attributes, candidate));
                applied = Some(candidate.name.clone());
                break;
            }
            if is_similar(attributes, candidate) {
                disagreements.extend(found);
            }
        }
        // If a sheet applies, the sheets of similar cards are not compared.
        if let Some(name) = &applied {
            let own = format!("the sheet `{name}`");
            disagreements
                .retain(|one| one.document == own || !one.document.starts_with("the sheet"));
        }
        Ok(Self { sheet, applied, disagreements, notes: notes(attributes) })
    }

    /// The description as one that lives as long as the program: sheets are handed about by reference. Equal descriptions
    /// share one, so that no more is kept than the machine has GPUs.
    #[must_use]
    pub fn kept(sheet: DeviceSheet) -> &'static DeviceSheet {
        static KEPT: Mutex<Vec<&'static DeviceSheet>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = kept.iter().copied().find(|one| **one == sheet) {
            return same;
        }
        let own: &'static DeviceSheet = Box::leak(Box::new(sheet));
        kept.push(own);
        own
    }

    /// The virtual device most similar to this GPU: the applied sheet, else the one of the same compute capability with
    /// the nearest number of multiprocessors. `None` if no virtual device has this compute capability.
    ///
    /// # Errors
    /// An embedded sheet is invalid.
    pub fn virtual_twin(&self) -> Result<Option<&'static DeviceSheet>, SheetError> {
        if let Some(name) = &self.applied {
            return DeviceSheet::named(name).map(Some);
        }
        let sms = self.sheet.sms.get().unwrap_or(0);
        let same = |sheet: &&'static DeviceSheet| {
            sheet.capability.compute_capability == self.sheet.capability.compute_capability
        };
        let distance = |sheet: &&'static DeviceSheet| sheet.sms.get().unwrap_or(0).abs_diff(sms);
        let all = DeviceSheet::all()?.into_iter().chain(cards::sheets()?);
        Ok(all.filter(same).min_by_key(distance))
    }
}

impl DeviceSheet {
    /// Adds values of the sheet that the driver does not report: base clock, the clock of tensor rates, the published
    /// peaks. The driver's values are kept.
    fn adopt(&mut self, sheet: &Self) {
        self.name.clone_from(&sheet.name);
        self.base_clock = sheet.base_clock.clone();
        let is_same_clock = close(self.boost_clock.get(), sheet.boost_clock.get(), AGREEMENT);
        if is_same_clock || self.boost_clock.get().is_none() {
            self.tensor_clock = sheet.tensor_clock.clone();
            self.peaks = sheet.peaks.clone();
        }
        if self.l2.get().is_none() {
            self.l2 = sheet.l2.clone();
        }
        if self.power_limit.get().is_none() {
            self.power_limit = sheet.power_limit.clone();
        }
        let own = self.sources.clone();
        self.sources.extend(sheet.sources.clone());
        self.sources.extend(own);
        let cited = self.cited();
        self.sources.retain(|key, _| cited.iter().any(|one| one == key));
    }

    /// Whether the attributes of the GPU confirm the stated bandwidth of memory: it reaches the maximum that they
    /// allow.
    ///
    /// A virtual device has its peaks by definition. Only a measurement confirms the bandwidth of a MIG slice.
    #[must_use]
    pub fn confirms_bandwidth(&self) -> bool {
        match &self.described_by {
            DescribedBy::Documents => true,
            DescribedBy::Driver(attributes) => {
                let most = attributes.highest_bandwidth().filter(|_| !attributes.is_mig_slice());
                reaches(self.dram_bandwidth.get().map(|rate| rate.0), most.map(|rate| rate.0))
            }
        }
    }

    /// Whether the attributes confirm the stated peak of a pipe: it is not lower than the highest clock allows.
    #[must_use]
    pub fn confirms_peak(&self, pipe: Pipe) -> bool {
        match &self.described_by {
            DescribedBy::Documents => true,
            DescribedBy::Driver(attributes) => {
                let most = attributes.highest_peak(&self.capability, pipe);
                reaches(self.peaks.get(pipe).map(|peak| peak.0), most.map(|peak| peak.0))
            }
        }
    }
}

/// Whether a stated number reaches the maximum that the attributes allow, to within [`AGREEMENT`]; false for NaN.
fn reaches(stated: Option<f64>, most: Option<f64>) -> bool {
    stated.zip(most).is_some_and(|(stated, most)| stated >= most * (1.0 - AGREEMENT))
}

/// Differences between attributes and a sheet in the quantities that identify a card.
fn differences(attributes: &DriverAttributes, sheet: &DeviceSheet) -> Vec<Disagreement> {
    let document = format!("the sheet `{}`", sheet.name);
    let mut found = Vec::new();
    let mut differ = |quantity, reported: String, stated: String| {
        found.push(Disagreement { quantity, reported, document: document.clone(), stated });
    };
    if let Some(sms) = sheet.sms.get()
        && sms != attributes.sms
    {
        differ("multiprocessors", attributes.sms.to_string(), sms.to_string());
    }
    if let Some(dram) = sheet.dram.get() {
        let part = attributes.memory_bytes as f64 / dram.0 as f64;
        if !(LEAST_MEMORY..=MOST_MEMORY).contains(&part) {
            differ("memory", Bytes(attributes.memory_bytes).to_string(), dram.to_string());
        }
    }
    if let (Some(own), Some(bits)) = (attributes.memory_bus_bits, sheet.memory_bus_bits.get())
        && own != bits
    {
        differ("memory bus", format!("{own} bit"), format!("{bits} bit"));
    }
    if let (Some(own), Some(rate)) = (attributes.memory_transfers(), sheet.memory_transfers.get())
        && !close(Some(own), Some(rate), SAME_CLOCK)
    {
        differ("memory transfers per pin", own.to_string(), rate.to_string());
    }
    let id = attributes.board.and_then(|board| board.pci_device_id);
    if let (Some(own), Some(ids)) = (id, sheet.pci_device_ids.value())
        && !ids.contains(&own)
    {
        differ("PCI device id", format!("{own:#06x}"), hexadecimal(ids));
    }
    found
}

/// Differences that do not make it another card, but are worth a look: the clock that peaks are quoted at.
fn peak_differences(attributes: &DriverAttributes, sheet: &DeviceSheet) -> Option<Disagreement> {
    let (own, stated) = attributes.clock().zip(sheet.boost_clock.get())?;
    (!close(Some(own), Some(stated), AGREEMENT)).then(|| Disagreement {
        quantity: "clock",
        reported: own.to_string(),
        document: format!("the sheet `{}`", sheet.name),
        stated: stated.to_string(),
    })
}

/// Whether a sheet describes a card that users may confuse with this one: as many multiprocessors, or the same words in
/// its name.
fn is_similar(attributes: &DriverAttributes, sheet: &DeviceSheet) -> bool {
    let names = |title: &str| -> Vec<String> {
        let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
        let is_model =
            |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit()) && word.len() > 1;
        words.filter(is_model).filter(|word| !word.ends_with("GB")).map(str::to_owned).collect()
    };
    let own = names(&attributes.title);
    sheet.sms.get() == Some(attributes.sms)
        || names(&sheet.title).iter().any(|word| own.contains(word))
}

/// Differences between the driver's limits of a multiprocessor and those of its compute capability.
fn limits(attributes: &DriverAttributes, capability: &Capability) -> Vec<Disagreement> {
    let Some(limits) = attributes.limits else { return Vec::new() };
    let bytes = |fact: &Sourced<Bytes>| fact.get().map(|size| size.0);
    let count = |fact: &Sourced<u32>| fact.get().map(u64::from);
    let pairs = [
        ("warp size", limits.warp_size, count(&capability.warp_size)),
        (
            "threads per block",
            limits.max_threads_per_block,
            count(&capability.max_threads_per_block),
        ),
        (
            "threads per multiprocessor",
            limits.max_threads_per_sm,
            count(&capability.max_threads_per_sm),
        ),
        (
            "blocks per multiprocessor",
            limits.max_blocks_per_sm,
            count(&capability.max_blocks_per_sm),
        ),
        (
            "registers per multiprocessor",
            limits.registers_per_sm,
            count(&capability.registers_per_sm),
        ),
        (
            "registers per block",
            limits.max_registers_per_block,
            count(&capability.max_registers_per_block),
        ),
        (
            "shared memory per multiprocessor",
            limits.shared_per_sm,
            bytes(&capability.shared_per_sm),
        ),
        (
            "shared memory per block",
            limits.max_shared_per_block,
            bytes(&capability.max_shared_per_block),
        ),
        (
            "shared memory reserved per block",
            limits.reserved_shared_per_block,
            bytes(&capability.reserved_shared_per_block),
        ),
    ];
    let document = format!("the table of compute capability {}", capability.compute_capability);
    let differs = |(_, own, stated): &(&str, u32, Option<u64>)| {
        stated.is_some_and(|stated| stated != u64::from(*own))
    };
    let disagreement = |(quantity, own, stated): (&'static str, u32, Option<u64>)| Disagreement {
        quantity,
        reported: own.to_string(),
        document: document.clone(),
        stated: stated.map_or_else(String::new, |stated| stated.to_string()),
    };
    pairs.into_iter().filter(differs).map(disagreement).collect()
}

/// Special properties of this GPU.
fn notes(attributes: &DriverAttributes) -> Vec<String> {
    let mut notes = Vec::new();
    if attributes.is_mig_slice() {
        notes.push(
            "a MIG slice: multiprocessors, memory and bus are those of the slice, and only a calibration confirms its bandwidth"
                .to_owned(),
        );
    }
    if let Err(why) = attributes.bandwidth() {
        notes.push(format!("the bandwidth of memory is unknown: {why}"));
    }
    let Some(board) = attributes.board else { return notes };
    if let (Some(limit), Some(default)) =
        (board.power_limit_milliwatts, board.default_power_limit_milliwatts)
        && limit < default
    {
        notes.push(format!(
            "the power limit is {} W, below the {} W that the board has by default: it may not hold its clocks",
            limit / 1000,
            default / 1000
        ));
    }
    notes
}

/// Within a part of each other; NaN is not.
fn close(
    one: Option<lightbench_units::Hertz>,
    other: Option<lightbench_units::Hertz>,
    part: f64,
) -> bool {
    one.zip(other).is_some_and(|(one, other)| (one.0 - other.0).abs() <= part * other.0)
}

/// Ids as documents print them.
pub(super) fn hexadecimal(ids: &[u32]) -> String {
    ids.iter().map(|id| format!("{id:#06x}")).collect::<Vec<_>>().join(", ")
}

/// A title as a name that can be typed: `nvidia-h100-80gb-hbm3`.
fn slug(title: &str) -> String {
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

#[cfg(test)]
mod tests;
