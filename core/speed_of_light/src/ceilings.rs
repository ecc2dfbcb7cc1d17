//! The ceilings of a device on one basis: peaks of the device sheet, or measured ceilings where a calibration has them.
//!
//! Peaks of the sheet hold at a fixed reference clock. They are not scaled by the current clock, because that would reward
//! a kernel that slows the device down.

use std::collections::BTreeMap;
use std::fmt;

use lightbench_device::{DeviceSheet, MODELLED_LAUNCH, Pipe, Sourced};
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, Measured, MemoryPath};
use super::confirmation::PeakEvidence;

/// The basis of ceilings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The device sheet.
    Sheet,
    /// A calibration of the device; for missing numbers, the device sheet.
    Measured,
}

/// The source of one number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A document that the device sheet quotes.
    Sheet {
        /// Its key among the sheet's sources.
        document: String,
        /// The clock at which the number holds, if the document states it.
        clock: Option<Hertz>,
    },
    /// Measured on the device.
    Measured {
        /// When, as RFC 3339.
        date: String,
        /// How.
        method: String,
    },
    /// An assumption of the model of virtual devices.
    Model,
}

/// A maximum rate with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling<T> {
    /// The number.
    pub value: T,
    /// The source.
    pub origin: Origin,
}

/// A quantity with a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The rate of device memory.
    Dram,
    /// The rate of L2.
    L2,
    /// The rate of shared memory.
    Shared,
    /// The rate of a pipe.
    Pipe(Pipe),
    /// The rate of approximate special functions.
    Special,
    /// The time of an empty kernel.
    LaunchFloor,
    /// The written bytes that L2 keeps.
    RetainedWrites,
}

/// All ceilings of a device on one basis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ceilings {
    /// The name of the device for display.
    pub device: String,
    /// The basis of the numbers.
    pub basis: Basis,
    /// Device memory: the fastest way through it.
    pub dram: Option<Ceiling<BytesPerSecond>>,
    /// Measured ways through device memory; empty on the basis of the sheet.
    pub dram_paths: BTreeMap<MemoryPath, BytesPerSecond>,
    /// L2 to the multiprocessors.
    pub l2: Option<Ceiling<BytesPerSecond>>,
    /// Shared memory of all multiprocessors.
    pub shared: Option<Ceiling<BytesPerSecond>>,
    /// Pipes with a known rate.
    pub pipes: BTreeMap<Pipe, Ceiling<FlopsPerSecond>>,
    /// Approximated functions a second; no sheet states it.
    pub special: Option<Ceiling<FlopsPerSecond>>,
    /// The shortest measured time of an empty kernel; device sheets do not state it.
    pub launch_floor: Option<Ceiling<Seconds>>,
    /// The most written bytes that L2 has kept; no sheet states it.
    pub retained_writes: Option<Ceiling<Bytes>>,
    /// The size of L2.
    pub l2_size: Option<Bytes>,
    /// The confirmation of the stated peaks; peaks that a calibration refutes are not used as ceilings.
    pub evidence: PeakEvidence,
}

impl Ceilings {
    /// The ceilings of a device. Quantities that only a calibration states (launch floor, retained writes, special
    /// functions, L2) come from the calibration on either basis.
    #[must_use]
    pub fn new(sheet: &DeviceSheet, calibration: Option<&Calibration>, basis: Basis) -> Self {
        let measured = match basis {
            Basis::Sheet => None,
            Basis::Measured => calibration,
        };
        let evidence = PeakEvidence::new(sheet, calibration);
        let dram = [MemoryPath::DramRead, MemoryPath::DramCopy, MemoryPath::DramWrite];
        let usable = |quantity| !evidence.is_suspect(quantity);
        let pipes = Pipe::ALL.into_iter().filter_map(|pipe| {
            let own = measured.and_then(|all| all.pipes.get(&pipe).map(|rate| median(all, rate)));
            let stated = || sheet_pipe(sheet, pipe).filter(|_| usable(Quantity::Pipe(pipe)));
            Some((pipe, own.or_else(stated)?))
        });
        let pipes = pipes.collect();
        let measured_path = |path: MemoryPath| Some((path, measured?.memory.get(&path)?.median));
        let stated_dram = || stated(&sheet.dram_bandwidth, None).filter(|_| usable(Quantity::Dram));
        Self {
            device: sheet.title.clone(),
            basis,
            dram: measured.and_then(|all| fastest(all, &dram)).or_else(stated_dram),
            dram_paths: dram.into_iter().filter_map(measured_path).collect(),
            l2: calibration.and_then(|all| fastest(all, &[MemoryPath::L2Read])),
            shared: calibration.and_then(|all| fastest(all, &[MemoryPath::SharedRead])),
            pipes,
            special: calibration.and_then(|all| all.special.as_ref().map(|rate| median(all, rate))),
            // The ends of the intervals that lower the bound: it must hold for every sample.
            launch_floor: calibration.and_then(|all| {
                let time = all.launch_floor.as_ref()?;
                Some(Ceiling { value: time.low, origin: origin(all, time) })
            }),
            retained_writes: calibration.and_then(|all| {
                let size = all.retained_writes.as_ref()?;
                Some(Ceiling { value: size.high, origin: origin(all, size) })
            }),
            l2_size: sheet.l2.get(),
            evidence,
        }
    }

    /// The same on a virtual device, whose model states the time of an empty kernel.
    #[must_use]
    pub fn on_virtual_device(self) -> Self {
        let floor = || Ceiling { value: MODELLED_LAUNCH, origin: Origin::Model };
        Self { launch_floor: self.launch_floor.or_else(|| Some(floor())), ..self }
    }

    /// The peak of a pipe, if it is known.
    #[must_use]
    pub fn pipe(&self, pipe: Pipe) -> Option<&Ceiling<FlopsPerSecond>> {
        self.pipes.get(&pipe)
    }

    /// Whether the peak of a pipe is suspect and no measured rate replaces it.
    #[must_use]
    pub fn is_withheld(&self, pipe: Pipe) -> bool {
        self.pipe(pipe).is_none() && self.evidence.is_suspect(Quantity::Pipe(pipe))
    }

    /// The quantities without a measurement: from the device sheet, or unknown.
    #[must_use]
    pub fn not_measured(&self) -> Vec<Quantity> {
        let rates = [
            (Quantity::Dram, self.dram.as_ref().map(|rate| &rate.origin)),
            (Quantity::L2, self.l2.as_ref().map(|rate| &rate.origin)),
            (Quantity::Shared, self.shared.as_ref().map(|rate| &rate.origin)),
            (Quantity::Special, self.special.as_ref().map(|rate| &rate.origin)),
            (Quantity::LaunchFloor, self.launch_floor.as_ref().map(|time| &time.origin)),
            (Quantity::RetainedWrites, self.retained_writes.as_ref().map(|size| &size.origin)),
        ];
        let pipes =
            self.pipes.iter().map(|(pipe, rate)| (Quantity::Pipe(*pipe), Some(&rate.origin)));
        let all = rates.into_iter().chain(pipes);
        all.filter(|(_, origin)| !origin.is_some_and(Origin::is_measured))
            .map(|(quantity, _)| quantity)
            .collect()
    }
}

impl Origin {
    /// Whether the number was measured on the device.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        match self {
            Self::Measured { .. } => true,
            Self::Sheet { .. } | Self::Model => false,
        }
    }
}

fn sheet_pipe(sheet: &DeviceSheet, pipe: Pipe) -> Option<Ceiling<FlopsPerSecond>> {
    let clock = if pipe.is_tensor() { &sheet.tensor_clock } else { &sheet.boost_clock }.get();
    sheet.peaks.iter().find(|(known, _)| *known == pipe).and_then(|(_, peak)| stated(peak, clock))
}

fn stated<T: Copy>(fact: &Sourced<T>, clock: Option<Hertz>) -> Option<Ceiling<T>> {
    let document = fact.source()?.to_owned();
    Some(Ceiling { value: fact.get()?, origin: Origin::Sheet { document, clock } })
}

/// The fastest of the measured memory paths.
fn fastest(all: &Calibration, paths: &[MemoryPath]) -> Option<Ceiling<BytesPerSecond>> {
    let rates = paths.iter().filter_map(|path| all.memory.get(path));
    let best = rates.max_by(|a, b| a.median.0.total_cmp(&b.median.0))?;
    Some(median(all, best))
}

fn median<T: Copy>(all: &Calibration, measured: &Measured<T>) -> Ceiling<T> {
    Ceiling { value: measured.median, origin: origin(all, measured) }
}

fn origin<T>(all: &Calibration, measured: &Measured<T>) -> Origin {
    Origin::Measured { date: all.date.clone(), method: measured.method.clone() }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sheet => "sheet",
            Self::Measured => "measured ceilings",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sheet { document, clock: Some(clock) } => {
                write!(f, "sheet ({document}, at {clock})")
            }
            Self::Sheet { document, clock: None } => write!(f, "sheet ({document})"),
            Self::Measured { date, method } => write!(f, "measured {date} ({method})"),
            Self::Model => f.pad("model"),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dram => f.pad("DRAM"),
            Self::L2 => f.pad("L2"),
            Self::Shared => f.pad("shared memory"),
            Self::Pipe(pipe) => pipe.fmt(f),
            Self::Special => f.pad("special functions"),
            Self::LaunchFloor => f.pad("the launch floor"),
            Self::RetainedWrites => f.pad("writes that L2 retains"),
        }
    }
}
