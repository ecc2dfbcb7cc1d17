//! Why a verification ends early, and what the silence of a device worker says about the candidate.

use lightbench_worker::end::WorkerEnd;

use crate::not_judged::{NotJudged, NotPassed};
use crate::station::StationFailure;
use crate::stations::StationError;
use crate::verdict::{Failure, Refused, Step};

/// Why verification ended early.
#[derive(Debug)]
pub enum Stop {
    /// The candidate is not right.
    Failure(Failure),
    /// Nothing can be found out about the candidate.
    NotJudged(NotJudged),
    /// A worker ended by no act of the evaluation.
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
    /// What to tell a user after it happened in two processes in a row.
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
pub(super) fn of_judge(error: StationError, step: Step, workload: &str) -> Stop {
    let reason = match error {
        StationError::Cancelled => return NotJudged::Cancelled.into(),
        StationError::Ended(end) => {
            let workload = Some(workload.to_owned()).filter(|_| step != Step::HeldOut);
            return Stop::WorkerEnded(Box::new(WorkerLoss { end: *end, step, workload }));
        }
        StationError::Failed(StationFailure::Reference(reason)) => reason,
        error @ (StationError::Failed(_)
        | StationError::TimedOut(_)
        | StationError::Lost(_)
        | StationError::Environment(_)) => error.to_string(),
    };
    Stop::Broken(format!("the reference, workload `{workload}`: {reason}"))
}

/// What a station's silence says about the candidate.
pub(super) fn stop(error: StationError, step: Step, workload: Option<&str>) -> Stop {
    let workload = || workload.unwrap_or_default().to_owned();
    let failure = match error {
        StationError::Cancelled => return NotJudged::Cancelled.into(),
        StationError::TimedOut(limit) => {
            let workload = Some(workload()).filter(|name| !name.is_empty());
            Failure::TimedOut { step, workload, limit, at: None }
        }
        StationError::Lost(reason) => return NotJudged::DeviceLost { step, reason }.into(),
        StationError::Ended(end) => {
            let workload =
                Some(workload()).filter(|name| !name.is_empty() && step != Step::HeldOut);
            return Stop::WorkerEnded(Box::new(WorkerLoss { end: *end, step, workload }));
        }
        StationError::Failed(StationFailure::NotSupported(reason)) => {
            return NotJudged::NotSupported { reason }.into();
        }
        StationError::Failed(StationFailure::Load(reason)) => {
            Failure::Refused(Refused::Load(reason))
        }
        StationError::Failed(StationFailure::Launch(reason)) => {
            Failure::Refused(Refused::Launch { workload: workload(), problems: vec![reason] })
        }
        StationError::Failed(StationFailure::Memory(reason)) => {
            Failure::Refused(Refused::Memory(reason))
        }
        StationError::Failed(failure) => return Stop::Broken(failure.to_string()),
        StationError::Environment(reason) => return Stop::Broken(reason),
    };
    Stop::Failure(failure)
}
