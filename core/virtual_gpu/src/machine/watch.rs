//! Pauses of a launch: the conditions are checked before an instruction, and only in watched launches.
//!
//! A watched warp executes its steps one at a time, so that the interpreter loop checks the conditions where it
//! would otherwise end its turn. A launch that is not watched has no cost.

use super::recording::Recording;
use super::run::{BlockState, Worker};
use super::warp::{Split, Warp};

/// One thread of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId {
    pub block: [u32; 3],
    /// Index within the block.
    pub thread: [u32; 3],
}

/// The instructions at which a launch pauses.
#[derive(Clone, Debug)]
pub(super) enum PauseFilter {
    /// At none.
    Never,
    /// At all.
    Always,
    /// At the instructions of the program whose entry is true.
    At(Vec<bool>),
}

/// The conditions of a pause, and the warp that paused.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Pauses before this step in any case.
    pub(super) step: u64,
    /// Applies `stops` from this step on.
    pub(super) from: u64,
    pub(super) stops: PauseFilter,
    /// Pauses only if this thread executes the instruction; any thread if none.
    pub(super) thread: Option<ThreadId>,
    pub(super) found: Option<PausedWarp>,
    /// The recorded accesses of one warp, if requested.
    pub(super) recording: Option<Recording>,
}

/// The state of a warp at a pause.
#[derive(Clone, Debug)]
pub(super) struct PausedWarp {
    pub(super) step: u64,
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) warp: Warp,
    pub(super) block: BlockState,
}

/// The position of a warp in the grid.
struct WarpPosition {
    block: [u32; 3],
    warp: u32,
    /// The dimensions of a block in threads.
    size: [u32; 3],
}

impl Watch {
    /// Never pauses, and records the accesses of a warp.
    pub(super) const fn recording(recording: Recording) -> Self {
        let (step, from, stops) = (u64::MAX, 0, PauseFilter::Never);
        Self { step, from, stops, thread: None, found: None, recording: Some(recording) }
    }

    /// Whether the launch pauses before `pc`, which the lanes of the mask are about to execute.
    fn pauses(&self, step: u64, pc: u32, at: &WarpPosition, mask: u32) -> bool {
        if step >= self.step {
            return true;
        }
        let stops = match &self.stops {
            PauseFilter::Never => false,
            PauseFilter::Always => true,
            PauseFilter::At(places) => places.get(pc as usize).copied().unwrap_or(false),
        };
        if step < self.from || !stops {
            return false;
        }
        let Some(ThreadId { block: of, thread: [x, y, z] }) = self.thread else { return true };
        if [x, y, z].iter().zip(at.size).any(|(index, size)| *index >= size) {
            return false;
        }
        let linear = (z * at.size[1] + y) * at.size[0] + x;
        of == at.block && linear / 32 == at.warp && mask >> (linear % 32) & 1 == 1
    }
}

impl Worker<'_, '_> {
    /// Whether a warp that has no steps left gets another one, which only a watched launch withholds.
    pub(super) fn goes_on(&mut self, split: &Split) -> bool {
        // The cost of a poll was subtracted from the budget.
        self.withheld += self.budget;
        self.budget = 0;
        if self.withheld <= 0 {
            return false;
        }
        let (step, pc, mask) = (self.launch.steps, split.pc, split.mask);
        let given = self.traced_steps(pc).min(self.withheld);
        self.record(split);
        let Some(watch) = &mut self.launch.watch else {
            self.withheld -= given;
            self.budget = given;
            return true;
        };
        let at = WarpPosition {
            block: self.block.index,
            warp: self.warp.index,
            size: self.launch.block,
        };
        if watch.pauses(step, pc, &at, mask) {
            let mut warp = self.warp.clone();
            warp.splits.push(split.clone());
            watch.found = Some(PausedWarp { step, pc, mask, warp, block: self.block.clone() });
            self.launch.stopped = true;
            return false;
        }
        self.withheld -= 1;
        self.budget = 1;
        true
    }
}
