//! Scheduling of the blocks of a grid. Each block runs until it ends or its turn is over; resident clusters, and the
//! blocks of each, take turns, so that they can wait for each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::barrier::{self, BARRIERS, BlockBarrier};
use super::block_order::BlockStarts;
use super::cluster_barrier::ClusterArrivals;
use super::copies::Copies;
use super::fault::{FaultKind, Finding};
use super::grid_index;
use super::launch::Races;
use super::limit::LimitKind;
use super::local::LocalMemory;
use super::parallel::ParallelLaunch;
use super::register_pool::RegisterPool;
use super::resident::{ClusterStop, ResidentCluster};
use super::run::{BlockState, Launch, Recorded, Worker};
use super::shared::SharedMemory;
use super::stall::{RepeatedState, Stall};
use super::step::Turn;
use super::tensor::WARPS_OF_GROUP;
use super::turn_order::TurnOrder;
use super::unfinished_warps::count_positions;
use super::warp::{LANES, Registers, Split, SplitState, Warp};

/// Steps of a turn of a warp.
pub(super) const WARP_TURN: i64 = 1 << 14;
/// Turns of warps in a turn of a block.
const BLOCK_TURNS: i64 = 1 << 12;
/// Turns after which a block that only waited ends its turn.
const WAITING_TURNS: u32 = 16;

/// A block with its warps.
pub(super) struct Block {
    pub(super) state: BlockState,
    pub(super) warps: Vec<Warp>,
    pub(super) polled: bool,
    /// Whether its turns are over although its cluster is resident.
    pub(super) has_ended: bool,
}

impl Block {
    fn waits_at_cluster_barrier(&self) -> bool {
        let mut splits = self.warps.iter().flat_map(|warp| &warp.splits);
        splits.any(|split| split.state == SplitState::ClusterBarrier)
    }
}

pub(super) enum BlockStop {
    Ended,
    /// Its turn is over.
    Suspended,
    /// No thread can run; some wait at the barrier of the cluster.
    AtClusterBarrier,
    /// The launch reached a limit, in a turn of the warp at this position.
    Limited(LimitKind, usize),
}

impl Launch<'_> {
    /// Runs all blocks, or those that this host thread takes.
    pub(super) fn run(&mut self) {
        let total = self.selected.count();
        let threads = self.block.iter().product();
        let resident = |blocks| self.clusters.resident_clusters(blocks);
        let most = self.common.map_or_else(
            || resident(self.shape.resident_blocks(self.program, threads, self.shared.bytes)),
            |common| common.resident,
        );
        let limit = self.most_resident.map(|limit| resident(limit.get() as usize));
        let most = limit.map_or(most, |limit| most.min(limit));
        let shuffled = self.shuffled(total, most);
        self.run_blocks(&mut BlockStarts::new(total, self.block_order, shuffled, most));
        self.end_beyond_residency();
    }

    fn run_blocks(&mut self, starts: &mut BlockStarts) {
        let mut resident: VecDeque<ResidentCluster> = VecDeque::new();
        while !self.stopped {
            // New clusters go first while there is room: most end in their first turn.
            let fresh = resident.len() < starts.max_resident && self.order.pick(0, 2) == 0;
            let started = if fresh || resident.is_empty() { self.start(starts) } else { None };
            let chosen = self.order.pick(0, resident.len());
            let mut cluster = match started {
                Some(number) => self.create_cluster(self.selected.nth(number)),
                None => match resident.remove(chosen) {
                    Some(cluster) => cluster,
                    None if fresh => return,
                    None => continue,
                },
            };
            let stop = match self.run_cluster(&mut cluster) {
                ClusterStop::Limited { limit, rank, warp } => {
                    self.end_at_limit(limit, (&mut cluster, rank, warp), &resident);
                    ClusterStop::Ended
                }
                stop @ (ClusterStop::Ended | ClusterStop::Suspended) => stop,
            };
            if let Some(common) = self.common
                && self.stopped
            {
                // Clusters with lower indices continue.
                if let Some(block) = cluster.blocks.first() {
                    common.end_with(block.state.cluster);
                }
                self.stopped = false;
                continue;
            }
            if let ClusterStop::Suspended = stop {
                if self.common.is_some() {
                    // The block may wait for a host thread that has no processor.
                    std::thread::yield_now();
                }
                let stalls = self.repeated_state(&cluster.blocks).is_some();
                resident.push_back(cluster);
                let none_begins = resident.len() >= starts.max_resident || starts.left() == 0;
                if stalls && none_begins && !self.stopped {
                    self.end_if_stalled(&mut resident, starts);
                }
            }
        }
    }

    /// A random order of blocks, only if all of them are resident at once: otherwise waiting for a lower block may
    /// never end.
    fn shuffled(&mut self, total: u64, most: usize) -> Option<Vec<usize>> {
        match &self.order {
            TurnOrder::Seeded(_) if total <= most as u64 => {
                Some(self.order.permutation(total as usize))
            }
            TurnOrder::Seeded(_) | TurnOrder::Fixed => None,
        }
    }

    fn start(&self, starts: &mut BlockStarts) -> Option<u64> {
        match self.common {
            Some(common) => common.take(starts.total),
            None => starts.take(),
        }
    }

    pub(super) fn create(&mut self, index: [u32; 3], cluster: u64) -> Block {
        let linear = grid_index::linear(self.grid, index);
        let threads: u32 = self.block.iter().product();
        let state = BlockState {
            index,
            linear,
            cluster,
            threads,
            shared: SharedMemory::new(self.shared.bytes as usize),
            barriers: vec![BlockBarrier::default(); BARRIERS],
            cluster_arrivals: ClusterArrivals::default(),
            exited: 0,
            exited_warps: 0,
            copies: Copies::default(),
            mbarriers: BTreeSet::new(),
            failed_tests: BTreeMap::new(),
            unpublished_mbarriers: BTreeMap::new(),
            registers: self.register_pool(threads.div_ceil(LANES as u32)),
            warpgroups: Vec::new(),
            products: Vec::new(),
            bulk_stores: Vec::new(),
            races: self.races.as_ref().map(|races| races.block(linear, threads)),
        };
        let warps = (0..threads.div_ceil(LANES as u32)).map(|warp| self.warp(warp, threads));
        let warps = warps.collect();
        Block { state, warps, polled: false, has_ended: false }
    }

    /// The registers of a block; none if the kernel has no bound on them.
    fn register_pool(&self, warps: u32) -> Option<RegisterPool> {
        let kernel = self.module.functions.get(self.program.kernel.0 as usize)?;
        RegisterPool::from_bounds(&kernel.bounds, warps)
    }

    fn warp(&self, index: u32, threads: u32) -> Warp {
        let lanes = (threads - index * LANES as u32).min(LANES as u32);
        let mask = u32::MAX >> (LANES as u32 - lanes);
        let kernel = self.program.kernel;
        let function = self.program.functions.get(&kernel);
        let bytes = function.map_or(0, |function| function.frame_bytes);
        let end = super::super::lower::FIRST_FRAME + bytes;
        let frame = Worker::first_frame(end, kernel);
        let mut registers = Registers::default();
        let mut local = LocalMemory::default();
        local.grow(end);
        let mut pc = 0;
        if let Some(function) = function {
            registers.open(&frame, function, u32::MAX);
            pc = function.entry.unwrap_or(0);
        }
        let split =
            Split { pc, mask, frame, callers: Vec::new(), state: SplitState::Ready, rounds: 0 };
        let undefined_load = [None; LANES];
        Warp {
            index,
            registers,
            local,
            splits: vec![split],
            live: mask,
            undefined_load,
            awaited: 0,
            last_poll: None,
            changes: 0,
            idle_turns: 0,
            stall: Stall::default(),
        }
    }

    pub(super) fn run_block(&mut self, block: &mut Block) -> BlockStop {
        let (mut turns, mut waiting) = (0, 0);
        let most_turns = self.order.turn_length(BLOCK_TURNS);
        loop {
            let mut ran = false;
            block.polled = false;
            if self.common.is_some_and(|common| common.is_beyond(block.state.cluster)) {
                return BlockStop::Ended;
            }
            for index in self.order.permutation(block.warps.len()) {
                if !can_run(&block.warps[index]) {
                    continue;
                }
                ran = true;
                turns += 1;
                block.polled |= self.turn(block, index, false);
                if self.stopped {
                    return BlockStop::Ended;
                }
                if let Some(limit) = self.reached_limit() {
                    return BlockStop::Limited(limit, index);
                }
            }
            let released = self.release(block);
            if self.stopped {
                return BlockStop::Ended;
            }
            if block.warps.iter().all(|warp| warp.splits.is_empty()) {
                self.check_warpgroups(block);
                return BlockStop::Ended;
            }
            if !ran && !released && block.waits_at_cluster_barrier() {
                return BlockStop::AtClusterBarrier;
            }
            if !ran && !released && !self.resolve(block) {
                return BlockStop::Ended;
            }
            waiting = if block.polled { waiting + 1 } else { 0 };
            if waiting >= self.order.rounds_before_yield(WAITING_TURNS) {
                let ending = self.common.is_some_and(ParallelLaunch::is_ending);
                // The block may wait for a block that the end of the launch has stopped.
                return if ending { BlockStop::Ended } else { BlockStop::Suspended };
            }
            if turns >= most_turns || self.repeated_state(std::slice::from_ref(block)).is_some() {
                return BlockStop::Suspended;
            }
        }
    }

    /// One turn of a warp; returns whether it read memory that other threads may write.
    fn turn(&mut self, block: &mut Block, index: usize, forced: bool) -> bool {
        let budget = self.order.turn_length(WARP_TURN);
        let number = block.state.linear;
        let is_traced = self.trace.as_mut().is_some_and(|trace| trace.enter(number));
        let is_given = self.watch.is_some() || is_traced;
        let (budget, withheld) = if is_given { (0, budget) } else { (budget, 0) };
        let mut worker = self.worker(block, index, forced);
        (worker.budget, worker.withheld) = (budget, withheld);
        let turn = worker.turn();
        let polled = worker.polled && turn == Turn::Ready;
        let (changes, warp) = (self.changes, &mut block.warps[index]);
        let is_same = std::mem::replace(&mut warp.changes, changes) == changes;
        warp.idle_turns = if polled && is_same { warp.idle_turns.saturating_add(1) } else { 0 };
        // Host threads do not see each other's changes.
        if turn == Turn::Ready && self.common.is_none() {
            if self.order.splits_lanes() {
                warp.observe_in_random_order(changes, polled);
            } else {
                warp.observe(changes, polled);
            }
        }
        polled
    }

    /// Reports products that only some warps of a warpgroup issued before the block ended.
    fn check_warpgroups(&mut self, block: &mut Block) {
        for group in 0..block.state.warpgroups.len() {
            let Some((pc, warp)) = block.state.warpgroups[group].unfinished() else { continue };
            let number = group * WARPS_OF_GROUP + warp;
            let text = format!("warp {number} of the warpgroup never issues this product");
            let index = number.min(block.warps.len() - 1);
            let finding = Finding::new(FaultKind::WarpSync, 0, text);
            self.worker(block, index, false).report(pc, finding);
        }
    }

    /// The repeated state of the warps of a cluster that can run; none if one of them may still make progress.
    pub(super) fn repeated_state(&self, blocks: &[Block]) -> Option<RepeatedState> {
        let mut all = Some(RepeatedState::Spins);
        for warp in blocks.iter().flat_map(|block| &block.warps).filter(|warp| can_run(warp)) {
            match warp.repeated_state(self.changes) {
                None => return None,
                Some(RepeatedState::Polls) => all = Some(RepeatedState::Polls),
                Some(RepeatedState::Spins) => {}
            }
        }
        all
    }

    fn release(&mut self, block: &mut Block) -> bool {
        let (released, missed) = barrier::release(&mut block.state, &mut block.warps);
        if let Some(missed) = missed
            && let Some(index) = block.warps.iter().position(|warp| warp.index == missed.warp)
        {
            if self.checks.races != Races::Strict {
                self.accept_exited(missed.pc);
                return released;
            }
            let text = format!(
                "{} threads of the block have exited before a barrier for the whole block; let \
                 all threads reach it, or give the barrier the number of threads that do",
                missed.exited
            );
            let finding = Finding::new(FaultKind::BarrierDivergence, missed.lane, text);
            self.report_for(block, index, missed.pc, finding);
        }
        released
    }

    pub(super) fn report_for(
        &mut self,
        block: &mut Block,
        index: usize,
        pc: u32,
        finding: Finding,
    ) {
        self.worker(block, index, false).report(pc, finding);
    }

    /// A fault at a warp of a block, which is not reported yet.
    pub(super) fn recorded_for(
        &mut self,
        block: &mut Block,
        index: usize,
        pc: u32,
        finding: Finding,
    ) -> Recorded {
        let worker = self.worker(block, index, false);
        worker.recorded(pc, worker.thread(finding.lane), finding)
    }

    /// No thread of the block can continue: reports why, and lets lanes continue where that is possible.
    pub(super) fn resolve(&mut self, block: &mut Block) -> bool {
        let at_warp_operation = block.warps.iter().position(|warp| {
            warp.splits.iter().any(|split| matches!(split.state, SplitState::WarpSync(_)))
        });
        if let Some(index) = at_warp_operation {
            self.turn(block, index, true);
            return !self.stopped;
        }
        let mut found = None;
        for (index, warp) in block.warps.iter().enumerate() {
            for split in &warp.splits {
                if let SplitState::Barrier(number) = split.state {
                    found.get_or_insert((index, split.pc - 1, split.mask, number));
                }
            }
        }
        let Some((index, pc, mask, number)) = found else { return false };
        let counted = block.state.barriers[usize::from(number)].arrivals.len();
        let whole_block = count_positions(block) > 1;
        let kind = if whole_block { FaultKind::BarrierDivergence } else { FaultKind::Deadlock };
        let text = format!(
            "no thread of the block can continue: {counted} warps wait at barrier {number}; {}",
            self.unfinished_warps([&*block])
        );
        self.report_for(block, index, pc, Finding::new(kind, mask.trailing_zeros(), text));
        false
    }
}

impl<'m> Launch<'m> {
    /// A worker for a warp of a block, with a budget of zero steps.
    fn worker<'w>(
        &'w mut self,
        block: &'w mut Block,
        index: usize,
        forced: bool,
    ) -> Worker<'w, 'm> {
        Worker {
            launch: self,
            block: &mut block.state,
            warp: &mut block.warps[index],
            forced,
            budget: 0,
            withheld: 0,
            polled: false,
        }
    }
}

pub(super) fn can_run(warp: &Warp) -> bool {
    warp.splits.iter().any(|split| split.state == SplitState::Ready)
}
