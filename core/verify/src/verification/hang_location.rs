//! Where a run was that its limit stopped: asked of a virtual device by a second, shorter run.

use super::{Attempt, Stop, Verification};
use crate::device_session::RunRequest;
use crate::verdict::{Failure, Step};

impl Verification<'_> {
    /// A run that was stopped by its limit, with the place where it still is after many steps; nobody is told that of what
    /// is held out.
    pub(super) fn with_hang_location(
        &mut self,
        stop: Stop,
        attempt: &Attempt<'_>,
        order: RunRequest,
    ) -> Stop {
        let Stop::Failure(Failure::TimedOut { step, workload, limit, at: None }) = stop else {
            return stop;
        };
        let open = step != Step::HeldOut;
        let mut at = open.then(|| self.workers.hang_location(order, self.cancellation)).flatten();
        if let (Some(fault), Some(origins)) = (&mut at, self.subject.origins(attempt.trial)) {
            fault.settle(origins);
        }
        Failure::TimedOut { step, workload, limit, at: at.map(Box::new) }.into()
    }
}
