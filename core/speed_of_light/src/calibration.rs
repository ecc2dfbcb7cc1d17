//! A calibration: the ceilings measured on one device, as a file.
//!
//! The file states the device, the date, the driver and the clocks. Each number has its interval and its number of samples.

use std::collections::BTreeMap;
use std::fmt;

use lightbench_device::{ComputeCapability, Pipe};
use lightbench_units::{Bytes, BytesPerSecond, FlopsPerSecond, Hertz, Seconds};
use serde::{Deserialize, Serialize};

/// The schema that this program reads and writes.
pub const SCHEMA: u32 = 1;

/// The measured ceilings of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The device.
    pub device: CalibratedDevice,
    /// The date of the calibration, as RFC 3339 in UTC.
    pub date: String,
    /// The driver's version, as [`lightbench_device::Identity`] has it.
    pub driver: String,
    /// The clocks while it was measured.
    pub clocks: CalibratedClocks,
    /// Rates of memories.
    pub memory: BTreeMap<MemoryPath, Measured<BytesPerSecond>>,
    /// Rates of pipes, each measured with the fastest method of the chip.
    pub pipes: BTreeMap<Pipe, Measured<FlopsPerSecond>>,
    /// Approximated functions a second, each one operation.
    pub special: Option<Measured<FlopsPerSecond>>,
    /// Written bytes that L2 still holds when a kernel has ended.
    pub retained_writes: Option<Measured<Bytes>>,
    /// The time of an empty kernel.
    pub launch_floor: Option<Measured<Seconds>>,
    /// The time that an event pair adds to the time of a kernel.
    pub event_offset: Option<Measured<Seconds>>,
}

/// Which device was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibratedDevice {
    /// As its driver names it.
    pub title: String,
    /// The UUID of the device, as 32 hexadecimal digits.
    pub uuid: String,
    /// The compute capability.
    pub compute_capability: ComputeCapability,
}

/// Clocks while a calibration ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibratedClocks {
    /// The clock of the multiprocessors, the median over all samples.
    pub multiprocessors: Hertz,
    /// The memory clock, if it is known.
    pub memory: Option<Hertz>,
    /// How the clocks were controlled.
    pub control: ClockControl,
}

/// The control of a device's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockControl {
    /// The driver, by load, power and temperature.
    Free,
    /// They were locked for the measurement.
    Locked,
}

/// A memory path with its own rate.
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
    /// The shared memory of all multiprocessors.
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
    /// The number of samples.
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
        /// A description of the error.
        message: String,
    },
    /// The file has another schema version.
    #[error("schema {found}; this program reads schema {SCHEMA}")]
    Schema {
        /// The schema version of the file.
        found: u32,
    },
    /// Numbers that no measurement gives.
    #[error("{}", .0.join("; "))]
    Unsound(Vec<String>),
}

impl Calibration {
    /// Reads and checks a calibration that [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// The text is not a calibration of this schema, or a number is impossible for a measurement.
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

    /// The calibration as JSON; numbers are read back exactly.
    ///
    /// # Errors
    /// A number is not finite, which JSON cannot represent; [`Self::problems`] names it.
    pub fn to_json(&self) -> Result<String, CalibrationError> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(CalibrationError::Unsound(problems));
        }
        serde_json::to_string_pretty(self)
            .map_err(|error| CalibrationError::Unsound(vec![error.to_string()]))
    }

    /// Whether the calibration is for the device with this UUID.
    #[must_use]
    pub fn is_of(&self, uuid: &str) -> bool {
        self.device.uuid.eq_ignore_ascii_case(uuid)
    }

    /// All impossible numbers: not finite, not positive, or outside their interval.
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
            // Zero retained bytes are possible.
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
