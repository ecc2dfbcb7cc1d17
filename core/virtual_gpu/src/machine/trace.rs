//! Recording of the steps of some warps, and of the cost of each memory access.
//!
//! A warp of a recorded block executes its steps one at a time while they are recorded, and several at once
//! otherwise. The cost of an access is recorded where it is counted. A launch without a trace pays one test of an
//! empty option per access.

use std::collections::{BTreeMap, HashMap};

use super::super::cost::{
    CacheAccess, SectorCache, Step, Touched, TraceUse, TracedAccess, TracedBlock, TracedPhase,
    TracedWarp,
};
use super::mbarrier::{PHASE_MASK, State};
use super::run::Worker;

/// The limit of recorded steps of a warp.
const MOST: usize = 1 << 13;

/// Steps that are recorded behind an instruction that was recorded rarely so far.
const WINDOW: u32 = 64;

/// The number of recordings of an instruction, at most, while the recording goes on.
const OFTEN: u32 = 48;

/// The number of recordings of an instruction up to which it starts a recording again. Warps that wait for one another
/// would not start at the same place again, so that their waits would be too long.
const SELDOM: u32 = 1;

/// Steps that are skipped at once.
const LEFT_OUT: i64 = 64;

/// The limit of recorded steps of all warps of a block.
const MOST_OF_BLOCK: usize = 1 << 17;

/// The most instructions between a failed wait and its next attempt.
const MOST_BETWEEN: usize = 16;

/// The recording of a launch.
#[derive(Debug)]
pub(super) struct Tracing {
    /// By block index.
    blocks: Vec<(u64, BlockTrace)>,
    /// The index of the running block.
    at: Option<usize>,
}

#[derive(Debug)]
struct BlockTrace {
    warps: Vec<WarpTrace>,
    l1: SectorCache,
    l2: SectorCache,
    /// Touched sectors: of each 64 neighbours one bit.
    touched: HashMap<u64, u64>,
    /// The number of the last known phase of each mbarrier object, by its offset in shared memory.
    phases: HashMap<usize, u32>,
    retried: BTreeMap<u32, u64>,
}

#[derive(Clone, Debug, Default)]
struct WarpTrace {
    kept: TracedWarp,
    /// The number of recordings of each instruction.
    seen: HashMap<u32, u32>,
    /// Steps that are still recorded.
    window: u32,
    /// Whether the last recorded step is the one that is executing.
    is_open: bool,
    is_behind_gap: bool,
    /// The step, counted from one, that requested each line from L2.
    asked: HashMap<u64, u32>,
    failed_wait: Option<FailedWait>,
}

/// A wait that found its phase incomplete, and the instructions that the warp executed from there.
#[derive(Clone, Debug)]
struct FailedWait {
    /// The number of recorded steps and accesses before it.
    steps: usize,
    accesses: usize,
    executed: Vec<u32>,
}

impl Tracing {
    /// Records these blocks, by their linear index.
    pub(super) fn new(wanted: TraceUse, blocks: impl Iterator<Item = u64>) -> Self {
        let fresh = |number| (number, BlockTrace::new(wanted));
        Self { blocks: blocks.map(fresh).collect(), at: None }
    }

    /// Starts the turn of a block; returns whether it is recorded.
    pub(super) fn enter(&mut self, block: u64) -> bool {
        self.at = self.blocks.iter().position(|(number, _)| *number == block);
        self.at.is_some()
    }

    fn block(&mut self) -> Option<&mut BlockTrace> {
        self.blocks.get_mut(self.at?).map(|(_, block)| block)
    }

    /// A warp is about to execute an instruction; returns the number of steps that it may take at once.
    fn step(&mut self, warp: u32, pc: u32) -> i64 {
        self.block().map_or(LEFT_OUT, |block| block.step(warp as usize, pc))
    }

    pub(super) fn blocks(self) -> Vec<TracedBlock> {
        let traced = |block: BlockTrace| TracedBlock {
            warps: block.warps.into_iter().map(|warp| warp.kept).collect(),
            distinct_sectors: block.touched.values().map(|bits| u64::from(bits.count_ones())).sum(),
            retried: block.retried,
        };
        let ran = self.blocks.into_iter().filter(|(_, block)| !block.warps.is_empty());
        ran.map(|(_, block)| traced(block)).collect()
    }
}

impl BlockTrace {
    fn new(wanted: TraceUse) -> Self {
        Self {
            warps: Vec::new(),
            l1: SectorCache::new(wanted.l1),
            l2: SectorCache::new(wanted.l2),
            touched: HashMap::new(),
            phases: HashMap::new(),
            retried: BTreeMap::new(),
        }
    }

    fn step(&mut self, warp: usize, pc: u32) -> i64 {
        if self.warps.len() <= warp {
            self.warps.resize_with(warp + 1, WarpTrace::default);
        }
        let most = (MOST_OF_BLOCK / self.warps.len()).min(MOST);
        let warp = &mut self.warps[warp];
        for pc in warp.follow_failed_wait(pc) {
            *self.retried.entry(pc).or_default() += 1;
        }
        let steps = warp.step(pc, most);
        if warp.failed_wait.is_some() { 1 } else { steps }
    }

    /// The number of the present phase of an mbarrier object, of which `state` has the low bits.
    fn phase(&mut self, offset: usize, state: State) -> TracedPhase {
        let number = self.phases.entry(offset).or_default();
        *number += state.phase.wrapping_sub(*number) & PHASE_MASK;
        TracedPhase { object: offset as u32, number: *number }
    }

    /// Classifies each sector of a request: hit in L1, hit in the block's share of L2, or miss.
    fn access(&mut self, warp: usize, sectors: &[u64], cached: CacheAccess) {
        let Some(warp) = self.warps.get_mut(warp) else { return };
        let mut told = TracedAccess::default();
        for neighbours in sectors.chunk_by(|one, next| one / 64 == next / 64) {
            let bits = neighbours.iter().fold(0, |bits, sector| bits | 1 << (sector % 64));
            *self.touched.entry(neighbours[0] / 64).or_default() |= bits;
        }
        for sector in sectors {
            let (line, bit) = (sector >> 2, 1 << (sector & 3));
            let place = mixed(line);
            if cached == CacheAccess::Load && self.l1.take(place, bit) {
                told.near += 1;
                told.filled_by = told.filled_by.max(warp.asked.get(&line).copied().unwrap_or(0));
                continue;
            }
            if self.l2.take(place, bit) {
                told.l2 += 1;
            } else {
                told.far += 1;
            }
            if warp.is_open && cached == CacheAccess::Load {
                warp.asked.insert(line, warp.kept.steps.len() as u32);
            }
        }
        warp.add(told);
    }
}

/// A permutation of line numbers: caches hash the set index, so that the lines of a matrix column do not share one
/// set.
const fn mixed(line: u64) -> u64 {
    let line = line ^ line >> 6;
    line ^ line >> 11
}

impl WarpTrace {
    fn step(&mut self, pc: u32, most: usize) -> i64 {
        if self.kept.steps.len() >= most {
            self.is_open = false;
            return LEFT_OUT;
        }
        let seen = self.seen.entry(pc).or_default();
        let is_closed = self.window == 0;
        if *seen < if is_closed { SELDOM } else { OFTEN } {
            self.window = WINDOW;
        } else if is_closed {
            (self.is_open, self.is_behind_gap) = (false, true);
            return LEFT_OUT;
        }
        if is_closed {
            self.asked.clear();
        }
        *seen += 1;
        self.window -= 1;
        let is_behind_gap = std::mem::take(&mut self.is_behind_gap);
        self.kept.steps.push(Step { pc, access: 0, is_behind_gap });
        self.is_open = true;
        1
    }

    /// The warp is about to execute an instruction. If this is the next attempt of a wait that failed, the steps
    /// since then are removed, and their instructions are returned.
    fn follow_failed_wait(&mut self, pc: u32) -> Vec<u32> {
        let Some(mut failed) = self.failed_wait.take() else { return Vec::new() };
        if failed.executed.first() == Some(&pc) {
            for step in self.kept.steps.drain(failed.steps..) {
                self.is_behind_gap |= step.is_behind_gap;
                self.window += 1;
                self.seen.entry(step.pc).and_modify(|seen| *seen -= 1);
            }
            self.kept.accesses.truncate(failed.accesses);
            return failed.executed;
        }
        if failed.executed.len() < MOST_BETWEEN {
            failed.executed.push(pc);
            self.failed_wait = Some(failed);
        }
        Vec::new()
    }

    /// The instruction that executes is a wait that failed.
    fn fail(&mut self, pc: u32) {
        let (mut steps, mut accesses) = (self.kept.steps.len(), self.kept.accesses.len());
        if self.is_open {
            steps -= 1;
            accesses -= usize::from(self.kept.steps[steps].access != 0);
        }
        self.failed_wait = Some(FailedWait { steps, accesses, executed: vec![pc] });
    }

    /// Adds to the cost of the last step.
    fn add(&mut self, more: TracedAccess) {
        let Some(step) = self.kept.steps.last_mut().filter(|_| self.is_open) else { return };
        if step.access == 0 {
            self.kept.accesses.push(TracedAccess::default());
            step.access = self.kept.accesses.len() as u32;
        }
        let Some(access) = self.kept.accesses.last_mut() else { return };
        access.wavefronts += more.wavefronts;
        access.lines += more.lines;
        access.near += more.near;
        access.l2 += more.l2;
        access.far += more.far;
        access.filled_by = access.filled_by.max(more.filled_by);
        access.most_at_one += more.most_at_one;
        access.lanes += more.lanes;
        access.phase = access.phase.or(more.phase);
    }
}

impl Worker<'_, '_> {
    /// The number of steps that the warp may take; the first of them is recorded if it is one.
    pub(super) fn traced_steps(&mut self, pc: u32) -> i64 {
        let warp = self.warp.index;
        self.launch.trace.as_mut().map_or(1, |trace| trace.step(warp, pc))
    }

    /// Records a request of global memory, sector by sector.
    pub(super) fn trace_sectors(&mut self, sectors: &[u64], cached: CacheAccess) {
        let warp = self.warp.index as usize;
        if let Some(block) = self.launch.trace.as_mut().and_then(|trace| trace.block()) {
            block.access(warp, sectors, cached);
        }
    }

    /// Records the wavefronts of the last access.
    pub(super) fn trace_wavefronts(&mut self, wavefronts: u64) {
        let wavefronts = u32::try_from(wavefronts).unwrap_or(u32::MAX);
        self.trace_access(TracedAccess { wavefronts, ..TracedAccess::default() });
    }

    /// Records a request of global memory with its lines.
    pub(super) fn trace_touched(&mut self, touched: &Touched) {
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let (wavefronts, lines) = (small(touched.wavefronts()), small(touched.lines));
        self.trace_access(TracedAccess { wavefronts, lines, ..TracedAccess::default() });
    }

    /// Records the lanes of an atomic operation.
    pub(super) fn trace_changes(&mut self, most_at_one: u64, lanes: u32) {
        let most_at_one = u32::try_from(most_at_one).unwrap_or(u32::MAX);
        self.trace_access(TracedAccess { most_at_one, lanes, ..TracedAccess::default() });
    }

    /// Records that the step contributes to the present phase of an mbarrier object of the block.
    pub(super) fn trace_contribution(&mut self, offset: usize) {
        if self.launch.trace.is_none() || self.launch.peers.owner().is_some() {
            return;
        }
        let state = self.mbarrier_state(offset);
        self.trace_phase(offset, state, 0);
    }

    /// Records that the step arrives at a phase of a barrier of the block.
    pub(super) fn trace_barrier(&mut self, index: usize, number: u32) {
        let phase = Some(TracedPhase { object: TracedPhase::BARRIERS + index as u32, number });
        self.trace_access(TracedAccess { phase, ..TracedAccess::default() });
    }

    /// Records that the step waited for the phase before the present one.
    pub(super) fn trace_passed_wait(&mut self, offset: usize, state: State) {
        self.trace_phase(offset, state, 1);
    }

    fn trace_phase(&mut self, offset: usize, state: State, before: u32) {
        let Some(block) = self.launch.trace.as_mut().and_then(|trace| trace.block()) else {
            return;
        };
        let TracedPhase { object, number } = block.phase(offset, state);
        if let Some(number) = number.checked_sub(before) {
            let phase = Some(TracedPhase { object, number });
            self.trace_access(TracedAccess { phase, ..TracedAccess::default() });
        }
    }

    /// Records that the step waits in vain: the warp executes one step at a time until the next attempt.
    pub(super) fn trace_failed_wait(&mut self, pc: u32) {
        let warp = self.warp.index as usize;
        let block = self.launch.trace.as_mut().and_then(|trace| trace.block());
        if let Some(warp) = block.and_then(|block| block.warps.get_mut(warp)) {
            warp.fail(pc);
            self.withheld += std::mem::take(&mut self.budget);
        }
    }

    fn trace_access(&mut self, access: TracedAccess) {
        let warp = self.warp.index as usize;
        let block = self.launch.trace.as_mut().and_then(|trace| trace.block());
        if let Some(warp) = block.and_then(|block| block.warps.get_mut(warp)) {
            warp.add(access);
        }
    }
}
