//! The document of a screening, with schemas of its own: readers of verdicts must not accept a screening.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::ReportedChecks;
use super::failure::NotPassedReport;
use super::problem::ReportedBrokenFile;
use super::run::{ReportedDevice, ReportedStatus};
use super::timing::ReportedTiming;
use crate::evaluate::Screening;
use crate::verify::not_judged::NotPassed;
use crate::verify::sentence::{self, SCREENED};
use crate::verify::verdict::{ScreenedTiming, ScreeningTiming};

/// The screening of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreeningReport {
    /// The schema of this document.
    pub schema: ScreeningSchema,
    /// The project.
    pub project: String,
    /// The kernel.
    pub kernel: String,
    /// The hash of the candidate; null if it could not be assembled.
    pub candidate: Option<String>,
    /// The device that ran it.
    #[serde(flatten)]
    pub device: ReportedDevice,
    /// The seed of all inputs.
    pub seed: u64,
    /// The elapsed time.
    pub elapsed_seconds: f64,
    /// What a screening is: `screened, not verified`.
    pub tier: String,
    /// The result in a sentence.
    pub sentence: String,
    /// The result, which is the name of the field with its details.
    pub verdict: String,
    /// The result, without the kind of failure.
    pub status: ReportedStatus,
    /// The details of the result.
    #[serde(flatten)]
    pub outcome: ScreeningOutcome,
}

/// The schema of a [`ScreeningReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScreeningSchema {
    /// The first schema.
    #[serde(rename = "lightbench.screening/1")]
    V1,
}

/// The details of a screening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ScreeningOutcome {
    /// No failure was found.
    Screened {
        /// The checks that were done, and those that were not.
        screened: ReportedChecks,
        /// Screening times.
        screened_times: Vec<ScreenedWorkload>,
    },
    /// The candidate failed, or it was not judged.
    NotPassed(NotPassedReport),
}

/// The screening time of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenedWorkload {
    /// The workload.
    pub workload: String,
    /// Its time, if known.
    #[serde(flatten)]
    pub time: ReportedScreeningTime,
}

/// The result of a screening timing.
#[expect(clippy::large_enum_variant, reason = "almost every screening takes a time")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedScreeningTime {
    /// A few samples, or a model.
    Taken {
        /// The time.
        time: ReportedTiming,
    },
    /// One execution, which was slower than the limit of the screening.
    Abandoned {
        /// Its duration.
        abandoned_after_seconds: f64,
    },
    /// There is no time.
    Withheld {
        /// Why not.
        withheld: String,
    },
}

/// The screening of several kernels of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreeningReports {
    /// The schema of this document.
    pub schema: ScreeningsSchema,
    /// The project.
    pub project: String,
    /// One document for each kernel that was screened.
    pub screenings: Vec<ScreeningReport>,
    /// Kernels that were not run because their files cannot be read.
    pub broken: Vec<ReportedBrokenFile>,
}

/// The schema of [`ScreeningReports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScreeningsSchema {
    /// The first schema.
    #[serde(rename = "lightbench.screenings/1")]
    V1,
}

impl ScreeningReport {
    /// The screening of a kernel of a project, both by name.
    #[must_use]
    pub fn new(
        (project, kernel): (&str, &str),
        device: ReportedDevice,
        screening: &Screening,
    ) -> Self {
        let verdict = screening.verdict.as_ref();
        Self {
            schema: ScreeningSchema::V1,
            project: project.to_owned(),
            kernel: kernel.to_owned(),
            candidate: screening.candidate.map(|hash| format!("{hash:#}")),
            device,
            seed: screening.seed,
            elapsed_seconds: screening.elapsed.as_secs_f64(),
            tier: SCREENED.to_owned(),
            sentence: sentence::screening(kernel, &screening.verdict),
            verdict: verdict.map_or_else(NotPassed::word, |_| "screened").to_owned(),
            status: verdict.map_or_else(ReportedStatus::from_reason, |_| ReportedStatus::Screened),
            outcome: match verdict {
                Ok(screened) => ScreeningOutcome::Screened {
                    screened: (&screened.checks).into(),
                    screened_times: screened.timings.iter().map(Into::into).collect(),
                },
                Err(reason) => ScreeningOutcome::NotPassed(reason.into()),
            },
        }
    }
}

impl From<&ScreenedTiming> for ScreenedWorkload {
    fn from(timing: &ScreenedTiming) -> Self {
        let time = match &timing.timing {
            ScreeningTiming::Taken(timing) => ReportedScreeningTime::Taken { time: timing.into() },
            ScreeningTiming::Abandoned { after } => {
                ReportedScreeningTime::Abandoned { abandoned_after_seconds: after.0 }
            }
            ScreeningTiming::Withheld { reason, .. } => {
                ReportedScreeningTime::Withheld { withheld: reason.clone() }
            }
        };
        Self { workload: timing.workload.clone(), time }
    }
}
