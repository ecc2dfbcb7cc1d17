//! What accesses cost, counted: requests, sectors, lines, passes over the banks.

use super::super::cost::{SharedRequest, line_counts, shared_wavefronts};
use super::access::Part;
use super::memory::Memory;
use super::quick::Places;
use super::run::Worker;
use super::warp::LANES;

impl Worker<'_, '_> {
    pub(super) fn count_global(&mut self, part: &Part<'_>, is_load: bool) {
        if self.launch.counts.is_empty() {
            return;
        }
        self.touch(part, is_load);
        let units = line_counts(part.addresses, part.mask, part.bytes());
        let bytes = u64::from(part.bytes()) * u64::from(part.mask.count_ones());
        self.add_global(part.pc, units, bytes, is_load);
    }

    fn add_global(&mut self, pc: u32, (sectors, lines): (u64, u64), bytes: u64, is_load: bool) {
        let Some(counts) = self.launch.count(pc) else { return };
        if is_load {
            counts.global_load_requests += 1;
            counts.global_load_sectors += sectors;
            counts.global_load_lines += lines;
            counts.global_load_bytes += bytes;
        } else {
            counts.global_store_requests += 1;
            counts.global_store_sectors += sectors;
            counts.global_store_lines += lines;
            counts.global_store_bytes += bytes;
        }
    }

    /// Counts an access to one region whose places were checked.
    #[inline(always)]
    pub(super) fn count_global_words(
        &mut self,
        pc: u32,
        region: usize,
        places: &Places,
        (mask, bytes): (u32, u32),
        is_load: bool,
    ) {
        if self.launch.counts.is_empty() {
            return;
        }
        let ranges = if mask == u32::MAX { places.ranges(bytes) } else { None };
        let Some(ranges) = ranges else {
            let start = Memory::address(region);
            let addresses = places.offsets.map(|offset| start + u64::from(offset));
            let part = Part { pc, addresses: &addresses, mask, element: bytes, count: 1 };
            self.count_global(&part, is_load);
            return;
        };
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
        self.add_global(
            pc,
            (units(ranges, 5), units(ranges, 7)),
            u64::from(bytes) * LANES as u64,
            is_load,
        );
    }

    /// Counts an access to shared memory whose places were checked.
    #[inline(always)]
    pub(super) fn count_shared_words(&mut self, pc: u32, places: &Places, mask: u32, bytes: u32) {
        if self.launch.counts.is_empty() {
            return;
        }
        // Words that lie within one row of the banks have a bank each.
        if bytes <= 4 && places.end - places.start <= 128 {
            let Some(counts) = self.launch.count(pc) else { return };
            counts.shared_requests += 1;
            counts.shared_wavefronts += 1;
            return;
        }
        let addresses = places.offsets.map(u64::from);
        self.count_shared(&Part { pc, addresses: &addresses, mask, element: bytes, count: 1 });
    }

    /// Marks the sectors that are touched at all.
    fn touch(&mut self, part: &Part<'_>, is_load: bool) {
        let bytes = u64::from(part.bytes());
        let mut last = u64::MAX;
        for lane in part.lanes() {
            let address = part.addresses[lane];
            if address >> 5 == last && (address + bytes - 1) >> 5 == last {
                continue;
            }
            last = (address + bytes - 1) >> 5;
            let Some(place) = self.launch.memory.place(address, bytes) else { continue };
            let region = &mut self.launch.memory.regions[place.region];
            let words = region.content.len().div_ceil(32 * 64);
            let bits = if is_load { &mut region.read_sectors } else { &mut region.written_sectors };
            if bits.is_empty() {
                bits.resize(words, 0);
            }
            for sector in place.offset / 32..=(place.offset + bytes as usize - 1) / 32 {
                bits[sector / 64] |= 1 << (sector % 64);
            }
        }
    }

    pub(super) fn count_shared(&mut self, part: &Part<'_>) {
        if self.launch.counts.is_empty() {
            return;
        }
        let bytes = part.bytes();
        let request = SharedRequest { offsets: part.addresses, mask: part.mask, bytes };
        let (wavefronts, conflicts) = shared_wavefronts(&request);
        let Some(counts) = self.launch.count(part.pc) else { return };
        counts.shared_requests += 1;
        counts.shared_wavefronts += wavefronts;
        counts.shared_bank_conflicts += conflicts;
    }
}

/// How many units of `2^shift` bytes two ranges touch together.
fn units(ranges: [(u64, u64); 2], shift: u32) -> u64 {
    let [a, b] = ranges.map(|(start, end)| (start >> shift, ((end - 1) >> shift) + 1));
    let common = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    a.1 - a.0 + (b.1 - b.0) - common
}
