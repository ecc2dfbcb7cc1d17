//! Frequent operations, classified once when the program is lowered, so that the interpreter dispatches them
//! directly.

use super::super::isa::compare::{Compare, ComparedInteger, Comparison, IntegerComparison};
use super::super::isa::float::{Clamp, Float, FloatFormat, Rounding, Subnormals};
use super::super::isa::integer::{Integer, IntegerType, Overflow, Part, WideType};
use super::super::isa::logic::{Logic, LogicType};
use super::super::isa::memory::{Ordering, Space};
use super::super::isa::scalar::ScalarType;
use super::code::{BaseKind, Code, Op};

/// The class of a frequent operation, or `Other`. Only branches may have a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HotOp {
    /// f32 in the default mode of the opcode.
    MultiplyAdd32,
    AddFloat32,
    SubtractFloat32,
    MultiplyFloat32,
    /// Integers that wrap, signed or unsigned.
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
    /// A comparison of words with a predicate as its result.
    CompareSigned(IntegerComparison),
    CompareUnsigned(IntegerComparison),
    /// One word per lane from shared memory.
    LoadShared,
    /// A branch to a fixed target.
    Branch(u32),
    Other,
}

const PLAIN: FloatFormat = FloatFormat::F32(Subnormals::Keep, Clamp::None);

const FREQUENT: &[(Code, HotOp)] = &[
    (Code::Float(Float::MultiplyAdd(PLAIN, Rounding::NearestEven)), HotOp::MultiplyAdd32),
    (Code::Float(Float::Add(PLAIN, Rounding::NearestEven)), HotOp::AddFloat32),
    (Code::Float(Float::Subtract(PLAIN, Rounding::NearestEven)), HotOp::SubtractFloat32),
    (Code::Float(Float::Multiply(PLAIN, Rounding::NearestEven)), HotOp::MultiplyFloat32),
    (Code::Integer(Integer::Add(IntegerType::S32, Overflow::Wrap)), HotOp::Add32),
    (Code::Integer(Integer::Add(IntegerType::U32, Overflow::Wrap)), HotOp::Add32),
    (Code::Integer(Integer::Add(IntegerType::S64, Overflow::Wrap)), HotOp::Add64),
    (Code::Integer(Integer::Add(IntegerType::U64, Overflow::Wrap)), HotOp::Add64),
    (
        Code::Integer(Integer::MultiplyAdd(Part::Low, IntegerType::S32, Overflow::Wrap)),
        HotOp::MultiplyAdd32Low,
    ),
    (
        Code::Integer(Integer::MultiplyAdd(Part::Low, IntegerType::U32, Overflow::Wrap)),
        HotOp::MultiplyAdd32Low,
    ),
    (Code::Integer(Integer::MultiplyWide(WideType::S32)), HotOp::MultiplyWideSigned),
    (Code::Integer(Integer::MultiplyWide(WideType::U32)), HotOp::MultiplyWideUnsigned),
    (Code::Logic(Logic::And(LogicType::B32)), HotOp::And32),
    (Code::Logic(Logic::Or(LogicType::B32)), HotOp::Or32),
    (Code::Logic(Logic::Xor(LogicType::B32)), HotOp::Xor32),
    (Code::Copy32, HotOp::Copy32),
    (Code::Copy64, HotOp::Copy64),
];

/// The class of an operation.
pub(crate) fn hot_op(op: &Op) -> HotOp {
    if let Code::Branch { target } = op.code {
        return HotOp::Branch(target);
    }
    if !op.guard.is_none() {
        return HotOp::Other;
    }
    if is_shared_word_load(op) {
        return HotOp::LoadShared;
    }
    if let Some(hot) = comparison(op) {
        return hot;
    }
    let found = FREQUENT.iter().find(|(frequent, _)| *frequent == op.code);
    found.map_or(HotOp::Other, |(_, hot)| *hot)
}

/// A comparison of words without a combined predicate.
fn comparison(op: &Op) -> Option<HotOp> {
    let Code::Compare(Compare::SetPredicate(comparison, None)) = op.code else { return None };
    let Comparison::Integer(order, ty) = comparison else { return None };
    if !op.e.is_none() {
        return None;
    }
    match ty {
        ComparedInteger::S32 => Some(HotOp::CompareSigned(order)),
        ComparedInteger::U32 => Some(HotOp::CompareUnsigned(order)),
        ComparedInteger::U16
        | ComparedInteger::S16
        | ComparedInteger::U64
        | ComparedInteger::S64 => None,
    }
}

fn is_shared_word_load(op: &Op) -> bool {
    let Code::Load { access, base, register_bits, read_only: _ } = op.code else { return false };
    access.space == Space::Shared
        && access.ordering == Ordering::Weak
        && base == BaseKind::Narrow
        && register_bits == 32
        && ScalarType::from(access.element).bytes() == 4
        && op.list.1 == 1
}
