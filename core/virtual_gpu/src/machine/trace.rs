//! What warps of some blocks do, kept while they run: their steps, and beside each access what it costs.
//!
//! A warp of such a block gets its steps one by one while they are kept, and some at once while they are not. What an
//! access costs is told where it is counted. A launch that is not traced pays a look at an empty place for each access.

use std::collections::{HashMap, HashSet};

use super::super::cost::{
    BlocksRun, CacheAccess, SectorCache, Step, Touched, TraceUse, TracedAccess, TracedBlock,
    TracedWarp,
};
use super::run::Worker;

/// Steps of a warp that are kept, at most.
const MOST: usize = 1 << 13;

/// Steps that are kept from where something begins that was not seen often yet.
const WINDOW: u32 = 512;

/// An instruction that was kept so often has been seen.
const OFTEN: u32 = 48;

/// Steps that are left out at once.
const LEFT_OUT: i64 = 64;

/// Steps that the warps of a block keep together, at most.
const MOST_OF_BLOCK: usize = 1 << 17;

/// The recording of a launch.
#[derive(Debug)]
pub(super) struct Tracing {
    /// By number.
    blocks: Vec<(u64, BlockTrace)>,
    /// Which of them runs.
    at: Option<usize>,
}

#[derive(Debug)]
struct BlockTrace {
    warps: Vec<WarpTrace>,
    l1: SectorCache,
    l2: SectorCache,
    touched: HashSet<u64>,
}

#[derive(Clone, Debug, Default)]
struct WarpTrace {
    kept: TracedWarp,
    /// How often each instruction was kept.
    seen: HashMap<u32, u32>,
    /// Steps that are still kept.
    window: u32,
    /// Whether the last step that was kept is the one that runs.
    is_open: bool,
    is_behind_gap: bool,
    /// The step, counted from one, that asked L2 for a line.
    asked: HashMap<u64, u32>,
}

impl Tracing {
    pub(super) fn new(wanted: TraceUse, blocks: BlocksRun) -> Self {
        let count = u64::from(wanted.blocks).min(blocks.run);
        // The middle of each of as many parts of equal size: the first and the last block are often special.
        let number = |n| blocks.nth((2 * n + 1) * blocks.run / (2 * count.max(1)));
        let numbers = (0..count).map(number);
        let fresh = |number| (number, BlockTrace::new(wanted));
        Self { blocks: numbers.map(fresh).collect(), at: None }
    }

    /// A block has its turn; whether it is one of those.
    pub(super) fn enter(&mut self, block: u64) -> bool {
        self.at = self.blocks.iter().position(|(number, _)| *number == block);
        self.at.is_some()
    }

    fn block(&mut self) -> Option<&mut BlockTrace> {
        self.blocks.get_mut(self.at?).map(|(_, block)| block)
    }

    /// A warp is about to execute an instruction; how many steps it gets.
    fn step(&mut self, warp: u32, pc: u32) -> i64 {
        self.block().map_or(LEFT_OUT, |block| block.step(warp as usize, pc))
    }

    pub(super) fn blocks(self) -> Vec<TracedBlock> {
        let traced = |block: BlockTrace| TracedBlock {
            warps: block.warps.into_iter().map(|warp| warp.kept).collect(),
            distinct_sectors: block.touched.len() as u64,
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
            touched: HashSet::new(),
        }
    }

    fn step(&mut self, warp: usize, pc: u32) -> i64 {
        if self.warps.len() <= warp {
            self.warps.resize_with(warp + 1, WarpTrace::default);
        }
        let most = (MOST_OF_BLOCK / self.warps.len()).min(MOST);
        self.warps[warp].step(pc, most)
    }

    /// Tells of each sector of a request whether L1 or the block's share of L2 has it.
    fn access(&mut self, warp: usize, sectors: &[u64], cached: CacheAccess) {
        let Some(warp) = self.warps.get_mut(warp) else { return };
        let mut told = TracedAccess::default();
        for sector in sectors {
            let (line, bit) = (sector >> 2, 1 << (sector & 3));
            self.touched.insert(*sector);
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

/// A line in another order: caches spread lines over their sets so that those of a column do not meet in one.
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
        if self.window == 0 {
            if *seen >= OFTEN {
                (self.is_open, self.is_behind_gap) = (false, true);
                return LEFT_OUT;
            }
            self.window = WINDOW;
            self.asked.clear();
        }
        *seen += 1;
        self.window -= 1;
        let is_behind_gap = std::mem::take(&mut self.is_behind_gap);
        self.kept.steps.push(Step { pc, access: 0, is_behind_gap });
        self.is_open = true;
        1
    }

    /// Adds to what the last step costs.
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
    }
}

impl Worker<'_, '_> {
    /// How many steps the warp gets; the first of them is kept if that is one.
    pub(super) fn traced_steps(&mut self, pc: u32) -> i64 {
        let warp = self.warp.index;
        self.launch.trace.as_mut().map_or(1, |trace| trace.step(warp, pc))
    }

    /// A request of global memory, sector by sector.
    pub(super) fn trace_sectors(&mut self, sectors: &[u64], cached: CacheAccess) {
        let warp = self.warp.index as usize;
        if let Some(block) = self.launch.trace.as_mut().and_then(|trace| trace.block()) {
            block.access(warp, sectors, cached);
        }
    }

    /// Passes of the last access through its pipe.
    pub(super) fn trace_wavefronts(&mut self, wavefronts: u64) {
        let wavefronts = u32::try_from(wavefronts).unwrap_or(u32::MAX);
        self.trace_access(TracedAccess { wavefronts, ..TracedAccess::default() });
    }

    /// The same of a request of global memory, with its lines.
    pub(super) fn trace_touched(&mut self, touched: &Touched) {
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let (wavefronts, lines) = (small(touched.wavefronts()), small(touched.lines));
        self.trace_access(TracedAccess { wavefronts, lines, ..TracedAccess::default() });
    }

    /// Lanes that change memory.
    pub(super) fn trace_changes(&mut self, most_at_one: u64, lanes: u32) {
        let most_at_one = u32::try_from(most_at_one).unwrap_or(u32::MAX);
        self.trace_access(TracedAccess { most_at_one, lanes, ..TracedAccess::default() });
    }

    fn trace_access(&mut self, access: TracedAccess) {
        let warp = self.warp.index as usize;
        let block = self.launch.trace.as_mut().and_then(|trace| trace.block());
        if let Some(warp) = block.and_then(|block| block.warps.get_mut(warp)) {
            warp.add(access);
        }
    }
}
