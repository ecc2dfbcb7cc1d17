//! Warp-level operations: lanes wait until all lanes of the mask have arrived.

use super::super::isa::warp::{
    BitReduction, FloatReduction, IntegerReduction, Magnitude, MatchKind, MatchType,
    ReducedInteger, Shuffle, VoteKind, Warp as Operation,
};
use super::super::lower::code::{Code, Op};
use super::super::semantics::{self, float, shuffle as s};
use super::compute::modes;
use super::fault::{FaultKind, Finding};
use super::launch::Races;
use super::run::Worker;
use super::warp::{Frame, LANES, Split, SplitState};

impl Worker<'_, '_> {
    /// Returns true if the split waits, false if the operation is executed.
    pub(super) fn warp_wide(&mut self, op: &Op, split: &mut Split) -> bool {
        let pc = split.pc;
        if op.code == Code::Warp(Operation::ActiveMask) {
            let mask = split.mask;
            self.lanes(split.frame, mask).set_word(op.d, &[mask; LANES], 0);
            return false;
        }
        let member_slot = if let Code::Warp(Operation::Shuffle(_)) = op.code {
            op.f
        } else if matches!(op.code, Code::SynchroniseWarp | Code::Warp(Operation::Elect)) {
            op.a
        } else {
            op.b
        };
        let lane = split.mask.trailing_zeros();
        let lanes = self.lanes(split.frame, split.mask);
        let all = lanes.word(member_slot);
        let members = all[lane as usize];
        // Lanes with other masks form groups of their own.
        let same = super::lanes::bits(|lane| all[lane] == members) & split.mask;
        if same != split.mask {
            let mut rest = split.clone();
            rest.mask = split.mask & !same;
            split.mask = same;
            return self.divided(op, split, rest, members);
        }
        let outside = split.mask & !members;
        if outside != 0 {
            let text = format!(
                "the mask {members:#010x} does not name a lane that executes the instruction"
            );
            self.report(pc, Finding::new(FaultKind::WarpSync, outside.trailing_zeros(), text));
        }
        if members & !self.warp.live != 0 {
            self.name_exited(pc, members);
        }
        let missing = members & self.warp.live & !split.mask;
        if missing != 0 && !self.forced {
            // In a random order of lanes, the position of a lane shows nothing.
            if !self.launch.order.splits_lanes() {
                self.warp.awaited |= missing & !self.about_to_end();
            }
            split.state = SplitState::WarpSync(members);
            return true;
        }
        self.forced = false;
        self.warp.awaited &= !split.mask;
        if missing != 0 {
            let text = format!(
                "the mask {members:#010x} names lanes {missing:#010x}, which do not execute this instruction"
            );
            self.report(pc, Finding::new(FaultKind::WarpSync, missing.trailing_zeros(), text));
        }
        self.perform(pc, op, split.frame, split.mask, members & split.mask);
        false
    }

    /// Groups with masks of their own, each complete, execute the operation one after the other.
    fn divided(&mut self, op: &Op, split: &mut Split, rest: Split, members: u32) -> bool {
        let complete = members & self.warp.live == split.mask;
        if complete || self.forced {
            if !complete {
                self.forced = false;
                let text = format!(
                    "the mask {members:#010x} does not name all lanes that execute the instruction"
                );
                let lane = split.mask.trailing_zeros();
                self.report(split.pc, Finding::new(FaultKind::WarpSync, lane, text));
            }
            self.perform(split.pc, op, split.frame, split.mask, split.mask);
            split.pc += 1;
            self.warp.splits.push(rest);
            return true;
        }
        // The first group cannot proceed alone: try the others.
        let group = split.mask;
        split.mask = rest.mask;
        let mut waiting = rest;
        waiting.mask = group;
        waiting.state = SplitState::WarpSync(members);
        let before = self.warp.splits.len();
        let waits = self.warp_wide(op, split);
        debug_assert!(self.warp.splits.len() >= before);
        self.warp.splits.push(waiting);
        if !waits {
            split.pc += 1;
        }
        true
    }

    /// Releases lanes at `bar.warp.sync`, which wait for each other wherever each of them is; returns whether any was
    /// released.
    pub(super) fn release_warp_barriers(&mut self) -> bool {
        let program = self.launch.program;
        let mut released = false;
        for index in 0..self.warp.splits.len() {
            let SplitState::WarpSync(members) = self.warp.splits[index].state else { continue };
            let at_barrier = |split: &Split| {
                split.state == SplitState::WarpSync(members)
                    && program.ops[split.pc as usize].code == Code::SynchroniseWarp
            };
            let here = self.warp.splits.iter().filter(|split| at_barrier(split));
            let here = here.fold(0, |mask, split| mask | split.mask);
            if members & self.warp.live & !here != 0 || !at_barrier(&self.warp.splits[index]) {
                continue;
            }
            self.race_warp_barrier(here);
            for split in &mut self.warp.splits {
                let waits = split.state == SplitState::WarpSync(members)
                    && program.ops[split.pc as usize].code == Code::SynchroniseWarp;
                if waits {
                    self.warp.awaited &= !split.mask;
                    split.state = SplitState::Ready;
                    split.pc += 1;
                    released = true;
                }
            }
        }
        released
    }

    /// Lanes whose only remaining instruction is an exit. They count as exited, because the scheduler alone decides
    /// when they exit: a mask may name them (CUDA C++ Programming Guide, "Warp Shuffle Functions": all threads named
    /// that have not exited must execute the operation). The mask should not name lanes that execute another
    /// instruction first.
    fn about_to_end(&self) -> u32 {
        let ends = |split: &&Split| {
            split.callers.is_empty() && self.launch.program.ends_at(split.pc as usize)
        };
        self.warp.splits.iter().filter(ends).fold(0, |mask, split| mask | split.mask)
    }

    /// Accepts or reports exited lanes in the mask of an operation. Lanes that the block does not have never count.
    #[cold]
    fn name_exited(&mut self, pc: u32, members: u32) {
        let lanes = (self.block.threads - self.warp.index * LANES as u32).min(LANES as u32);
        let exited = members & !self.warp.live & u32::MAX >> (LANES as u32 - lanes);
        if exited != 0 && self.launch.checks.races != Races::Strict {
            self.launch.accept_exited(pc);
        }
    }

    /// Lanes exit; lanes that wait for them no longer do.
    pub(super) fn stop_waiting_for(&mut self, ending: u32) {
        let absent = self.warp.awaited & ending;
        self.warp.awaited &= !ending;
        let mut named = None;
        for split in &mut self.warp.splits {
            let SplitState::WarpSync(members) = split.state else { continue };
            if members & absent != 0 {
                named.get_or_insert((split.pc, split.mask, members));
            }
            if members & ending != 0 {
                split.state = SplitState::Ready;
            }
        }
        let Some((pc, waiting, members)) = named else { return };
        if self.launch.checks.races != Races::Strict {
            return self.launch.accept_exited(pc);
        }
        let text = format!(
            "the mask {members:#010x} names lanes {absent:#010x}, which exit elsewhere while the \
             others wait for them; name only the lanes that reach this instruction"
        );
        self.report(pc, Finding::new(FaultKind::WarpSync, waiting.trailing_zeros(), text));
    }

    fn perform(&mut self, pc: u32, op: &Op, frame: Frame, mask: u32, members: u32) {
        if op.code == Code::SynchroniseWarp {
            self.race_warp_barrier(members);
        }
        let Code::Warp(what) = op.code else { return };
        match what {
            Operation::Shuffle(kind) => self.shuffle(pc, op, kind, frame, mask),
            Operation::Vote(kind) => {
                let mut lanes = self.lanes(frame, mask);
                let (votes, undefined) = (lanes.predicate(op.a), lanes.predicate_undefined(op.a));
                let unknown = if undefined & members == 0 { 0 } else { u32::MAX };
                let spread = |holds: bool| if holds { u32::MAX } else { 0 };
                match kind {
                    VoteKind::All => {
                        lanes.set_predicate(op.d, spread(s::vote_all(votes, members)), unknown);
                    }
                    VoteKind::Any => {
                        lanes.set_predicate(op.d, spread(s::vote_any(votes, members)), unknown);
                    }
                    VoteKind::Uniform => {
                        lanes.set_predicate(op.d, spread(s::vote_uniform(votes, members)), unknown);
                    }
                    VoteKind::Ballot => {
                        lanes.set_word(op.d, &[s::ballot(votes, members); LANES], unknown);
                    }
                }
            }
            Operation::Match(kind, ty) => self.match_lanes(op, kind, ty, frame, (mask, members)),
            Operation::ReduceInteger(kind, ty) => {
                let reduction = match (kind, ty) {
                    (IntegerReduction::Add, _) => s::Reduction::Add,
                    (IntegerReduction::Minimum, ReducedInteger::U32) => {
                        s::Reduction::MinimumUnsigned
                    }
                    (IntegerReduction::Minimum, ReducedInteger::S32) => s::Reduction::MinimumSigned,
                    (IntegerReduction::Maximum, ReducedInteger::U32) => {
                        s::Reduction::MaximumUnsigned
                    }
                    (IntegerReduction::Maximum, ReducedInteger::S32) => s::Reduction::MaximumSigned,
                };
                self.reduce(op, frame, (mask, members), |values| {
                    s::reduce(values, members, reduction)
                });
            }
            Operation::ReduceBits(kind) => {
                let reduction = match kind {
                    BitReduction::And => s::Reduction::And,
                    BitReduction::Or => s::Reduction::Or,
                    BitReduction::Xor => s::Reduction::Xor,
                };
                self.reduce(op, frame, (mask, members), |values| {
                    s::reduce(values, members, reduction)
                });
            }
            Operation::ReduceFloat(kind, magnitude, nan) => {
                let extreme = match kind {
                    FloatReduction::Minimum => semantics::Extreme::Minimum,
                    FloatReduction::Maximum => semantics::Extreme::Maximum,
                };
                let sign = match magnitude {
                    Magnitude::Signed => semantics::SignRule::Winner,
                    Magnitude::Absolute => semantics::SignRule::Absolute,
                };
                let choice = float::Choice { extreme, nan: modes::nan(nan), sign };
                self.reduce(op, frame, (mask, members), |values| {
                    s::reduce_f32(values, members, choice)
                });
            }
            // PTX does not specify the lane; a GPU elects the lowest one.
            Operation::Elect => {
                // A mask without the lanes that execute the instruction is a fault; then one of them is elected.
                let leader = if members == 0 { mask } else { members }.trailing_zeros();
                let mut lanes = self.lanes(frame, mask);
                lanes.set_word(op.d, &[leader; LANES], 0);
                if !op.e.is_none() {
                    lanes.set_predicate(op.e, 1 << leader, 0);
                }
            }
            Operation::ActiveMask => {}
        }
    }

    fn shuffle(&mut self, pc: u32, op: &Op, kind: Shuffle, frame: Frame, mask: u32) {
        let kind = match kind {
            Shuffle::Up => s::Shuffle::Up,
            Shuffle::Down => s::Shuffle::Down,
            Shuffle::Butterfly => s::Shuffle::Butterfly,
            Shuffle::Index => s::Shuffle::Index,
        };
        let mut lanes = self.lanes(frame, mask);
        let (a, b, c) = (lanes.word(op.a), lanes.word(op.b), lanes.word(op.c));
        let unknown = lanes.word_undefined(op.a);
        let unknown_where = lanes.word_undefined(op.b) | lanes.word_undefined(op.c);
        let sources: [s::Source; LANES] =
            std::array::from_fn(|lane| s::shuffle_source(lane as u32, b[lane], c[lane], kind));
        let result = std::array::from_fn(|lane| a[usize::from(sources[lane].lane)]);
        // The value from a lane that does not take part is undefined.
        let absent = super::lanes::bits(|lane| mask >> sources[lane].lane & 1 == 0);
        let undefined = absent | super::lanes::bits(|lane| unknown >> sources[lane].lane & 1 == 1);
        lanes.set_word(op.d, &result, undefined | unknown_where);
        if !op.e.is_none() {
            let in_range = super::lanes::bits(|lane| sources[lane].in_range);
            lanes.set_predicate(op.e, in_range, unknown_where);
        }
        let origins = self.warp.undefined_load;
        for lane in (0..LANES).filter(|lane| (undefined & mask) >> lane & 1 == 1) {
            let from_elsewhere = origins[usize::from(sources[lane].lane)];
            self.warp.undefined_load[lane] =
                if absent >> lane & 1 == 1 { Some(pc) } else { from_elsewhere };
        }
    }

    fn match_lanes(
        &mut self,
        op: &Op,
        kind: MatchKind,
        ty: MatchType,
        frame: Frame,
        (mask, members): (u32, u32),
    ) {
        let mut lanes = self.lanes(frame, mask);
        let (values, undefined) = lanes.any(op.a, ty == MatchType::B64);
        let unknown = if undefined & members == 0 { 0 } else { u32::MAX };
        match kind {
            MatchKind::Any => lanes.set_word(op.d, &s::match_any(&values, members), unknown),
            MatchKind::All => {
                let all = s::match_all(&values, members);
                lanes.set_word(op.d, &[all; LANES], unknown);
                if !op.e.is_none() {
                    lanes.set_predicate(op.e, if all != 0 { u32::MAX } else { 0 }, unknown);
                }
            }
        }
    }

    fn reduce(
        &mut self,
        op: &Op,
        frame: Frame,
        (mask, members): (u32, u32),
        f: impl Fn(&[u32; LANES]) -> u32,
    ) {
        let mut lanes = self.lanes(frame, mask);
        let result = f(&lanes.word(op.a));
        let unknown = if lanes.word_undefined(op.a) & members == 0 { 0 } else { u32::MAX };
        lanes.set_word(op.d, &[result; LANES], unknown);
    }
}
