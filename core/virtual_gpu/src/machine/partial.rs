//! Values of which some bits were written and others were not: bit-fields, and what masks and shifts make of them.
//!
//! A register says of each lane whether its value is known. Of a lane that is not, it may be known in addition which bits
//! are not; where that is not said, none of them is known. Operations that move bits, and those that treat each bit for
//! itself, keep that knowledge. Any other makes all of its result unknown if a part of an operand is: so no value that
//! nothing wrote is lost, and a bit-field that was written can be told from its neighbour that was not.

use super::super::lower::code::Slot;
use super::lanes::{Doubles, Lanes, Words, bits};
use super::warp::LANES;

/// The bits that nothing wrote in some lanes of a register.
#[derive(Clone, Debug)]
pub(super) struct Row {
    unknown: Doubles,
    /// Lanes whose value is as it was in memory: storing it elsewhere is no use of it.
    copied: u32,
}

/// What is unknown of a value in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unknown {
    /// Its bits.
    pub(super) bits: Doubles,
    /// Lanes whose value is as it was in memory, unknown in part.
    pub(super) copied: u32,
}

impl Unknown {
    /// All is known.
    pub(super) const NOTHING: Self = Self { bits: [0; LANES], copied: 0 };
}

/// What an operation does to the bits of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Each bit of the result depends on the same bit of the operands.
    Each,
    /// Each bit of the result is known, or is one of an operand; the controls say which.
    Moved,
    /// The result is the operand.
    Copied,
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Data,
    Control,
}

/// An operand of an operation on bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    slot: Slot,
    width: Width,
    role: Role,
}

/// How many bits a register has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Word,
    Double,
}

impl Width {
    const fn all(self) -> u64 {
        match self {
            Self::Word => u32::MAX as u64,
            Self::Double => u64::MAX,
        }
    }
}

impl Operand {
    /// Bits of a register of 32.
    #[inline(always)]
    pub(super) const fn word(slot: Slot) -> Self {
        Self { slot, width: Width::Word, role: Role::Data }
    }

    /// Bits of a register of 64.
    #[inline(always)]
    pub(super) const fn double(slot: Slot) -> Self {
        Self { slot, width: Width::Double, role: Role::Data }
    }

    /// Which bits are meant: a register of 32.
    #[inline(always)]
    pub(super) const fn control(slot: Slot) -> Self {
        Self { slot, width: Width::Word, role: Role::Control }
    }
}

/// How the bits of a result come of those of at most four operands.
pub(super) struct Trace<'t> {
    pub(super) rule: Rule,
    pub(super) operands: &'t [Operand],
    /// The operation in one lane.
    pub(super) apply: &'t dyn Fn([u64; 4]) -> u64,
}

impl Lanes<'_> {
    /// The bits of a value that nothing wrote.
    pub(super) fn unknown(&self, slot: Slot, width: Width) -> Unknown {
        if slot.is_pool() {
            return Unknown::NOTHING;
        }
        let registers = &self.registers;
        let (undefined, partial, row) = match width {
            Width::Word => {
                let index = self.frame.words as usize + slot.index();
                let register = &registers.words[index];
                (register.undefined, register.partial, registers.word_rows.get(&index))
            }
            Width::Double => {
                let index = self.frame.doubles as usize + slot.index();
                let register = &registers.doubles[index];
                (register.undefined, register.partial, registers.double_rows.get(&index))
            }
        };
        let row = row.filter(|_| partial != 0);
        let bits = std::array::from_fn(|lane| match row {
            _ if undefined >> lane & 1 == 0 => 0,
            Some(row) if partial >> lane & 1 == 1 => row.unknown[lane],
            Some(_) | None => width.all(),
        });
        Unknown { bits, copied: row.map_or(0, |row| row.copied & partial & undefined) }
    }

    /// What is unknown of the result of an operation, of which an operand is unknown somewhere.
    #[cold]
    #[inline(never)]
    pub(super) fn traced(&self, trace: &Trace<'_>) -> Unknown {
        let mut values = [[0_u64; 4]; LANES];
        let mut unknown = [[0_u64; 4]; LANES];
        let (mut lost, mut copied) = (0, 0);
        for (index, operand) in trace.operands.iter().enumerate() {
            let known = match operand.width {
                Width::Word => self.word(operand.slot).map(u64::from),
                Width::Double => self.double(operand.slot),
            };
            let of = self.unknown(operand.slot, operand.width);
            if operand.role == Role::Control {
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
            Rule::Copied => unknown[lane][0],
            Rule::Each => differing(values[lane], unknown[lane], trace),
            Rule::Moved => {
                let mut operands = unknown[lane];
                for (index, operand) in trace.operands.iter().enumerate() {
                    if operand.role == Role::Control {
                        operands[index] = values[lane][index];
                    }
                }
                (trace.apply)(operands)
            }
        });
        Unknown { bits, copied: if trace.rule == Rule::Copied { copied } else { 0 } }
    }

    /// A result of 32 bits; `undefined` are the lanes in which an operand is unknown.
    #[inline(always)]
    pub(super) fn set_traced_word(
        &mut self,
        slot: Slot,
        values: &Words,
        undefined: u32,
        trace: &Trace<'_>,
    ) {
        if undefined & self.mask == 0 {
            self.set_word(slot, values, undefined);
        } else {
            let unknown = self.traced(trace);
            self.set_word_in_part(slot, values, &unknown);
        }
    }

    /// The same of 64 bits.
    #[inline(always)]
    pub(super) fn set_traced_double(
        &mut self,
        slot: Slot,
        values: &Doubles,
        undefined: u32,
        trace: &Trace<'_>,
    ) {
        if undefined & self.mask == 0 {
            self.set_double(slot, values, undefined);
        } else {
            let unknown = self.traced(trace);
            self.set_double_in_part(slot, values, &unknown);
        }
    }

    /// A value of 32 bits that is known in part.
    pub(super) fn set_word_in_part(&mut self, slot: Slot, values: &Words, unknown: &Unknown) {
        let (undefined, partial) = lanes_of(unknown, Width::Word);
        self.set_word(slot, values, undefined);
        let (index, mask) = (self.frame.words as usize + slot.index(), self.mask);
        self.registers.words[index].partial |= partial & mask;
        if partial & mask != 0 {
            let row = self.registers.word_rows.entry(index).or_insert_with(Row::empty);
            row.set(unknown, mask);
        }
    }

    /// The same of 64 bits.
    pub(super) fn set_double_in_part(&mut self, slot: Slot, values: &Doubles, unknown: &Unknown) {
        let (undefined, partial) = lanes_of(unknown, Width::Double);
        self.set_double(slot, values, undefined);
        let (index, mask) = (self.frame.doubles as usize + slot.index(), self.mask);
        self.registers.doubles[index].partial |= partial & mask;
        if partial & mask != 0 {
            let row = self.registers.double_rows.entry(index).or_insert_with(Row::empty);
            row.set(unknown, mask);
        }
    }
}

/// The bits in which the result differs if unknown bits of operands do: for operations on each bit for itself, all ways
/// to choose whole operands show all ways to choose their bits.
fn differing(values: [u64; 4], unknown: [u64; 4], trace: &Trace<'_>) -> u64 {
    let ways = 1_u32 << trace.operands.len().min(4);
    let result = |way: u32| {
        (trace.apply)(std::array::from_fn(|index| {
            if way >> index & 1 == 1 { values[index] ^ unknown[index] } else { values[index] }
        }))
    };
    let first = result(0);
    (1..ways).fold(0, |bits, way| bits | (result(way) ^ first))
}

/// Lanes of which anything is unknown, and those of which not everything is.
fn lanes_of(unknown: &Unknown, width: Width) -> (u32, u32) {
    let all = width.all();
    let undefined = bits(|lane| unknown.bits[lane] & all != 0);
    (undefined, undefined & bits(|lane| unknown.bits[lane] & all != all))
}

impl Row {
    fn empty() -> Box<Self> {
        Box::new(Self { unknown: [0; LANES], copied: 0 })
    }

    fn set(&mut self, unknown: &Unknown, mask: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            self.unknown[lane] = unknown.bits[lane];
        }
        self.copied = self.copied & !mask | unknown.copied & mask;
    }
}
