//! Why an evaluation has no finding about a candidate: the device, the machine or the user ended it.
//!
//! None of these counts for or against a kernel. A kernel's code never runs on the host, so a process of ours that
//! crashes while it carries out a request shows a defect of Lightbench or of the driver, however reliably the kernel
//! provokes it.

use lightbench_worker::error::Death;

use super::verdict::{Failure, Step};

/// Why a candidate did not pass: two kinds of reasons that are never mixed.
#[derive(Debug)]
pub enum NotPassed {
    /// The kernel is at fault.
    Failed(Failure),
    /// The evaluation ended without a finding about the kernel.
    NotJudged(NotJudged),
}

/// Why an evaluation ended without a finding about the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotJudged {
    /// The device failed.
    DeviceLost {
        /// In which step.
        step: Step,
        /// What the driver reported.
        reason: String,
    },
    /// Two fresh device workers crashed in the same step.
    CrashesWorker {
        /// In which step.
        step: Step,
        /// The workload, unless it is held out.
        workload: Option<String>,
        /// How the second process ended.
        death: Death,
    },
    /// The kernel uses an instruction or a feature that this device does not have.
    NotSupported {
        /// The feature, and where the kernel uses it.
        reason: String,
    },
    /// The user cancelled.
    Cancelled,
}

impl NotPassed {
    /// Whether the user cancelled.
    #[must_use]
    pub const fn is_cancelled(&self) -> bool {
        matches!(self, Self::NotJudged(NotJudged::Cancelled))
    }

    /// The failure of the kernel; none where it was not judged.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::NotJudged(_) => None,
        }
    }

    /// The word for the reason in reports for programs, the value of `verdict`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Failed(failure) => failure.word(),
            Self::NotJudged(reason) => reason.word(),
        }
    }

    /// The word for the kind of reason in reports for programs, the value of `status`.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::NotJudged(_) => "not_judged",
        }
    }
}

impl NotJudged {
    /// The word for a feature that the device does not have.
    pub const NOT_SUPPORTED: &'static str = "not_supported";

    /// The words of all reasons.
    pub const WORDS: [&'static str; 4] =
        ["device_lost", "crashes_worker", Self::NOT_SUPPORTED, "cancelled"];

    /// The word for the reason in reports for programs.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::DeviceLost { .. } => "device_lost",
            Self::CrashesWorker { .. } => "crashes_worker",
            Self::NotSupported { .. } => Self::NOT_SUPPORTED,
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<Failure> for NotPassed {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NotJudged> for NotPassed {
    fn from(reason: NotJudged) -> Self {
        Self::NotJudged(reason)
    }
}
