//! A time, with everything that it rests on: which clock, which state of the caches, which conditions.

use std::fmt;

use lightbench_units::{Bytes, Fraction, Hertz, Seconds, Watts};
use serde::{Deserialize, Serialize};

use super::statistics::Summary;

/// How long a candidate takes on one workload of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// What said so.
    pub clock: Clock,
    /// What the caches held before.
    pub mode: Mode,
    /// What the samples say together; for a modelled time the band that is expected, with its geometric middle.
    pub summary: Summary,
    /// Where the summary comes from.
    pub basis: Basis,
    /// What the device did meanwhile.
    pub conditions: Conditions,
    /// Why the number is not to be trusted.
    pub taint: Vec<TimingDefect>,
    /// What empty kernels of the same grids and blocks take by the same clock, where that was measured.
    #[serde(default)]
    pub launch_floor: Option<Seconds>,
}

/// What told the time. Times of different clocks are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// CUDA events around the work, less what an event pair adds.
    Events {
        /// What was subtracted: the reading for a kernel that does nothing, less what such a kernel takes in a row of many.
        offset: Seconds,
        /// What a kernel takes that does nothing: a time no longer than this is not resolved.
        floor: Seconds,
        /// Why there are no time stamps of the driver, where they were asked for.
        #[serde(default)]
        without: Option<NoStamps>,
    },
    /// The driver's own time stamps (CUPTI), from where the first kernel of the work begins to where the last one ends.
    Cupti {
        /// What was subtracted, which is less than nothing: stamps of a kernel that does nothing are shorter than what a
        /// profiler says of it, as they leave out a part of its begin and end.
        offset: Seconds,
        /// What a kernel takes that does nothing.
        floor: Seconds,
        /// `CUPTI_API_VERSION` of the library.
        version: u32,
    },
    /// Nothing ran in real time: counts of the virtual GPU and the numbers of a device sheet.
    Modelled,
}

impl Clock {
    /// What a kernel takes that does nothing; none of a model.
    #[must_use]
    pub const fn floor(&self) -> Option<Seconds> {
        match self {
            Self::Events { floor, .. } | Self::Cupti { floor, .. } => Some(*floor),
            Self::Modelled => None,
        }
    }

    /// What is called so in a sentence.
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

/// Why there are no time stamps of the driver.
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
    /// Nobody looked at the records of this release.
    #[error("libcupti says that it has version {0}, whose records are not known")]
    Version(u32),
    /// Another profiler holds the process.
    #[error("another profiler holds the process, and the driver has time stamps for one only")]
    Held,
    /// It refuses, with this code.
    #[error("libcupti refused with code {0} (`CUptiResult`)")]
    Refused(i32),
    /// Stamps cost something between launches, which a time of several would pay; a library may launch several.
    #[error("time stamps would lengthen what lies between its launches")]
    Several,
    /// Its records do not fit what was launched: a kernel that launches kernels, or a defect.
    #[error("the driver's records do not fit what was launched")]
    Unlike,
}

/// What the caches held before a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing of the workload: the score.
    Cold,
    /// What the same work left there.
    Warm,
    /// The same, and a graph of one execution is replayed: what lies between two replays counts.
    Graph,
    /// The same, and each execution arrives after a pause of random length in which the device does nothing.
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

/// Where a summary comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The device ran it.
    Samples {
        /// Every sample, round by round.
        rounds: Vec<Vec<Seconds>>,
        /// Executions of the work in each sample, whose time is divided by them.
        batch: u32,
        /// Why there are no more.
        stopped: Stopped,
    },
    /// A model of the device.
    Model {
        /// No run can be faster.
        bound: Seconds,
        /// What decides it.
        limit: String,
        /// What has to hold, in sentences.
        assumptions: Vec<String>,
    },
}

/// Why sampling ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The interval is as narrow as was asked for.
    Precise,
    /// The time or the number of samples that was allowed is used up.
    Budget,
}

/// What the device did while samples were taken.
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
    /// What the clock of the multiprocessors was locked at, where somebody asked for that.
    #[serde(default)]
    pub locked: Option<Hertz>,
    /// The least memory that was free when it was read: what is measured has its own part of the rest.
    #[serde(default)]
    pub memory: Option<DeviceMemory>,
}

/// Memory of a device at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// What nobody holds.
    pub free: Bytes,
    /// All that there is.
    pub total: Bytes,
}

impl fmt::Display for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} free", self.free, self.total)
    }
}

/// What was read of a device at one moment.
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
    /// Its memory, where the driver says it.
    pub memory: Option<DeviceMemory>,
}

/// A time of so many launch floors or less is near the floor.
const NEAR_FLOOR: f64 = 3.0;

/// Part of the clock by which it may change before that is said: a step or two.
const STEADY: f64 = 0.02;

impl Conditions {
    /// What readings say together.
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
    /// What readings say against a number.
    #[must_use]
    pub fn from_readings(readings: &[Reading]) -> Vec<Self> {
        let conditions = Conditions::from_readings(readings);
        // The power limit moves the clock all the time, and is a condition of its own.
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
    /// A measured time; none where samples are missing or no times.
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

    /// What the launch alone takes, where that is a good part of the time.
    #[must_use]
    pub fn near_floor(&self) -> Option<Seconds> {
        self.launch_floor.filter(|floor| self.summary.median.0 <= NEAR_FLOOR * floor.0)
    }

    /// Whether the time is that of a kernel which does nothing, as far as the clock can tell.
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
