//! Extended-precision integer arithmetic with carry. PTX ISA, section "Extended-Precision Integer Arithmetic
//! Instructions".

use super::integer::Part;
use super::keyword::scalar_subset;
use super::signature::uniform;
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    /// The operand types.
    CarryType: "a 32- or 64-bit integer type" { U32, U64, S32, S64 }
}

/// Whether the carry flag is an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryIn {
    /// The carry-in is zero.
    Ignore,
    /// The carry flag is added or subtracted.
    Use,
}

/// Whether the carry flag is an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarryOut {
    /// The carry flag keeps its value.
    Keep,
    /// The carry flag is set to the carry-out.
    Write,
}

/// Arithmetic that reads or writes the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    pub operator: ExtendedOperator,
    /// The operand type.
    pub ty: CarryType,
    /// `addc`, `subc`, `madc`.
    pub carry_in: CarryIn,
    /// `.cc`.
    pub carry_out: CarryOut,
}

/// Additions, subtractions and multiply-adds with carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedOperator {
    /// `a + b`.
    Add,
    /// `a - b`; the carry is the complement of the borrow.
    Subtract,
    /// Half of `a * b`, plus `c`.
    MultiplyAdd(Part),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("addc", |m| carried(m, Form::Add, CarryIn::Use)),
    Row::any("subc", |m| carried(m, Form::Subtract, CarryIn::Use)),
    Row::any("madc", |m| carried(m, Form::MultiplyAdd, CarryIn::Use)),
    Row::with("add", "cc", |m| carried(m, Form::Add, CarryIn::Ignore)),
    Row::with("sub", "cc", |m| carried(m, Form::Subtract, CarryIn::Ignore)),
    Row::with("mad", "cc", |m| carried(m, Form::MultiplyAdd, CarryIn::Ignore)),
];

#[derive(Clone, Copy)]
enum Form {
    Add,
    Subtract,
    MultiplyAdd,
}

fn carried(m: &mut Modifiers<'_>, form: Form, carry_in: CarryIn) -> Decoded {
    let carry_out = if m.flag("cc") { CarryOut::Write } else { CarryOut::Keep };
    let (operator, sources) = match form {
        Form::Add => (ExtendedOperator::Add, 2),
        Form::Subtract => (ExtendedOperator::Subtract, 2),
        Form::MultiplyAdd => (ExtendedOperator::MultiplyAdd(m.required()?), 3),
    };
    let ty = m.required()?;
    let operation = Extended { operator, ty, carry_in, carry_out };
    Ok((Operation::Extended(operation), uniform(ty, sources)))
}
