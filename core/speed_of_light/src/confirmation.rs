//! Which stated peaks the device at hand confirms, and which a measurement refutes.
//!
//! A time below a bound is a finding about the kernel only if the peak behind the bound is right. A device sheet can be
//! wrong. A peak is confirmed if the driver's attributes of the device give no higher rate, or if a calibration came near
//! the peak and did not exceed it.

use std::collections::BTreeMap;
use std::fmt;

use lightbench_device::{DescribedBy, DeviceSheet, Pipe};
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, MemoryPath};
use super::ceilings::Quantity;

/// A measured ceiling above this part of a peak refutes the peak: calibrations repeat to within 1 %, documents round to
/// within 2 %.
pub const SUSPECT_ABOVE: f64 = 1.03;

/// A measured ceiling below this fraction of a peak does not confirm the peak.
const CONFIRMED_FROM: f64 = 0.7;

/// The confirmation of a peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// A virtual device has the peak by definition.
    Definition,
    /// The driver's attributes of the device give no higher rate.
    Attributes,
    /// A calibration measured it on the device.
    Calibration,
    /// The peak is unconfirmed.
    Missing,
}

impl Confirmation {
    /// Whether the peak is confirmed.
    #[must_use]
    pub const fn is_confirmed(self) -> bool {
        match self {
            Self::Definition | Self::Attributes | Self::Calibration => true,
            Self::Missing => false,
        }
    }
}

/// A stated peak that a calibration of the device exceeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspectPeak {
    /// The quantity.
    pub quantity: Quantity,
    /// The stated peak, with its unit.
    pub stated: String,
    /// The measured value, with its unit.
    pub measured: String,
    /// The measured ceiling by the stated peak; above 1.03.
    pub ratio: f64,
}

impl fmt::Display for SuspectPeak {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quantity, stated, measured, ratio } = self;
        write!(
            formatter,
            "the peak of {quantity} is suspect: {stated} are stated, and the calibration measured {measured}, {:.0} % of it; \
             bounds do not use this peak",
            ratio * 100.0
        )
    }
}

/// The evidence about the peaks of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PeakEvidence {
    /// Peaks that the calibration refutes; they are no ceilings.
    pub suspect: Vec<SuspectPeak>,
    /// The confirmation of all other peaks.
    #[serde(skip)]
    confirmed: BTreeMap<Quantity, Confirmation>,
}

impl PeakEvidence {
    /// Compares the peaks of a device sheet with the device's attributes and with a calibration.
    #[must_use]
    pub fn new(sheet: &DeviceSheet, calibration: Option<&Calibration>) -> Self {
        let mut evidence = Self::default();
        let paths = [MemoryPath::DramRead, MemoryPath::DramCopy, MemoryPath::DramWrite];
        let fastest = calibration.and_then(|all| {
            let rates = paths.iter().filter_map(|path| all.memory.get(path));
            rates.map(|rate| rate.median).max_by(|a, b| a.0.total_cmp(&b.0))
        });
        if let Some(stated) = sheet.dram_bandwidth.get() {
            let measured = fastest.map(|rate| (rate.0 / stated.0, rate.to_string()));
            let by_sheet = confirmation(sheet, sheet.confirms_bandwidth());
            evidence.add(Quantity::Dram, (stated.to_string(), by_sheet), measured);
        }
        for pipe in Pipe::ALL {
            let Some(stated) = sheet.peaks.get(pipe) else { continue };
            let own = calibration.and_then(|all| all.pipes.get(&pipe)).map(|rate| rate.median);
            let measured = own.map(|rate| (rate.0 / stated.0, rate.to_string()));
            let by_sheet = confirmation(sheet, sheet.confirms_peak(pipe));
            evidence.add(Quantity::Pipe(pipe), (stated.to_string(), by_sheet), measured);
        }
        evidence
    }

    /// Whether a measurement refutes the peak.
    #[must_use]
    pub fn is_suspect(&self, quantity: Quantity) -> bool {
        self.suspect.iter().any(|one| one.quantity == quantity)
    }

    /// The confirmation of a peak; quantities that device sheets do not state are measured.
    #[must_use]
    pub fn confirmation(&self, quantity: Quantity) -> Confirmation {
        match quantity {
            Quantity::Dram | Quantity::Pipe(_) => {
                self.confirmed.get(&quantity).copied().unwrap_or(Confirmation::Missing)
            }
            Quantity::L2
            | Quantity::Shared
            | Quantity::Special
            | Quantity::LaunchFloor
            | Quantity::RetainedWrites => Confirmation::Calibration,
        }
    }

    fn add(
        &mut self,
        quantity: Quantity,
        (stated, by_sheet): (String, Confirmation),
        measured: Option<(f64, String)>,
    ) {
        let ratio = measured.as_ref().map(|(ratio, _)| *ratio);
        match (by_sheet, measured) {
            // A virtual device has its peaks by definition, whatever was measured elsewhere.
            (Confirmation::Definition, _) => {}
            (_, Some((ratio, measured))) if ratio > SUSPECT_ABOVE => {
                self.suspect.push(SuspectPeak { quantity, stated, measured, ratio });
                return;
            }
            (Confirmation::Attributes | Confirmation::Calibration | Confirmation::Missing, _) => {}
        }
        let is_near = ratio.is_some_and(|ratio| ratio >= CONFIRMED_FROM);
        let confirmed =
            if is_near && !by_sheet.is_confirmed() { Confirmation::Calibration } else { by_sheet };
        self.confirmed.insert(quantity, confirmed);
    }
}

fn confirmation(sheet: &DeviceSheet, is_confirmed: bool) -> Confirmation {
    match (&sheet.described_by, is_confirmed) {
        (DescribedBy::Documents, _) => Confirmation::Definition,
        (DescribedBy::Driver(_), true) => Confirmation::Attributes,
        (DescribedBy::Driver(_), false) => Confirmation::Missing,
    }
}
