//! What was measured on one device: the file that a calibration writes and everything else reads.
//!
//! It says on which device, when, with which driver and clocks; each number has its spread, so that a noisy one shows.

use std::collections::BTreeMap;
use std::fmt;

use lightbench_device::{ComputeCapability, Pipe};
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};
use serde::{Deserialize, Serialize};

/// The schema that this program reads and writes.
pub const SCHEMA: u32 = 1;

/// Ceilings of one device, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The device.
    pub device: CalibratedDevice,
    /// When, as RFC 3339 in UTC; whoever measures says it.
    pub date: String,
    /// The driver's version, as [`lightbench_device::Identity`] has it.
    pub driver: String,
    /// The clocks while it was measured.
    pub clocks: CalibratedClocks,
    /// Rates of memories.
    pub memory: BTreeMap<MemoryPath, Measured<BytesPerSecond>>,
    /// Rates of pipes, each by the best method of the chip.
    pub pipes: BTreeMap<Pipe, Measured<FlopsPerSecond>>,
    /// Approximated functions a second, each one operation.
    pub special: Option<Measured<FlopsPerSecond>>,
    /// Written bytes that L2 still holds when a kernel has ended.
    pub retained_writes: Option<Measured<Bytes>>,
    /// How long a kernel takes that does nothing.
    pub launch_floor: Option<Measured<Seconds>>,
    /// What events read beyond the time of a kernel.
    pub event_offset: Option<Measured<Seconds>>,
}

/// Which device was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibratedDevice {
    /// As its driver names it.
    pub title: String,
    /// Its own identity, as 32 hexadecimal digits.
    pub uuid: String,
    /// Its compute capability.
    pub compute_capability: ComputeCapability,
}

/// Clocks while a calibration ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibratedClocks {
    /// Of the multiprocessors, the median over all samples.
    pub multiprocessors: Hertz,
    /// Of the memory, where it is known.
    pub memory: Option<Hertz>,
    /// Who set them.
    pub control: ClockControl,
}

/// Who sets the clocks of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockControl {
    /// The driver, by load, power and temperature.
    Free,
    /// They were locked for the measurement.
    Locked,
}

/// A way through memory that has a rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPath {
    /// Device memory, read only.
    DramRead,
    /// Device memory, written only.
    DramWrite,
    /// Device memory, as much read as written; both count.
    DramCopy,
    /// L2 to the multiprocessors, all together.
    L2Read,
    /// Shared memory of all multiprocessors together.
    SharedRead,
}

/// One measured number with its spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured<T> {
    /// The median of all samples.
    pub median: T,
    /// The lowest sample.
    pub low: T,
    /// The highest sample.
    pub high: T,
    /// How many.
    pub samples: u32,
    /// How, in a few words: the instruction, the size.
    pub method: String,
}

/// Why a calibration is not used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// The text is not a calibration.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Another program wrote it.
    #[error("schema {found}; this program reads schema {SCHEMA}")]
    Schema {
        /// What the file says.
        found: u32,
    },
    /// Numbers that no measurement gives.
    #[error("{}", .0.join("; "))]
    Unsound(Vec<String>),
}

impl Calibration {
    /// Reads what [`Self::to_json`] wrote, and checks it.
    ///
    /// # Errors
    /// It is no calibration of this schema, or a number in it is none that a measurement gives.
    pub fn from_json(text: &str) -> Result<Self, CalibrationError> {
        let syntax = |error: serde_json::Error| CalibrationError::Syntax {
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        };
        // The schema first: another one may have other fields.
        let Schema { schema } = serde_json::from_str(text).map_err(syntax)?;
        if schema != SCHEMA {
            return Err(CalibrationError::Schema { found: schema });
        }
        let calibration: Self = serde_json::from_str(text).map_err(syntax)?;
        let problems = calibration.problems();
        if problems.is_empty() { Ok(calibration) } else { Err(CalibrationError::Unsound(problems)) }
    }

    /// The file's text; numbers survive to the last bit.
    ///
    /// # Errors
    /// A number is not finite, which JSON cannot say and [`Self::problems`] names.
    pub fn to_json(&self) -> Result<String, CalibrationError> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(CalibrationError::Unsound(problems));
        }
        serde_json::to_string_pretty(self)
            .map_err(|error| CalibrationError::Unsound(vec![error.to_string()]))
    }

    /// Whether it was made on the device with this identity.
    #[must_use]
    pub fn is_of(&self, uuid: &str) -> bool {
        self.device.uuid.eq_ignore_ascii_case(uuid)
    }

    /// All that no measurement gives: what is not finite, not positive, or outside its own spread.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.date.is_empty() {
            problems.push("no date".to_owned());
        }
        let clocks = [Some(self.clocks.multiprocessors), self.clocks.memory];
        if !clocks.iter().flatten().all(|clock| clock.0.is_finite() && clock.0 > 0.0) {
            problems.push("a clock that does not run".to_owned());
        }
        let mut look = |name: String, [low, median, high]: [f64; 3], samples: u32| {
            let is_sound = low > 0.0 && low <= median && median <= high && high.is_finite();
            if !is_sound {
                problems.push(format!("{name}: {median} from {low} to {high}"));
            }
            if samples == 0 {
                problems.push(format!("{name}: no sample"));
            }
        };
        for (path, rate) in &self.memory {
            look(path.to_string(), rate.numbers(|rate| rate.0), rate.samples);
        }
        for (pipe, rate) in &self.pipes {
            look(pipe.to_string(), rate.numbers(|rate| rate.0), rate.samples);
        }
        if let Some(rate) = &self.special {
            look("special functions".to_owned(), rate.numbers(|rate| rate.0), rate.samples);
        }
        if let Some(size) = &self.retained_writes {
            // Nothing at all may be retained.
            look(
                "retained writes".to_owned(),
                size.numbers(|size| size.0 as f64 + 1.0),
                size.samples,
            );
        }
        if let Some(time) = &self.launch_floor {
            look("launch floor".to_owned(), time.numbers(|time| time.0), time.samples);
        }
        if let Some(time) = &self.event_offset {
            look("event offset".to_owned(), time.numbers(|time| time.0), time.samples);
        }
        problems
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::DramRead => "DRAM, read",
            Self::DramWrite => "DRAM, written",
            Self::DramCopy => "DRAM, copied",
            Self::L2Read => "L2, read",
            Self::SharedRead => "shared memory, read",
        })
    }
}

impl<T: Copy> Measured<T> {
    fn numbers(&self, number: impl Fn(T) -> f64) -> [f64; 3] {
        [number(self.low), number(self.median), number(self.high)]
    }
}

#[derive(Deserialize)]
struct Schema {
    schema: u32,
}
