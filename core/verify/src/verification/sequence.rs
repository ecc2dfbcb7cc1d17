//! Requests that a device on another host carries out ahead.

use super::stop::stop_from_worker_error;
use super::{Stop, Verification};
use crate::verdict::Step;

impl Verification<'_> {
    /// Carries out a part of the verification. A host that has the device gets the requests that a rehearsal finds, and
    /// carries them out ahead.
    pub(super) fn in_sequence<T>(
        &mut self,
        part: impl Fn(&mut Verification<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if self.workers.begin_rehearsal() {
            let mut rehearsal = Verification {
                subject: self.subject,
                workers: &mut *self.workers,
                seed: self.seed,
                cancellation: self.cancellation,
                watcher: &mut |_, _| (),
                checks: self.checks.clone(),
                sampling: self.sampling.clone(),
                suspicion: None,
            };
            // It ends early where the next request depends on a report.
            let _as_far_as_known = part(&mut rehearsal);
            let sent = self.workers.send_ahead();
            sent.map_err(|error| stop_from_worker_error(error, Step::Load, None))?;
        }
        let done = part(self);
        self.workers.end_ahead();
        done
    }
}
