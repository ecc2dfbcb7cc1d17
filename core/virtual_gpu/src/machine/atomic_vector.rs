//! Vector read-modify-writes, one per element, and read-modify-writes of 128 bits. PTX ISA, sections "atom" and
//! "red".

use super::super::isa::atomic::{Atomic, ExchangeType, OldValue, SwapType, Update};
use super::super::lower::code::{BaseKind, Op};
use super::access::{Part, Spot};
use super::atomic::bytes;
use super::race::WriteOutcome;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// The slots of one operation: results, operands, and values to swap in.
struct Operands {
    values: Vec<[u64; LANES]>,
    undefined: u32,
}

/// Whether the value has 128 bits, which occupy two slots.
fn is_quad(update: Update) -> bool {
    matches!(update, Update::Exchange(ExchangeType::B128) | Update::CompareAndSwap(SwapType::B128))
}

impl Worker<'_, '_> {
    pub(super) fn atomic_vector(
        &mut self,
        op: &Op,
        (atomic, base): (Atomic, BaseKind),
        pc: u32,
        (frame, active): (Frame, u32),
    ) {
        let quad = is_quad(atomic.update);
        if quad {
            self.poll(pc);
        }
        let element = if quad { 8 } else { bytes(atomic.update) };
        let count = if quad { 2 } else { usize::from(atomic.lanes) };
        let list = &self.launch.program.lists[op.list.0 as usize..][..usize::from(op.list.1)];
        let (results, operands) = list.split_at(count.min(list.len()));
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let remote = self.take_remote(atomic.space, &mut addresses, mask);
        let spaces = Self::spaces(atomic.space, base, &mut addresses, mask & !remote.mask);
        let in_shared = spaces.shared | remote.mask;
        if let Some(counts) = self.launch.count(pc) {
            counts.atomics += u64::from(active.count_ones());
        }
        let part = Part { pc, addresses: &addresses, mask, element, count };
        self.count_atomic(&part, spaces.global, in_shared);
        let wide = element == 8;
        let lanes = self.lanes(frame, active);
        let mut given = Operands { values: Vec::with_capacity(operands.len()), undefined: 0 };
        for slot in operands {
            let (values, undefined) = lanes.any(*slot, wide);
            given.values.push(values);
            given.undefined |= undefined & active;
        }
        if given.undefined != 0 && spaces.global != 0 {
            self.report_undefined(pc, given.undefined, "the operand of an atomic operation");
        }
        let mut old = vec![[0; LANES]; count];
        let mut undefined = 0;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let shared = in_shared >> lane & 1 == 1;
            let part = Part { pc, addresses: &addresses, mask: 1 << lane, element, count };
            let mut update = |worker: &mut Self| {
                let spot = worker.spot(&part, lane, shared)?;
                let (values, size) = (&given.values, element as usize);
                Some(if quad {
                    worker.swap_quad(&spot, atomic, values, (pc, lane), &mut old)
                } else {
                    worker.swap_each(&spot, atomic, values, (pc, lane, size), &mut old)
                })
            };
            let known = match remote.rank(lane) {
                Some(rank) => self.in_peer(rank, &part, update).flatten(),
                None => update(self),
            };
            let Some(known) = known else { continue };
            if !known {
                undefined |= 1 << lane;
                self.warp.undefined_load[lane] = Some(pc);
            }
        }
        if undefined != 0 && !matches!(atomic.update, Update::Exchange(_)) {
            self.report_undefined(pc, undefined, "the memory that an atomic operation updates");
        }
        if atomic.old_value == OldValue::Returned {
            let mut lanes = self.lanes(frame, active);
            for (slot, old) in results.iter().zip(&old).filter(|(slot, _)| !slot.is_none()) {
                if wide {
                    lanes.set_double(*slot, old, undefined);
                } else {
                    lanes.set_word(*slot, &old.map(|value| value as u32), undefined);
                }
            }
        }
    }

    fn swap_each(
        &mut self,
        spot: &Spot,
        atomic: Atomic,
        values: &[[u64; LANES]],
        (pc, lane, size): (u32, usize, usize),
        old: &mut [[u64; LANES]],
    ) -> bool {
        let mut known = true;
        for (index, (old, value)) in old.iter_mut().zip(values).enumerate() {
            let at = spot.behind(index * size);
            let (before, was_known) = self.swap(&at, atomic, value[lane], 0, size);
            let outcome = (WriteOutcome::Wrote, before);
            self.race_atomic(pc, (lane, size as u32), &at, atomic, outcome);
            old[lane] = before;
            known &= was_known;
        }
        known
    }

    /// An exchange or a compare-and-swap of 16 bytes.
    fn swap_quad(
        &mut self,
        spot: &Spot,
        atomic: Atomic,
        values: &[[u64; LANES]],
        (pc, lane): (u32, usize),
        old: &mut [[u64; LANES]],
    ) -> bool {
        let (known, before) = match *spot {
            Spot::Region(place) => {
                let content = &self.launch.memory.regions[place.region].content;
                let before = [content.read(place.offset, 8), content.read(place.offset + 8, 8)];
                (content.is_any_initialised(place.offset, 16), before)
            }
            Spot::Shared(offset) => {
                let shared = &self.block.shared;
                let before = [shared.read(offset, 8), shared.read(offset + 8, 8)];
                (shared.is_any_initialised(offset, 16), before)
            }
        };
        let given: Vec<u64> = values.iter().map(|value| value[lane]).collect();
        let mut outcome = WriteOutcome::Wrote;
        let new = match (atomic.update, &given[..]) {
            (Update::CompareAndSwap(_), [a, b, c, d]) if before == [*a, *b] => [*c, *d],
            (Update::CompareAndSwap(_), _) => {
                outcome = WriteOutcome::Read;
                before
            }
            (_, [low, high, ..]) => [*low, *high],
            (_, _) => before,
        };
        for (offset, value) in [(0, new[0]), (8, new[1])] {
            match *spot {
                Spot::Region(place) => {
                    let content = &self.launch.memory.regions[place.region].content;
                    content.write(place.offset + offset, 8, value);
                    content.mark_initialised(place.offset + offset, 8);
                }
                Spot::Shared(start) => {
                    self.block.shared.write(start + offset, 8, value);
                    self.block.shared.mark_initialised(start + offset, 8);
                }
            }
        }
        self.race_atomic(pc, (lane, 16), spot, atomic, (outcome, before[0]));
        for (old, before) in old.iter_mut().zip(before) {
            old[lane] = before;
        }
        known
    }
}

impl Spot {
    /// The location `bytes` further on.
    fn behind(&self, bytes: usize) -> Self {
        match *self {
            Self::Region(place) => {
                let offset = place.offset + bytes;
                Self::Region(super::memory::RegionPlace { offset, ..place })
            }
            Self::Shared(offset) => Self::Shared(offset + bytes),
        }
    }
}
