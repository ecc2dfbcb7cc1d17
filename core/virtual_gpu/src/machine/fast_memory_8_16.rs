//! Fast path of accesses of 8 and 16 bits, as `fast_memory_32` is for words. It applies if races are not checked,
//! or if no thread writes to the memory.

use super::super::cost::Direction;
use super::super::isa::memory::{Access, Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{BaseKind, Op};
use super::Races;
use super::fast_memory_32::{Words32, is_global};
use super::lane_offsets::{HALF, HalfWarpPattern, LaneOffsets};
use super::lanes::{Lanes, Words};
use super::load::{is_signed, polls};
use super::memory::Access as Rights;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// The instruction of an access and the size of its elements.
struct NarrowAccess<'o> {
    pc: u32,
    op: &'o Op,
    /// Size of an element, and of all elements of a lane, in bytes.
    element: usize,
    bytes: u32,
}

impl<'o> NarrowAccess<'o> {
    fn new(pc: u32, op: &'o Op, access: Access) -> Option<Self> {
        let element = ScalarType::from(access.element).bytes() as usize;
        let bytes = element as u32 * u32::from(op.list.1);
        (element < 4).then_some(Self { pc, op, element, bytes })
    }
}

impl Worker<'_, '_> {
    /// Loads if the conditions of the fast path hold; otherwise returns false and changes nothing.
    #[inline(never)]
    pub(super) fn load_fast_8_16(
        &mut self,
        (pc, op): (u32, &Op),
        (access, base, register_bits): (Access, BaseKind, u8),
        frame: &Frame,
        mask: u32,
    ) -> bool {
        let Some(narrow) = NarrowAccess::new(pc, op, access) else { return false };
        if register_bits > 32 || polls(access.ordering) {
            return false;
        }
        let known = !self.launch.checks.uninitialized;
        let (region, places) = if access.space == Space::Shared && base == BaseKind::Narrow {
            let Some(places) = self.shared_offsets_8_16(&narrow, frame, mask) else { return false };
            if !known && !self.block.shared.is_range_initialised(places.start, places.end) {
                return false;
            }
            (None, places)
        } else if base == BaseKind::Wide && is_global(access.space) {
            let found = self.global_offsets(op, frame, mask, narrow.bytes);
            let Some((region, places)) = found else { return false };
            let content = &self.launch.memory.regions[region].content;
            if !known && !content.is_range_initialised(places.start, places.end) {
                return false;
            }
            if self.launch.checks.races != Races::Ignored && self.is_shared_by_writers(region) {
                return false;
            }
            (Some(region), places)
        } else {
            return false;
        };
        let shift = 32 - 8 * narrow.element as u32;
        let cut = u32::MAX >> (32 - u32::from(register_bits));
        let signed = is_signed(access.element);
        for index in 0..usize::from(op.list.1) {
            let slot = self.launch.program.lists[op.list.0 as usize + index];
            let ahead = index * narrow.element;
            let mut values: Words = match region {
                None => gather(&self.block.shared, &places, ahead, shift),
                Some(region) => {
                    let content = &self.launch.memory.regions[region].content;
                    gather(&content, &places, ahead, shift)
                }
            };
            if signed {
                values = values.map(|bits| ((bits << shift) as i32 >> shift) as u32);
            }
            if register_bits < 32 {
                values = values.map(|bits| bits & cut);
            }
            let registers = &mut self.warp.registers;
            let mut lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
            lanes.set_word(slot, &values, 0);
        }
        self.count_fast_8_16(&narrow, region, (&places, mask), Direction::Load);
        true
    }

    /// Stores if the conditions of the fast path hold; otherwise returns false and changes nothing.
    #[inline(never)]
    pub(super) fn store_fast_8_16(
        &mut self,
        (pc, op): (u32, &Op),
        (access, base): (Access, BaseKind),
        frame: &Frame,
        mask: u32,
    ) -> bool {
        let Some(narrow) = NarrowAccess::new(pc, op, access) else { return false };
        let from_doubles = op.b.index() == 1;
        if from_doubles || access.ordering != Ordering::Weak {
            return false;
        }
        let slots = &self.launch.program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let registers = &mut self.warp.registers;
        let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        let undefined = slots.iter().fold(0, |all, slot| all | lanes.word_undefined(*slot));
        if undefined & mask != 0 {
            return false;
        }
        let (region, places) = if access.space == Space::Shared && base == BaseKind::Narrow {
            let Some(places) = self.shared_offsets_8_16(&narrow, frame, mask) else { return false };
            (None, places)
        } else if base == BaseKind::Wide && is_global(access.space) {
            let found = self.global_offsets(op, frame, mask, narrow.bytes);
            let Some((region, places)) = found else { return false };
            let writable = self.launch.memory.regions[region].access == Rights::ReadWrite;
            if !writable || self.launch.checks.races != Races::Ignored {
                return false;
            }
            (Some(region), places)
        } else {
            return false;
        };
        let cut = u64::from(u32::MAX >> (32 - 8 * narrow.element as u32));
        for (index, slot) in slots.iter().enumerate() {
            let registers = &mut self.warp.registers;
            let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
            let values = lanes.word_ref(*slot);
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                let start = places.offsets[lane] as usize + index * narrow.element;
                let value = u64::from(values[lane]) & cut;
                match region {
                    None => {
                        let shared = &mut self.block.shared;
                        shared.write(start, narrow.element, value);
                        shared.mark_range_initialised(start, start + narrow.element);
                    }
                    Some(region) => {
                        let content = &self.launch.memory.regions[region].content;
                        content.write(start, narrow.element, value);
                        content.mark_range_initialised(start, start + narrow.element);
                    }
                }
            }
        }
        self.changed();
        self.count_fast_8_16(&narrow, region, (&places, mask), Direction::Store);
        true
    }

    /// The offsets of the lanes in shared memory, if no pending copy or race check requires the slow path.
    fn shared_offsets_8_16(
        &mut self,
        narrow: &NarrowAccess<'_>,
        frame: &Frame,
        mask: u32,
    ) -> Option<LaneOffsets> {
        if self.launch.checks.races != Races::Ignored {
            return None;
        }
        let places = self.shared_offsets(narrow.op, frame, mask, narrow.bytes)?;
        let pending = self.block.copies.covers_any(&places.offsets, narrow.bytes as usize);
        let has_mbarrier = self.block.has_mbarrier(places.start, places.end);
        (!pending && !has_mbarrier).then_some(places)
    }

    fn count_fast_8_16(
        &mut self,
        narrow: &NarrowAccess<'_>,
        region: Option<usize>,
        (places, mask): (&LaneOffsets, u32),
        direction: Direction,
    ) {
        if self.launch.counts.is_empty() {
            return;
        }
        let is_load = direction == Direction::Load;
        match region {
            None => self.count_shared_words(narrow.pc, places, mask, narrow.bytes),
            Some(region) => {
                self.count_global_words(narrow.pc, region, places, (mask, narrow.bytes), is_load);
            }
        }
    }
}

/// Reads the element of every lane, `ahead` bytes after its offset, without its sign; it has 32 - `shift` bits.
#[inline(always)]
fn gather(memory: &impl Words32, places: &LaneOffsets, ahead: usize, shift: u32) -> Words {
    let element = |offset: u32| {
        let start = offset as usize + ahead;
        memory.get(start / 4) >> (8 * (start % 4)) & u32::MAX >> shift
    };
    let mut values = [0; LANES];
    for (half, pattern) in places.halves.iter().enumerate() {
        let offsets = &places.offsets[half * HALF..(half + 1) * HALF];
        let values = &mut values[half * HALF..(half + 1) * HALF];
        match pattern {
            HalfWarpPattern::Uniform => values.fill(element(offsets[0])),
            HalfWarpPattern::Contiguous | HalfWarpPattern::Scattered => {
                for (value, offset) in values.iter_mut().zip(offsets) {
                    *value = element(*offset);
                }
            }
        }
    }
    values
}
