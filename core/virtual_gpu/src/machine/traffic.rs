//! Counters of memory accesses: requests, sectors, lines, wavefronts, traffic of the caches.

use std::ops::Range;

use super::super::cost::{CacheAccess, Direction, Request, Touched, shared_wavefronts};
use super::super::isa::memory::{Access, CacheOperator, Space};
use super::super::lower::Program;
use super::super::lower::code::Code;
use super::access::Part;
use super::atomic::{adds_floats, is_joined};
use super::lane_offsets::LaneOffsets;
use super::load::polls;
use super::memory::Memory;
use super::run::Worker;
use super::warp::LANES;

/// The first load by which a block may wait for a block of another cluster.
pub(super) fn first_poll(program: &Program) -> Option<u32> {
    let waits = |code: Code| {
        let Code::Load { access, .. } = code else { return false };
        matches!(access.space, Space::Global | Space::Generic) && polls(access.ordering)
    };
    program.ops.iter().position(|op| waits(op.code)).map(|pc| pc as u32)
}

fn request<'a>(part: &Part<'a>) -> Request<'a> {
    Request { addresses: part.addresses, mask: part.mask, bytes: part.bytes() }
}

impl Worker<'_, '_> {
    /// The access of an instruction, if it is a load or a store.
    fn access_of(&self, pc: u32) -> Option<Access> {
        let code = self.launch.program.ops.get(pc as usize)?.code;
        if let Code::Load { access, .. } | Code::Store { access, .. } = code {
            return Some(access);
        }
        None
    }

    pub(super) fn count_global(&mut self, part: &Part<'_>, is_load: bool) {
        if self.launch.counts.is_empty() {
            return;
        }
        let access = self.access_of(part.pc);
        let request = request(part);
        if access.is_some_and(|access| matches!(access.space, Space::Const | Space::Param)) {
            let Some(counts) = self.launch.count(part.pc) else { return };
            let passes = request.different_addresses();
            counts.constant_requests += 1;
            counts.constant_passes += passes;
            self.trace_wavefronts(passes);
            return;
        }
        let cached = self.cached(part.pc, is_load);
        self.touch(part, cached);
        self.add_global(part.pc, request.touched(), is_load);
    }

    fn add_global(&mut self, pc: u32, touched: Touched, is_load: bool) {
        self.trace_touched(&touched);
        let Some(counts) = self.launch.count(pc) else { return };
        counts.global_wavefronts += touched.wavefronts();
        if is_load {
            counts.global_load_requests += 1;
            counts.global_load_sectors += touched.sectors;
            counts.global_load_lines += touched.lines;
            counts.global_load_bytes += touched.bytes;
            counts.global_load_distinct_bytes += touched.distinct_bytes;
        } else {
            counts.global_store_requests += 1;
            counts.global_store_sectors += touched.sectors;
            counts.global_store_lines += touched.lines;
            counts.global_store_bytes += touched.bytes;
            counts.global_store_distinct_bytes += touched.distinct_bytes;
        }
    }

    /// Counts an access to one region whose offsets were checked.
    #[inline(always)]
    pub(super) fn count_global_words(
        &mut self,
        pc: u32,
        region: usize,
        places: &LaneOffsets,
        (mask, bytes): (u32, u32),
        is_load: bool,
    ) {
        if self.launch.counts.is_empty() {
            return;
        }
        let is_constant = self.access_of(pc).is_some_and(|access| access.space == Space::Const);
        let simple = mask == u32::MAX && self.launch.caches.is_none() && !is_constant;
        let ranges = if simple { places.ranges(bytes) } else { None };
        let Some(ranges) = ranges else {
            let start = Memory::address(region);
            let addresses = places.offsets.map(|offset| start + u64::from(offset));
            let part = Part { pc, addresses: &addresses, mask, element: bytes, count: 1 };
            self.count_global(&part, is_load);
            return;
        };
        self.count_global_ranges(pc, region, ranges, u64::from(bytes) * LANES as u64, is_load);
    }

    /// Counts a load of the lanes of a warp from a range of bytes of a region, each of its own part, without modelled
    /// caches.
    pub(super) fn count_global_range(&mut self, pc: u32, region: usize, range: Range<usize>) {
        let (start, end) = (range.start as u64, range.end as u64);
        self.count_global_ranges(pc, region, [(start, end); 2], end - start, true);
    }

    /// Counts an access to the bytes of two ranges of a region without modelled caches.
    fn count_global_ranges(
        &mut self,
        pc: u32,
        region: usize,
        ranges: [(u64, u64); 2],
        bytes: u64,
        is_load: bool,
    ) {
        let region_index = region;
        let region = &mut self.launch.memory.regions[region];
        let words = region.content.len().div_ceil(32 * 64);
        let bits = if is_load { &mut region.read_sectors } else { &mut region.written_sectors };
        if bits.is_empty() {
            bits.resize(words, 0);
        }
        for (start, end) in ranges {
            for sector in start / 32..=(end - 1) / 32 {
                bits[sector as usize / 64] |= 1 << (sector % 64);
            }
        }
        if self.launch.trace.is_some() {
            self.trace_ranges(pc, Memory::address(region_index), ranges, is_load);
        }
        let touched = Touched {
            sectors: units(ranges, 5),
            lines: units(ranges, 7),
            distinct_bytes: units(ranges, 0),
            bytes,
        };
        self.add_global(pc, touched, is_load);
    }

    /// Counts an access to shared memory whose offsets were checked.
    #[inline(always)]
    pub(super) fn count_shared_words(
        &mut self,
        pc: u32,
        places: &LaneOffsets,
        mask: u32,
        bytes: u32,
    ) {
        if self.launch.counts.is_empty() {
            return;
        }
        // Words within one row of the banks are in different banks.
        if bytes <= 4 && places.end - places.start <= 128 {
            let Some(counts) = self.launch.count(pc) else { return };
            counts.shared_requests += 1;
            counts.shared_wavefronts += 1;
            self.trace_wavefronts(1);
            return;
        }
        let addresses = places.offsets.map(u64::from);
        self.count_shared(&Part { pc, addresses: &addresses, mask, element: bytes, count: 1 });
    }

    /// Traces the sectors of two ranges of a region, if an access bypasses no cache.
    fn trace_ranges(&mut self, pc: u32, start: u64, ranges: [(u64, u64); 2], is_load: bool) {
        let mut sectors: Vec<u64> = Vec::new();
        for (from, to) in ranges {
            let both = (start + from) / 32..=(start + to - 1) / 32;
            sectors.extend(both.filter(|sector| !sectors.contains(sector)).collect::<Vec<_>>());
        }
        self.trace_sectors(&sectors, self.cached(pc, is_load));
    }

    /// The caches that an access uses.
    fn cached(&self, pc: u32, is_load: bool) -> CacheAccess {
        let through = self.access_of(pc).is_some_and(|access| {
            polls(access.ordering) || access.hints.operator == Some(CacheOperator::CacheGlobal)
        });
        match (is_load, through) {
            (true, false) => CacheAccess::Load,
            (true, true) => CacheAccess::LoadThrough,
            (false, _) => CacheAccess::Store,
        }
    }

    /// Marks the touched sectors and records them in the caches.
    fn touch(&mut self, part: &Part<'_>, cached: CacheAccess) {
        let bytes = u64::from(part.bytes());
        let (reads, writes) = match cached {
            CacheAccess::Load | CacheAccess::LoadThrough => (true, false),
            CacheAccess::Store => (false, true),
            CacheAccess::ReadModifyWrite => (true, true),
        };
        let mut last = u64::MAX;
        for lane in part.lanes() {
            let address = part.addresses[lane];
            let Some(place) = self.launch.memory.place(address, bytes) else { continue };
            if address >> 5 == last && (address + bytes - 1) >> 5 == last {
                continue;
            }
            last = (address + bytes - 1) >> 5;
            let region = &mut self.launch.memory.regions[place.region];
            let words = region.content.len().div_ceil(32 * 64);
            let bits = [(reads, &mut region.read_sectors), (writes, &mut region.written_sectors)];
            for (_, bits) in bits.into_iter().filter(|(touched, _)| *touched) {
                if bits.is_empty() {
                    bits.resize(words, 0);
                }
                for sector in place.offset / 32..=(place.offset + bytes as usize - 1) / 32 {
                    bits[sector / 64] |= 1 << (sector % 64);
                }
            }
        }
        self.record_in_caches(part, cached);
    }

    /// Records each sector of a request once, in the order of lanes.
    fn record_in_caches(&mut self, part: &Part<'_>, cached: CacheAccess) {
        if self.launch.caches.is_none() && self.launch.trace.is_none() {
            return;
        }
        let bytes = u64::from(part.bytes());
        let mut told = [0; 64];
        let mut count = 0;
        for lane in part.lanes() {
            let address = part.addresses[lane];
            if self.launch.memory.place(address, bytes).is_none() {
                continue;
            }
            for sector in address >> 5..=(address + bytes - 1) >> 5 {
                if told[..count].contains(&sector) {
                    continue;
                }
                // An access of a lane is aligned, so that it touches at most two sectors.
                if let Some(slot) = told.get_mut(count) {
                    *slot = sector;
                    count += 1;
                }
                if let Some(caches) = &mut self.launch.caches {
                    caches.access(self.block.linear, sector << 5, cached);
                }
            }
        }
        self.trace_sectors(&told[..count], cached);
    }

    pub(super) fn count_shared(&mut self, part: &Part<'_>) {
        if self.launch.counts.is_empty() {
            return;
        }
        let op = self.launch.program.ops.get(part.pc as usize);
        let is_store = op.is_some_and(|op| matches!(op.code, Code::Store { .. }));
        let direction = if is_store { Direction::Store } else { Direction::Load };
        let (wavefronts, conflicts) = shared_wavefronts(&request(part), direction);
        let Some(counts) = self.launch.count(part.pc) else { return };
        counts.shared_requests += 1;
        counts.shared_wavefronts += wavefronts;
        counts.shared_bank_conflicts += conflicts;
        self.trace_wavefronts(wavefronts);
    }

    /// Counts an access to local memory; parameters of calls are registers on a GPU.
    pub(super) fn count_local(&mut self, part: &Part<'_>, direction: Direction) {
        if self.launch.counts.is_empty()
            || self.access_of(part.pc).is_none_or(|access| access.space == Space::Param)
        {
            return;
        }
        let sectors = request(part).local_sectors();
        self.trace_wavefronts(sectors.div_ceil(4));
        let Some(counts) = self.launch.count(part.pc) else { return };
        match direction {
            Direction::Load => {
                counts.local_load_requests += 1;
                counts.local_load_sectors += sectors;
            }
            Direction::Store => {
                counts.local_store_requests += 1;
                counts.local_store_sectors += sectors;
            }
        }
    }

    /// Counts atomic operations that are serialised at one address; operations that the warp may combine count as
    /// one.
    fn count_changes(&mut self, part: &Part<'_>, most_at_one: u64) {
        let op = self.launch.program.ops.get(part.pc as usize);
        let joins =
            |code: Code| matches!(code, Code::Atomic { atomic, .. } if is_joined(atomic.update));
        let may_be_joined = op.is_some_and(|op| joins(op.code));
        let adds = |code: Code| matches!(code, Code::Atomic { atomic, .. } | Code::AtomicVector { atomic, .. } if adds_floats(atomic.update));
        let chains = op.is_some_and(|op| adds(op.code));
        let is_one = may_be_joined && most_at_one == u64::from(part.mask.count_ones());
        let bytes = u64::from(part.bytes());
        let lanes = part.lanes().take(if is_one { 1 } else { LANES });
        let places = lanes.filter_map(|lane| self.launch.memory.place(part.addresses[lane], bytes));
        let mut places: Vec<(usize, usize)> =
            places.map(|place| (place.region, place.offset)).collect();
        places.sort_unstable();
        for of_region in places.chunk_by(|a, b| a.0 == b.0) {
            let offsets: Vec<usize> = of_region.iter().map(|place| place.1).collect();
            let region = &mut self.launch.memory.regions[of_region[0].0];
            region.changes.count(&offsets, region.content.len());
            if chains {
                region.changes.count_sums(&offsets, region.content.len());
            }
        }
    }

    /// Counts a read-modify-write, separately for lanes in global and in shared memory.
    pub(super) fn count_atomic(&mut self, part: &Part<'_>, global: u32, shared: u32) {
        if self.launch.counts.is_empty() {
            return;
        }
        for (mask, is_global) in [(global, true), (shared, false)] {
            if mask == 0 {
                continue;
            }
            let part = Part { mask, ..*part };
            let request = request(&part);
            if is_global {
                self.touch(&part, CacheAccess::ReadModifyWrite);
            }
            let sectors = if is_global { request.touched().sectors } else { 0 };
            let most = request.most_at_one_address();
            if is_global {
                self.count_changes(&part, most);
            }
            let Some(counts) = self.launch.count(part.pc) else { return };
            counts.atomic_requests += 1;
            counts.shared_atomic_requests += u64::from(!is_global);
            counts.atomic_sectors += sectors;
            counts.atomic_passes += most;
            counts.atomic_most_lanes = counts.atomic_most_lanes.max(most);
            self.trace_changes(most, mask.count_ones());
        }
    }
}

/// The number of units of `2^shift` bytes that two ranges touch together.
fn units(ranges: [(u64, u64); 2], shift: u32) -> u64 {
    let [a, b] = ranges.map(|(start, end)| (start >> shift, ((end - 1) >> shift) + 1));
    let common = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    a.1 - a.0 + (b.1 - b.0) - common
}
