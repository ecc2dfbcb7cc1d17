//! Times with their basis, and what they are compared with. Raw samples are left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::LibraryUsed;
use crate::measure::timing::TimingDefect;
use crate::measure::{self, Clock, Conditions, Energy, Mode, Stopped, Summary, Timing};
use crate::speed_of_light::bound::Bound;
use crate::speed_of_light::bound_comparison::{BoundComparison, ComparedBound};
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::speed_of_light::ceilings::Basis;
use crate::units::Seconds;
use crate::verify::baseline::{BaselineOutcome, BaselineTiming};
use crate::verify::verdict::{WorkloadStanding, WorkloadTiming};

/// The times of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedWorkloadTiming {
    /// The workload.
    pub workload: String,
    /// Why no time is reported.
    pub withheld: Option<String>,
    /// One time for each state of the caches.
    pub timings: Vec<ReportedTiming>,
    /// The energy of one execution; null if it was not requested.
    pub energy: Option<ReportedEnergy>,
    /// Comparison with the bound; null before it is computed.
    pub standing: Option<ReportedStanding>,
    /// Times of baselines for the same work.
    pub baselines: Vec<ReportedBaseline>,
}

/// A time with its basis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedTiming {
    /// The state of the caches before each sample: `cold`, `warm`, `graph` or `server`.
    #[schemars(with = "String")]
    pub mode: Mode,
    /// The median; for a modelled time, the geometric mean of the expected band.
    pub median_seconds: f64,
    /// The 95 % confidence interval of the median; for a modelled time, the expected band.
    pub interval_seconds: [f64; 2],
    /// The lower and the upper quartile.
    pub quartiles_seconds: [f64; 2],
    /// The smallest sample.
    pub minimum_seconds: f64,
    /// The number of samples.
    pub samples: usize,
    /// The state of the device during sampling: clocks in hertz, power in watts, memory in bytes.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub conditions: Conditions,
    /// Why the time is unreliable: `thermal`, `hardware`, `unsteady_clock`.
    #[schemars(with = "Vec<String>")]
    pub taint: Vec<TimingDefect>,
    /// The time of empty kernels with the same grids and blocks by the same clock, if measured.
    pub launch_floor_seconds: Option<f64>,
    /// The clock.
    #[serde(flatten)]
    pub clock: ReportedClock,
    /// The basis.
    #[serde(flatten)]
    pub basis: ReportedTimingBasis,
}

/// The clock of a time. Times of different clocks are not comparable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "clock", rename_all = "snake_case")]
pub enum ReportedClock {
    /// CUDA events around the work, less the overhead of a pair of events.
    Events {
        /// The subtracted overhead.
        offset_seconds: f64,
        /// The time of an empty kernel: shorter times are not resolved.
        floor_seconds: f64,
        /// Why the requested time stamps of the driver are unavailable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        without_stamps: Option<String>,
    },
    /// The driver's time stamps (CUPTI).
    Cupti {
        /// The subtracted overhead.
        offset_seconds: f64,
        /// The time of an empty kernel.
        floor_seconds: f64,
        /// `CUPTI_API_VERSION` of the library.
        cupti_version: u32,
    },
    /// No clock: counts of the virtual GPU and the numbers of a device sheet.
    Modelled,
}

/// The basis of a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedTimingBasis {
    /// The device ran it.
    Samples {
        /// Executions in each sample, by which its time is divided.
        batch: u32,
        /// Why sampling stopped: `precise` or `budget`.
        #[schemars(with = "String")]
        stopped: Stopped,
    },
    /// A model of the device.
    Model {
        /// No run can be faster.
        bound_seconds: f64,
        /// The limiter.
        limited_by: String,
        /// The assumptions of the model, one sentence each.
        assumptions: Vec<String>,
    },
}

/// The energy of one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedEnergy {
    /// It was measured.
    Measured {
        /// Energy of one execution above idle.
        joules: f64,
        /// The 95 % confidence interval of the mean.
        interval_joules: [f64; 2],
        /// Total power during the executions.
        power_watts: f64,
        /// Power of the idle device with its clocks raised.
        idle_watts: f64,
        /// The number of executions.
        executions: u64,
        /// Duration of the executions.
        elapsed_seconds: f64,
    },
    /// It cannot be measured.
    Withheld {
        /// Why not.
        withheld: String,
    },
}

/// A baseline of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedBaseline {
    /// Its name.
    pub name: String,
    /// Its time, if known.
    #[serde(flatten)]
    pub outcome: ReportedBaselineOutcome,
}

/// The time of a baseline, if known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedBaselineOutcome {
    /// There is no time.
    None {
        /// Why not.
        finding: String,
    },
    /// A time recorded elsewhere.
    Recorded {
        /// The time.
        recorded_seconds: f64,
        /// Where it was published.
        source: String,
    },
    /// A library that ran here.
    Measured {
        /// The version that it reports.
        version: String,
        /// Its file, or its name for the system's loader.
        file: String,
        /// The function and its settings.
        call: String,
        /// The largest error of any output on any workload, as a fraction of the tolerance.
        worst_error: f64,
        /// One time for each state of the caches.
        timings: Vec<ReportedTiming>,
        /// The SOL score of the candidate: 0.5 for the time of this baseline, 1 for the bound.
        score: Option<f64>,
        /// Why there is no score.
        no_score: Option<String>,
    },
}

/// Comparison of a time with the bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedStanding {
    /// The comparison in one sentence.
    pub line: String,
    /// The time that no correct kernel beats, if known.
    pub bound: Option<ReportedBound>,
    /// The achieved rate of the task's bytes or operations; null without a time.
    #[serde(default)]
    pub achieved: Option<ReportedAchieved>,
    /// The bound divided by the time.
    pub fraction: Option<f64>,
    /// The fraction at both ends of the time's interval.
    pub fraction_interval: Option<[f64; 2]>,
    /// Comparison with the bounds that no correct kernel beats.
    pub physical: Vec<ReportedComparedBound>,
    /// Comparison with the bounds of the named method.
    pub method: Vec<ReportedComparedBound>,
    /// Why the time has no fraction.
    pub finding: Option<String>,
    /// What limits the candidate.
    pub limited_by: String,
    /// The observations that show the limiter.
    pub limiter_evidence: Vec<String>,
    /// What to try next.
    pub advice: String,
    /// The technique of the advice; null if no technique applies.
    #[serde(default)]
    pub technique: Option<String>,
}

/// The rate of a task's work, against a ceiling. It counts all bytes or operations of the task; the bound counts the least
/// that any correct kernel must do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedAchieved {
    /// The rate in words.
    pub rate: String,
    /// The rate divided by the ceiling.
    pub fraction: f64,
    /// The ceiling in words.
    pub ceiling: String,
}

/// A bound with its basis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedBound {
    /// The bound.
    pub seconds: f64,
    /// The resource that sets it.
    pub limited_by: String,
    /// The basis of the ceilings: `sheet` or `measured`.
    #[schemars(with = "String")]
    pub basis: Basis,
    /// The assumptions of the bound, one sentence each.
    pub assumptions: Vec<String>,
}

/// A time relative to one bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedComparedBound {
    /// The basis of the ceilings: `sheet` or `measured`.
    #[schemars(with = "String")]
    pub basis: Basis,
    /// The bound.
    pub bound_seconds: f64,
    /// The resource that sets it.
    pub limited_by: String,
    /// The bound divided by the time.
    pub fraction: f64,
    /// The fraction at both ends of the time's interval.
    pub fraction_interval: [f64; 2],
}

impl From<&WorkloadTiming> for ReportedWorkloadTiming {
    fn from(timing: &WorkloadTiming) -> Self {
        Self {
            workload: timing.workload.clone(),
            withheld: timing.withheld.clone(),
            timings: timing.timings.iter().map(Into::into).collect(),
            energy: timing.energy.as_ref().map(|energy| match energy {
                Ok(energy) => energy.into(),
                Err(reason) => ReportedEnergy::Withheld { withheld: reason.to_string() },
            }),
            standing: timing.standing.as_ref().map(Into::into),
            baselines: timing.baselines.iter().map(Into::into).collect(),
        }
    }
}

impl ReportedTiming {
    /// The summary of the samples, or of the modelled band.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let pair = |[low, high]: [f64; 2]| (Seconds(low), Seconds(high));
        Summary {
            median: Seconds(self.median_seconds),
            interval: pair(self.interval_seconds),
            quartiles: pair(self.quartiles_seconds),
            minimum: Seconds(self.minimum_seconds),
            samples: self.samples,
        }
    }
}

impl From<&Timing> for ReportedTiming {
    fn from(timing: &Timing) -> Self {
        let summary = &timing.summary;
        let pair = |(low, high): (Seconds, Seconds)| [low.0, high.0];
        Self {
            mode: timing.mode,
            median_seconds: summary.median.0,
            interval_seconds: pair(summary.interval),
            quartiles_seconds: pair(summary.quartiles),
            minimum_seconds: summary.minimum.0,
            samples: summary.samples,
            conditions: timing.conditions.clone(),
            taint: timing.taint.clone(),
            launch_floor_seconds: timing.launch_floor.map(|floor| floor.0),
            clock: timing.clock.into(),
            basis: (&timing.basis).into(),
        }
    }
}

impl From<Clock> for ReportedClock {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Events { offset, floor, without } => Self::Events {
                offset_seconds: offset.0,
                floor_seconds: floor.0,
                without_stamps: without.map(|reason| reason.to_string()),
            },
            Clock::Cupti { offset, floor, version } => Self::Cupti {
                offset_seconds: offset.0,
                floor_seconds: floor.0,
                cupti_version: version,
            },
            Clock::Modelled => Self::Modelled,
        }
    }
}

impl From<&measure::Basis> for ReportedTimingBasis {
    fn from(basis: &measure::Basis) -> Self {
        match basis {
            measure::Basis::Samples { batch, stopped, .. } => {
                Self::Samples { batch: *batch, stopped: *stopped }
            }
            measure::Basis::Model { bound, limit, assumptions } => Self::Model {
                bound_seconds: bound.0,
                limited_by: limit.clone(),
                assumptions: assumptions.clone(),
            },
        }
    }
}

impl From<&Energy> for ReportedEnergy {
    fn from(energy: &Energy) -> Self {
        let Energy { each, interval: (low, high), power, idle, executions, elapsed } = energy;
        Self::Measured {
            joules: each.0,
            interval_joules: [low.0, high.0],
            power_watts: power.0,
            idle_watts: idle.0,
            executions: *executions,
            elapsed_seconds: elapsed.0,
        }
    }
}

impl From<&BaselineTiming> for ReportedBaseline {
    fn from(baseline: &BaselineTiming) -> Self {
        let outcome = match &baseline.outcome {
            BaselineOutcome::None(reason) => {
                ReportedBaselineOutcome::None { finding: reason.clone() }
            }
            BaselineOutcome::Recorded { seconds, source } => ReportedBaselineOutcome::Recorded {
                recorded_seconds: seconds.0,
                source: source.clone(),
            },
            BaselineOutcome::Measured(measured) => {
                let LibraryUsed { version, file, call, .. } = measured.used.clone();
                let score = measured.score.as_ref();
                ReportedBaselineOutcome::Measured {
                    version,
                    file,
                    call,
                    worst_error: measured.worst_error,
                    timings: measured.timings.iter().map(Into::into).collect(),
                    score: score.and_then(|score| Some(score.as_ref().ok()?.value())),
                    no_score: score.and_then(|score| Some(score.as_ref().err()?.to_string())),
                }
            }
        };
        Self { name: baseline.name.clone(), outcome }
    }
}

impl From<&WorkloadStanding> for ReportedStanding {
    fn from(of: &WorkloadStanding) -> Self {
        let (fraction, finding) = match &of.standing {
            Some(Ok(standing)) => (standing.best().map(|best| best.bound_fraction), None),
            Some(Err(reason)) => (None, Some(reason.to_string())),
            None => (None, None),
        };
        let compared = |kind: fn(&BoundComparison) -> &Vec<ComparedBound>| {
            of.standing.iter().flatten().flat_map(kind).map(Into::into).collect()
        };
        Self {
            line: of.line.clone(),
            bound: of.bound.as_ref().map(Into::into),
            achieved: of.achieved.as_ref().map(|achieved| ReportedAchieved {
                rate: achieved.rate(),
                fraction: achieved.fraction().0,
                ceiling: achieved.ceiling(),
            }),
            fraction: fraction.map(|fraction| fraction.middle.0),
            fraction_interval: fraction.map(fraction_interval),
            physical: compared(|standing| &standing.physical),
            method: compared(|standing| &standing.method),
            finding,
            limited_by: of.limiter.words(),
            limiter_evidence: of.limiter.evidence.clone(),
            advice: of.advice.sentence(),
            technique: of.advice.first().map(|first| first.technique.title.clone()),
        }
    }
}

impl From<&Bound> for ReportedBound {
    fn from(bound: &Bound) -> Self {
        Self {
            seconds: bound.time.0,
            limited_by: bound.limit.to_string(),
            basis: bound.basis,
            assumptions: bound.assumptions.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&ComparedBound> for ReportedComparedBound {
    fn from(against: &ComparedBound) -> Self {
        Self {
            basis: against.basis,
            bound_seconds: against.bound.0,
            limited_by: against.limit.to_string(),
            fraction: against.bound_fraction.middle.0,
            fraction_interval: fraction_interval(against.bound_fraction),
        }
    }
}

/// A fraction of the bound at both ends of the time's interval.
#[must_use]
pub const fn fraction_interval(fraction: BoundFraction) -> [f64; 2] {
    let (low, high) = fraction.interval;
    [low.0, high.0]
}
