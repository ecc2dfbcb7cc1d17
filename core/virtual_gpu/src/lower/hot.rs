//! Which operations are so frequent that the machine tells them apart at first sight.

use super::super::isa::compare::{Compare, ComparedInteger, Comparison, IntegerComparison};
use super::super::isa::float::{Clamp, Float, FloatFormat, Rounding, Subnormals};
use super::super::isa::integer::{Integer, IntegerType, Overflow, Part, WideType};
use super::super::isa::logic::{Logic, LogicType};
use super::super::isa::memory::{Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::code::{BaseKind, Code, Op};

/// A frequent operation, or any other. Only branches may have a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hot {
    /// f32 in the mode that an opcode without modifiers means.
    MultiplyAdd32,
    AddFloat32,
    SubtractFloat32,
    MultiplyFloat32,
    /// Integers that wrap, whatever their sign.
    Add32,
    Add64,
    MultiplyAdd32Low,
    MultiplyWideSigned,
    MultiplyWideUnsigned,
    And32,
    Or32,
    Xor32,
    Copy32,
    Copy64,
    /// Whether words are in that order, as a predicate.
    CompareSigned(IntegerComparison),
    CompareUnsigned(IntegerComparison),
    /// One whole word of each lane, from shared memory.
    LoadShared,
    /// To one place.
    Branch(u32),
    Other,
}

const PLAIN: FloatFormat = FloatFormat::F32(Subnormals::Keep, Clamp::None);

const FREQUENT: &[(Code, Hot)] = &[
    (Code::Float(Float::MultiplyAdd(PLAIN, Rounding::NearestEven)), Hot::MultiplyAdd32),
    (Code::Float(Float::Add(PLAIN, Rounding::NearestEven)), Hot::AddFloat32),
    (Code::Float(Float::Subtract(PLAIN, Rounding::NearestEven)), Hot::SubtractFloat32),
    (Code::Float(Float::Multiply(PLAIN, Rounding::NearestEven)), Hot::MultiplyFloat32),
    (Code::Integer(Integer::Add(IntegerType::S32, Overflow::Wrap)), Hot::Add32),
    (Code::Integer(Integer::Add(IntegerType::U32, Overflow::Wrap)), Hot::Add32),
    (Code::Integer(Integer::Add(IntegerType::S64, Overflow::Wrap)), Hot::Add64),
    (Code::Integer(Integer::Add(IntegerType::U64, Overflow::Wrap)), Hot::Add64),
    (
        Code::Integer(Integer::MultiplyAdd(Part::Low, IntegerType::S32, Overflow::Wrap)),
        Hot::MultiplyAdd32Low,
    ),
    (
        Code::Integer(Integer::MultiplyAdd(Part::Low, IntegerType::U32, Overflow::Wrap)),
        Hot::MultiplyAdd32Low,
    ),
    (Code::Integer(Integer::MultiplyWide(WideType::S32)), Hot::MultiplyWideSigned),
    (Code::Integer(Integer::MultiplyWide(WideType::U32)), Hot::MultiplyWideUnsigned),
    (Code::Logic(Logic::And(LogicType::B32)), Hot::And32),
    (Code::Logic(Logic::Or(LogicType::B32)), Hot::Or32),
    (Code::Logic(Logic::Xor(LogicType::B32)), Hot::Xor32),
    (Code::Copy32, Hot::Copy32),
    (Code::Copy64, Hot::Copy64),
];

/// Which of them an operation is.
pub(crate) fn hot(op: &Op) -> Hot {
    if let Code::Branch { target } = op.code {
        return Hot::Branch(target);
    }
    if !op.guard.is_none() {
        return Hot::Other;
    }
    if loads_a_shared_word(op) {
        return Hot::LoadShared;
    }
    if let Some(hot) = comparison(op) {
        return hot;
    }
    let found = FREQUENT.iter().find(|(frequent, _)| *frequent == op.code);
    found.map_or(Hot::Other, |(_, hot)| *hot)
}

/// A comparison of words that is all there is to a predicate.
fn comparison(op: &Op) -> Option<Hot> {
    let Code::Compare(Compare::SetPredicate(comparison, None)) = op.code else { return None };
    let Comparison::Integer(order, ty) = comparison else { return None };
    if !op.e.is_none() {
        return None;
    }
    match ty {
        ComparedInteger::S32 => Some(Hot::CompareSigned(order)),
        ComparedInteger::U32 => Some(Hot::CompareUnsigned(order)),
        ComparedInteger::U16
        | ComparedInteger::S16
        | ComparedInteger::U64
        | ComparedInteger::S64 => None,
    }
}

fn loads_a_shared_word(op: &Op) -> bool {
    let Code::Load { access, base, register_bits, read_only: _ } = op.code else { return false };
    access.space == Space::Shared
        && access.ordering == Ordering::Weak
        && base == BaseKind::Narrow
        && register_bits == 32
        && ScalarType::from(access.element).bytes() == 4
        && op.list.1 == 1
}
