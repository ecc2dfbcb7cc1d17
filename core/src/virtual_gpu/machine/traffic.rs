//! What accesses cost, counted: requests, sectors, lines, passes over the banks.

use super::super::cost::{SharedRequest, line_counts, shared_wavefronts};
use super::access::Part;
use super::run::Worker;

impl Worker<'_, '_> {
    pub(super) fn count_global(&mut self, part: &Part<'_>, is_load: bool) {
        if self.launch.counts.is_empty() {
            return;
        }
        self.touch(part, is_load);
        let (sectors, lines) = line_counts(part.addresses, part.mask, part.bytes());
        let bytes = u64::from(part.bytes()) * u64::from(part.mask.count_ones());
        let Some(counts) = self.launch.count(part.pc) else { return };
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
