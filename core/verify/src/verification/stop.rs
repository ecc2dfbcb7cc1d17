//! Why a verification ends early, and what a missing report of a device worker means for the candidate.

use lightbench_worker::end::WorkerEnd;

use crate::device_session::SessionFailure;
use crate::device_workers::DeviceWorkerError;
use crate::not_judged::{NotJudged, NotPassed};
use crate::reference_source::ReferenceTooLarge;
use crate::verdict::{Failure, Refused, Step};

/// Why verification ended early.
#[derive(Debug)]
pub enum Stop {
    /// The candidate failed a check.
    Failure(Failure),
    /// The candidate cannot be judged.
    NotJudged(NotJudged),
    /// The reference in Python does not compute this workload within its limits.
    ReferenceTooLarge(ReferenceTooLarge),
    /// A worker ended although the evaluation did not end it.
    WorkerEnded(Box<WorkerLoss>),
    /// The request is wrong, in words.
    Request(String),
    /// The machine or the project is at fault, in words.
    Broken(String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<NotJudged> for Stop {
    fn from(reason: NotJudged) -> Self {
        Self::NotJudged(reason)
    }
}

impl From<NotPassed> for Stop {
    fn from(reason: NotPassed) -> Self {
        match reason {
            NotPassed::Failed(failure) => Self::Failure(failure),
            NotPassed::NotJudged(reason) => Self::NotJudged(reason),
        }
    }
}

/// A worker that ended, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerLoss {
    /// How it ended.
    pub end: WorkerEnd,
    /// In which step.
    pub step: Step,
    /// The workload, unless it is held out.
    pub workload: Option<String>,
}

impl WorkerLoss {
    /// The message for a user after it happened in two processes in a row.
    #[must_use]
    pub fn in_two_processes(&self) -> String {
        let Self { end, step, workload } = self;
        let workload = workload.as_ref().map(|name| format!(", workload `{name}`"));
        let (workload, advice) = (workload.unwrap_or_default(), end.advice());
        format!(
            "no verdict after two processes ({step}{workload}): {end}; {advice}, then run again"
        )
    }
}

/// Why the reference's worker gave no report.
pub(super) fn stop_from_reference_error(
    error: DeviceWorkerError,
    step: Step,
    workload: &str,
) -> Stop {
    let reason = match error {
        DeviceWorkerError::Cancelled => return NotJudged::Cancelled.into(),
        DeviceWorkerError::Ended(end) => {
            let workload = Some(workload.to_owned()).filter(|_| step != Step::HeldOut);
            return Stop::WorkerEnded(Box::new(WorkerLoss { end: *end, step, workload }));
        }
        DeviceWorkerError::ReferenceUnavailable(reason) => {
            return NotJudged::NotSupported { reason: format!("reference unavailable: {reason}") }
                .into();
        }
        DeviceWorkerError::ReferenceTooLarge(reason) => {
            let workload = workload.to_owned();
            return Stop::ReferenceTooLarge(ReferenceTooLarge { workload, reason });
        }
        DeviceWorkerError::Lost(reason) => return NotJudged::DeviceLost { step, reason }.into(),
        DeviceWorkerError::Failed(SessionFailure::Reference(reason)) => reason,
        error @ (DeviceWorkerError::Failed(_)
        | DeviceWorkerError::TimedOut(_)
        | DeviceWorkerError::Environment(_)) => error.to_string(),
    };
    Stop::Broken(format!("the reference, workload `{workload}`: {reason}"))
}

/// What a missing report of the candidate's worker means for the candidate.
pub(super) fn stop_from_worker_error(
    error: DeviceWorkerError,
    step: Step,
    workload: Option<&str>,
) -> Stop {
    let workload = || workload.unwrap_or_default().to_owned();
    let failure = match error {
        DeviceWorkerError::Cancelled => return NotJudged::Cancelled.into(),
        DeviceWorkerError::TimedOut(limit) => {
            let workload = Some(workload()).filter(|name| !name.is_empty());
            Failure::TimedOut { step, workload, limit, at: None }
        }
        DeviceWorkerError::Lost(reason) => return NotJudged::DeviceLost { step, reason }.into(),
        DeviceWorkerError::Ended(end) => {
            let workload =
                Some(workload()).filter(|name| !name.is_empty() && step != Step::HeldOut);
            return Stop::WorkerEnded(Box::new(WorkerLoss { end: *end, step, workload }));
        }
        DeviceWorkerError::Failed(SessionFailure::NotSupported(reason)) => {
            return NotJudged::NotSupported { reason }.into();
        }
        DeviceWorkerError::Failed(SessionFailure::Load(reason)) => {
            Failure::Refused(Refused::Load(reason))
        }
        DeviceWorkerError::Failed(SessionFailure::Launch(reason)) => {
            Failure::Refused(Refused::Launch { workload: workload(), problems: vec![reason] })
        }
        DeviceWorkerError::Failed(SessionFailure::Memory(reason)) => {
            Failure::Refused(Refused::Memory(reason))
        }
        DeviceWorkerError::Failed(failure) => return Stop::Broken(failure.to_string()),
        DeviceWorkerError::ReferenceUnavailable(reason)
        | DeviceWorkerError::ReferenceTooLarge(reason)
        | DeviceWorkerError::Environment(reason) => return Stop::Broken(reason),
    };
    Stop::Failure(failure)
}
