//! Accesses of one and two bytes without detours, as `quick` has them of words: where races are not looked for, or nobody
//! else writes.

use super::super::cost::Direction;
use super::super::isa::memory::{Access, Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{BaseKind, Op};
use super::access::Part;
use super::lanes::{Lanes, Words};
use super::load::{is_signed, polls};
use super::memory::Access as Rights;
use super::places::Places;
use super::quick::is_global;
use super::run::Worker;
use super::warp::{Frame, LANES};
use super::{Memory, Races};

/// Which memory, where in it, and how.
struct Narrow<'o> {
    pc: u32,
    op: &'o Op,
    /// Bytes of an element, and of all elements of a lane.
    element: usize,
    bytes: u32,
}

impl<'o> Narrow<'o> {
    fn new(pc: u32, op: &'o Op, access: Access) -> Option<Self> {
        let element = ScalarType::from(access.element).bytes() as usize;
        let bytes = element as u32 * u32::from(op.list.1);
        (element < 4).then_some(Self { pc, op, element, bytes })
    }
}

impl Worker<'_, '_> {
    /// Loads if everything is in order; else nothing has happened.
    #[inline(never)]
    pub(super) fn narrow_load(
        &mut self,
        (pc, op): (u32, &Op),
        (access, base, register_bits): (Access, BaseKind, u8),
        frame: &Frame,
        mask: u32,
    ) -> bool {
        let Some(narrow) = Narrow::new(pc, op, access) else { return false };
        if register_bits > 32 || polls(access.ordering) {
            return false;
        }
        let known = !self.launch.checks.uninitialized;
        let (region, places) = if access.space == Space::Shared && base == BaseKind::Narrow {
            let Some(places) = self.narrow_shared(&narrow, frame, mask) else { return false };
            if !known && !self.block.shared.is_range_written(places.start, places.end) {
                return false;
            }
            (None, places)
        } else if base == BaseKind::Wide && is_global(access.space) {
            let found = self.global_places(op, frame, mask, narrow.bytes);
            let Some((region, places)) = found else { return false };
            let content = &self.launch.memory.regions[region].content;
            if !known && !content.is_range_written(places.start, places.end) {
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
            let mut values: Words = [0; LANES];
            for (value, offset) in values.iter_mut().zip(places.offsets) {
                let start = offset as usize + index * narrow.element;
                let bits = match region {
                    None => self.block.shared.read(start, narrow.element),
                    Some(region) => {
                        self.launch.memory.regions[region].content.read(start, narrow.element)
                    }
                } as u32;
                *value = if signed { ((bits << shift) as i32 >> shift) as u32 } else { bits } & cut;
            }
            let registers = &mut self.warp.registers;
            let mut lanes = Lanes { registers, pool: &self.launch.pool, frame: *frame, mask };
            lanes.set_word(slot, &values, 0);
        }
        self.count_narrow(&narrow, region, (&places, mask), Direction::Load);
        true
    }

    /// Stores if everything is in order; else nothing has happened.
    #[inline(never)]
    pub(super) fn narrow_store(
        &mut self,
        (pc, op): (u32, &Op),
        (access, base): (Access, BaseKind),
        frame: &Frame,
        mask: u32,
    ) -> bool {
        let Some(narrow) = Narrow::new(pc, op, access) else { return false };
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
            let Some(places) = self.narrow_shared(&narrow, frame, mask) else { return false };
            (None, places)
        } else if base == BaseKind::Wide && is_global(access.space) {
            let found = self.global_places(op, frame, mask, narrow.bytes);
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
                        shared.mark_range(start, start + narrow.element);
                    }
                    Some(region) => {
                        let content = &self.launch.memory.regions[region].content;
                        content.write(start, narrow.element, value);
                        content.mark_range(start, start + narrow.element);
                    }
                }
            }
        }
        self.changed();
        self.count_narrow(&narrow, region, (&places, mask), Direction::Store);
        true
    }

    /// Where the lanes are in shared memory, if nothing stands against going there at once.
    fn narrow_shared(&mut self, narrow: &Narrow<'_>, frame: &Frame, mask: u32) -> Option<Places> {
        if self.launch.checks.races != Races::Ignored {
            return None;
        }
        let places = self.shared_places(narrow.op, frame, mask, narrow.bytes)?;
        let pending = self.block.copies.covers_any(&places.offsets, narrow.bytes as usize);
        (!pending).then_some(places)
    }

    fn count_narrow(
        &mut self,
        narrow: &Narrow<'_>,
        region: Option<usize>,
        (places, mask): (&Places, u32),
        direction: Direction,
    ) {
        if self.launch.counts.is_empty() {
            return;
        }
        let start = region.map_or(0, Memory::address);
        let addresses = places.offsets.map(|offset| start + u64::from(offset));
        let count = usize::from(narrow.op.list.1);
        let element = narrow.element as u32;
        let part = Part { pc: narrow.pc, addresses: &addresses, mask, element, count };
        match region {
            None => self.count_shared(&part),
            Some(_) => self.count_global(&part, direction == Direction::Load),
        }
    }
}
