//! The sixteen barriers of a block, each with the warps that have arrived.

use super::super::isa::barrier::{Alignment, Vote};
use super::super::lower::code::{Code, Op, Slot};
use super::fault::{FaultKind, Finding};
use super::race::Waits;
use super::run::{BlockState, Worker};
use super::step::Stop;
use super::warp::{Frame, Split, SplitState, Warp};

/// The number of barriers of a block. PTX ISA 9.7.13.1 "bar, barrier".
pub(super) const BARRIERS: usize = 16;

/// The number of threads of the largest block.
const MOST_THREADS: u32 = 1024;

/// One arrival of a warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    warp: u32,
    mask: u32,
    pc: u32,
    frame: Frame,
    /// The vote and its result slot.
    vote: Option<(Vote, Slot, u32)>,
}

/// One barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockBarrier {
    pub(super) arrivals: Vec<Arrival>,
    /// Threads that have arrived.
    threads: u32,
    /// The number of threads that the barrier expects, if it is not the whole block.
    expected: Option<u32>,
    /// Whether a thread waits; false if all threads only arrived.
    pub(super) waits: bool,
    /// How often it was complete before.
    phase: u32,
}

impl BlockBarrier {
    /// Whether as many threads have arrived as a number of threads demands.
    fn is_complete(&self) -> bool {
        self.expected.is_some_and(|expected| self.threads >= expected)
    }
}

impl Worker<'_, '_> {
    /// A split arrives; returns a stop if another split must run next.
    pub(super) fn block_barrier(&mut self, op: &Op, split: &mut Split) -> Option<Stop> {
        let pc = split.pc;
        let lane = split.mask.trailing_zeros();
        let lanes = self.lanes(split.frame, split.mask);
        let number = lanes.word(op.a)[lane as usize];
        let expected = (!op.b.is_none()).then(|| lanes.word(op.b)[lane as usize]);
        let (alignment, vote, waits) = if let Code::Reduce(vote, alignment) = op.code {
            let bits = lanes.predicate(op.f) & split.mask;
            (alignment, Some((vote, op.d, bits)), true)
        } else if let Code::Arrive(alignment) = op.code {
            (alignment, None, false)
        } else if let Code::Synchronise(alignment) = op.code {
            (alignment, None, true)
        } else {
            return None;
        };
        let Some(index) = usize::try_from(number).ok().filter(|index| *index < BARRIERS) else {
            let text = format!("barrier {number}; a block has {BARRIERS} barriers");
            self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            return Some(Stop::Launch);
        };
        // PTX ISA, "bar, barrier": a number of threads is not zero, and no block has more than 1024.
        if let Some(wanted) = expected.filter(|wanted| !(1..=MOST_THREADS).contains(wanted)) {
            let text = format!("barrier {number} for {wanted} threads; a block has at most 1024");
            self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
            return Some(Stop::Launch);
        }
        if self.block.barriers[index].is_complete() {
            // It is released after this turn; the arrival counts in the phase after that.
            return Some(Stop::Budget);
        }
        if !self.is_converged(alignment, split) {
            return Some(Stop::Choose);
        }
        if alignment == Alignment::Aligned {
            self.check_together(pc, index, split);
        }
        if let Some(counts) = self.launch.count(pc) {
            counts.barriers += 1;
        }
        let barrier = &mut self.block.barriers[index];
        let before = barrier.arrivals.iter().filter(|arrival| arrival.warp == self.warp.index);
        let before = before.fold(0, |all, arrival| all | arrival.mask);
        // With a thread count, an aligned barrier counts whole warps, when the last lanes of the warp arrive.
        let whole_warp = alignment == Alignment::Aligned
            && before & split.mask == 0
            && before | split.mask == self.warp.live;
        let threads = if expected.is_some() && whole_warp {
            32 - before.count_ones()
        } else {
            split.mask.count_ones()
        };
        barrier.threads += threads;
        barrier.expected = expected.or(barrier.expected);
        barrier.waits |= waits;
        let (warp, mask, frame) = (self.warp.index, split.mask, split.frame);
        barrier.arrivals.push(Arrival { warp, mask, pc, frame, vote });
        let phase = barrier.phase;
        self.trace_barrier(index, phase);
        self.race_arrive(pc, index, mask, if waits { Waits::Yes } else { Waits::No });
        split.pc += 1;
        if waits {
            split.state = SplitState::Barrier(index as u8);
        }
        Some(Stop::Choose)
    }

    /// Whether a barrier may be executed by the lanes of a split; otherwise they wait for the others of their warp. A
    /// schedule that splits lanes at any instruction merges them where the instruction requires convergence.
    pub(super) fn is_converged(&mut self, alignment: Alignment, split: &mut Split) -> bool {
        let is_split = self.launch.order.splits_lanes() && split.mask != self.warp.live;
        if alignment == Alignment::Any || !is_split {
            return true;
        }
        if !self.forced {
            split.state = SplitState::WarpSync(self.warp.live);
            return false;
        }
        self.forced = false;
        true
    }

    /// Checks that all lanes of a warp reach an aligned barrier by the same instruction. The same lanes may come
    /// again: they arrive first and wait later.
    fn check_together(&mut self, pc: u32, index: usize, split: &Split) {
        let warp = self.warp.index;
        let other = self.block.barriers[index]
            .arrivals
            .iter()
            .find(|a| a.warp == warp && a.pc != pc && a.mask & split.mask == 0);
        if let Some(other) = other {
            let (place, _) = self.launch.program.place(self.launch.module, other.pc);
            let text = format!(
                "other lanes of the warp reached this barrier by the instruction at PTX {place}"
            );
            let lane = split.mask.trailing_zeros();
            self.report(pc, Finding::new(FaultKind::BarrierDivergence, lane, text));
        }
    }
}

/// A barrier that completed although threads of the block had exited.
///
/// Since compute capability 7.0 the hardware waits for the threads that have not exited (PTX ISA 9.7.13.1: the
/// barrier waits "for all non-exited threads"; CUDA C++ Programming Guide, "Compute Capability 7.x"), so that the
/// other threads continue: rule 26 of `docs/races.md` accepts this with a note. In strict mode it is a fault: the
/// Programming Guide allows `__syncthreads` in conditional code only where the condition is the same for the whole
/// block ("Synchronization Functions"), and synccheck reports "Divergent thread(s) in block". `if (i < n) { …
/// __syncthreads(); }` at the end of a kernel and `if (i >= n) return; … __syncthreads();` compile to the same PTX.
pub(super) struct Missed {
    pub(super) warp: u32,
    pub(super) pc: u32,
    pub(super) lane: u32,
    pub(super) exited: u32,
}

/// Releases every barrier that is complete. Returns whether one was released, and the barrier that exited threads
/// missed.
pub(super) fn release(block: &mut BlockState, warps: &mut [Warp]) -> (bool, Option<Missed>) {
    let (mut released, mut missed) = (false, None);
    for index in 0..BARRIERS {
        let barrier = &block.barriers[index];
        let live = block.threads - block.exited;
        let needed = barrier.expected.unwrap_or(live);
        if barrier.arrivals.is_empty() || barrier.threads < needed {
            continue;
        }
        let next = BlockBarrier { phase: barrier.phase + 1, ..BlockBarrier::default() };
        let barrier = std::mem::replace(&mut block.barriers[index], next);
        if barrier.expected.is_none() && block.exited > 0 && missed.is_none() {
            missed = barrier.arrivals.first().map(|arrival| Missed {
                warp: arrival.warp,
                pc: arrival.pc,
                lane: arrival.mask.trailing_zeros(),
                exited: block.exited,
            });
        }
        vote(&barrier, warps);
        if let Some(races) = &mut block.races {
            races.complete(index);
        }
        for split in warps.iter_mut().flat_map(|warp| &mut warp.splits) {
            if split.state == SplitState::Barrier(index as u8) {
                split.state = SplitState::Ready;
            }
        }
        released = true;
    }
    (released, missed)
}

fn vote(barrier: &BlockBarrier, warps: &mut [Warp]) {
    let mut yes = 0;
    let mut voters = 0;
    for arrival in &barrier.arrivals {
        if let Some((_, _, bits)) = arrival.vote {
            yes += bits.count_ones();
            voters += arrival.mask.count_ones();
        }
    }
    for arrival in &barrier.arrivals {
        let Some((vote, slot, _)) = arrival.vote else { continue };
        let Some(warp) = warps.iter_mut().find(|warp| warp.index == arrival.warp) else { continue };
        let pool = super::lanes::Pool::default();
        let mut lanes = super::lanes::Lanes {
            registers: &mut warp.registers,
            pool: &pool,
            frame: arrival.frame,
            mask: arrival.mask,
        };
        match vote {
            Vote::Count => lanes.set_word(slot, &[yes; 32], 0),
            Vote::All => lanes.set_predicate(slot, if yes == voters { u32::MAX } else { 0 }, 0),
            Vote::Any => lanes.set_predicate(slot, if yes > 0 { u32::MAX } else { 0 }, 0),
        }
    }
}
