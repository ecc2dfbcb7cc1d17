//! Initialisation masks of registers: values in which only some bits are initialised, such as bit-fields and the
//! results of masks and shifts.
//!
//! A register has a mask of the lanes whose value is uninitialised. For such a lane, a second mask may state which
//! bits are uninitialised; without it, all bits are. Bitwise operations and operations that move bits propagate the
//! masks. The result of any other operation is uninitialised if a bit of an operand is. Thus no uninitialised value
//! is lost, and an initialised bit-field is distinguished from an uninitialised neighbour.

use super::super::lower::code::Slot;
use super::lanes::{Doubles, Lanes, Words, bits};
use super::warp::LANES;

/// The uninitialised bits of a register in some lanes.
#[derive(Clone, Debug)]
pub(super) struct RegisterInitMask {
    uninitialised: Doubles,
    /// Lanes whose value is an unmodified copy from memory: storing it elsewhere is no use of it.
    copied: u32,
}

/// The uninitialised bits of a value in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct UninitialisedBits {
    pub(super) bits: Doubles,
    /// Lanes whose value is an unmodified copy from memory.
    pub(super) copied: u32,
}

impl UninitialisedBits {
    /// All bits are initialised.
    pub(super) const NONE: Self = Self { bits: [0; LANES], copied: 0 };
}

/// How an operation propagates uninitialised bits from its operands to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitRule {
    /// Each bit of the result depends on the same bit of the operands.
    Each,
    /// Each bit of the result is a constant or a bit of an operand, selected by the control operands.
    Moved,
    /// The result is the operand.
    Copied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandRole {
    Data,
    Control,
}

/// An operand of a bitwise operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitOperand {
    slot: Slot,
    width: RegisterWidth,
    role: OperandRole,
}

/// The number of bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterWidth {
    Word,
    Double,
}

impl RegisterWidth {
    const fn all(self) -> u64 {
        match self {
            Self::Word => u32::MAX as u64,
            Self::Double => u64::MAX,
        }
    }
}

impl BitOperand {
    /// A data operand of 32 bits.
    #[inline(always)]
    pub(super) const fn word(slot: Slot) -> Self {
        Self { slot, width: RegisterWidth::Word, role: OperandRole::Data }
    }

    /// A data operand of 64 bits.
    #[inline(always)]
    pub(super) const fn double(slot: Slot) -> Self {
        Self { slot, width: RegisterWidth::Double, role: OperandRole::Data }
    }

    /// A control operand of 32 bits.
    #[inline(always)]
    pub(super) const fn control(slot: Slot) -> Self {
        Self { slot, width: RegisterWidth::Word, role: OperandRole::Control }
    }
}

/// An operation with up to four operands, for the propagation of uninitialised bits.
pub(super) struct BitOperation<'t> {
    pub(super) rule: BitRule,
    pub(super) operands: &'t [BitOperand],
    /// The operation in one lane.
    pub(super) apply: &'t dyn Fn([u64; 4]) -> u64,
}

impl Lanes<'_> {
    /// The uninitialised bits of a register.
    pub(super) fn uninitialised_bits(&self, slot: Slot, width: RegisterWidth) -> UninitialisedBits {
        if slot.is_pool() {
            return UninitialisedBits::NONE;
        }
        let registers = &self.registers;
        let (undefined, partial, row) = match width {
            RegisterWidth::Word => {
                let index = self.frame.words as usize + slot.index();
                let register = &registers.words[index];
                (register.undefined, register.partial, registers.word_init_masks.get(&index))
            }
            RegisterWidth::Double => {
                let index = self.frame.doubles as usize + slot.index();
                let register = &registers.doubles[index];
                (register.undefined, register.partial, registers.double_init_masks.get(&index))
            }
        };
        let row = row.filter(|_| partial != 0);
        let bits = std::array::from_fn(|lane| match row {
            _ if undefined >> lane & 1 == 0 => 0,
            Some(row) if partial >> lane & 1 == 1 => row.uninitialised[lane],
            Some(_) | None => width.all(),
        });
        UninitialisedBits { bits, copied: row.map_or(0, |row| row.copied & partial & undefined) }
    }

    /// The uninitialised bits of the result of an operation with an uninitialised operand.
    #[cold]
    #[inline(never)]
    pub(super) fn result_bits(&self, trace: &BitOperation<'_>) -> UninitialisedBits {
        let mut values = [[0_u64; 4]; LANES];
        let mut unknown = [[0_u64; 4]; LANES];
        let (mut lost, mut copied) = (0, 0);
        for (index, operand) in trace.operands.iter().enumerate() {
            let known = match operand.width {
                RegisterWidth::Word => self.word(operand.slot).map(u64::from),
                RegisterWidth::Double => self.double(operand.slot),
            };
            let of = self.uninitialised_bits(operand.slot, operand.width);
            if operand.role == OperandRole::Control {
                lost |= bits(|lane| of.bits[lane] != 0);
            }
            copied |= of.copied;
            for lane in 0..LANES {
                values[lane][index] = known[lane];
                unknown[lane][index] = of.bits[lane];
            }
        }
        let bits = std::array::from_fn(|lane| match trace.rule {
            _ if lost >> lane & 1 == 1 => u64::MAX,
            BitRule::Copied => unknown[lane][0],
            BitRule::Each => affected_bits(values[lane], unknown[lane], trace),
            BitRule::Moved => {
                let mut operands = unknown[lane];
                for (index, operand) in trace.operands.iter().enumerate() {
                    if operand.role == OperandRole::Control {
                        operands[index] = values[lane][index];
                    }
                }
                (trace.apply)(operands)
            }
        });
        UninitialisedBits { bits, copied: if trace.rule == BitRule::Copied { copied } else { 0 } }
    }

    /// Sets a 32-bit result; `undefined` are the lanes in which an operand is uninitialised.
    #[inline(always)]
    pub(super) fn set_bitwise_word(
        &mut self,
        slot: Slot,
        values: &Words,
        undefined: u32,
        trace: &BitOperation<'_>,
    ) {
        if undefined & self.mask == 0 {
            self.set_word(slot, values, undefined);
        } else {
            let unknown = self.result_bits(trace);
            self.set_partly_initialised_word(slot, values, &unknown);
        }
    }

    /// Sets a 64-bit result; `undefined` are the lanes in which an operand is uninitialised.
    #[inline(always)]
    pub(super) fn set_bitwise_double(
        &mut self,
        slot: Slot,
        values: &Doubles,
        undefined: u32,
        trace: &BitOperation<'_>,
    ) {
        if undefined & self.mask == 0 {
            self.set_double(slot, values, undefined);
        } else {
            let unknown = self.result_bits(trace);
            self.set_partly_initialised_double(slot, values, &unknown);
        }
    }

    /// Sets a 32-bit register to partly initialised values.
    pub(super) fn set_partly_initialised_word(
        &mut self,
        slot: Slot,
        values: &Words,
        unknown: &UninitialisedBits,
    ) {
        let (undefined, partial) = uninitialised_lanes(unknown, RegisterWidth::Word);
        self.set_word(slot, values, undefined);
        let (index, mask) = (self.frame.words as usize + slot.index(), self.mask);
        self.registers.words[index].partial |= partial & mask;
        if partial & mask != 0 {
            let row =
                self.registers.word_init_masks.entry(index).or_insert_with(RegisterInitMask::empty);
            row.set(unknown, mask);
        }
    }

    /// Sets a 64-bit register to partly initialised values.
    pub(super) fn set_partly_initialised_double(
        &mut self,
        slot: Slot,
        values: &Doubles,
        unknown: &UninitialisedBits,
    ) {
        let (undefined, partial) = uninitialised_lanes(unknown, RegisterWidth::Double);
        self.set_double(slot, values, undefined);
        let (index, mask) = (self.frame.doubles as usize + slot.index(), self.mask);
        self.registers.doubles[index].partial |= partial & mask;
        if partial & mask != 0 {
            let row = self
                .registers
                .double_init_masks
                .entry(index)
                .or_insert_with(RegisterInitMask::empty);
            row.set(unknown, mask);
        }
    }
}

/// The bits of the result that depend on uninitialised bits of the operands. For bitwise operations it suffices to
/// flip the uninitialised bits of whole operands in all combinations.
fn affected_bits(values: [u64; 4], unknown: [u64; 4], trace: &BitOperation<'_>) -> u64 {
    let ways = 1_u32 << trace.operands.len().min(4);
    let result = |way: u32| {
        (trace.apply)(std::array::from_fn(|index| {
            if way >> index & 1 == 1 { values[index] ^ unknown[index] } else { values[index] }
        }))
    };
    let first = result(0);
    (1..ways).fold(0, |bits, way| bits | (result(way) ^ first))
}

/// Lanes with an uninitialised bit, and of those the lanes with an initialised bit.
fn uninitialised_lanes(unknown: &UninitialisedBits, width: RegisterWidth) -> (u32, u32) {
    let all = width.all();
    let undefined = bits(|lane| unknown.bits[lane] & all != 0);
    (undefined, undefined & bits(|lane| unknown.bits[lane] & all != all))
}

impl RegisterInitMask {
    fn empty() -> Box<Self> {
        Box::new(Self { uninitialised: [0; LANES], copied: 0 })
    }

    fn set(&mut self, unknown: &UninitialisedBits, mask: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            self.uninitialised[lane] = unknown.bits[lane];
        }
        self.copied = self.copied & !mask | unknown.copied & mask;
    }
}
