//! Operands as they are meant. PTX ISA, section "Instruction Operands".

use super::super::isa::memory::Space;
use super::super::isa::special_register::SpecialRegister;
use super::arguments::Call;
use super::{FunctionId, LocalId, RegisterId, TargetsId, VariableId};

/// One operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(RegisterId),
    /// A register that the machine fills.
    Special(SpecialRegister),
    /// A constant.
    Immediate(Immediate),
    /// The address of something, and bytes behind it.
    Symbol(Symbol, i64),
    /// Memory.
    Address(Address),
    /// Several operands side by side.
    Vector(Box<[Self]>),
    /// Nothing: the value is dropped.
    Sink,
    /// `d|p`: two results; none for a side that is dropped.
    Pair(Option<RegisterId>, Option<RegisterId>),
    /// `!p`.
    Not(RegisterId),
    /// Where a branch goes: a position among the instructions.
    Label(u32),
    /// Where an indexed branch may go.
    Targets(TargetsId),
    /// What is called, and with what.
    Call(Box<Call>),
}

/// A constant of the operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Bits, cut to the size of the type; one or zero for a predicate.
    Integer(u64),
    /// The bits of a single.
    F32(u32),
    /// The bits of a double.
    F64(u64),
}

impl Immediate {
    /// The bits, zero-extended.
    #[must_use]
    pub fn bits(self) -> u64 {
        match self {
            Self::Integer(bits) | Self::F64(bits) => bits,
            Self::F32(bits) => u64::from(bits),
        }
    }
}

/// Something that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of the module.
    Variable(VariableId),
    /// A variable of the body.
    Local(LocalId),
    /// A parameter of this function.
    Parameter(u32),
    /// A return parameter of this function.
    Return(u32),
    /// A function.
    Function(FunctionId),
}

/// What stands between brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// From where.
    pub base: Base,
    /// How many bytes behind it.
    pub offset: i64,
}

/// From where an address counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// From zero.
    Absolute,
    /// From what a register holds.
    Register(RegisterId),
    /// From something with a name, in its own space.
    Symbol(Symbol),
    /// From the generic address of something with a name, which lies in this space.
    Generic(Symbol, Space),
}
