//! The document of `lightbench compare`: two kernels, or a kernel and a library, side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::{ReportedDevice, ReportedStatus};
use super::timing::{ReportedBound, ReportedTiming, fraction_interval};
use crate::device::LibraryUsed;
use crate::evaluate::compare::{ComparedWorkload, Outcome};
use crate::measure::{Comparison, Timing};
use crate::units::Fraction;

/// A comparison of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareReport {
    /// The schema of this document.
    pub schema: CompareSchema,
    /// The device that ran both sides.
    #[serde(flatten)]
    pub device: ReportedDevice,
    /// The state of the caches before each sample: `cold`, `warm`, `graph` or `server`.
    pub mode: String,
    /// Side A and side B.
    pub sides: [ReportedSide; 2],
    /// The comparison on each workload; empty if a side failed or the user cancelled.
    pub workloads: Vec<ReportedComparison>,
}

/// The schema of a [`CompareReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CompareSchema {
    /// The third schema.
    #[serde(rename = "lightbench.compare/3")]
    V3,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedSide {
    /// A kernel.
    Kernel {
        /// The kernel, or the recorded run, in words.
        kernel: String,
        /// The number of the recorded run.
        run: Option<i64>,
        /// What differs from the recorded run.
        not_as_when_it_ran: Vec<String>,
        /// The hash of the candidate; null if it could not be assembled.
        candidate: Option<String>,
        /// The seed of all inputs.
        seed: u64,
        /// The verdict in a sentence.
        sentence: String,
        /// The verdict.
        verdict: String,
        /// The verdict, without the kind of failure.
        status: ReportedStatus,
    },
    /// A library.
    Library {
        /// The library.
        library: String,
        /// Its version and the call; null if nothing ran.
        #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
        used: Option<LibraryUsed>,
        /// The result in a sentence; null if it was not verified.
        sentence: Option<String>,
        /// The result.
        verdict: LibraryVerdict,
    },
}

/// Whether a library's results are correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LibraryVerdict {
    /// It was not verified, because the kernel failed or the user cancelled.
    NotAsked,
    /// It cannot run.
    Unusable,
    /// Its results are wrong.
    Wrong,
    /// Its results are correct.
    Passed,
}

/// The comparison on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedComparison {
    /// The workload.
    pub workload: String,
    /// The bounds that no correct kernel beats, one for each basis.
    pub bounds: Vec<ReportedBound>,
    /// The times, if known.
    #[serde(flatten)]
    pub outcome: ReportedComparisonOutcome,
}

/// The times of both sides on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedComparisonOutcome {
    /// Both programs ran side by side.
    Measured {
        /// The times of A and B.
        times: Box<[ReportedComparedTime; 2]>,
        /// The `ratio` of the time of B to that of A, its 99 % confidence `interval`, the `conclusion` and the number of
        /// `rounds`.
        #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
        comparison: Comparison,
    },
    /// Both times come from the model.
    Modelled {
        /// The times of A and B.
        times: [ReportedModelledTime; 2],
        /// The time of B divided by that of A, if both are known.
        #[schemars(with = "Option<f64>")]
        modelled_ratio: Option<Fraction>,
    },
    /// There are no times.
    Withheld {
        /// Why not.
        withheld: String,
    },
}

/// A modelled time, if the model has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedModelledTime {
    /// The time.
    Known(Box<ReportedComparedTime>),
    /// There is no time.
    Withheld {
        /// Why not.
        withheld: String,
    },
}

/// A time with its fraction of the bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedComparedTime {
    /// The time.
    #[serde(flatten)]
    pub timing: ReportedTiming,
    /// Its fraction of the bound.
    #[serde(flatten)]
    pub fraction: ReportedFraction,
}

/// The fraction of the bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedFraction {
    /// The time contradicts the bound.
    None {
        /// The contradiction.
        finding: String,
    },
    /// The bound divided by the time; null without a bound.
    Known {
        /// The fraction for the median.
        fraction: Option<f64>,
        /// The fraction at both ends of the time's interval.
        fraction_interval: Option<[f64; 2]>,
    },
}

impl From<&ComparedWorkload> for ReportedComparison {
    fn from(each: &ComparedWorkload) -> Self {
        let outcome = match &each.outcome {
            Outcome::Measured { timings, comparison } => ReportedComparisonOutcome::Measured {
                times: Box::new(timings.each_ref().map(|timing| time(each, timing))),
                comparison: *comparison,
            },
            Outcome::Modelled { timings, ratio } => ReportedComparisonOutcome::Modelled {
                times: timings.each_ref().map(|timing| match timing {
                    Ok(timing) => ReportedModelledTime::Known(Box::new(time(each, timing))),
                    Err(reason) => ReportedModelledTime::Withheld { withheld: reason.clone() },
                }),
                modelled_ratio: *ratio,
            },
            Outcome::Withheld(reason) => {
                ReportedComparisonOutcome::Withheld { withheld: reason.clone() }
            }
        };
        let bounds = each.bounds.iter().map(|physical| physical.bound().into());
        Self { workload: each.workload.clone(), bounds: bounds.collect(), outcome }
    }
}

/// A time, and its fraction of the bound.
fn time(each: &ComparedWorkload, timing: &Timing) -> ReportedComparedTime {
    let fraction = match each.standing(timing) {
        Ok(standing) => {
            let fraction = standing.best().map(|best| best.bound_fraction);
            ReportedFraction::Known {
                fraction: fraction.map(|fraction| fraction.middle.0),
                fraction_interval: fraction.map(fraction_interval),
            }
        }
        Err(finding) => ReportedFraction::None { finding: finding.to_string() },
    };
    ReportedComparedTime { timing: timing.into(), fraction }
}
