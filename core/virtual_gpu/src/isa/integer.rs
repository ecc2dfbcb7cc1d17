//! Integer arithmetic. PTX ISA, section "Integer Arithmetic Instructions".

use super::keyword::{keywords, scalar_subset};
use super::scalar::ScalarType;
use super::signature::{mixed, uniform};
use super::video::Video;
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    /// The types of integer arithmetic.
    IntegerType: "an integer type" { U16, U32, U64, S16, S32, S64 }
}
scalar_subset! {
    /// Signed integers.
    SignedType: "a signed type" { S16, S32, S64 }
}
scalar_subset! {
    /// Pairs of 16-bit integers.
    PackedType: "a packed integer type" { U16x2, S16x2 }
}
scalar_subset! {
    /// The types of wide products, whose result has twice the width.
    WideType: "a 16- or 32-bit type" { U16, U32, S16, S32 }
}
scalar_subset! {
    /// 32-bit integers, the types of `mul24` and the dot products.
    WordType: "a 32-bit type" { U32, S32 }
}
scalar_subset! {
    /// The types of minimum and maximum, scalar or packed.
    ExtremeType: "an integer type" { U16, U32, U64, S16, S32, S64, U16x2, S16x2 }
}
keywords! {
    /// The half of a product.
    Part: "`.lo` or `.hi`" { Low = "lo", High = "hi" }
}

/// Treatment of overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The result wraps.
    Wrap,
    /// The result saturates.
    Saturate,
}

/// Treatment of negative results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negative {
    /// They are kept.
    Keep,
    /// They become zero (`.relu`).
    Zero,
}

/// Integer arithmetic; a `.wide` result has twice the width of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// `d = a + b`; only s32 saturates.
    Add(IntegerType, Overflow),
    /// `d = a - b`; only s32 saturates.
    Subtract(IntegerType, Overflow),
    /// Two additions.
    AddPacked(PackedType),
    /// Half of `a * b`.
    Multiply(Part, IntegerType),
    /// All of `a * b`.
    MultiplyWide(WideType),
    /// Half of `a * b`, plus `c`; only `.hi.s32` saturates.
    MultiplyAdd(Part, IntegerType, Overflow),
    /// The full product `a * b`, plus `c`.
    MultiplyAddWide(WideType),
    /// Bits 0..32 or 16..48 of the product of two 24-bit numbers.
    Multiply24(Part, WordType),
    /// Bits 0..32 or 16..48 of the product of two 24-bit numbers, plus `c`; only `.hi.s32` saturates.
    MultiplyAdd24(Part, WordType, Overflow),
    /// `c + |a - b|`.
    SumOfAbsoluteDifferences(IntegerType),
    /// `a / b`, towards zero.
    Divide(IntegerType),
    /// `a % b`, with the sign of `a`.
    Remainder(IntegerType),
    /// `|a|`.
    Absolute(SignedType),
    /// `-a`.
    Negate(SignedType),
    Minimum(ExtremeType, Negative),
    Maximum(ExtremeType, Negative),
    /// The sum of four products of bytes and `c`; the types are those of `a` and `b`.
    DotProduct4(WordType, WordType),
    /// The sum of two products of a 16-bit number and a byte (from the given half of `b`) and `c`.
    DotProduct2(Part, WordType, WordType),
    /// Arithmetic on bytes and halves of words.
    Video(Video),
}

const TYPES: &[ScalarType] = IntegerType::SCALARS;
const EXTREME: &[ScalarType] = ExtremeType::SCALARS;

pub(crate) const TABLE: &[Row] = &[
    Row::typed("add", TYPES, |m| sum(m, Integer::Add)),
    Row::typed("sub", TYPES, |m| sum(m, Integer::Subtract)),
    Row::typed("add", PackedType::SCALARS, |m| {
        let ty = m.required()?;
        done(Integer::AddPacked(ty), uniform(ty, 2))
    }),
    Row::typed("mul", TYPES, multiply),
    Row::typed("mad", TYPES, multiply_add),
    Row::any("mul24", |m| {
        let (part, ty) = (m.required()?, m.required()?);
        done(Integer::Multiply24(part, ty), uniform(ty, 2))
    }),
    Row::any("mad24", |m| {
        let (part, ty) = (m.required()?, m.required()?);
        let overflow = overflow(m, part == Part::High && ty == WordType::S32)?;
        done(Integer::MultiplyAdd24(part, ty, overflow), uniform(ty, 3))
    }),
    Row::any("sad", |m| typed(m, Integer::SumOfAbsoluteDifferences, 3)),
    Row::typed("div", TYPES, |m| typed(m, Integer::Divide, 2)),
    Row::any("rem", |m| typed(m, Integer::Remainder, 2)),
    Row::typed("abs", SignedType::SCALARS, |m| signed(m, Integer::Absolute)),
    Row::typed("neg", SignedType::SCALARS, |m| signed(m, Integer::Negate)),
    Row::typed("min", EXTREME, |m| extreme(m, Integer::Minimum)),
    Row::typed("max", EXTREME, |m| extreme(m, Integer::Maximum)),
    Row::any("dp4a", |m| {
        let (a, b) = (m.required()?, m.required()?);
        done(Integer::DotProduct4(a, b), dot_product(a, b))
    }),
    Row::any("dp2a", |m| {
        let (part, a, b) = (m.required()?, m.required()?, m.required()?);
        done(Integer::DotProduct2(part, a, b), dot_product(a, b))
    }),
];

fn done(operation: Integer, signature: super::Signature) -> Decoded {
    Ok((Operation::Integer(operation), signature))
}

fn typed(m: &mut Modifiers<'_>, operation: fn(IntegerType) -> Integer, sources: usize) -> Decoded {
    let ty = m.required()?;
    done(operation(ty), uniform(ty, sources))
}

fn signed(m: &mut Modifiers<'_>, operation: fn(SignedType) -> Integer) -> Decoded {
    let ty = m.required()?;
    done(operation(ty), uniform(ty, 1))
}

fn sum(m: &mut Modifiers<'_>, operation: fn(IntegerType, Overflow) -> Integer) -> Decoded {
    let ty = m.required()?;
    let overflow = overflow(m, ty == IntegerType::S32)?;
    done(operation(ty, overflow), uniform(ty, 2))
}

fn overflow(m: &mut Modifiers<'_>, may_saturate: bool) -> Result<Overflow, super::Refusal> {
    match (m.flag("sat"), may_saturate) {
        (false, _) => Ok(Overflow::Wrap),
        (true, true) => Ok(Overflow::Saturate),
        (true, false) => {
            Err(m.combination("only .s32 supports `.sat`, and of products only `.hi`"))
        }
    }
}

fn multiply(m: &mut Modifiers<'_>) -> Decoded {
    if m.flag("wide") {
        let ty: WideType = m.required()?;
        let signature = mixed(double_width(ty), &[ty.into(), ty.into()]);
        return done(Integer::MultiplyWide(ty), signature);
    }
    let (part, ty) = (m.required()?, m.required()?);
    done(Integer::Multiply(part, ty), uniform(ty, 2))
}

fn multiply_add(m: &mut Modifiers<'_>) -> Decoded {
    if m.flag("wide") {
        let ty: WideType = m.required()?;
        let wide = double_width(ty);
        let signature = mixed(wide, &[ty.into(), ty.into(), wide]);
        return done(Integer::MultiplyAddWide(ty), signature);
    }
    let (part, ty) = (m.required()?, m.required()?);
    let overflow = overflow(m, part == Part::High && ty == IntegerType::S32)?;
    done(Integer::MultiplyAdd(part, ty, overflow), uniform(ty, 3))
}

/// The type of a `.wide` product.
#[must_use]
pub fn double_width(ty: WideType) -> ScalarType {
    match ty {
        WideType::U16 => ScalarType::U32,
        WideType::U32 => ScalarType::U64,
        WideType::S16 => ScalarType::S32,
        WideType::S32 => ScalarType::S64,
    }
}

fn extreme(m: &mut Modifiers<'_>, operation: fn(ExtremeType, Negative) -> Integer) -> Decoded {
    let ty: ExtremeType = m.required()?;
    let relu = m.flag("relu");
    let negative = match (relu, ty) {
        (false, _) => Negative::Keep,
        (true, ExtremeType::S32 | ExtremeType::S16x2) => Negative::Zero,
        (
            true,
            ExtremeType::U16
            | ExtremeType::U32
            | ExtremeType::U64
            | ExtremeType::S16
            | ExtremeType::S64
            | ExtremeType::U16x2,
        ) => return Err(m.combination("`.relu` takes .s32 or .s16x2")),
    };
    done(operation(ty, negative), uniform(ty, 2))
}

fn dot_product(a: WordType, b: WordType) -> super::Signature {
    let signed = a == WordType::S32 || b == WordType::S32;
    let sum = if signed { ScalarType::S32 } else { ScalarType::U32 };
    mixed(sum, &[ScalarType::B32, ScalarType::B32, sum])
}
