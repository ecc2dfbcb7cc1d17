//! The accesses that kernels make most, without detours: one word of 32 bits for each lane, all of it in order.
//!
//! Whatever is not quite in order is left to `access`, which checks again and reports.

use super::super::lower::code::Slot;
use super::lanes::Doubles;
use super::memory::Access as Rights;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// All bytes of a word are written.
const WHOLE: u32 = 0b1111;

impl Worker<'_, '_> {
    /// Loads a word for each lane from shared memory; false if anything is not in order.
    pub(super) fn quick_load_shared(
        &mut self,
        addresses: &Doubles,
        mask: u32,
        slot: Slot,
        frame: Frame,
    ) -> bool {
        let mut result = [0_u32; LANES];
        let mut last = (u64::MAX, 0);
        for lane in 0..LANES {
            let address = addresses[lane];
            if mask >> lane & 1 == 0 {
                continue;
            }
            if address == last.0 {
                result[lane] = last.1;
                continue;
            }
            let Some(offset) = self.launch.shared.place(address, 4) else { return false };
            if offset % 4 != 0
                || self.block.copies.covers(offset, 4)
                || self.block.shared.written_bits(offset, 4) != WHOLE
            {
                return false;
            }
            result[lane] = self.block.shared.read(offset, 4) as u32;
            last = (address, result[lane]);
        }
        self.lanes(frame, mask).set_word(slot, &result, 0);
        true
    }

    /// The same from one region of global memory.
    pub(super) fn quick_load_global(
        &mut self,
        addresses: &Doubles,
        mask: u32,
        slot: Slot,
        frame: Frame,
    ) -> bool {
        let first = addresses[mask.trailing_zeros() as usize % LANES];
        let Some((number, _)) = self.launch.memory.region_of(first) else { return false };
        let region = &self.launch.memory.regions[number];
        let start = super::memory::Memory::address(number);
        let mut result = [0_u32; LANES];
        for lane in 0..LANES {
            if mask >> lane & 1 == 0 {
                continue;
            }
            let offset = addresses[lane].wrapping_sub(start) as usize;
            let Some(end) = offset.checked_add(4) else { return false };
            if end > region.content.len()
                || !offset.is_multiple_of(4)
                || region.content.written_bits(offset, 4) != WHOLE
            {
                return false;
            }
            result[lane] = region.content.read(offset, 4) as u32;
        }
        self.lanes(frame, mask).set_word(slot, &result, 0);
        true
    }

    /// Stores a defined word of each lane to shared memory; false if anything is not in order.
    pub(super) fn quick_store_shared(
        &mut self,
        addresses: &Doubles,
        mask: u32,
        values: &[u32; LANES],
    ) -> bool {
        let mut offsets = [0_usize; LANES];
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            match self.launch.shared.place(addresses[lane], 4) {
                Some(offset) if offset % 4 == 0 && !self.block.copies.covers(offset, 4) => {
                    offsets[lane] = offset;
                }
                Some(_) | None => return false,
            }
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let offset = offsets[lane];
            self.block.shared.write(offset, 4, u64::from(values[lane]));
            self.block.shared.mark_written(offset, 4);
        }
        true
    }

    /// The same to one region of global memory.
    pub(super) fn quick_store_global(
        &mut self,
        addresses: &Doubles,
        mask: u32,
        values: &[u32; LANES],
    ) -> bool {
        let first = addresses[mask.trailing_zeros() as usize % LANES];
        let Some((number, _)) = self.launch.memory.region_of(first) else { return false };
        let start = super::memory::Memory::address(number);
        let region = &self.launch.memory.regions[number];
        let length = region.content.len() as u64;
        let fine = |address: u64| {
            let offset = address.wrapping_sub(start);
            offset.checked_add(4).is_some_and(|end| end <= length) && offset.is_multiple_of(4)
        };
        let active = || (0..LANES).filter(move |lane| mask >> lane & 1 == 1);
        if region.access != Rights::ReadWrite || !active().all(|lane| fine(addresses[lane])) {
            return false;
        }
        for lane in active() {
            let offset = (addresses[lane] - start) as usize;
            region.content.write(offset, 4, u64::from(values[lane]));
            region.content.mark_written(offset, 4);
        }
        true
    }
}
