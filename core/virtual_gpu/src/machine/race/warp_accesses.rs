//! The race check of a warp's accesses whose offsets `fast_memory_32` has computed: whole words, all lanes in one
//! variable.

use multiversion::multiversion;

use super::super::lane_offsets::{HalfWarpPattern, LaneOffsets};
use super::super::memory::{Access as Rights, RegionKind};
use super::super::run::Worker;
use super::clock::Thread;
use super::conflict::MemoryKind;
use super::element::Role;
use super::fast_rows::NewRow;
use super::fast_words::WarpTime;
use super::happens_before::lanes_of;
use super::hooks::shadow_of;
use super::page::{PAGE, ROW};
use super::shadow::{PackedAccess, Record, Shadow, Strength, WORD};

/// The number of lanes of half a warp, which equals the number of words of a row.
const HALF: usize = ROW;

/// The accesses of the lanes of a warp.
pub(super) struct WarpAccesses<'p> {
    pub(super) places: &'p LaneOffsets,
    pub(super) mask: u32,
    /// Words per lane.
    pub(super) words: usize,
    /// The thread of lane 0.
    pub(super) base: Thread,
    pub(super) time: u32,
    pub(super) what: PackedAccess,
    pub(super) role: Role,
}

impl Worker<'_, '_> {
    /// Records plain accesses of `bytes` by each lane, in elements of `element`.
    ///
    /// Returns false if one of them must be checked; those before it are recorded then, which does not change the
    /// result of the check of all of them.
    pub(in super::super) fn race_warp_accesses(
        &mut self,
        (pc, role): (u32, Role),
        region: Option<usize>,
        places: &LaneOffsets,
        (mask, element, bytes): (u32, usize, u32),
    ) -> bool {
        if region.is_some_and(|region| !self.is_shared_by_writers(region)) {
            return true;
        }
        let (Some(races), Some(block)) = (&mut self.launch.races, &mut self.block.races) else {
            return false;
        };
        // The first store after a fence must be checked (rule 22).
        if role.writes() && races.lenient && block.order.has_lane_orders {
            return false;
        }
        let memory = if region.is_some() { MemoryKind::Global } else { MemoryKind::Shared };
        let through_cache = races.reads_non_coherently(pc);
        let times = races.times(block, self.warp.index, memory);
        let wide = (element as u32 / 4).max(1).trailing_zeros();
        let accesses = WarpAccesses {
            places,
            mask,
            words: bytes as usize / 4,
            base: Thread::new(block.order.block, self.warp.index * 32),
            time: block.order.now(self.warp.index),
            what: PackedAccess::new(pc, WORD, Strength::Weak, wide),
            role,
        };
        if region.is_some() && role.writes() && races.replay.is_some() {
            return false;
        }
        let shadow = shadow_of(&mut races.global, &mut block.shared, region);
        if through_cache && accesses.any_written(shadow)
            || role.writes() && shadow.read_non_coherently
        {
            return false;
        }
        shadow.read_non_coherently |= through_cache;
        remember(&times, shadow, &accesses)
    }

    /// Whether kernels may write to a region of global memory.
    pub(in super::super) fn is_shared_by_writers(&self, region: usize) -> bool {
        let region = &self.launch.memory.regions[region];
        match region.kind {
            RegionKind::Buffer | RegionKind::Global | RegionKind::Heap => {
                region.access == Rights::ReadWrite
            }
            RegionKind::Constant | RegionKind::Parameters | RegionKind::Freed => false,
        }
    }
}

/// Records all accesses, or those before the first one that must be checked; compiled for the same vector
/// instructions as the steps of warps.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub(super) fn remember(times: &WarpTime, shadow: &mut Shadow, accesses: &WarpAccesses<'_>) -> bool {
    // Closures of iterators are compiled separately, without these vector instructions.
    for half in 0..2 {
        let mask = accesses.mask & 0xffff << (half * HALF);
        if mask == 0 {
            continue;
        }
        let done = match accesses.places.halves[half] {
            HalfWarpPattern::Contiguous if mask == 0xffff << (half * HALF) => {
                accesses.row(times, shadow, half) || accesses.each(times, shadow, mask)
            }
            HalfWarpPattern::Uniform if !accesses.role.writes() => {
                accesses.same(times, shadow, mask)
            }
            HalfWarpPattern::Contiguous | HalfWarpPattern::Uniform | HalfWarpPattern::Scattered => {
                accesses.each(times, shadow, mask)
            }
        };
        if !done {
            return false;
        }
    }
    true
}

impl WarpAccesses<'_> {
    fn record(&self, lane: u32) -> Record {
        Record { thread: self.base.with_lane(lane), time: self.time, access: self.what }
    }

    fn first_word(&self, lane: u32) -> usize {
        self.places.offsets[lane as usize] as usize / 4
    }

    /// Whether the launch wrote to any of the words.
    fn any_written(&self, shadow: &mut Shadow) -> bool {
        lanes_of(self.mask).any(|lane| {
            let first = self.first_word(lane);
            let mut words = first..first + self.words;
            words.any(|word| shadow.page(word).cell(word % PAGE).write.time != 0)
        })
    }

    /// Records one lane after the other.
    pub(super) fn each(&self, times: &WarpTime, shadow: &mut Shadow, mask: u32) -> bool {
        lanes_of(mask).all(|lane| {
            let first = self.first_word(lane);
            times.update_words(shadow, first..first + self.words, &self.record(lane), self.role)
        })
    }

    /// Records all lanes of half a warp that access consecutive words.
    #[inline(always)]
    fn row(&self, times: &WarpTime, shadow: &mut Shadow, half: usize) -> bool {
        let first = self.first_word((half * HALF) as u32);
        let shift = self.words.trailing_zeros();
        let base = self.base.bits();
        for chunk in 0..self.words {
            let (mut threads, mut lanes) = ([0; ROW], [0; ROW]);
            for index in 0..ROW {
                let lane = (half * HALF + ((chunk * ROW + index) >> shift)) as u32;
                threads[index] = base | lane;
                lanes[index] = 1 << lane;
            }
            let new = NewRow { threads, lanes, time: self.time, what: self.what };
            let word = first + chunk * ROW;
            let done = if self.role.writes() {
                times.write_row(shadow, word, &new)
            } else {
                times.read_row(shadow, word, &new)
            };
            if !done {
                return false;
            }
        }
        true
    }

    /// Records reads of the same words by several lanes.
    fn same(&self, times: &WarpTime, shadow: &mut Shadow, mask: u32) -> bool {
        let first = self.first_word(mask.trailing_zeros());
        let words = first..first + self.words;
        let last = self.record(31 - mask.leading_zeros());
        times.read_together(shadow, words, &last, mask) || self.each(times, shadow, mask)
    }
}
