//! Where a run was that its limit stopped: asked of a virtual device by a second, shorter run.

use super::{Attempt, Stop, Verification};
use crate::station::RunOrder;
use crate::verdict::{Failure, Step};

impl Verification<'_> {
    /// A run that was stopped by its limit, with the place where it still is after many steps; nobody is told that of what
    /// is held out.
    pub(super) fn with_place(
        &mut self,
        stop: Stop,
        attempt: &Attempt<'_>,
        order: RunOrder,
    ) -> Stop {
        let Stop::Failure(Failure::TimedOut { step, workload, limit, at: None }) = stop else {
            return stop;
        };
        let open = step != Step::HeldOut;
        let mut at = open.then(|| self.stations.still_running(order, self.cancellation)).flatten();
        if let (Some(fault), Some(origins)) = (&mut at, self.subject.origins(attempt.trial)) {
            fault.settle(origins);
        }
        Failure::TimedOut { step, workload, limit, at: at.map(Box::new) }.into()
    }
}
