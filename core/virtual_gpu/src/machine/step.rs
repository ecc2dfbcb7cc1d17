//! Execution of a warp: one split at a time, deepest call and smallest program counter first. Splits with equal
//! positions merge.

use std::cmp::Reverse;

use multiversion::multiversion;
use multiversion::target::selected_target;

use super::super::isa::cluster::Cluster;
use super::super::isa::matrix::{Matrix, Warpgroup};
use super::super::isa::system::RegisterChange;
use super::super::lower::code::{BaseKind, Code, Op, Slot};
use super::compute::Fused;
use super::fault::{FaultKind, Finding};
use super::run::Worker;
use super::turn_order::TurnOrder;
use super::warp::{Frame, Split, SplitState};
use super::{compute, special};

/// Why a split stopped.
pub(super) enum Stop {
    /// Another split must be chosen, possibly the same one.
    Choose,
    /// The turn of the warp is over.
    Budget,
    /// The launch is over.
    Launch,
}

/// The result of a warp's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The warp can continue.
    Ready,
    /// All lanes wait.
    Waiting,
    /// All lanes have exited.
    Ended,
}

/// Steps a split until it must stop; compiled for the vector instructions of processors since 2013, and for the
/// target of the build. A third copy for AVX-512 took as long to compile again and was not measurably faster.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn run(worker: &mut Worker<'_, '_>, split: &mut Split, stop_at: u32) -> Stop {
    let fused = const { Fused::from_features(selected_target!()) };
    let program = worker.launch.program;
    // Steps that are not yet added to the warp and the launch.
    let mut taken = 0;
    let mut left = worker.budget;
    loop {
        if split.pc >= stop_at {
            worker.take_steps(taken);
            return Stop::Choose;
        }
        if left <= 0 {
            worker.take_steps(taken);
            taken = 0;
            if !worker.goes_on(split) {
                return if worker.launch.stopped { Stop::Launch } else { Stop::Budget };
            }
            left = worker.budget;
        }
        let pc = split.pc;
        if worker.may_run(program.hot[pc as usize]) {
            let done = worker.run_fast_registers(split, stop_at, left);
            if done != 0 {
                taken += done;
                left -= i64::from(done);
                continue;
            }
        }
        let op = &program.ops[pc as usize];
        left -= 1;
        taken += 1;
        let mut mask = split.mask;
        if !op.guard.is_none() {
            mask = worker.guarded(pc, op.guard, split);
        }
        if let Some(counts) = worker.launch.counts.get_mut(pc as usize) {
            counts.warp_instructions += 1;
            counts.thread_instructions += u64::from(mask.count_ones());
            counts.active_threads += u64::from(split.mask.count_ones());
        }
        if mask == 0 {
            split.pc += 1;
            continue;
        }
        if let Code::Branch { target } = op.code
            && mask == split.mask
            && worker.warp.splits.is_empty()
        {
            // All active lanes branch.
            split.pc = target;
            continue;
        }
        let done = if let Code::Load { .. } = op.code {
            worker.load_fast_32(pc, op, &split.frame, mask)
        } else if let Code::Store { .. } = op.code {
            worker.store_fast_32(pc, op, &split.frame, mask)
        } else {
            let approximation = worker.launch.approximation;
            let mut lanes = worker.lanes(split.frame, mask);
            compute::execute(&mut lanes, op, &program.lists, fused, approximation)
        };
        if done {
            split.pc += 1;
            continue;
        }
        worker.take_steps(taken);
        taken = 0;
        if !is_invisible_to_others(op.code) {
            worker.launch.changes += 1;
        }
        if let Some(stop) = worker.other(op, split, mask) {
            return stop;
        }
        if worker.launch.stopped {
            return Stop::Launch;
        }
        left = worker.budget;
    }
}

impl Worker<'_, '_> {
    /// Adds steps to the launch and subtracts them from the turn of the warp.
    #[inline(always)]
    fn take_steps(&mut self, taken: u32) {
        self.budget -= i64::from(taken);
        self.launch.steps += u64::from(taken);
    }

    /// Runs until the budget is spent or no split can continue.
    pub(super) fn turn(&mut self) -> Turn {
        loop {
            self.merge();
            if self.launch.stopped {
                return Turn::Ready;
            }
            let Some(index) = self.choose() else {
                if self.release_warp_barriers() {
                    continue;
                }
                return if self.warp.splits.is_empty() { Turn::Ended } else { Turn::Waiting };
            };
            let mut split = self.warp.splits.swap_remove(index);
            split.state = SplitState::Ready;
            if !self.forced
                && let Some(some) = self.launch.order.split_lanes(split.mask)
            {
                let mut others = split.clone();
                others.mask = split.mask & !some;
                split.mask = some;
                self.warp.splits.push(others);
            }
            let stop_at = self.meeting_point(&split);
            let stop = run(self, &mut split, stop_at);
            if matches!(stop, Stop::Budget) {
                split.rounds += 1;
            }
            if split.mask != 0 {
                self.warp.splits.push(split);
            }
            match stop {
                Stop::Choose => {}
                Stop::Budget | Stop::Launch => return Turn::Ready,
            }
        }
    }

    /// Merges splits at the same position.
    fn merge(&mut self) {
        let splits = &mut self.warp.splits;
        let mut first = 0;
        while first + 1 < splits.len() {
            let mut second = first + 1;
            while second < splits.len() {
                let (a, b) = (&splits[first], &splits[second]);
                let waits = |split: &Split| split.state.is_at_barrier();
                let same = a.pc == b.pc && a.frame == b.frame && a.callers == b.callers;
                if same && !waits(a) && !waits(b) {
                    let other = splits.swap_remove(second);
                    let split = &mut splits[first];
                    split.mask |= other.mask;
                    split.rounds = split.rounds.min(other.rounds);
                    split.state = SplitState::Ready;
                } else {
                    second += 1;
                }
            }
            first += 1;
        }
    }

    fn choose(&mut self) -> Option<usize> {
        let forced = self.forced;
        let can_run = |split: &Split| match split.state {
            SplitState::Ready => true,
            SplitState::WarpSync(_) => forced,
            SplitState::Barrier(_) | SplitState::ClusterBarrier => false,
        };
        let mut splits = self.warp.splits.iter().enumerate().filter(|(_, split)| can_run(split));
        match &self.launch.order {
            TurnOrder::Fixed => splits
                .min_by_key(|(_, split)| (split.rounds, Reverse(split.callers.len()), split.pc))
                .map(|(index, _)| index),
            TurnOrder::Seeded(_) => {
                let count = splits.clone().count();
                splits.nth(self.launch.order.pick(0, count)).map(|(index, _)| index)
            }
        }
    }

    /// The next position at which another split waits to reconverge.
    fn meeting_point(&self, split: &Split) -> u32 {
        let others = self.warp.splits.iter();
        others
            .filter(|other| other.callers.len() == split.callers.len() && other.pc > split.pc)
            .filter(|other| !other.state.is_at_barrier())
            .map(|other| other.pc)
            .min()
            .unwrap_or(u32::MAX)
    }

    /// The lanes whose guard is true.
    fn guarded(&mut self, pc: u32, guard: Slot, split: &Split) -> u32 {
        let lanes = self.lanes(split.frame, split.mask);
        let (holds, undefined) = (lanes.predicate(guard), lanes.predicate_undefined(guard));
        let undefined = undefined & split.mask;
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the guard predicate");
        }
        holds & split.mask
    }

    /// Executes an operation that is not about registers alone; returns a stop if another split must be chosen.
    fn other(&mut self, op: &Op, split: &mut Split, mask: u32) -> Option<Stop> {
        let pc = split.pc;
        let frame = split.frame;
        match op.code {
            Code::Load { .. } => self.load(pc, op, frame, mask),
            Code::Store { .. } => self.store(pc, op, frame, mask),
            Code::Atomic { .. } => self.atomic(pc, op, frame, mask),
            Code::AtomicVector { atomic, base } => {
                self.atomic_vector(op, (atomic, base), pc, (frame, mask));
            }
            Code::Matrix { matrix, base } => {
                if let Some(stop) = self.matrix_operation(op, (matrix, base), split, mask) {
                    return Some(stop);
                }
            }
            Code::CopyAsync(_)
            | Code::CopyBulk(_)
            | Code::CopyTensor(_)
            | Code::CommitBulk
            | Code::WaitBulk { .. }
            | Code::CommitCopies
            | Code::WaitCopies(_)
            | Code::WaitAllCopies
            | Code::ArriveAfterCopies { .. }
            | Code::Mbarrier { .. } => self.copy_or_wait(op, pc, frame, mask),
            Code::Special(register) => special::read(self, op, register, frame, mask),
            Code::IsInSpace(space) => special::is_in_space(self, op, space, frame, mask),
            Code::Branch { target } => return self.branch(split, mask, target),
            Code::BranchIndexed => return Some(self.branch_indexed(op, split, mask)),
            Code::Call(site) => return self.call(split, mask, site),
            Code::Return => return Some(self.leave(split, mask)),
            Code::Exit => return Some(self.exit(split, mask)),
            Code::Trap => return Some(self.trap(pc, mask)),
            Code::Synchronise(_) | Code::Arrive(_) | Code::Reduce(..) => {
                if self.separate(split, mask) {
                    return Some(Stop::Choose);
                }
                return self.block_barrier(op, split);
            }
            Code::SynchroniseWarp | Code::Warp(_) => {
                if self.separate(split, mask) {
                    return Some(Stop::Choose);
                }
                if self.warp_wide(op, split) {
                    return Some(Stop::Choose);
                }
            }
            Code::Sleep => self.sleep(pc),
            Code::Fence(order, scope) => {
                self.launch.order_memory();
                self.race_fence(mask, order, scope);
            }
            Code::ProxyFence(proxy) => self.race_proxy_fence(mask, proxy),
            Code::TrackRegisters => self.track_registers(op, pc, frame, mask),
            Code::Texture { site, .. } => self.texture(op, site, pc, (frame, mask)),
            Code::TensorMap(site) => return self.tensor_map_operation(op, site, split, mask),
            Code::WriteToCluster(site) => self.write_to_cluster(op, site, pc, (frame, mask)),
            Code::Cluster(cluster) => return self.cluster_operation(op, cluster, split, mask),
            Code::Registers(change) => {
                return self.change_registers(change, op.immediate as u32, split);
            }
            // Operations on registers are executed elsewhere.
            Code::Hint
            | Code::Integer(_)
            | Code::Extended(_)
            | Code::Float(_)
            | Code::Half(_)
            | Code::Approximate(_)
            | Code::Compare(_)
            | Code::Logic(_)
            | Code::Convert { .. }
            | Code::Copy32
            | Code::Copy64
            | Code::CopyPredicate
            | Code::Pack { .. }
            | Code::Unpack { .. }
            | Code::FrameAddress
            | Code::ToGeneric(_)
            | Code::FromGeneric(_) => {}
        }
        split.pc += 1;
        None
    }

    fn trap(&mut self, pc: u32, mask: u32) -> Stop {
        let text = "the kernel executed a trap";
        self.report(pc, Finding::new(FaultKind::Trap, mask.trailing_zeros(), text));
        Stop::Launch
    }

    /// `setmaxnreg` of a warp; returns a stop if it must wait.
    fn change_registers(
        &mut self,
        change: RegisterChange,
        count: u32,
        split: &mut Split,
    ) -> Option<Stop> {
        let pool = self.block.registers.as_mut();
        if pool.is_none_or(|pool| pool.change(self.warp.index, change, count)) {
            self.launch.changes += 1;
            split.pc += 1;
            return None;
        }
        self.trace_failed_wait(split.pc);
        self.poll(split.pc);
        self.end_turn();
        Some(Stop::Budget)
    }

    fn matrix_operation(
        &mut self,
        op: &Op,
        (matrix, base): (Matrix, BaseKind),
        split: &mut Split,
        mask: u32,
    ) -> Option<Stop> {
        if self.separate(split, mask) {
            return Some(Stop::Choose);
        }
        if self.must_await_warpgroup(matrix, op) {
            self.trace_failed_wait(split.pc);
            self.polled = true;
            self.budget = 0;
            return Some(Stop::Budget);
        }
        self.tensor(op, (matrix, base), split).then_some(Stop::Choose)
    }

    fn cluster_operation(
        &mut self,
        op: &Op,
        cluster: Cluster,
        split: &mut Split,
        mask: u32,
    ) -> Option<Stop> {
        let (pc, frame) = (split.pc, split.frame);
        match cluster {
            Cluster::MapShared(kind, ty) => self.map_shared(op, (kind, ty), pc, (frame, mask)),
            Cluster::RankOf(kind, ty) => self.rank_of_address(op, (kind, ty), (frame, mask)),
            Cluster::InitialisationFence => self.publish_mbarriers(mask),
            Cluster::Arrive(..) | Cluster::Wait(_) if self.separate(split, mask) => {
                return Some(Stop::Choose);
            }
            Cluster::Arrive(order, alignment) => {
                return Some(self.arrive_at_cluster(order, alignment, split));
            }
            Cluster::Wait(alignment) => return Some(self.wait_for_cluster(alignment, split)),
        }
        split.pc += 1;
        None
    }

    /// Asynchronous copies, waits for them, and barrier objects.
    fn copy_or_wait(&mut self, op: &Op, pc: u32, frame: Frame, mask: u32) {
        if let Code::CopyAsync(site) = op.code {
            self.copy_async(op, site, pc, frame, mask);
        } else if let Code::CopyBulk(site) = op.code {
            self.copy_bulk(op, site, pc, frame, mask);
        } else if let Code::CopyTensor(site) = op.code {
            self.copy_tensor(op, site, pc, frame, mask);
        } else if op.code == Code::CommitBulk {
            self.commit_bulk(mask);
        } else if let Code::WaitBulk { pending, awaited } = op.code {
            self.wait_for_bulk(mask, pending, awaited);
        } else if op.code == Code::CommitCopies {
            self.commit_copies(mask);
        } else if let Code::WaitCopies(pending) = op.code {
            self.wait_for_groups(mask, pending);
        } else if op.code == Code::WaitAllCopies {
            self.wait_for_all_copies(mask);
        } else if let Code::ArriveAfterCopies { space, pending, base } = op.code {
            self.arrive_after(op, (space, pending, base), pc, (frame, mask));
        } else if let Code::Mbarrier { mbarrier, base } = op.code {
            self.mbarrier(op, (mbarrier, base), pc, (frame, mask));
        }
    }

    /// Lanes whose guard disables an operation that waits continue as a split of their own.
    pub(super) fn separate(&mut self, split: &mut Split, mask: u32) -> bool {
        let rest = split.mask & !mask;
        if rest == 0 {
            return false;
        }
        let mut other = split.clone();
        other.mask = rest;
        other.pc += 1;
        split.mask = mask;
        self.warp.splits.push(other);
        true
    }

    fn branch(&mut self, split: &mut Split, taken: u32, target: u32) -> Option<Stop> {
        let stays = split.mask & !taken;
        if stays == 0 {
            let several = !self.warp.splits.is_empty();
            let passes = target > split.pc;
            split.pc = target;
            // Other splits may wait before the target.
            return (several && passes).then_some(Stop::Choose);
        }
        if let Some(counts) = self.launch.count(split.pc) {
            counts.divergent_branches += 1;
        }
        let mut other = split.clone();
        other.mask = taken;
        other.pc = target;
        self.warp.splits.push(other);
        split.mask = stays;
        split.pc += 1;
        Some(Stop::Choose)
    }

    fn branch_indexed(&mut self, op: &Op, split: &mut Split, mask: u32) -> Stop {
        let pc = split.pc;
        let lanes = self.lanes(split.frame, mask);
        let (index, undefined) = (lanes.word(op.a), lanes.word_undefined(op.a) & mask);
        if undefined != 0 {
            self.report_undefined(pc, undefined, "the index of an indexed branch");
        }
        let (start, count) = (op.immediate as usize, op.b.index());
        let mut left = mask;
        let mut ways = 0;
        let stays = split.mask & !mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let chosen = index[lane];
            let same = super::lanes::bits(|lane| index[lane] == chosen) & left;
            left &= !same;
            ways += 1;
            let target = self.launch.program.targets[start..start + count].get(chosen as usize);
            let Some(target) = target.copied() else {
                let text = format!("an indexed branch to entry {chosen} of {count}");
                self.report(pc, Finding::new(FaultKind::Call, lane as u32, text));
                return Stop::Launch;
            };
            let mut other = split.clone();
            other.mask = same;
            other.pc = target;
            self.warp.splits.push(other);
        }
        if (ways > 1 || stays != 0)
            && let Some(counts) = self.launch.count(pc)
        {
            counts.divergent_branches += 1;
        }
        split.mask = stays;
        split.pc += 1;
        Stop::Choose
    }

    /// Lanes exit.
    pub(super) fn exit(&mut self, split: &mut Split, mask: u32) -> Stop {
        self.end_copies(mask);
        self.end_bulk_stores(mask);
        self.race_exit(mask);
        self.launch.changes += 1;
        split.mask &= !mask;
        self.warp.live &= !mask;
        self.stop_waiting_for(mask);
        self.block.exited += mask.count_ones();
        if self.block.exited == self.block.threads {
            self.end_loads();
        }
        if self.warp.live == 0 {
            self.block.exited_warps |= 1 << self.warp.index;
            self.end_products();
        }
        split.pc += 1;
        Stop::Choose
    }

    fn leave(&mut self, split: &mut Split, mask: u32) -> Stop {
        let Some(caller) = split.callers.last().copied() else { return self.exit(split, mask) };
        self.copy_results(split.frame, caller, mask);
        let mut back = Split {
            pc: split.frame.return_pc,
            mask,
            frame: caller,
            callers: split.callers.clone(),
            state: SplitState::Ready,
            rounds: split.rounds,
        };
        back.callers.pop();
        split.mask &= !mask;
        split.pc += 1;
        self.warp.splits.push(back);
        Stop::Choose
    }

    /// The frame of a kernel's entry.
    pub(super) fn first_frame(local_end: u32, function: super::super::module::FunctionId) -> Frame {
        let local = super::super::lower::FIRST_FRAME;
        Frame { function, local, local_end, ..Frame::default() }
    }
}

/// Operations without an effect that other warps can observe, or that count the change themselves.
fn is_invisible_to_others(code: Code) -> bool {
    if let Code::Special(register) = code {
        return !special::is_clock(register);
    }
    matches!(
        code,
        Code::Load { .. }
            | Code::Store { .. }
            | Code::Atomic { .. }
            | Code::Mbarrier { .. }
            | Code::WaitCopies(_)
            | Code::WaitAllCopies
            | Code::Matrix { matrix: Matrix::Warpgroup(Warpgroup::WaitGroup), .. }
            | Code::IsInSpace(_)
            | Code::Texture { .. }
            | Code::Cluster(
                Cluster::MapShared(..) | Cluster::RankOf(..) | Cluster::InitialisationFence,
            )
            | Code::Branch { .. }
            | Code::BranchIndexed
            | Code::Call(_)
            | Code::Return
            | Code::SynchroniseWarp
            | Code::Warp(_)
            | Code::Fence(..)
            | Code::ProxyFence(_)
            | Code::TrackRegisters
            | Code::Registers(_)
            | Code::Sleep
    )
}
