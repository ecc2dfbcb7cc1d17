//! Stores: values are written to memory lane by lane, in order.

use super::super::cost::Direction;
use super::super::isa::memory::Ordering;
use super::super::isa::scalar::ScalarType;
use super::super::lower::code::{Code, Op};
use super::access::{Moved, Part, Spaces};
use super::local::Initialisation;
use super::register_init_mask::{RegisterWidth, UninitialisedBits};
use super::run::Worker;
use super::warp::Frame;

impl Worker<'_, '_> {
    pub(super) fn store(&mut self, pc: u32, op: &Op, frame: Frame, active: u32) {
        let Code::Store { access, base } = op.code else { return };
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let remote = self.take_remote(access.space, &mut addresses, mask);
        let own = mask & !remote.mask;
        let spaces = Self::spaces(access.space, base, &mut addresses, own);
        if spaces.global | spaces.shared | remote.mask != 0 {
            self.changed();
        }
        let element = ScalarType::from(access.element).bytes();
        let (start, count) = (op.list.0 as usize, usize::from(op.list.1));
        let from_doubles = op.b.index() == 1;
        let mut moved = Moved::nothing();
        let value_mask = u64::MAX >> (64 - 8 * element);
        for index in 0..count {
            let slot = self.launch.program.lists[start + index];
            let lanes = self.lanes(frame, mask);
            let (values, undefined) = lanes.any(slot, from_doubles);
            moved.values[index] = values.map(|value| value & value_mask);
            moved.undefined[index] = undefined & mask;
            if undefined & mask == 0 {
                continue;
            }
            let width = if from_doubles { RegisterWidth::Double } else { RegisterWidth::Word };
            let unknown = lanes.uninitialised_bits(slot, width);
            let bits = unknown.bits.map(|bits| bits & value_mask);
            // Truncated bits need not be initialised.
            moved.undefined[index] &= super::lanes::bits(|lane| bits[lane] != 0);
            let parts = moved.parts.get_or_insert_with(|| Box::new([UninitialisedBits::NONE; 8]));
            parts[index] = UninitialisedBits { bits, copied: unknown.copied };
        }
        let part = Part { pc, addresses: &addresses, mask: own, element, count };
        if spaces.global != 0 && access.ordering != Ordering::Weak {
            self.launch.order_memory();
        }
        self.race_store(&part, access.ordering, &spaces, &moved);
        self.put(&part, &spaces, frame, &moved);
        for (rank, lanes) in remote.by_rank() {
            let part = Part { mask: lanes, ..part };
            self.in_peer(rank, &part, |worker| {
                let spaces = Spaces { global: 0, shared: lanes, local: 0 };
                worker.race_store(&part, access.ordering, &spaces, &moved);
                worker.store_shared(&part, &moved);
            });
        }
    }

    /// Stores to the state space of each lane.
    pub(super) fn put(&mut self, part: &Part<'_>, spaces: &Spaces, frame: Frame, moved: &Moved) {
        if spaces.global != 0 {
            self.store_global(&Part { mask: spaces.global, ..*part }, moved);
        }
        if spaces.shared != 0 {
            self.store_shared(&Part { mask: spaces.shared, ..*part }, moved);
        }
        if spaces.local != 0 {
            self.store_local(&Part { mask: spaces.local, ..*part }, frame, moved);
        }
    }

    pub(super) fn store_global(&mut self, part: &Part<'_>, moved: &Moved) {
        self.count_global(part, false);
        let element = part.element as usize;
        // A partly initialised value may be padding that is copied, also between bit-fields; the whole is not an
        // output.
        let copied = moved.parts.as_ref().map_or([0; 8], |parts| parts.map(|part| part.copied));
        let undefined = moved.undefined[..part.count].iter().zip(copied);
        let undefined = undefined.fold(part.mask, |all, (bits, copied)| all & bits & !copied);
        if undefined != 0 {
            self.report_undefined(part.pc, undefined, "the value stored to global memory");
        }
        for lane in part.lanes() {
            let Some(place) = self.place_global(part, lane) else { continue };
            if !self.may_write(part.pc, lane, place, part.addresses[lane]) {
                continue;
            }
            let content = &self.launch.memory.regions[place.region].content;
            let _held = if element == 8 { self.launch.hold(place) } else { None };
            for index in 0..part.count {
                let start = place.offset + index * element;
                content.write(start, element, moved.values[index][lane]);
                for (bytes, written) in moved.bytes(index, lane, element) {
                    let start = start + bytes.start;
                    if written {
                        content.mark_initialised(start, bytes.len());
                    } else {
                        content.mark_uninitialised(start, bytes.len());
                    }
                }
            }
        }
    }

    pub(super) fn store_shared(&mut self, part: &Part<'_>, moved: &Moved) {
        self.count_shared(part);
        let element = part.element as usize;
        for lane in part.lanes() {
            let Some(offset) = self.place_shared(part, lane) else { continue };
            let bytes = (offset, part.bytes() as usize);
            self.check_mbarrier_overwritten(part.pc, lane as u32, bytes);
            let shared = &mut self.block.shared;
            for index in 0..part.count {
                let start = offset + index * element;
                shared.write(start, element, moved.values[index][lane]);
                let all = u64::MAX >> (64 - 8 * element);
                match moved.unknown(index, lane) & all {
                    0 => shared.mark_initialised(start, element),
                    unknown if unknown == all => shared.mark_uninitialised(start, element),
                    unknown => shared.mark_partly_initialised(start, element, unknown),
                }
            }
        }
    }

    fn store_local(&mut self, part: &Part<'_>, frame: Frame, moved: &Moved) {
        self.count_local(part, Direction::Store);
        for lane in part.lanes() {
            let Some(offset) = self.place_local(part, frame, lane) else { continue };
            for index in 0..part.count {
                let start = offset + index as u32 * part.element;
                let all = u64::MAX >> (64 - 8 * part.element);
                let known = match moved.unknown(index, lane) & all {
                    0 => Initialisation::All,
                    unknown if unknown == all => Initialisation::None,
                    unknown => Initialisation::AllBut(unknown),
                };
                let value = moved.values[index][lane];
                self.warp.local.write(lane, start, part.element, value, known);
            }
        }
    }
}
