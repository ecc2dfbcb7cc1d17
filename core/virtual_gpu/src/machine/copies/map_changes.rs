//! Changes of tensor maps: fields are replaced in global or shared memory, and proxy fences make a changed map visible to
//! tensor copies (rule 42). PTX ISA, sections "tensormap.replace" and "tensormap.cp_fenceproxy".

use super::super::super::isa::barrier::Alignment;
use super::super::super::isa::memory::{Ordering, Space};
use super::super::super::isa::tensor_map::MapField;
use super::super::super::lower::code::{AddressSlot, Op, Slot, TensorMapSite};
use super::super::super::tensor_map::{self, BYTES};
use super::super::access::{Moved, Part, Spaces};
use super::super::fault::{FaultKind, Finding};
use super::super::run::Worker;
use super::super::step::Stop;
use super::super::warp::{Frame, LANES, Split};
use super::bulk::{UNIT, WORDS};

/// A tensor map of a lane.
#[derive(Clone, Copy)]
struct MapPlace {
    pc: u32,
    lane: usize,
    address: u64,
    space: Space,
}

impl Worker<'_, '_> {
    /// Executes an operation on tensor maps; returns a stop if lanes must converge first.
    pub(in super::super) fn tensor_map_operation(
        &mut self,
        op: &Op,
        site: u32,
        split: &mut Split,
        mask: u32,
    ) -> Option<Stop> {
        if self.separate(split, mask) {
            return Some(Stop::Choose);
        }
        let (pc, frame) = (split.pc, split.frame);
        let site = self.launch.program.tensor_maps.get(site as usize).copied();
        match site? {
            TensorMapSite::Replace { field, dimension, space, map, value } => {
                let field = (field, dimension);
                self.replace_field(op, (space, map), field, value, (pc, frame, mask));
            }
            TensorMapSite::Publish { to, from } => {
                if !self.is_converged(Alignment::Aligned, split) {
                    return Some(Stop::Choose);
                }
                self.publish_map(op, (to, from), (pc, frame, mask));
                self.race_map_release(mask);
            }
            TensorMapSite::Acquire { map } => {
                let (addresses, mask) = self.slot_addresses(op, &map, pc, frame, mask);
                let lanes = (0..LANES).filter(|lane| mask >> lane & 1 == 1);
                for lane in lanes {
                    self.race_map_acquire(lane as u32, addresses[lane]);
                }
            }
            TensorMapSite::Release => self.race_map_release(mask),
        }
        split.pc += 1;
        None
    }

    fn replace_field(
        &mut self,
        op: &Op,
        (space, map): (Space, AddressSlot),
        (field, dimension): (MapField, u8),
        value: Slot,
        (pc, frame, mask): (u32, Frame, u32),
    ) {
        let (mut addresses, mask) = self.slot_addresses(op, &map, pc, frame, mask);
        let spaces = Self::spaces(space, map.base, &mut addresses, mask);
        let lanes = self.lanes(frame, mask);
        let (values, undefined) = lanes.any(value, field.is_wide());
        if undefined & mask != 0 {
            self.report_undefined(pc, undefined & mask, "a field of a tensor map");
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let space = if spaces.shared >> lane & 1 == 1 { Space::Shared } else { Space::Global };
            let place = MapPlace { pc, lane, address: addresses[lane], space };
            let Some(mut bytes) = self.read_map(place) else { continue };
            match tensor_map::replace(&mut bytes, (field, dimension), values[lane]) {
                Ok(()) => self.write_map(place, &bytes),
                Err(error) => {
                    let text = format!("{:#x} holds {error}", place.address);
                    self.report(pc, Finding::new(FaultKind::TensorMap, lane as u32, text));
                }
            }
        }
    }

    /// Copies a map for the warp.
    fn publish_map(
        &mut self,
        op: &Op,
        (to, from): (AddressSlot, AddressSlot),
        (pc, frame, mask): (u32, Frame, u32),
    ) {
        let (to, mask) = self.slot_addresses(op, &to, pc, frame, mask);
        let (from, mask) = self.slot_addresses(op, &from, pc, frame, mask);
        let lane = mask.trailing_zeros() as usize;
        if lane >= LANES {
            return;
        }
        self.race_warp_barrier(mask);
        let place = |address, space| MapPlace { pc, lane, address, space };
        if let Some(bytes) = self.read_map(place(from[lane], Space::Shared)) {
            self.write_map(place(to[lane], Space::Global), &bytes);
        }
        self.race_warp_barrier(mask);
    }

    /// The bytes of a map, which the generic proxy reads; none if they are uninitialised.
    fn read_map(&mut self, place: MapPlace) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        let mut is_undefined = false;
        for (index, unit) in bytes.as_chunks_mut::<{ UNIT as usize }>().0.iter_mut().enumerate() {
            let addresses = [place.address + u64::from(UNIT) * index as u64; LANES];
            let part = place.part(&addresses);
            self.race_load(&part, Ordering::Weak, &place.spaces());
            let mut moved = Moved::nothing();
            if place.space == Space::Shared {
                self.load_shared(&part, &mut moved);
            } else {
                self.load_global(&part, &mut moved);
            }
            is_undefined |=
                moved.undefined[..WORDS].iter().any(|undefined| undefined & part.mask != 0);
            for (word, value) in unit.as_chunks_mut::<4>().0.iter_mut().zip(&moved.values) {
                *word = (value[place.lane] as u32).to_le_bytes();
            }
        }
        if is_undefined {
            self.report_undefined(place.pc, 1 << place.lane, "a byte of a tensor map");
            return None;
        }
        Some(bytes)
    }

    fn write_map(&mut self, place: MapPlace, bytes: &[u8; BYTES]) {
        self.changed();
        for (index, unit) in bytes.as_chunks::<{ UNIT as usize }>().0.iter().enumerate() {
            let addresses = [place.address + u64::from(UNIT) * index as u64; LANES];
            let part = place.part(&addresses);
            let mut moved = Moved::nothing();
            for (values, word) in moved.values.iter_mut().zip(unit.as_chunks::<4>().0) {
                *values = [u64::from(u32::from_le_bytes(*word)); LANES];
            }
            let spaces = place.spaces();
            self.race_store(&part, Ordering::Weak, &spaces, &moved);
            if place.space == Space::Shared {
                self.store_shared(&part, &moved);
            } else {
                self.store_global(&part, &moved);
            }
        }
    }
}

impl MapPlace {
    fn part<'a>(&self, addresses: &'a [u64; LANES]) -> Part<'a> {
        Part { pc: self.pc, addresses, mask: 1 << self.lane, element: 4, count: WORDS }
    }

    fn spaces(&self) -> Spaces {
        let (mask, is_shared) = (1 << self.lane, self.space == Space::Shared);
        Spaces {
            global: if is_shared { 0 } else { mask },
            shared: if is_shared { mask } else { 0 },
            local: 0,
        }
    }
}
