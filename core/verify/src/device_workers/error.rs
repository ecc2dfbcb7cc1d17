//! Why a device worker gave no report.

use std::time::Duration;

use lightbench_worker::end::{WorkerEnd, WorkerRole};
use lightbench_worker::error::WorkerError;

use crate::device_session::SessionFailure;

/// Why a device worker gave no report.
#[derive(Debug, thiserror::Error)]
pub enum DeviceWorkerError {
    /// It exceeded its limit and was killed.
    #[error("stopped after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The device failed.
    #[error("{0}")]
    Lost(String),
    /// The process ended before it replied, and its parent did not end it.
    #[error("{0}")]
    Ended(Box<WorkerEnd>),
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
    /// It cannot carry out the request.
    #[error(transparent)]
    Failed(SessionFailure),
    /// The reference is in Python, and this machine cannot run it.
    #[error("reference.py cannot run: {0}")]
    ReferenceUnavailable(String),
    /// A call of the reference in Python exceeded its time or memory.
    #[error("reference.py: {0}")]
    ReferenceTooLarge(String),
    /// The machine cannot have such a process.
    #[error("{0}")]
    Environment(String),
}

impl DeviceWorkerError {
    /// The same error, attributed to the reference's process.
    pub(super) fn with_reference_role(self) -> Self {
        match self {
            Self::Ended(end) => {
                Self::Ended(Box::new(WorkerEnd { role: WorkerRole::Reference, ..*end }))
            }
            other @ (Self::TimedOut(_)
            | Self::Lost(_)
            | Self::Cancelled
            | Self::Failed(_)
            | Self::ReferenceUnavailable(_)
            | Self::ReferenceTooLarge(_)
            | Self::Environment(_)) => other,
        }
    }
}

/// The reply of a device worker.
pub(crate) fn replied<Report>(
    reply: Result<Result<Report, SessionFailure>, WorkerError>,
) -> Result<Report, DeviceWorkerError> {
    match reply {
        Ok(Ok(report)) => Ok(report),
        Ok(Err(SessionFailure::Device(reason))) => Err(DeviceWorkerError::Lost(reason)),
        Ok(Err(SessionFailure::Open(reason))) => Err(DeviceWorkerError::Environment(reason)),
        Ok(Err(failure)) => Err(DeviceWorkerError::Failed(failure)),
        Err(error) => Err(error.into()),
    }
}

impl From<WorkerError> for DeviceWorkerError {
    fn from(error: WorkerError) -> Self {
        let text = error.to_string();
        match error {
            WorkerError::TimedOut { limit, .. } => Self::TimedOut(limit),
            WorkerError::Cancelled => Self::Cancelled,
            WorkerError::Died { during, death, stderr_tail, oom_kills } => {
                let role = WorkerRole::Candidate;
                Self::Ended(Box::new(WorkerEnd { role, during, death, stderr_tail, oom_kills }))
            }
            WorkerError::Start { .. }
            | WorkerError::Setup(_)
            | WorkerError::OtherVersion { .. }
            | WorkerError::OtherBuild { .. }
            | WorkerError::Protocol(_)
            | WorkerError::Request(_)
            | WorkerError::ReplyTooLarge { .. }
            | WorkerError::OnHost { .. } => Self::Environment(text),
            WorkerError::ConnectionLost { .. } => Self::Lost(text),
        }
    }
}
