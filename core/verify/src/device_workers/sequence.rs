//! Requests to a device on another host that are sent before they are due.

use lightbench_remote::sequence::{PlannedCall, Sequence};
use lightbench_worker::error::WorkerError;

use super::{DeviceWorkerError, DeviceWorkers};
use crate::device_session::{JudgeReport, JudgeRequest};

/// Inputs that are known to be inadmissible, at most.
const MOST_KEPT: usize = 1024;

/// Requests for a device on another host.
#[derive(Debug, Default)]
pub(super) enum Ahead {
    /// Each request is sent when it is due.
    #[default]
    Nothing,
    /// A rehearsal collects requests.
    Rehearsal(Vec<PlannedCall>),
    /// The host carries out requests before they are due.
    Sent(Sequence),
}

/// The decisions of a reference that inputs are inadmissible. They hold for every candidate; the host need not be asked
/// again.
#[derive(Debug, Default)]
pub(super) struct KnownInadmissible(Vec<(JudgeRequest, JudgeReport)>);

impl KnownInadmissible {
    pub(super) fn find(&self, order: &JudgeRequest) -> Option<&JudgeReport> {
        order.admission.as_ref()?;
        self.0.iter().find(|(known, _)| known == order).map(|(_, report)| report)
    }

    pub(super) fn note(&mut self, order: &JudgeRequest, report: &JudgeReport) {
        if report.inadmissible.is_some() && self.0.len() < MOST_KEPT {
            self.0.push((order.clone(), report.clone()));
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

impl DeviceWorkers {
    /// Whether a rehearsal collects requests, which are not carried out.
    pub(crate) fn is_rehearsal(&self) -> bool {
        matches!(self.ahead, Ahead::Rehearsal(_))
    }

    /// Begins a rehearsal. False where the device is in this machine: then nothing is sent ahead.
    pub(crate) fn begin_rehearsal(&mut self) -> bool {
        let is_remote = self.connection.is_some();
        if is_remote {
            self.ahead = Ahead::Rehearsal(Vec::new());
        }
        is_remote
    }

    /// Ends a rehearsal and sends what it collected.
    pub(crate) fn send_ahead(&mut self) -> Result<(), DeviceWorkerError> {
        let ahead = std::mem::take(&mut self.ahead);
        if let (Ahead::Rehearsal(calls), Some(connection)) = (ahead, &self.connection)
            && calls.len() > 1
        {
            self.ahead = Ahead::Sent(Sequence::new(connection.clone(), calls)?);
        }
        Ok(())
    }

    /// Ends what was sent ahead, or a rehearsal that a panic interrupted: its assumed reports must reach no verdict.
    pub(crate) fn end_ahead(&mut self) {
        self.ahead = Ahead::Nothing;
    }
}

impl Ahead {
    /// Adds a call to the rehearsal in progress, and returns whether there is one.
    pub(super) fn plan(
        &mut self,
        call: impl FnOnce() -> Result<Option<PlannedCall>, WorkerError>,
    ) -> Result<bool, DeviceWorkerError> {
        let Self::Rehearsal(calls) = self else { return Ok(false) };
        calls.extend(call()?);
        Ok(true)
    }

    pub(super) fn sequence(&mut self) -> Option<&mut Sequence> {
        match self {
            Self::Sent(sequence) => Some(sequence),
            Self::Nothing | Self::Rehearsal(_) => None,
        }
    }
}
