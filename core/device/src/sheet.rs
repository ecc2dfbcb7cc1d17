//! Device sheets: the properties of one GPU, each with the document it comes from.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Watts};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attributes::DriverAttributes;
use super::capability::Capability;
use super::cards::{self, Card};
use super::peaks::{Peaks, Pipe};
use super::sheet_check::{self, Problem};
use super::sourced::Sourced;
use super::written::WrittenSheet;

/// Every sheet: the name that people type, and the text.
const SHEETS: [(&str, &str); 12] = [
    ("t4", include_str!("../../../assets/devices/t4.ron")),
    ("a100-40gb", include_str!("../../../assets/devices/a100-40gb.ron")),
    ("a100-80gb", include_str!("../../../assets/devices/a100-80gb.ron")),
    ("rtx3090", include_str!("../../../assets/devices/rtx3090.ron")),
    ("rtx4090", include_str!("../../../assets/devices/rtx4090.ron")),
    ("l4", include_str!("../../../assets/devices/l4.ron")),
    ("l40s", include_str!("../../../assets/devices/l40s.ron")),
    ("h100-sxm", include_str!("../../../assets/devices/h100-sxm.ron")),
    ("h100-pcie", include_str!("../../../assets/devices/h100-pcie.ron")),
    ("h200", include_str!("../../../assets/devices/h200.ron")),
    ("b200", include_str!("../../../assets/devices/b200.ron")),
    ("rtx5090", include_str!("../../../assets/devices/rtx5090.ron")),
];

/// Prefix of a virtual GPU's name: `virtual:h200`.
const VIRTUAL: &str = "virtual:";

/// The properties of one GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceSheet {
    /// The name that people type: `h200`.
    pub name: String,
    /// The name that people read.
    pub title: String,
    /// Properties shared by all devices of its compute capability.
    pub capability: Capability,
    /// The compute capability, with its source.
    pub compute_capability: Sourced<ComputeCapability>,
    /// Multiprocessors.
    pub sms: Sourced<u32>,
    /// The guaranteed clock.
    pub base_clock: Sourced<Hertz>,
    /// The boost clock; the peaks of ordinary lanes are quoted at it.
    pub boost_clock: Sourced<Hertz>,
    /// The clock at which the tensor peaks are quoted: lower than boost on some devices.
    pub tensor_clock: Sourced<Hertz>,
    /// Transfers per second of one memory pin; twice the clock of double-data-rate memory.
    pub memory_transfers: Sourced<Hertz>,
    /// Data pins of the memory.
    pub memory_bus_bits: Sourced<u32>,
    /// Device memory.
    pub dram: Sourced<Bytes>,
    /// Peak rate of device memory.
    pub dram_bandwidth: Sourced<BytesPerSecond>,
    /// L2 cache.
    pub l2: Sourced<Bytes>,
    /// Board power.
    pub power_limit: Sourced<Watts>,
    /// PCI device ids of the boards that it describes.
    pub pci_device_ids: Sourced<Vec<u32>>,
    /// Dense peaks.
    pub peaks: Peaks,
    /// The documents by key.
    pub sources: BTreeMap<String, String>,
    /// The origin of the description.
    pub described_by: DescribedBy,
}

/// The origin of a description.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DescribedBy {
    /// Documents or recorded attributes: a virtual device plays it, and has its numbers by definition.
    Documents,
    /// The attributes of an installed GPU.
    Driver(Box<DriverAttributes>),
}

/// Why there is no sheet.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SheetError {
    /// Nothing has this name.
    #[error("no device sheet is named `{name}`{}; known: {}", did_you_mean(nearest), known.join(", "))]
    UnknownName {
        /// The requested name.
        name: String,
        /// The most similar name, if there is one.
        nearest: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// The table of compute capabilities lacks this one.
    #[error("compute capability {compute_capability} is not in the table; known: {}", list(known))]
    UnknownCapability {
        /// The requested compute capability.
        compute_capability: ComputeCapability,
        /// All capabilities.
        known: Vec<ComputeCapability>,
    },
    /// The text is not a sheet.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The expected content.
        message: String,
    },
    /// The text is a sheet that contradicts itself or lacks a source.
    #[error("{file}: {}", list(problems))]
    Unsound {
        /// The file.
        file: String,
        /// All that is wrong.
        problems: Vec<Problem>,
    },
}

impl DeviceSheet {
    /// The size of the device memory as vendors state it: their GB of memory has 2^30 bytes.
    #[must_use]
    pub fn memory_size(&self) -> Option<String> {
        self.dram.get().map(|dram| format!("{} GB", dram.0 >> 30))
    }

    /// The embedded sheet of this name, `h200` or `virtual:h200`.
    ///
    /// # Errors
    ///
    /// There is no such sheet; the error lists the most similar name and all names.
    pub fn named(name: &str) -> Result<&'static Self, SheetError> {
        let wanted = name.strip_prefix(VIRTUAL).unwrap_or(name);
        if let Some(index) = SHEETS.iter().position(|&(known, _)| known == wanted) {
            return Self::embedded(index);
        }
        cards::sheets()?.iter().find(|sheet| sheet.name == wanted).ok_or_else(|| {
            SheetError::UnknownName {
                name: name.to_owned(),
                nearest: nearest(wanted),
                known: Self::names().collect(),
            }
        })
    }

    /// The virtual device of a recorded title, as history and reports keep it: one whose title or whose driver's name for it
    /// is the same, `virtual` before it or not. Nothing is guessed from parts of a name.
    #[must_use]
    pub fn titled(title: &str) -> Option<&'static Self> {
        let wanted = short(title);
        let documented = Self::all().ok()?.into_iter().find(|sheet| short(&sheet.title) == wanted);
        documented.or_else(|| {
            let card =
                Card::all().ok()?.iter().find(|card| short(&card.attributes.title) == wanted)?;
            Self::named(&card.name).ok()
        })
    }

    /// All embedded sheets, oldest architecture first.
    ///
    /// # Errors
    ///
    /// When an embedded sheet is not sound.
    pub fn all() -> Result<Vec<&'static Self>, SheetError> {
        (0..SHEETS.len()).map(Self::embedded).collect()
    }

    /// Each sheet is parsed on first use: a run rarely needs more than one.
    fn embedded(index: usize) -> Result<&'static Self, SheetError> {
        static READ: [OnceLock<Result<DeviceSheet, SheetError>>; SHEETS.len()] =
            [const { OnceLock::new() }; SHEETS.len()];
        let (name, text) = SHEETS[index];
        READ[index].get_or_init(|| Self::from_ron(name, text)).as_ref().map_err(Clone::clone)
    }

    /// The virtual devices that recorded attributes describe and no sheet does.
    ///
    /// # Errors
    ///
    /// When the embedded table of cards is not sound.
    pub fn derived() -> Result<&'static [Self], SheetError> {
        cards::sheets()
    }

    /// The names of all virtual devices: those of [`Self::all`], then those of [`Self::derived`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        let derived = cards::sheets().unwrap_or_default();
        Self::documented_names().chain(derived.iter().map(|sheet| sheet.name.as_str()))
    }

    /// The names of all embedded sheets, in the order of [`Self::all`].
    pub(super) fn documented_names() -> impl Iterator<Item = &'static str> {
        SHEETS.iter().map(|&(name, _)| name)
    }

    /// Reads a sheet and checks it.
    ///
    /// # Errors
    ///
    /// The first syntax error with its place, or all that is unsound.
    pub fn from_ron(name: &str, text: &str) -> Result<Self, SheetError> {
        let file = format!("{name}.ron");
        let written: WrittenSheet = read(&file, text)?;
        let unsound = |problems| SheetError::Unsound { file: file.clone(), problems };
        let Some(number) = written.compute_capability.get() else {
            return Err(unsound(vec![Problem::NoCapability]));
        };
        let capability = Capability::from_compute_capability(number)?.clone();
        let peaks: BTreeMap<Pipe, Sourced<FlopsPerSecond>> = written
            .peaks_tflops
            .into_iter()
            .map(|(pipe, peak)| (pipe, peak.map(|tflops| FlopsPerSecond(tflops * 1e12))))
            .collect();
        let peaks = Peaks::complete(peaks)
            .map_err(|pipes| unsound(pipes.into_iter().map(Problem::NoPeak).collect()))?;
        let sheet = Self {
            name: name.to_owned(),
            title: written.title,
            capability,
            compute_capability: written.compute_capability,
            sms: written.sms,
            base_clock: written.base_clock_mhz.map(from_mhz),
            boost_clock: written.boost_clock_mhz.map(from_mhz),
            tensor_clock: written.tensor_clock_mhz.map(from_mhz),
            memory_transfers: written.memory_transfers_mhz.map(from_mhz),
            memory_bus_bits: written.memory_bus_bits,
            dram: written.dram_gib.map(Bytes::from_gib),
            dram_bandwidth: written.dram_gb_per_s.map(|rate| BytesPerSecond(rate * 1e9)),
            l2: written.l2_kib.map(Bytes::from_kib),
            power_limit: written.power_limit_watts.map(Watts),
            pci_device_ids: written.pci_device_ids,
            peaks,
            sources: written.sources,
            described_by: DescribedBy::Documents,
        };
        let problems = sheet_check::sheet(&sheet);
        if problems.is_empty() { Ok(sheet) } else { Err(unsound(problems)) }
    }

    /// The architecture to compile for: `sm_90`.
    #[must_use]
    pub fn architecture(&self) -> String {
        self.capability.compute_capability.architecture()
    }

    /// The name of the virtual GPU with this sheet: `virtual:h200`.
    #[must_use]
    pub fn virtual_name(&self) -> String {
        format!("{VIRTUAL}{}", self.name)
    }
}

/// Reads RON, with the place of a syntax error.
pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, SheetError> {
    ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
        .from_str(text)
        .map_err(|error| SheetError::Syntax {
            file: file.to_owned(),
            line: error.span.start.line,
            column: error.span.start.col,
            message: error.code.to_string(),
        })
}

/// A title without the words that users omit.
fn short(title: &str) -> &str {
    let title = title.strip_prefix("virtual ").unwrap_or(title);
    title.strip_prefix("NVIDIA ").unwrap_or(title)
}

fn from_mhz(clock: f64) -> Hertz {
    Hertz(clock * 1e6)
}

/// The known name nearest to `wanted`, unless none is near.
fn nearest(wanted: &str) -> Option<&'static str> {
    /// Below this similarity a suggestion confuses more than it helps.
    const NEAR: f64 = 0.7;
    let wanted = wanted.to_lowercase();
    // `a100` means `a100-40gb`, although `a10` has more letters in common.
    let begins = |name: &&str| wanted.len() > 1 && name.starts_with(&wanted);
    if let Some(name) = DeviceSheet::names().find(begins) {
        return Some(name);
    }
    DeviceSheet::names()
        .map(|name| (name, strsim::jaro_winkler(&wanted, name)))
        .filter(|&(_, similarity)| similarity >= NEAR)
        // The first of equals.
        .reduce(|best, other| if other.1 > best.1 { other } else { best })
        .map(|(name, _)| name)
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
