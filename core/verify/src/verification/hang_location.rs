//! Where a kernel was when its time limit ended the run: a second, shorter run on a virtual device finds the place.

use super::{Attempt, Stop, Verification};
use crate::device_session::RunRequest;
use crate::verdict::{Failure, Step};

impl Verification<'_> {
    /// Adds to a time-out the place in the code where the kernel still was after many steps; the place is not reported
    /// for held-out workloads.
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
