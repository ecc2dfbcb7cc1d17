//! Read-modify-writes: the lanes of a warp one after the other, in order.

use super::super::isa::atomic::{
    AddType, Atomic, BitwiseType, ExchangeType, ExtremeType, OldValue, SwapType, Update,
};
use super::super::lower::code::{Code, Op};
use super::super::semantics::atomic as s;
use super::super::semantics::half::{HalfFormat, pair};
use super::super::semantics::{Extreme, Negative, integer};
use super::access::{Part, Spot};
use super::race::WriteOutcome;
use super::run::Worker;
use super::warp::{Frame, LANES};

/// The size of the value in bytes.
pub(super) fn bytes(update: Update) -> u32 {
    match update {
        Update::And(ty) | Update::Or(ty) | Update::Xor(ty) => match ty {
            BitwiseType::B32 => 4,
            BitwiseType::B64 => 8,
        },
        Update::Exchange(ty) => match ty {
            ExchangeType::B32 => 4,
            ExchangeType::B64 => 8,
            ExchangeType::B128 => 16,
        },
        Update::CompareAndSwap(ty) => match ty {
            SwapType::B16 => 2,
            SwapType::B32 => 4,
            SwapType::B64 => 8,
            SwapType::B128 => 16,
        },
        Update::Add(ty) => match ty {
            AddType::F16 | AddType::Bf16 => 2,
            AddType::U32 | AddType::S32 | AddType::F32 | AddType::F16x2 | AddType::Bf16x2 => 4,
            AddType::U64 | AddType::S64 | AddType::F64 => 8,
        },
        Update::Increment | Update::Decrement => 4,
        Update::Minimum(ty) | Update::Maximum(ty) => match ty {
            ExtremeType::F16 | ExtremeType::Bf16 => 2,
            ExtremeType::U32 | ExtremeType::S32 | ExtremeType::F16x2 | ExtremeType::Bf16x2 => 4,
            ExtremeType::U64 | ExtremeType::S64 => 8,
        },
    }
}

/// Whether the assembler combines the operations of a warp on one address into a single operation (a warp reduction),
/// as it does where the address is the same for all lanes. It does not combine floating-point additions, whose order
/// changes the result.
pub(super) fn is_joined(update: Update) -> bool {
    match update {
        Update::And(_) | Update::Or(_) | Update::Xor(_) => true,
        Update::Add(ty) => match ty {
            AddType::U32 | AddType::S32 | AddType::U64 | AddType::S64 => true,
            AddType::F16
            | AddType::Bf16
            | AddType::F16x2
            | AddType::Bf16x2
            | AddType::F32
            | AddType::F64 => false,
        },
        Update::Minimum(ty) | Update::Maximum(ty) => match ty {
            ExtremeType::U32 | ExtremeType::S32 | ExtremeType::U64 | ExtremeType::S64 => true,
            ExtremeType::F16 | ExtremeType::Bf16 | ExtremeType::F16x2 | ExtremeType::Bf16x2 => {
                false
            }
        },
        Update::Exchange(_) | Update::CompareAndSwap(_) => false,
        Update::Increment | Update::Decrement => false,
    }
}

/// Whether the operation is a floating-point addition, which takes longer than an integer addition.
pub(super) fn adds_floats(update: Update) -> bool {
    matches!(update, Update::Add(_)) && !is_joined(update)
}

/// The new value.
fn updated(update: Update, old: u64, b: u64, c: u64, memory: s::Memory) -> u64 {
    match update {
        Update::And(_) => old & b,
        Update::Or(_) => old | b,
        Update::Xor(_) => old ^ b,
        Update::Exchange(_) => b,
        Update::CompareAndSwap(SwapType::B16) => {
            u64::from(s::compare_and_swap(old as u16, b as u16, c as u16))
        }
        Update::CompareAndSwap(_) => s::compare_and_swap(old, b, c),
        Update::Add(ty) => match ty {
            AddType::U32 | AddType::S32 => u64::from((old as u32).wrapping_add(b as u32)),
            AddType::U64 | AddType::S64 => old.wrapping_add(b),
            AddType::F32 => u64::from(s::add_f32_in(old as u32, b as u32, memory)),
            AddType::F64 => s::add_double(old, b),
            AddType::F16 => u64::from(s::add_half(old as u16, b as u16, HalfFormat::F16)),
            AddType::Bf16 => u64::from(s::add_half(old as u16, b as u16, HalfFormat::Bf16)),
            AddType::F16x2 => halves(old, b, |a, b| s::add_half(a, b, HalfFormat::F16)),
            AddType::Bf16x2 => halves(old, b, |a, b| s::add_half(a, b, HalfFormat::Bf16)),
        },
        Update::Increment => u64::from(s::increment(old as u32, b as u32)),
        Update::Decrement => u64::from(s::decrement(old as u32, b as u32)),
        Update::Minimum(ty) => extreme(ty, old, b, Extreme::Minimum),
        Update::Maximum(ty) => extreme(ty, old, b, Extreme::Maximum),
    }
}

fn halves(old: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(pair([old as u32, b as u32], |[a, b]| f(a, b)))
}

fn extreme(ty: ExtremeType, old: u64, b: u64, extreme: Extreme) -> u64 {
    let keep = Negative::Keep;
    match ty {
        ExtremeType::U32 => u64::from(integer::extreme(old as u32, b as u32, extreme, keep)),
        ExtremeType::S32 => u64::from(integer::extreme(old as i32, b as i32, extreme, keep) as u32),
        ExtremeType::U64 => integer::extreme(old, b, extreme, keep),
        ExtremeType::S64 => integer::extreme(old as i64, b as i64, extreme, keep) as u64,
        ExtremeType::F16 => {
            u64::from(s::extreme_half(old as u16, b as u16, extreme, HalfFormat::F16))
        }
        ExtremeType::Bf16 => {
            u64::from(s::extreme_half(old as u16, b as u16, extreme, HalfFormat::Bf16))
        }
        ExtremeType::F16x2 => {
            halves(old, b, |a, b| s::extreme_half(a, b, extreme, HalfFormat::F16))
        }
        ExtremeType::Bf16x2 => {
            halves(old, b, |a, b| s::extreme_half(a, b, extreme, HalfFormat::Bf16))
        }
    }
}

impl Worker<'_, '_> {
    pub(super) fn atomic(&mut self, pc: u32, op: &Op, frame: Frame, active: u32) {
        let Code::Atomic { atomic, base } = op.code else { return };
        // A lock is taken by a compare-and-swap; a thread that fails to take it tries again.
        if matches!(atomic.update, Update::CompareAndSwap(_) | Update::Exchange(_)) {
            self.poll(pc);
        }
        if let Some(counts) = self.launch.count(pc) {
            counts.atomics += u64::from(active.count_ones());
        }
        self.launch.order_memory();
        let (mut addresses, mask) = self.addresses(pc, op, base, frame, active);
        let remote = self.take_remote(atomic.space, &mut addresses, mask);
        let spaces = Self::spaces(atomic.space, base, &mut addresses, mask & !remote.mask);
        let in_shared = spaces.shared | remote.mask;
        let element = bytes(atomic.update);
        let part = Part { pc, addresses: &addresses, mask, element, count: 1 };
        self.count_atomic(&part, spaces.global, in_shared);
        let wide = element == 8;
        let lanes = self.lanes(frame, active);
        let (b, b_undefined) = lanes.any(op.b, wide);
        let (c, c_undefined) = if op.c.is_none() { ([0; LANES], 0) } else { lanes.any(op.c, wide) };
        let operand_undefined = (b_undefined | c_undefined) & active;
        if operand_undefined != 0 && spaces.global != 0 {
            self.report_undefined(pc, operand_undefined, "the operand of an atomic operation");
        }
        let mut old = [0_u64; LANES];
        let mut undefined = 0;
        let mut changes = false;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            let shared = in_shared >> lane & 1 == 1;
            let part = Part { pc, addresses: &addresses, mask: 1 << lane, element, count: 1 };
            let update = |worker: &mut Self| {
                let spot = worker.spot(&part, lane, shared)?;
                Some(worker.update_at(&spot, atomic, (pc, lane), (b[lane], c[lane])))
            };
            let updated_value = match remote.rank(lane) {
                Some(rank) => self.in_peer(rank, &part, update).flatten(),
                None => update(self),
            };
            let Some((value, known)) = updated_value else { continue };
            old[lane] = value;
            let memory = if shared { s::Memory::Shared } else { s::Memory::Global };
            changes |= updated(atomic.update, value, b[lane], c[lane], memory) != value;
            if !known {
                undefined |= 1 << lane;
                self.warp.undefined_load[lane] = Some(pc);
            }
        }
        if changes {
            self.changed();
        } else {
            // Adding zero is a way to read a value that other threads change.
            self.poll(pc);
        }
        if undefined != 0 && !matches!(atomic.update, Update::Exchange(_)) {
            self.report_undefined(pc, undefined, "the memory that an atomic operation updates");
        }
        if atomic.old_value == OldValue::Returned && !op.d.is_none() {
            let mut lanes = self.lanes(frame, active);
            if wide {
                lanes.set_double(op.d, &old, undefined);
            } else {
                lanes.set_word(op.d, &old.map(|value| value as u32), undefined);
            }
        }
    }

    /// Updates the value of one lane and checks for races; returns the old value and its initialisation.
    fn update_at(
        &mut self,
        spot: &Spot,
        atomic: Atomic,
        (pc, lane): (u32, usize),
        (b, c): (u64, u64),
    ) -> (u64, bool) {
        let element = bytes(atomic.update);
        let (value, known) = self.swap(spot, atomic, b, c, element as usize);
        let failed = matches!(atomic.update, Update::CompareAndSwap(_)) && value != b;
        let outcome = if failed { WriteOutcome::Read } else { WriteOutcome::Wrote };
        self.race_atomic(pc, (lane, element), spot, atomic, (outcome, value));
        (value, known)
    }

    /// Updates one value; returns the old value and its initialisation.
    pub(super) fn swap(
        &mut self,
        spot: &Spot,
        atomic: Atomic,
        b: u64,
        c: u64,
        size: usize,
    ) -> (u64, bool) {
        let new = |old, memory| updated(atomic.update, old, b, c, memory);
        match *spot {
            Spot::Region(place) => {
                let content = &self.launch.memory.regions[place.region].content;
                let known = content.is_any_initialised(place.offset, size);
                let old = if size == 8 {
                    let _held = self.launch.hold(place);
                    let old = content.read(place.offset, 8);
                    content.write(place.offset, 8, new(old, s::Memory::Global));
                    old
                } else {
                    let new = |old: u32| new(u64::from(old), s::Memory::Global) as u32;
                    u64::from(content.update(place.offset, size, new))
                };
                content.mark_initialised(place.offset, size);
                (old, known)
            }
            Spot::Shared(offset) => {
                let shared = &mut self.block.shared;
                let known = shared.is_any_initialised(offset, size);
                let old = shared.read(offset, size);
                shared.write(offset, size, new(old, s::Memory::Shared));
                shared.mark_initialised(offset, size);
                (old, known)
            }
        }
    }
}
