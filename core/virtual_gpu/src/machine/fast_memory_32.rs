//! Fast path of memory accesses: whole words of 32 bits, all lanes in one variable, without a fault.
//!
//! An access that does not meet these conditions is left to `load` and `store`, which check it again and report
//! faults. The functions are inlined where a warp is stepped, so that they are compiled for the instruction sets
//! selected there.

use super::super::isa::memory::{Access, Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{BaseKind, Code, Op, Slot};
use super::Races;
use super::lane_offsets::{HALF, HalfWarpPattern, LaneOffsets, LaneStrides, fill_inactive_lanes};
use super::lanes::{Lanes, Words};
use super::load::polls;
use super::memory::{Access as Rights, Memory, Region};
use super::race::Role;
use super::region_bytes::RegionBytes;
use super::run::Worker;
use super::shared::SharedMemory;
use super::warp::{Frame, LANES};

/// The words of a memory. The caller has checked the indices.
pub(super) trait Words32 {
    fn get(&self, index: usize) -> u32;
    fn get_row(&self, start: usize) -> [u32; HALF];
    fn set(&mut self, index: usize, value: u32);
    fn set_row(&mut self, start: usize, values: &[u32]);
    /// Marks a range of bytes as initialised.
    fn mark_range_initialised(&mut self, start: usize, end: usize);
}

impl Words32 for SharedMemory {
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self.words[index]
    }

    #[inline(always)]
    fn get_row(&self, start: usize) -> [u32; HALF] {
        let mut row = [0; HALF];
        row.copy_from_slice(&self.words[start..start + HALF]);
        row
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: u32) {
        self.words[index] = value;
    }

    #[inline(always)]
    fn set_row(&mut self, start: usize, values: &[u32]) {
        self.words[start..start + values.len()].copy_from_slice(values);
    }

    #[inline(always)]
    fn mark_range_initialised(&mut self, start: usize, end: usize) {
        Self::mark_range_initialised(self, start, end);
    }
}

impl Words32 for &RegionBytes {
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self.load_word(index)
    }

    #[inline(always)]
    fn get_row(&self, start: usize) -> [u32; HALF] {
        self.load_row(start)
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: u32) {
        self.store_word(index, value);
    }

    #[inline(always)]
    fn set_row(&mut self, start: usize, values: &[u32]) {
        self.store_row(start, values);
    }

    #[inline(always)]
    fn mark_range_initialised(&mut self, start: usize, end: usize) {
        RegionBytes::mark_range_initialised(self, start, end);
    }
}

/// Reads the word of every lane, `ahead` words after its offset.
#[inline(always)]
fn gather(
    memory: &impl Words32,
    places: &LaneOffsets,
    (ahead, single): (usize, WordsPerLane),
    result: &mut Words,
) {
    for (half, pattern) in places.halves.iter().enumerate() {
        let offsets = &places.offsets[half * HALF..(half + 1) * HALF];
        let result = &mut result[half * HALF..(half + 1) * HALF];
        let first = offsets[0] as usize / 4 + ahead;
        match (pattern, single) {
            (HalfWarpPattern::Uniform, _) => result.fill(memory.get(first)),
            (HalfWarpPattern::Contiguous, WordsPerLane::One) => {
                result.copy_from_slice(&memory.get_row(first));
            }
            (HalfWarpPattern::Contiguous, WordsPerLane::Several)
            | (HalfWarpPattern::Scattered, _) => {
                for (result, offset) in result.iter_mut().zip(offsets) {
                    *result = memory.get(*offset as usize / 4 + ahead);
                }
            }
        }
    }
}

/// Whether each lane accesses one word or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordsPerLane {
    One,
    Several,
}

#[inline(always)]
const fn words_per_lane(size: usize, elements: usize) -> WordsPerLane {
    if size * elements == 1 { WordsPerLane::One } else { WordsPerLane::Several }
}

/// The number of words per element, if elements are whole words and registers have the same size.
#[inline(always)]
fn words_of(access: Access, register_bits: u8) -> Option<usize> {
    let bytes = ScalarType::from(access.element).bytes();
    (bytes * 8 == u32::from(register_bits) && bytes >= 4).then_some(bytes as usize / 4)
}

/// Loads all registers of an access: words, or pairs of words.
#[inline(always)]
fn load_all(
    memory: &impl Words32,
    lanes: &mut Lanes<'_>,
    slots: &[Slot],
    places: &LaneOffsets,
    size: usize,
) {
    let single = words_per_lane(size, slots.len());
    for (index, slot) in slots.iter().enumerate() {
        if size == 1 && lanes.mask == u32::MAX {
            gather(memory, places, (index, single), lanes.replace_word(*slot));
            continue;
        }
        let (mut low, mut high) = ([0; LANES], [0; LANES]);
        gather(memory, places, (index * size, single), &mut low);
        if size == 1 {
            lanes.set_word(*slot, &low, 0);
            continue;
        }
        gather(memory, places, (index * size + 1, single), &mut high);
        let mut values = [0; LANES];
        for lane in 0..LANES {
            values[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        }
        lanes.set_double(*slot, &values, 0);
    }
}

/// Writes the words of all lanes; of two lanes with the same offset, the higher one last.
#[inline(always)]
fn scatter(
    memory: &mut impl Words32,
    places: &LaneOffsets,
    (ahead, single): (usize, WordsPerLane),
    values: &Words,
    mask: u32,
) {
    for (half, pattern) in places.halves.iter().enumerate() {
        let offsets = &places.offsets[half * HALF..(half + 1) * HALF];
        let values = &values[half * HALF..(half + 1) * HALF];
        let first = offsets[0] as usize / 4 + ahead;
        if mask == u32::MAX
            && *pattern == HalfWarpPattern::Contiguous
            && single == WordsPerLane::One
        {
            memory.set_row(first, values);
            memory.mark_range_initialised(4 * first, 4 * (first + HALF));
            continue;
        }
        for (lane, (offset, value)) in offsets.iter().zip(values).enumerate() {
            if mask >> (half * HALF + lane) & 1 == 1 {
                let word = *offset as usize / 4 + ahead;
                memory.set(word, *value);
                memory.mark_range_initialised(4 * word, 4 * word + 4);
            }
        }
    }
}

#[inline(always)]
fn store_all(
    memory: &mut impl Words32,
    lanes: &Lanes<'_>,
    slots: &[Slot],
    places: &LaneOffsets,
    size: usize,
) {
    let single = words_per_lane(size, slots.len());
    for (index, slot) in slots.iter().enumerate() {
        if size == 1 {
            scatter(memory, places, (index, single), lanes.word_ref(*slot), lanes.mask);
            continue;
        }
        let values = lanes.double_ref(*slot);
        let (mut low, mut high) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            low[lane] = values[lane] as u32;
            high[lane] = (values[lane] >> 32) as u32;
        }
        scatter(memory, places, (2 * index, single), &low, lanes.mask);
        scatter(memory, places, (2 * index + 1, single), &high, lanes.mask);
    }
}

impl Worker<'_, '_> {
    /// Loads if the conditions of the fast path hold; otherwise returns false and changes nothing.
    #[inline(always)]
    pub(super) fn load_fast_32(&mut self, pc: u32, op: &Op, frame: &Frame, mask: u32) -> bool {
        let Code::Load { access, base, register_bits, read_only: _ } = op.code else {
            return false;
        };
        let Some(size) = words_of(access, register_bits) else {
            return self.load_fast_8_16((pc, op), (access, base, register_bits), frame, mask);
        };
        if polls(access.ordering) {
            return false;
        }
        let program = self.launch.program;
        let slots = &program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let bytes = (size * 4 * slots.len()) as u32;
        let known = !self.launch.checks.uninitialized;
        if access.space == Space::Shared && base == BaseKind::Narrow {
            let Some(places) = self.shared_offsets(op, frame, mask, bytes) else { return false };
            if self.block.copies.covers_any(&places.offsets, bytes as usize) {
                return false;
            }
            let shared = &self.block.shared;
            if !known && !shared.is_range_initialised(places.start, places.end) {
                return false;
            }
            let size_of = (mask, size * 4, bytes);
            if !self.has_no_race((pc, Role::Read), None, &places, size_of) {
                return false;
            }
            let shared = &self.block.shared;
            let registers = &mut self.warp.registers;
            let mut lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
            load_all(shared, &mut lanes, slots, &places, size);
            self.count_shared_words(pc, &places, mask, bytes);
            return true;
        }
        if base != BaseKind::Wide || !is_global(access.space) {
            return false;
        }
        let Some((region, places)) = self.global_offsets(op, frame, mask, bytes) else {
            return false;
        };
        let content = &self.launch.memory.regions[region].content;
        if !known && !content.is_range_initialised(places.start, places.end) {
            return false;
        }
        if !self.has_no_race((pc, Role::Read), Some(region), &places, (mask, size * 4, bytes)) {
            return false;
        }
        let content = &self.launch.memory.regions[region].content;
        let registers = &mut self.warp.registers;
        let mut lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        load_all(&content, &mut lanes, slots, &places, size);
        self.count_global_words(pc, region, &places, (mask, bytes), true);
        true
    }

    /// Stores if the conditions of the fast path hold; otherwise returns false and changes nothing.
    #[inline(always)]
    pub(super) fn store_fast_32(&mut self, pc: u32, op: &Op, frame: &Frame, mask: u32) -> bool {
        let Code::Store { access, base } = op.code else { return false };
        let from_doubles = op.b.index() == 1;
        let Some(size) = words_of(access, if from_doubles { 64 } else { 32 }) else {
            return self.store_fast_8_16((pc, op), (access, base), frame, mask);
        };
        if access.ordering != Ordering::Weak {
            return false;
        }
        let program = self.launch.program;
        let slots = &program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let bytes = (size * 4 * slots.len()) as u32;
        let registers = &mut self.warp.registers;
        let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        let undefined = slots.iter().fold(0, |all, slot| {
            all | if size == 1 {
                lanes.word_undefined(*slot)
            } else {
                lanes.double_undefined(*slot)
            }
        });
        if undefined & mask != 0 {
            return false;
        }
        if access.space == Space::Shared && base == BaseKind::Narrow {
            let Some(places) = self.shared_offsets(op, frame, mask, bytes) else { return false };
            if self.block.copies.covers_any(&places.offsets, bytes as usize)
                || self.block.has_mbarrier(places.start, places.end)
            {
                return false;
            }
            let size_of = (mask, size * 4, bytes);
            if !self.has_no_race((pc, Role::Write), None, &places, size_of) {
                return false;
            }
            let registers = &mut self.warp.registers;
            let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
            store_all(&mut self.block.shared, &lanes, slots, &places, size);
            self.changed();
            self.count_shared_words(pc, &places, mask, bytes);
            return true;
        }
        if base != BaseKind::Wide || !is_global(access.space) {
            return false;
        }
        let Some((region, places)) = self.global_offsets(op, frame, mask, bytes) else {
            return false;
        };
        if self.launch.memory.regions[region].access != Rights::ReadWrite {
            return false;
        }
        if !self.has_no_race((pc, Role::Write), Some(region), &places, (mask, size * 4, bytes)) {
            return false;
        }
        let registers = &mut self.warp.registers;
        let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        let mut content = &self.launch.memory.regions[region].content;
        store_all(&mut content, &lanes, slots, &places, size);
        self.changed();
        self.count_global_words(pc, region, &places, (mask, bytes), false);
        true
    }

    /// Whether races are not checked, or the accesses are recorded and none of them is a race.
    #[inline(always)]
    fn has_no_race(
        &mut self,
        access: (u32, Role),
        region: Option<usize>,
        places: &LaneOffsets,
        lanes: (u32, usize, u32),
    ) -> bool {
        self.launch.checks.races == Races::Ignored
            || self.race_warp_accesses(access, region, places, lanes)
    }

    /// The offsets of all lanes, if they are in one shared variable and aligned.
    #[inline(always)]
    pub(super) fn shared_offsets(
        &mut self,
        op: &Op,
        frame: &Frame,
        mask: u32,
        bytes: u32,
    ) -> Option<LaneOffsets> {
        let registers = &mut self.warp.registers;
        let mut lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        let known = lanes.word_shape(op.a);
        let base = lanes.word_row(op.a);
        if base.undefined & mask != 0 {
            return None;
        }
        let immediate = op.immediate as u32;
        let first = base.values[mask.trailing_zeros() as usize % LANES].wrapping_add(immediate);
        let (tag, allowed) = self.launch.shared.variable_of(first)?;
        let distance = immediate.wrapping_sub(tag);
        let mut offsets = base.values;
        for offset in &mut offsets {
            *offset = offset.wrapping_add(distance);
        }
        fill_inactive_lanes(&mut offsets, mask);
        let shape = if mask == u32::MAX { known } else { LaneStrides::strides(&offsets) };
        let places = LaneOffsets::new(offsets, shape, bytes)?;
        let inside = places.start >= allowed.start as usize && places.end <= allowed.end as usize;
        inside.then_some(places)
    }

    /// The offsets of all lanes, if they are in one region and aligned.
    #[inline(always)]
    pub(super) fn global_offsets(
        &mut self,
        op: &Op,
        frame: &Frame,
        mask: u32,
        bytes: u32,
    ) -> Option<(usize, LaneOffsets)> {
        let registers = &mut self.warp.registers;
        let lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
        let base = lanes.double_row(op.a);
        if base.undefined & mask != 0 {
            return None;
        }
        let base = &base.values;
        let offset = op.immediate as u64;
        let first = base[mask.trailing_zeros() as usize % LANES].wrapping_add(offset);
        let (region, _) = self.launch.memory.region_of(first)?;
        let offset = offset.wrapping_sub(Memory::address(region));
        let (mut offsets, mut above) = ([0_u32; LANES], [0_u32; LANES]);
        for lane in 0..LANES {
            let offset = base[lane].wrapping_add(offset);
            offsets[lane] = offset as u32;
            above[lane] = (offset >> 32) as u32;
        }
        fill_inactive_lanes(&mut offsets, mask);
        fill_inactive_lanes(&mut above, mask);
        if above.iter().fold(0, |all, bits| all | bits) != 0 {
            return None;
        }
        let shape = LaneStrides::strides(&offsets);
        let places = LaneOffsets::new(offsets, shape, bytes)?;
        let Region { content, start, .. } = &self.launch.memory.regions[region];
        let inside = places.start >= *start && places.end <= content.len();
        inside.then_some((region, places))
    }
}

pub(super) fn is_global(space: Space) -> bool {
    match space {
        Space::Global | Space::Const | Space::Generic => true,
        Space::Shared | Space::SharedCluster | Space::Local | Space::Param => false,
    }
}
