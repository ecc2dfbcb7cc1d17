//! Where a launch pauses: looked at before an instruction, and only in launches that are watched.
//!
//! A watched warp is given its steps one by one, so that the loop over instructions asks here where it would otherwise
//! end its turn. A launch that nobody watches pays nothing.

use super::recording::Recording;
use super::run::{BlockState, Worker};
use super::warp::{Split, Warp};

/// One thread of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its block.
    pub block: [u32; 3],
    /// The thread within the block.
    pub thread: [u32; 3],
}

/// At which instructions a launch pauses.
#[derive(Clone, Debug)]
pub(super) enum Stops {
    /// At none.
    Never,
    /// At all.
    Always,
    /// At those of the program whose entry says so.
    At(Vec<bool>),
}

/// When a launch pauses, and what was found when it did.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Before this step in any case.
    pub(super) step: u64,
    /// From this step on, at these instructions.
    pub(super) from: u64,
    pub(super) stops: Stops,
    /// If this thread executes them; whichever does if there is none.
    pub(super) thread: Option<Thread>,
    pub(super) found: Option<Found>,
    /// What one warp accesses, if somebody wants to know.
    pub(super) recording: Option<Recording>,
}

/// A warp in the moment of a pause.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) step: u64,
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) warp: Warp,
    pub(super) block: BlockState,
}

/// Which warp is looked at.
struct At {
    block: [u32; 3],
    warp: u32,
    /// Threads of a block.
    size: [u32; 3],
}

impl Watch {
    /// Pauses nowhere, and keeps what a warp accesses.
    pub(super) const fn recording(recording: Recording) -> Self {
        let (step, from, stops) = (u64::MAX, 0, Stops::Never);
        Self { step, from, stops, thread: None, found: None, recording: Some(recording) }
    }

    /// Whether it pauses before `pc`, where the lanes of the mask are about to go in a warp of a block.
    fn pauses(&self, step: u64, pc: u32, at: &At, mask: u32) -> bool {
        if step >= self.step {
            return true;
        }
        let stops = match &self.stops {
            Stops::Never => false,
            Stops::Always => true,
            Stops::At(places) => places.get(pc as usize).copied().unwrap_or(false),
        };
        if step < self.from || !stops {
            return false;
        }
        let Some(Thread { block: of, thread: [x, y, z] }) = self.thread else { return true };
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
        // What waiting for others costs was taken from the steps at hand.
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
        let at = At { block: self.block.index, warp: self.warp.index, size: self.launch.block };
        if watch.pauses(step, pc, &at, mask) {
            let mut warp = self.warp.clone();
            warp.splits.push(split.clone());
            watch.found = Some(Found { step, pc, mask, warp, block: self.block.clone() });
            self.launch.stopped = true;
            return false;
        }
        self.withheld -= 1;
        self.budget = 1;
        true
    }
}
