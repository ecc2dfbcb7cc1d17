//! Loads: the values of all lanes, with their initialisation masks.

use super::super::cost::Direction;
use super::super::isa::memory::{Access, ElementType, Ordering};
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{Code, Op};
use super::access::{Moved, Part, Spaces};
use super::local::Initialisation;
use super::race;
use super::register_init_mask::UninitialisedBits;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// Whether the ordering of an access shows that it waits for writes of other threads.
pub(super) fn polls(ordering: Ordering) -> bool {
    match ordering {
        Ordering::Weak | Ordering::Release(_) => false,
        Ordering::Volatile | Ordering::Relaxed(_) | Ordering::Acquire(_) => true,
    }
}

pub(super) fn is_signed(element: ElementType) -> bool {
    matches!(element, ElementType::S8 | ElementType::S16 | ElementType::S32 | ElementType::S64)
}

impl Worker<'_, '_> {
    pub(super) fn load(&mut self, pc: u32, op: &Op, frame: Frame, active: u32) {
        let Code::Load { access, base, register_bits, read_only: _ } = op.code else { return };
        if polls(access.ordering) {
            self.poll(pc);
            self.launch.order_memory();
        }
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let remote = self.take_remote(access.space, &mut addresses, mask);
        let mask = mask & !remote.mask;
        let spaces = Self::spaces(access.space, base, &mut addresses, mask);
        let element = ScalarType::from(access.element).bytes();
        let count = usize::from(op.list.1);
        let part = |mask| Part { pc, addresses: &addresses, mask, element, count };
        let mut moved = Moved::nothing();
        let stale = match polls(access.ordering) {
            true => self.stale_values(&part(mask), access.ordering, &spaces),
            false => Vec::new(),
        };
        self.race_load(&part(mask & !race::stale_lanes(&stale)), access.ordering, &spaces);
        self.bring(&part(mask), &spaces, frame, &mut moved);
        race::replace(&mut moved, &stale);
        for (rank, lanes) in remote.by_rank() {
            self.load_from_peer(rank, &part(lanes), access.ordering, &mut moved);
        }
        if spaces.global != 0 && access.ordering != Ordering::Weak {
            self.launch.order_memory();
        }
        let any = moved.undefined[..count].iter().fold(0, |all, bits| all | bits);
        for lane in (0..LANES).filter(|lane| any >> lane & 1 == 1) {
            self.warp.undefined_load[lane] = Some(pc);
        }
        self.write_back(op, (access, register_bits), (frame, active), &moved);
    }

    /// Loads from the shared memory of another block.
    fn load_from_peer(
        &mut self,
        rank: u32,
        part: &Part<'_>,
        ordering: Ordering,
        moved: &mut Moved,
    ) {
        self.in_peer(rank, part, |worker| {
            let spaces = Spaces { global: 0, shared: part.mask, local: 0 };
            worker.race_load(part, ordering, &spaces);
            worker.load_shared(part, moved);
        });
    }

    /// Loads from the state space of each lane.
    pub(super) fn bring(
        &mut self,
        part: &Part<'_>,
        spaces: &Spaces,
        frame: Frame,
        moved: &mut Moved,
    ) {
        if spaces.global != 0 {
            self.load_global(&Part { mask: spaces.global, ..*part }, moved);
        }
        if spaces.shared != 0 {
            self.load_shared(&Part { mask: spaces.shared, ..*part }, moved);
        }
        if spaces.local != 0 {
            self.load_local(&Part { mask: spaces.local, ..*part }, frame, moved);
        }
    }

    fn write_back(
        &mut self,
        op: &Op,
        (access, register_bits): (Access, u8),
        (frame, mask): (Frame, u32),
        moved: &Moved,
    ) {
        let shift = 64 - 8 * ScalarType::from(access.element).bytes();
        let signed = is_signed(access.element);
        let register_mask = u64::MAX >> (64 - u32::from(register_bits));
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        for index in 0..count {
            let slot = self.launch.program.lists[start + index];
            let mut values = moved.values[index];
            if signed {
                for value in &mut values {
                    *value = ((*value << shift) as i64 >> shift) as u64;
                }
            }
            let undefined = moved.undefined[index];
            let mut lanes = self.lanes(frame, mask);
            if moved.parts.is_some() && undefined & mask != 0 {
                let extended = |unknown: u64| {
                    let up = unknown << shift;
                    (if signed { (up as i64 >> shift) as u64 } else { up >> shift }) & register_mask
                };
                let unknown = UninitialisedBits {
                    bits: std::array::from_fn(|lane| extended(moved.unknown(index, lane))),
                    copied: moved.copied(index),
                };
                if register_bits == 64 {
                    lanes.set_partly_initialised_double(slot, &values, &unknown);
                } else {
                    let values = values.map(|value| (value & register_mask) as u32);
                    lanes.set_partly_initialised_word(slot, &values, &unknown);
                }
                continue;
            }
            if register_bits == 64 {
                lanes.set_double(slot, &values, undefined);
            } else {
                lanes.set_word(
                    slot,
                    &values.map(|value| (value & register_mask) as u32),
                    undefined,
                );
            }
        }
    }

    pub(super) fn load_global(&mut self, part: &Part<'_>, moved: &mut Moved) {
        self.count_global(part, true);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(place) = self.place_global(part, lane) else { continue };
            let content = &self.launch.memory.regions[place.region].content;
            let _held = if element == 8 { self.launch.hold(place) } else { None };
            for index in 0..part.count {
                let start = place.offset + index * element;
                moved.values[index][lane] = content.read(start, element);
                moved.undefined[index] |=
                    u32::from(!content.is_any_initialised(start, element)) << lane;
            }
        }
    }

    pub(super) fn load_shared(&mut self, part: &Part<'_>, moved: &mut Moved) {
        self.count_shared(part);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            let shared = &self.block.shared;
            for index in 0..part.count {
                let start = offset + index * element;
                moved.values[index][lane] = shared.read(start, element);
                if let Some(unknown) = shared.uninitialised_bits(start, element) {
                    moved.lacks(index, lane, unknown);
                } else if !shared.is_any_initialised(start, element) {
                    moved.lacks_all(index, lane);
                }
            }
        }
    }

    fn load_local(&mut self, part: &Part<'_>, frame: Frame, moved: &mut Moved) {
        self.count_local(part, Direction::Load);
        for lane in part.lanes() {
            let Some(offset) = self.place_local(part, frame, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index as u32 * part.element;
                let (value, known) = self.warp.local.read(lane, start, part.element);
                moved.values[index][lane] = value;
                match known {
                    Initialisation::All => {}
                    Initialisation::None => moved.lacks_all(index, lane),
                    Initialisation::AllBut(unknown) => moved.lacks(index, lane, unknown),
                }
            }
        }
    }
}
