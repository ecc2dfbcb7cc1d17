//! Resolved operands. PTX ISA, section "Instruction Operands".

use super::super::isa::memory::Space;
use super::super::isa::special_register::SpecialRegister;
use super::arguments::Call;
use super::{FunctionId, LocalId, RegisterId, TargetsId, VariableId};

/// One operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Register(RegisterId),
    /// A special register.
    Special(SpecialRegister),
    /// A constant.
    Immediate(Immediate),
    /// The address of a symbol, plus an offset in bytes.
    Symbol(Symbol, i64),
    /// A memory operand.
    Address(Address),
    /// Several operands in braces.
    Vector(Box<[Self]>),
    /// The sink `_`: the value is dropped.
    Sink,
    /// `d|p`: two results; none for a side that is dropped.
    Pair(Option<RegisterId>, Option<RegisterId>),
    /// `!p`.
    Not(RegisterId),
    /// A branch target: the index of an instruction.
    Label(u32),
    /// The targets of an indexed branch.
    Targets(TargetsId),
    /// The operands of a call.
    Call(Box<Call>),
}

/// A constant of the operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Bits, truncated to the size of the type; one or zero for a predicate.
    Integer(u64),
    /// The bits of an f32.
    F32(u32),
    /// The bits of an f64.
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

/// A symbol with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of the module.
    Variable(VariableId),
    /// A variable of the body.
    Local(LocalId),
    /// A parameter of the function.
    Parameter(u32),
    /// A result parameter of the function.
    Return(u32),
    Function(FunctionId),
}

/// An address in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Base,
    /// Offset from the base in bytes.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Zero.
    Absolute,
    /// The value of a register.
    Register(RegisterId),
    /// A symbol in its own state space.
    Symbol(Symbol),
    /// The generic address of a symbol in this state space.
    Generic(Symbol, Space),
}
