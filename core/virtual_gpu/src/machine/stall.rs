//! Warps that do the same for ever: a launch in which nobody changes anything any more need not run to its limit.
//!
//! What a warp does follows from its registers, its own memory, and where its lanes are, as long as nothing else changes:
//! memory, barriers, the clock that it reads. So a warp that comes back to a state without such a change in between goes
//! on in a circle, and if all that can go on do, and the others wait for them, no step will ever differ. A kernel that
//! makes progress, however slowly, counts something or writes something, and is never in the same state again. In orders
//! of lanes that chance decides, and on several threads, nothing follows from a state: there the limit of steps remains.

use super::local::LocalMemory;
use super::warp::{Registers, Split, SplitState, Warp};

/// Turns without a change after which a warp's state is kept for the first time.
const PATIENCE: u32 = 4;

/// How long a warp has seen no change, and the state in which it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Stall {
    /// Changes of the launch when the count began.
    changes: u64,
    turns: u32,
    /// Turns after which the state is kept anew: twice as many each time, so that circles of any length are found.
    next: u32,
    saved: Option<Box<Saved>>,
    /// Whether it was in the same state twice.
    circles: bool,
    /// Whether it looked at what others write on the way.
    polls: bool,
}

/// A state of a warp.
#[derive(Clone, Debug)]
struct Saved {
    registers: Registers,
    local: LocalMemory,
    splits: Vec<Split>,
}

/// What a circle is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circle {
    /// It looks at what others write.
    Waits,
    /// It looks at nothing but its own values.
    Spins,
}

impl Warp {
    /// The end of a turn after which the warp can go on.
    pub(super) fn observe(&mut self, changes: u64, polled: bool) {
        let stall = &mut self.stall;
        if stall.changes != changes {
            *stall = Stall { changes, next: PATIENCE, ..Stall::default() };
            return;
        }
        stall.polls |= polled;
        if stall.circles {
            return;
        }
        stall.turns = stall.turns.saturating_add(1);
        if let Some(saved) = &stall.saved
            && same_places(&saved.splits, &self.splits)
            && saved.local == self.local
            && saved.registers.holds_the_same(&self.registers)
        {
            stall.circles = true;
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

    /// Whether the warp goes on in a circle, as long as nothing changes.
    pub(super) fn circle(&self, changes: u64) -> Option<Circle> {
        let circles = self.stall.circles && self.stall.changes == changes;
        circles.then_some(if self.stall.polls { Circle::Waits } else { Circle::Spins })
    }
}

/// Whether lanes are at the same places, and those that can run have used up as many rounds more than each other. Lanes
/// that wait use up none, however often the others have their turn.
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
