//! Entries of the timeline of the first block, while it is replayed.

use lightbench_units::Bytes;

use super::super::super::trace::TracedAccess;
use super::super::timeline::{Activity, CopyInterval, ProductInterval, Recorder, Span};
use super::{Cause, Replay, TICKS};

impl Replay<'_> {
    /// The recorder and the index of a warp in its block, if its block is recorded.
    fn recorder(&mut self, index: usize) -> Option<(&mut Recorder, u32)> {
        let running = self.warps.get(index).filter(|running| running.is_first)?;
        let warp = running.of.1 as u32;
        self.recorder.as_mut().map(|recorder| (recorder, warp))
    }

    pub(super) fn record_span(&mut self, index: usize, (start, end): (u64, u64), cause: Cause) {
        if let Some((recorder, warp)) = self.recorder(index) {
            let activity = match cause {
                Cause::Busy => Activity::Runs,
                Cause::Waits(reason) => Activity::Waits(reason),
            };
            recorder
                .add_span(warp, Span { start: to_cycles(start), end: to_cycles(end), activity });
        }
    }

    /// A copy into shared memory.
    pub(super) fn record_load(
        &mut self,
        index: usize,
        (start, end): (u64, u64),
        access: TracedAccess,
    ) {
        if let Some((recorder, warp)) = self.recorder(index) {
            let sectors = access.near + access.l2 + access.far;
            recorder.add_copy(CopyInterval {
                warp,
                start: to_cycles(start),
                end: to_cycles(end),
                bytes: Bytes(32 * u64::from(sectors)),
            });
        }
    }

    pub(super) fn record_product(&mut self, index: usize, (start, end): (u64, u64)) {
        if let Some((recorder, warp)) = self.recorder(index) {
            recorder.add_product(ProductInterval {
                warp,
                start: to_cycles(start),
                end: to_cycles(end),
            });
        }
    }
}

fn to_cycles(ticks: u64) -> f64 {
    ticks as f64 / TICKS
}
