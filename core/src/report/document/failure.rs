//! Why a candidate did not pass: it failed, or it was not judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build_failure::{BuildFailureDetails, ReportedBuildFailure};
use super::checks::ReportedEvidence;
use super::fault::{ReportedFault, ReportedFaults};
use super::number::ReportedNumber;
use crate::compile::facts::FactsError;
use crate::project::launch::expectation::WrongKind;
use crate::tensors::compare::{ErrorMap, Mismatch, OutputError};
use crate::tensors::inputs::InputSpec;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::sentence::{describe_flushing_flag, describe_output};
use crate::verify::verdict::{Failure, Refused, Step, Wrong};

/// The details of a verdict that is not `passed`, in the field that has the name of the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NotPassedReport {
    /// The kernel does not compile.
    Compile {
        /// The failure.
        compile: ReportedBuildFailure,
    },
    /// The kernel is not run at all.
    Refused {
        /// The refusal.
        refused: RefusedReport,
    },
    /// The kernel broke a rule while it ran.
    Fault {
        /// The faults of the launch.
        fault: ReportedFaults,
    },
    /// The results are wrong.
    Wrong {
        /// The wrong outputs.
        wrong: WrongReport,
    },
    /// The kernel exceeded its time limit.
    TimedOut {
        /// The limit.
        timed_out: ReportedTimeout,
    },
    /// The device failed; the kernel was not judged.
    DeviceLost {
        /// The device's failure.
        device_lost: ReportedDeviceLoss,
    },
    /// Two device workers crashed in the same step; the kernel was not judged.
    CrashesWorker {
        /// The crash.
        crashes_worker: ReportedCrash,
    },
    /// The device lacks something that the kernel uses; the kernel was not judged.
    NotSupported {
        /// The feature.
        not_supported: UnsupportedFeature,
    },
    /// The user cancelled; the kernel was not judged.
    Cancelled {
        /// Has no fields.
        cancelled: NoDetails,
    },
}

/// Why a kernel is not run at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RefusedReport {
    /// It includes a file that is not permitted.
    Include(BuildFailureDetails),
    /// Its parameters do not match the arguments.
    Arguments(BuildFailureDetails),
    /// It cannot be built for another reason.
    Build(BuildFailureDetails),
    /// Its code does what the policy refuses.
    Evidence {
        /// Every use.
        evidence: Vec<ReportedEvidence>,
    },
    /// A launch that the compiled kernel or the device does not permit.
    Launch {
        /// The workload.
        workload: String,
        /// Everything that is not permitted.
        problems: Vec<String>,
    },
    /// The device cannot load its code.
    Load {
        /// The reason.
        message: String,
    },
    /// It needs more memory than the device has, or than the project allows.
    Memory {
        /// The reason.
        message: String,
    },
    /// A flag replaces subnormal numbers by zeros, and the definition keeps them.
    Subnormals {
        /// The flag.
        flag: String,
        /// The conflict, and how to resolve it.
        message: String,
    },
}

/// Wrong results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum WrongReport {
    /// On a visible workload.
    Visible {
        /// In which way the results are wrong.
        #[schemars(with = "String")]
        kind: WrongKind,
        /// The workload.
        workload: String,
        /// Seed and mode of the inputs.
        #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
        recipe: InputSpec,
        /// The step of verification.
        #[schemars(with = "String")]
        step: Step,
        /// The wrong outputs.
        outputs: Vec<ReportedOutput>,
        /// An explanation, if the outputs need one.
        details: Option<String>,
        /// What the checks made suspicious on this workload, with its place, such as operands of a product that do not
        /// match.
        #[serde(default)]
        likely_cause: Option<String>,
    },
    /// On a held-out workload; nothing else is reported.
    HeldOut {
        /// The kind.
        kind: HeldOutKind,
    },
}

/// The kind of wrong results on a held-out workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutKind {
    /// Results are wrong on a held-out workload.
    HeldOut,
}

/// A wrong output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedOutput {
    /// Its name.
    pub output: String,
    /// The error in a sentence; empty in histories of earlier versions.
    #[serde(default)]
    pub sentence: String,
    /// In which way it is wrong.
    #[schemars(with = "String")]
    pub kind: WrongKind,
    /// The number of wrong elements; 0 if only the root mean square exceeds its limit.
    pub count: u64,
    /// The first wrong element in the order of its index.
    pub first: Option<ReportedMismatch>,
    /// The element with the largest error as a multiple of the tolerance.
    pub worst: Option<ReportedMismatch>,
    /// The root mean square of the errors, if it exceeds its limit.
    pub root_mean_square: Option<ReportedRootMeanSquare>,
    /// Wrong elements (`counts`) and elements (`sizes`) in each cell of a grid with `columns` columns.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub map: ErrorMap,
}

/// A root mean square above its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedRootMeanSquare {
    /// The value found.
    pub found: ReportedNumber,
    /// The limit.
    pub accepted: ReportedNumber,
}

/// One wrong element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedMismatch {
    /// Its index in the tensor, one number for each dimension.
    pub index: Vec<u64>,
    /// The candidate's value.
    pub found: ReportedNumber,
    /// The reference's value: floats before rounding to the output's type.
    pub expected: ReportedNumber,
    /// Their distance in units in the last place of the output's type; null for NaN, infinity and integers.
    pub ulps: Option<ReportedNumber>,
    /// The accepted error; null if elements must be equal.
    pub accepted_error: Option<ReportedNumber>,
}

/// A kernel that exceeded its time limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedTimeout {
    /// The step of verification.
    #[schemars(with = "String")]
    pub step: Step,
    /// The workload; null for a held-out workload.
    pub workload: Option<String>,
    /// The limit.
    pub limit_seconds: f64,
    /// Where the kernel was after many steps, if a virtual device found the place.
    pub at: Option<ReportedFault>,
}

/// A device that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedDeviceLoss {
    /// The step of verification.
    #[schemars(with = "String")]
    pub step: Step,
    /// What the driver reported.
    pub reason: String,
}

/// A device worker that crashed twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCrash {
    /// The step of verification.
    #[schemars(with = "String")]
    pub step: Step,
    /// The workload; null for a held-out workload.
    pub workload: Option<String>,
    /// How the second process ended.
    pub death: String,
}

/// A feature that the device does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsupportedFeature {
    /// The feature, and where the kernel uses it.
    pub message: String,
}

/// No details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoDetails {}

impl NotPassedReport {
    /// Whether the kernel was judged: the verdict is a failure of the kernel.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        match self {
            Self::Compile { .. }
            | Self::Refused { .. }
            | Self::Fault { .. }
            | Self::Wrong { .. }
            | Self::TimedOut { .. } => true,
            Self::DeviceLost { .. }
            | Self::CrashesWorker { .. }
            | Self::NotSupported { .. }
            | Self::Cancelled { .. } => false,
        }
    }

    /// The details without the name of the verdict, as a history stores them.
    ///
    /// # Errors
    /// A value has no JSON form.
    pub fn details(&self) -> serde_json::Result<serde_json::Value> {
        match self {
            Self::Compile { compile } => serde_json::to_value(compile),
            Self::Refused { refused } => serde_json::to_value(refused),
            Self::Fault { fault } => serde_json::to_value(fault),
            Self::Wrong { wrong } => serde_json::to_value(wrong),
            Self::TimedOut { timed_out } => serde_json::to_value(timed_out),
            Self::DeviceLost { device_lost } => serde_json::to_value(device_lost),
            Self::CrashesWorker { crashes_worker } => serde_json::to_value(crashes_worker),
            Self::NotSupported { not_supported } => serde_json::to_value(not_supported),
            Self::Cancelled { cancelled } => serde_json::to_value(cancelled),
        }
    }
}

impl From<&NotPassed> for NotPassedReport {
    fn from(reason: &NotPassed) -> Self {
        match reason {
            NotPassed::Failed(failure) => failure.into(),
            NotPassed::NotJudged(reason) => reason.into(),
        }
    }
}

impl From<&Failure> for NotPassedReport {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Compile(error) => Self::Compile { compile: error.as_ref().into() },
            Failure::Refused(refused) => Self::Refused { refused: refused.into() },
            Failure::Fault(fault) => Self::Fault { fault: fault.as_ref().into() },
            Failure::Wrong(wrong) => Self::Wrong { wrong: wrong.as_ref().into() },
            Failure::TimedOut { step, workload, limit, at } => Self::TimedOut {
                timed_out: ReportedTimeout {
                    step: *step,
                    workload: workload.clone(),
                    limit_seconds: limit.as_secs_f64(),
                    at: at.as_deref().map(Into::into),
                },
            },
        }
    }
}

impl From<&NotJudged> for NotPassedReport {
    fn from(reason: &NotJudged) -> Self {
        match reason {
            NotJudged::DeviceLost { step, reason } => Self::DeviceLost {
                device_lost: ReportedDeviceLoss { step: *step, reason: reason.clone() },
            },
            NotJudged::CrashesWorker { step, workload, death } => Self::CrashesWorker {
                crashes_worker: ReportedCrash {
                    step: *step,
                    workload: workload.clone(),
                    death: death.to_string(),
                },
            },
            NotJudged::NotSupported { reason } => {
                Self::NotSupported { not_supported: UnsupportedFeature { message: reason.clone() } }
            }
            NotJudged::Cancelled => Self::Cancelled { cancelled: NoDetails {} },
        }
    }
}

impl From<&Refused> for RefusedReport {
    fn from(refused: &Refused) -> Self {
        match refused {
            Refused::Build(error) => {
                let details = error.as_ref().into();
                match error.as_ref() {
                    FactsError::Include(_) => Self::Include(details),
                    FactsError::Arguments { .. } => Self::Arguments(details),
                    FactsError::Plan(_)
                    | FactsError::NoSuchKernel { .. }
                    | FactsError::Compile(_) => Self::Build(details),
                }
            }
            Refused::Evidence(all) => {
                Self::Evidence { evidence: all.iter().map(Into::into).collect() }
            }
            Refused::Launch { workload, problems } => {
                Self::Launch { workload: workload.clone(), problems: problems.clone() }
            }
            Refused::Load(reason) => Self::Load { message: reason.clone() },
            Refused::Memory(reason) => Self::Memory { message: reason.clone() },
            Refused::Subnormals(flag) => {
                Self::Subnormals { flag: (*flag).to_owned(), message: describe_flushing_flag(flag) }
            }
        }
    }
}

impl From<&Wrong> for WrongReport {
    fn from(wrong: &Wrong) -> Self {
        match wrong {
            Wrong::HeldOut => Self::HeldOut { kind: HeldOutKind::HeldOut },
            Wrong::Seen { kind, workload, recipe, step, outputs, details, likely_cause } => {
                Self::Visible {
                    kind: *kind,
                    workload: workload.clone(),
                    recipe: *recipe,
                    step: *step,
                    outputs: outputs
                        .iter()
                        .map(|(name, wrong)| ReportedOutput::new(name.clone(), wrong))
                        .collect(),
                    details: details.clone(),
                    likely_cause: likely_cause.clone(),
                }
            }
        }
    }
}

impl ReportedOutput {
    /// The defect of the output of that name.
    #[must_use]
    pub fn new(output: String, wrong: &OutputError) -> Self {
        Self {
            sentence: describe_output(&output, wrong),
            output,
            kind: wrong.kind,
            count: wrong.count,
            first: wrong.first.as_ref().map(Into::into),
            worst: wrong.worst.as_ref().map(Into::into),
            root_mean_square: wrong.root_mean_square.map(|(found, accepted)| {
                ReportedRootMeanSquare { found: found.into(), accepted: accepted.into() }
            }),
            map: wrong.map.clone(),
        }
    }
}

impl From<&Mismatch> for ReportedMismatch {
    fn from(mismatch: &Mismatch) -> Self {
        let Mismatch { index, found, expected, ulps, accepted } = mismatch;
        Self {
            index: index.clone(),
            found: (*found).into(),
            expected: (*expected).into(),
            ulps: ulps.map(Into::into),
            accepted_error: accepted.map(Into::into),
        }
    }
}
