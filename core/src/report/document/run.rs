//! The document of an evaluation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::{ReportedChecks, ReportedTimedSize};
use super::failure::NotPassedReport;
use super::problem::ReportedBrokenFile;
use super::timing::ReportedWorkloadTiming;
use crate::evaluate::Run;
use crate::verify::not_judged::NotPassed;
use crate::verify::sentence;
use crate::verify::verdict::Passed;

/// The evaluation of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// The schema of this document.
    pub schema: RunSchema,
    /// The project.
    pub project: String,
    /// The kernel.
    pub kernel: String,
    /// The hash of the candidate; null if it could not be assembled.
    pub candidate: Option<String>,
    /// The device that ran it.
    #[serde(flatten)]
    pub device: ReportedDevice,
    /// The source of a GPU's ceilings; null for a virtual device, which uses its device sheet.
    pub ceilings: Option<String>,
    /// The seed of all inputs.
    pub seed: u64,
    /// The elapsed time up to the first held-out workload.
    pub elapsed_seconds: f64,
    /// The verdict in a sentence.
    pub sentence: String,
    /// The verdict, which is the name of the field with its details.
    pub verdict: String,
    /// The verdict, without the kind of failure.
    pub status: ReportedStatus,
    /// The details of the verdict.
    #[serde(flatten)]
    pub outcome: RunOutcome,
}

/// The schema of a [`RunReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RunSchema {
    /// The first schema.
    #[serde(rename = "lightbench.run/1")]
    V1,
}

/// The device that an evaluation used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedDevice {
    /// The device, as the option `--device` names it.
    pub device: String,
    /// Its name in words.
    pub device_title: String,
    /// Why it is not a GPU, if the user did not request a virtual device.
    pub instead_of_gpu: Option<String>,
}

/// The verdict on a candidate, without the kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedStatus {
    /// It passed every check that the device can run.
    Passed,
    /// A part of the checks found no failure; the candidate is not verified.
    Screened,
    /// It failed.
    Failed,
    /// The device, the machine or the user ended the evaluation without a finding about the kernel.
    NotJudged,
}

/// The details of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunOutcome {
    /// The candidate passed.
    Passed {
        /// Checks and times.
        passed: PassedReport,
    },
    /// The candidate failed, or it was not judged.
    NotPassed(NotPassedReport),
}

/// Checks and times of a candidate that passed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassedReport {
    /// The checks that were done, and those that were not.
    #[serde(flatten)]
    pub checks: ReportedChecks,
    /// Timed workloads whose results were not compared: their times are modelled.
    pub only_modelled: Vec<String>,
    /// How each timed workload was checked at its own size.
    pub timed_sizes: Vec<ReportedTimedSize>,
    /// The times of each workload.
    pub times: Vec<ReportedWorkloadTiming>,
}

/// The evaluation of several kernels of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReports {
    /// The schema of this document.
    pub schema: RunsSchema,
    /// The project.
    pub project: String,
    /// One document for each kernel that ran.
    pub runs: Vec<RunReport>,
    /// Kernels that were not run because their files cannot be read.
    pub broken: Vec<ReportedBrokenFile>,
}

/// The schema of [`RunReports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RunsSchema {
    /// The first schema.
    #[serde(rename = "lightbench.runs/1")]
    V1,
}

impl RunReport {
    /// The evaluation of a kernel of a project, both by name. `ceilings` is the source of a GPU's ceilings.
    #[must_use]
    pub fn new(
        (project, kernel): (&str, &str),
        device: ReportedDevice,
        ceilings: Option<String>,
        run: &Run,
    ) -> Self {
        Self {
            schema: RunSchema::V1,
            project: project.to_owned(),
            kernel: kernel.to_owned(),
            candidate: run.candidate.map(|hash| format!("{hash:#}")),
            device,
            ceilings,
            seed: run.seed,
            elapsed_seconds: run.elapsed.as_secs_f64(),
            sentence: sentence::verdict(kernel, &run.verdict),
            verdict: verdict_word(&run.verdict).to_owned(),
            status: ReportedStatus::from_verdict(&run.verdict),
            outcome: match &run.verdict {
                Ok(passed) => RunOutcome::Passed { passed: passed.into() },
                Err(reason) => RunOutcome::NotPassed(reason.into()),
            },
        }
    }
}

/// The value of `verdict` for a verification.
#[must_use]
pub fn verdict_word(verdict: &Result<Passed, NotPassed>) -> &'static str {
    verdict.as_ref().map_or_else(NotPassed::word, |_| "passed")
}

impl ReportedStatus {
    /// The value of `status` for a verification.
    #[must_use]
    pub const fn from_verdict(verdict: &Result<Passed, NotPassed>) -> Self {
        match verdict {
            Ok(_) => Self::Passed,
            Err(reason) => Self::from_reason(reason),
        }
    }

    /// The value of `status` for a candidate that did not pass.
    #[must_use]
    pub const fn from_reason(reason: &NotPassed) -> Self {
        match reason {
            NotPassed::Failed(_) => Self::Failed,
            NotPassed::NotJudged(_) => Self::NotJudged,
        }
    }
}

impl From<&Passed> for PassedReport {
    fn from(passed: &Passed) -> Self {
        let only_modelled = passed.not_checked_sizes();
        Self {
            checks: (&passed.checks).into(),
            only_modelled: only_modelled.map(|(workload, _)| workload.to_owned()).collect(),
            timed_sizes: passed.timings.iter().map(Into::into).collect(),
            times: passed.timings.iter().map(Into::into).collect(),
        }
    }
}
