//! Detection of launches that make no progress, so that they need not run to their limit.
//!
//! The behaviour of a warp follows from its registers, its local memory and the positions of its lanes, as long as
//! nothing else changes: memory, barriers, the clock that it reads. A warp that returns to an earlier state without
//! such a change repeats the same steps for ever. If every warp that can run does so and the others wait for them,
//! the launch never ends. A kernel that makes progress, however slowly, changes a counter or memory, and is never
//! in the same state again.
//!
//! In a random order of lanes, the positions of lanes seldom repeat. There a warp counts as waiting for ever if its
//! registers and local memory stay the same for so many turns that each of its lanes had dozens of them. Several host
//! threads do not see each other's changes: the limit of steps ends their launches.

use super::local::LocalMemory;
use super::warp::{Registers, Split, SplitState, Warp};

/// Turns without a change after which the state of a warp is saved for the first time.
const PATIENCE: u32 = 4;

/// Turns between two states that are compared in a random order of lanes. Each group of lanes that can run has the same
/// chance of a turn, so that each has dozens of them.
const RANDOM_TURNS: u32 = 1 << 11;

/// So many states in a row are the same if a warp waits for ever, in a random order of lanes.
const SAME_STATES: u32 = 3;

/// The number of turns since a warp last observed a change, and a saved state.
#[derive(Clone, Debug, Default)]
pub(super) struct Stall {
    /// The number of changes of the launch when counting began.
    changes: u64,
    turns: u32,
    /// The number of turns after which the state is saved again; it doubles each time, so that cycles of any length
    /// are found.
    next: u32,
    saved: Option<Box<Saved>>,
    /// Whether the warp was in the same state twice.
    repeats: bool,
    /// Whether the warp polled memory in between.
    polls: bool,
    /// How often in a row the saved state was the same, in a random order of lanes.
    same: u32,
}

/// A saved state of a warp.
#[derive(Clone, Debug)]
struct Saved {
    registers: Registers,
    local: LocalMemory,
    splits: Vec<Split>,
}

/// The kind of a repeated state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatedState {
    /// The warp polls memory that other threads may write.
    Polls,
    /// The warp reads only its own registers and local memory.
    Spins,
}

impl Warp {
    /// Records the end of a turn after which the warp can run, in a random order of lanes.
    pub(super) fn observe_in_random_order(&mut self, changes: u64, polled: bool) {
        let stall = &mut self.stall;
        if stall.changes != changes {
            *stall = Stall { changes, ..Stall::default() };
        }
        stall.polls |= polled;
        stall.turns = stall.turns.saturating_add(1);
        if stall.repeats || !stall.turns.is_multiple_of(RANDOM_TURNS) {
            return;
        }
        let is_same = stall.saved.as_ref().is_some_and(|saved| {
            saved.local == self.local && saved.registers.holds_the_same(&self.registers)
        });
        stall.same = if is_same { stall.same + 1 } else { 0 };
        stall.repeats = stall.same >= SAME_STATES;
        stall.saved = (!stall.repeats).then(|| {
            Box::new(Saved {
                registers: self.registers.clone(),
                local: self.local.clone(),
                splits: Vec::new(),
            })
        });
    }

    /// Records the end of a turn after which the warp can run.
    pub(super) fn observe(&mut self, changes: u64, polled: bool) {
        let stall = &mut self.stall;
        if stall.changes != changes {
            *stall = Stall { changes, next: PATIENCE, ..Stall::default() };
            return;
        }
        stall.polls |= polled;
        if stall.repeats {
            return;
        }
        stall.turns = stall.turns.saturating_add(1);
        if let Some(saved) = &stall.saved
            && same_places(&saved.splits, &self.splits)
            && saved.local == self.local
            && saved.registers.holds_the_same(&self.registers)
        {
            stall.repeats = true;
            stall.saved = None;
            return;
        }
        if stall.turns >= stall.next.max(PATIENCE) {
            stall.next = stall.turns.saturating_mul(2);
            stall.polls = polled;
            stall.saved = Some(Box::new(Saved {
                registers: self.registers.clone(),
                local: self.local.clone(),
                splits: self.splits.clone(),
            }));
        }
    }

    /// The repeated state of the warp, if it is in one and nothing changed since.
    pub(super) fn repeated_state(&self, changes: u64) -> Option<RepeatedState> {
        let circles = self.stall.repeats && self.stall.changes == changes;
        circles.then_some(if self.stall.polls {
            RepeatedState::Polls
        } else {
            RepeatedState::Spins
        })
    }
}

/// Whether lanes are at the same positions, and the rounds of the lanes that can run differ by the same amount. Lanes
/// that wait use no rounds, however often the others run.
fn same_places(before: &[Split], now: &[Split]) -> bool {
    let runs = |split: &&Split| split.state == SplitState::Ready;
    let least =
        |splits: &[Split]| splits.iter().filter(runs).map(|split| split.rounds).min().unwrap_or(0);
    let (least_before, least_now) = (least(before), least(now));
    before.len() == now.len()
        && before.iter().zip(now).all(|(a, b)| {
            (a.pc, a.mask, a.frame, a.state) == (b.pc, b.mask, b.frame, b.state)
                && a.callers == b.callers
                && (!runs(&a) || a.rounds - least_before == b.rounds - least_now)
        })
}

impl Registers {
    fn holds_the_same(&self, other: &Self) -> bool {
        fn same<T: PartialEq>(
            a: &[super::warp::Register<T>],
            b: &[super::warp::Register<T>],
        ) -> bool {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| a.undefined == b.undefined && a.values == b.values)
        }
        self.predicates == other.predicates
            && self.predicates_undefined == other.predicates_undefined
            && same(&self.words, &other.words)
            && same(&self.doubles, &other.doubles)
    }
}
