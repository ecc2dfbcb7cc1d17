//! A time with its conditions: clock, state of the caches, state of the device.

use std::fmt;

use lightbench_units::{Bytes, Fraction, Hertz, Seconds, Watts};
use serde::{Deserialize, Serialize};

use super::statistics::Summary;

/// The time of a candidate on one workload and one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The clock.
    pub clock: Clock,
    /// State of the caches before each sample.
    pub mode: Mode,
    /// Summary of the samples; for a modelled time, the expected band with its geometric mean.
    pub summary: Summary,
    pub basis: Basis,
    /// State of the device during sampling.
    pub conditions: Conditions,
    /// Why the number is not to be trusted.
    pub taint: Vec<TimingDefect>,
    /// Time of empty kernels with the same grids and blocks by the same clock, if measured.
    #[serde(default)]
    pub launch_floor: Option<Seconds>,
}

/// The source of the time. Times of different clocks are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// CUDA events around the work, less the overhead of a pair of events.
    Events {
        /// The subtracted overhead: the reading for an empty kernel, less the time of an empty kernel in a long
        /// sequence.
        offset: Seconds,
        /// Time of an empty kernel: a time no longer than this is not resolved.
        floor: Seconds,
        /// Why the driver's time stamps, which were requested, are unavailable.
        #[serde(default)]
        without: Option<NoStamps>,
    },
    /// The driver's time stamps (CUPTI), from the start of the first kernel of the work to the end of the last one.
    Cupti {
        /// The subtracted overhead, a negative number: the stamps of an empty kernel are shorter than the time that a
        /// profiler reports, because they omit a part of its start and end.
        offset: Seconds,
        /// Time of an empty kernel.
        floor: Seconds,
        /// `CUPTI_API_VERSION` of the library.
        version: u32,
    },
    /// Nothing ran in real time: counts of the virtual GPU and the numbers of a device sheet.
    Modelled,
}

impl Clock {
    /// Time of an empty kernel; `None` for a modelled time.
    #[must_use]
    pub const fn floor(&self) -> Option<Seconds> {
        match self {
            Self::Events { floor, .. } | Self::Cupti { floor, .. } => Some(*floor),
            Self::Modelled => None,
        }
    }

    /// The name within a sentence.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Events { .. } => "CUDA events",
            Self::Cupti { .. } => "the driver's time stamps (CUPTI)",
            Self::Modelled => "a model",
        }
    }

    /// Whether times of both are of one kind.
    #[must_use]
    pub const fn is_comparable_with(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Events { .. }, Self::Events { .. })
                | (Self::Cupti { .. }, Self::Cupti { .. })
                | (Self::Modelled, Self::Modelled)
        )
    }
}

/// Why the driver's time stamps are unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NoStamps {
    /// The library is nowhere.
    #[error(
        "libcupti was not found: the CUDA toolkit has it in extras/CUPTI/lib64, Python's package nvidia-cuda-cupti in \
         nvidia/cu13/lib"
    )]
    NotFound,
    /// The loader refuses it, or it lacks a function.
    #[error("libcupti cannot be loaded")]
    Unloadable,
    /// The record layout of this release has not been checked.
    #[error("libcupti reports version {0}, whose record format is not supported")]
    Version(u32),
    /// Another profiler holds the process.
    #[error("another profiler is attached to the process, and the driver supports only one")]
    Held,
    /// It refuses, with this code.
    #[error("libcupti refused with code {0} (`CUptiResult`)")]
    Refused(i32),
    /// Stamps cost something between launches, which a time of several would pay; a library may launch several.
    #[error("time stamps would lengthen the time between its launches")]
    Several,
    /// Its records do not match the launches: a kernel launches kernels, or the program has a defect.
    #[error("the driver's records do not fit what was launched")]
    Unlike,
}

/// State of the caches before a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing of the workload: the score.
    Cold,
    /// The state that the same work left.
    Warm,
    /// As warm, with a graph of one execution that is replayed: the time between two replays counts.
    Graph,
    /// The same, and each execution arrives after an idle period of random length.
    Server,
}

impl Mode {
    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Graph => "graph",
            Self::Server => "server",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The device ran it.
    Samples {
        /// Every sample, round by round.
        rounds: Vec<Vec<Seconds>>,
        /// Executions of the work in each sample, whose time is divided by them.
        batch: u32,
        /// Why sampling stopped.
        stopped: Stopped,
    },
    /// A model of the device.
    Model {
        /// No run can be faster.
        bound: Seconds,
        /// The limiter.
        limit: String,
        /// The assumptions of the model, one sentence each.
        assumptions: Vec<String>,
    },
}

/// Why sampling ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The interval has the requested width.
    Precise,
    /// The time or the number of samples that was allowed is used up.
    Budget,
}

/// State of the device during sampling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The lowest and the highest clock of the multiprocessors that was read.
    pub sm_clock: Option<(Hertz, Hertz)>,
    /// The highest power that was read.
    pub power: Option<Watts>,
    /// The highest temperature that was read, in degrees Celsius.
    pub celsius: Option<u32>,
    /// Whether the power limit held the clock down: usual for work that keeps the whole chip busy, so no taint.
    pub power_capped: bool,
    /// Other processes that had a context on the device.
    pub other_processes: u32,
    /// The frequency at which the user locked the multiprocessor clock.
    #[serde(default)]
    pub locked: Option<Hertz>,
    /// The smallest free memory among the readings; the measured program's own allocations are part of the used memory.
    #[serde(default)]
    pub memory: Option<DeviceMemory>,
}

/// Memory of a device at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    pub free: Bytes,
    pub total: Bytes,
}

impl fmt::Display for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} free", self.free, self.total)
    }
}

/// State of the device at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The clock of the multiprocessors.
    pub sm_clock: Hertz,
    /// Power drawn.
    pub power: Option<Watts>,
    /// Degrees Celsius.
    pub celsius: Option<u32>,
    /// Whether the power limit holds the clock down.
    pub is_power_capped: bool,
    /// Whether heat holds it down.
    pub is_hot: bool,
    /// Whether something outside the chip holds it down.
    pub is_held_down: bool,
    /// Other processes with a context on the device.
    pub other_processes: u32,
    /// Memory of the device, if the driver reports it.
    pub memory: Option<DeviceMemory>,
}

/// Up to this multiple of the launch floor, a time counts as near the floor.
const NEAR_FLOOR: f64 = 3.0;

/// Relative change of the clock above which the clock counts as unsteady: one or two steps.
const STEADY: f64 = 0.02;

impl Conditions {
    /// Combines readings.
    #[must_use]
    pub fn from_readings(readings: &[Reading]) -> Self {
        let clocks = readings.iter().map(|reading| reading.sm_clock);
        let lowest = clocks.clone().min_by(|a, b| a.0.total_cmp(&b.0));
        let highest = clocks.max_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            sm_clock: lowest.zip(highest),
            power: readings
                .iter()
                .filter_map(|reading| reading.power)
                .max_by(|a, b| a.0.total_cmp(&b.0)),
            celsius: readings.iter().filter_map(|reading| reading.celsius).max(),
            power_capped: readings.iter().any(|reading| reading.is_power_capped),
            other_processes: readings.iter().map(|each| each.other_processes).max().unwrap_or(0),
            locked: None,
            memory: readings
                .iter()
                .filter_map(|reading| reading.memory)
                .min_by_key(|memory| memory.free),
        }
    }
}

impl TimingDefect {
    /// The defects that the readings show.
    #[must_use]
    pub fn from_readings(readings: &[Reading]) -> Vec<Self> {
        let conditions = Conditions::from_readings(readings);
        // The power limit changes the clock continuously, and is a separate condition.
        let unsteady = !conditions.power_capped
            && conditions.sm_clock.is_some_and(|(low, high)| low.0 < (1.0 - STEADY) * high.0);
        let mut all = Vec::new();
        if readings.iter().any(|reading| reading.is_hot) {
            all.push(Self::Thermal);
        }
        if readings.iter().any(|reading| reading.is_held_down) {
            all.push(Self::Hardware);
        }
        if unsteady {
            all.push(Self::UnsteadyClock);
        }
        all
    }
}

/// Why a number is not to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum TimingDefect {
    /// The device protected itself.
    #[error("the device slowed down because it was hot")]
    Thermal,
    /// Power brake, voltage or cooling: something outside the chip.
    #[error("the device slowed down because of its power supply or cooling")]
    Hardware,
    /// The clock changed by more than a step or two.
    #[error("the clock changed while samples were taken")]
    UnsteadyClock,
}

impl Timing {
    /// A measured time; `None` if samples are missing or not finite times.
    #[must_use]
    pub fn measured(
        clock: Clock,
        mode: Mode,
        rounds: Vec<Vec<Seconds>>,
        (batch, stopped): (u32, Stopped),
        readings: &[Reading],
    ) -> Option<Self> {
        let summary = Summary::from_rounds(&rounds)?;
        Some(Self {
            clock,
            mode,
            summary,
            basis: Basis::Samples { rounds, batch, stopped },
            conditions: Conditions::from_readings(readings),
            taint: TimingDefect::from_readings(readings),
            launch_floor: None,
        })
    }

    /// A modelled time: the band above the bound, with its geometric middle.
    #[must_use]
    pub fn modelled(
        bound: Seconds,
        band: (f64, f64),
        limit: String,
        assumptions: Vec<String>,
    ) -> Self {
        let (low, high) = (bound * band.0, bound * band.1);
        let median = bound * (band.0 * band.1).sqrt();
        Self {
            clock: Clock::Modelled,
            mode: Mode::Cold,
            summary: Summary {
                median,
                interval: (low, high),
                quartiles: (low, high),
                minimum: low,
                samples: 0,
            },
            basis: Basis::Model { bound, limit, assumptions },
            conditions: Conditions::default(),
            taint: Vec::new(),
            launch_floor: None,
        }
    }

    /// The launch floor, if the time is at most 3 times as long.
    #[must_use]
    pub fn near_floor(&self) -> Option<Seconds> {
        self.launch_floor.filter(|floor| self.summary.median.0 <= NEAR_FLOOR * floor.0)
    }

    /// Whether the time is indistinguishable from that of an empty kernel.
    #[must_use]
    pub fn is_at_floor(&self) -> bool {
        self.clock.floor().is_some_and(|floor| self.summary.interval.0 <= floor)
    }

    /// Half of the interval's width, as a part of the median.
    #[must_use]
    pub fn relative_error(&self) -> Fraction {
        Fraction(self.summary.relative_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modelled_time_is_a_band() {
        let assumptions = vec!["the clock stays at 1980 MHz".to_owned()];
        let timing = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), assumptions);
        let (low, high) = timing.summary.interval;
        assert!(low < timing.summary.median && timing.summary.median < high);
        assert_eq!(timing.summary.samples, 0);
        assert!(!timing.is_at_floor());
    }

    #[test]
    fn the_floor_is_where_nothing_is_resolved() {
        let (offset, floor) = (Seconds(-0.9e-6), Seconds(1.1e-6));
        let clock = Clock::Cupti { offset, floor, version: 130_001 };
        let check = |time: f64, expected| {
            let rounds = vec![vec![Seconds(time); 5]; 8];
            let timing =
                Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Budget), &[]).unwrap();
            assert_eq!(timing.is_at_floor(), expected, "{time}");
        };
        check(0.9e-6, true);
        check(1.1e-6, true);
        check(1.3e-6, false);
        let near = |floor: Option<f64>| {
            let rounds = vec![vec![Seconds(6e-6); 5]; 8];
            let timing =
                Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Budget), &[]).unwrap();
            Timing { launch_floor: floor.map(Seconds), ..timing }.near_floor()
        };
        assert_eq!(near(Some(2e-6)), Some(Seconds(2e-6)));
        assert_eq!((near(Some(1.9e-6)), near(None)), (None, None));
        let nothing = Timing::measured(clock, Mode::Warm, Vec::new(), (1, Stopped::Budget), &[]);
        assert!(nothing.is_none());
    }

    #[test]
    fn heat_and_an_unsteady_clock_are_said_and_a_power_limit_is_a_condition() {
        let calm = Reading {
            sm_clock: Hertz(1.98e9),
            power: Some(Watts(300.0)),
            celsius: Some(50),
            is_power_capped: false,
            is_hot: false,
            is_held_down: false,
            other_processes: 0,
            memory: Some(DeviceMemory { free: Bytes(5 << 30), total: Bytes(8 << 30) }),
        };
        let slow = Reading { sm_clock: Hertz(1.4e9), ..calm };
        let check = |readings: &[Reading], expected: &[TimingDefect]| {
            assert_eq!(TimingDefect::from_readings(readings), expected, "{readings:?}");
        };
        check(&[], &[]);
        check(&[calm, calm], &[]);
        check(&[calm, slow], &[TimingDefect::UnsteadyClock]);
        check(&[calm, Reading { is_power_capped: true, ..slow }], &[]);
        check(&[Reading { is_hot: true, ..calm }], &[TimingDefect::Thermal]);
        check(&[Reading { is_held_down: true, ..calm }], &[TimingDefect::Hardware]);
        let full = Some(DeviceMemory { free: Bytes(3 << 30), total: Bytes(8 << 30) });
        let busy = Reading { other_processes: 2, memory: full, ..slow };
        let conditions = Conditions::from_readings(&[calm, busy, Reading { memory: None, ..calm }]);
        assert_eq!(conditions.sm_clock, Some((Hertz(1.4e9), Hertz(1.98e9))));
        assert_eq!((conditions.other_processes, conditions.memory), (2, full));
        assert_eq!(full.map(|full| full.to_string()).as_deref(), Some("3 GiB of 8 GiB free"));
    }
}
