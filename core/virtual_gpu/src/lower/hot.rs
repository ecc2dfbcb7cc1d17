//! Which operations are so frequent that the machine tells them apart at first sight.

use super::super::isa::float::{Clamp, Float, FloatFormat, Rounding, Subnormals};
use super::super::isa::integer::{Integer, IntegerType, Overflow, Part, WideType};
use super::code::Code;

/// A frequent operation, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hot {
    /// f32 in the mode that an opcode without modifiers means.
    MultiplyAdd32,
    AddFloat32,
    MultiplyFloat32,
    /// Integers that wrap, whatever their sign.
    Add32,
    Add64,
    MultiplyAdd32Low,
    MultiplyWideSigned,
    Copy32,
    Copy64,
    Load,
    Store,
    Other,
}

const PLAIN: FloatFormat = FloatFormat::F32(Subnormals::Keep, Clamp::None);

const FREQUENT: &[(Code, Hot)] = &[
    (Code::Float(Float::MultiplyAdd(PLAIN, Rounding::NearestEven)), Hot::MultiplyAdd32),
    (Code::Float(Float::Add(PLAIN, Rounding::NearestEven)), Hot::AddFloat32),
    (Code::Float(Float::Multiply(PLAIN, Rounding::NearestEven)), Hot::MultiplyFloat32),
    (Code::Integer(Integer::Add(IntegerType::S32, Overflow::Wrap)), Hot::Add32),
    (Code::Integer(Integer::Add(IntegerType::U32, Overflow::Wrap)), Hot::Add32),
    (Code::Integer(Integer::Add(IntegerType::S64, Overflow::Wrap)), Hot::Add64),
    (Code::Integer(Integer::Add(IntegerType::U64, Overflow::Wrap)), Hot::Add64),
    (
        Code::Integer(Integer::MultiplyAdd(Part::Low, IntegerType::S32, Overflow::Wrap)),
        Hot::MultiplyAdd32Low,
    ),
    (Code::Integer(Integer::MultiplyWide(WideType::S32)), Hot::MultiplyWideSigned),
    (Code::Copy32, Hot::Copy32),
    (Code::Copy64, Hot::Copy64),
];

/// Which of them an operation is.
pub(crate) fn hot(code: Code) -> Hot {
    if let Code::Load { .. } = code {
        return Hot::Load;
    }
    if let Code::Store { .. } = code {
        return Hot::Store;
    }
    let found = FREQUENT.iter().find(|(frequent, _)| *frequent == code);
    found.map_or(Hot::Other, |(_, hot)| *hot)
}
