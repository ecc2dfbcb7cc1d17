//! f32 and f64 arithmetic with exact rounding. PTX ISA, section "Floating Point Instructions".

use super::keyword::{keywords, scalar_subset};
use super::scalar::ScalarType;
use super::signature::{mixed, uniform};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    /// Rounding modes.
    Rounding: "a rounding mode (.rn, .rz, .rm, .rp)" {
        NearestEven = "rn", TowardZero = "rz", Down = "rm", Up = "rp",
    }
}
keywords! {
    /// The property that `testp` tests.
    FloatProperty: "a property such as .finite" {
        Finite = "finite", Infinite = "infinite", Number = "number", NotANumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
    }
}
scalar_subset! {
    /// f32 and f64.
    FloatType: "a floating-point type" { F32, F64 }
}
scalar_subset! {
    /// f32, f64 and pairs of f32.
    VectorFloatType: "a floating-point type" { F32, F64, F32x2 }
}

/// Treatment of subnormal inputs and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subnormals {
    /// Subnormal numbers are supported.
    Keep,
    /// Subnormal numbers are flushed to zero of the same sign (`.ftz`).
    Flush,
}

/// Clamping of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// No clamping.
    None,
    /// The result is clamped to [0, 1]; NaN becomes zero (`.sat`).
    Unit,
}

/// A format with its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatFormat {
    /// Single precision.
    F32(Subnormals, Clamp),
    /// Two f32 in 64 bits.
    F32x2(Subnormals),
    /// Double precision.
    F64,
}

/// The result of minimum and maximum if one operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanRule {
    /// The other operand.
    Number,
    /// NaN (`.NaN`).
    Propagate,
}

/// The sign of the result of minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignRule {
    /// The sign of the selected operand.
    Winner,
    /// Magnitudes are compared, the sign is the product of both signs (`.xorsign.abs`).
    Product,
    /// Magnitudes are compared, the result is a magnitude (`.abs`).
    Absolute,
}

/// The modes of minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Treatment of NaN.
    pub nan: NanRule,
    pub sign: SignRule,
}

/// Floating-point arithmetic with exact rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// `a + b`.
    Add(FloatFormat, Rounding),
    /// `a - b`.
    Subtract(FloatFormat, Rounding),
    /// `a * b`.
    Multiply(FloatFormat, Rounding),
    /// `a * b + c`, rounded once.
    MultiplyAdd(FloatFormat, Rounding),
    /// `a / b`.
    Divide(FloatFormat, Rounding),
    /// `1 / a`.
    Reciprocal(FloatFormat, Rounding),
    SquareRoot(FloatFormat, Rounding),
    /// `|a|`.
    Absolute(FloatFormat),
    /// `-a`.
    Negate(FloatFormat),
    /// The minimum of two or three operands.
    Minimum(FloatFormat, Choice),
    /// The maximum of two or three operands.
    Maximum(FloatFormat, Choice),
    /// `b` with the sign of `a`.
    CopySign(FloatType),
    /// A predicate of `a`.
    Test(FloatProperty, FloatType),
}

const ALL: &[ScalarType] = VectorFloatType::SCALARS;
const SINGLE_OR_DOUBLE: &[ScalarType] = FloatType::SCALARS;

pub(crate) const TABLE: &[Row] = &[
    Row::typed("add", ALL, |m| rounded(m, Float::Add, 2)),
    Row::typed("sub", ALL, |m| rounded(m, Float::Subtract, 2)),
    Row::typed("mul", ALL, |m| rounded(m, Float::Multiply, 2)),
    Row::typed("fma", ALL, |m| strictly_rounded(m, Float::MultiplyAdd, 3)),
    Row::typed("mad", SINGLE_OR_DOUBLE, |m| strictly_rounded(m, Float::MultiplyAdd, 3)),
    Row::typed("div", SINGLE_OR_DOUBLE, |m| strictly_rounded(m, Float::Divide, 2)),
    Row::any("rcp", |m| strictly_rounded(m, Float::Reciprocal, 1)),
    Row::any("sqrt", |m| strictly_rounded(m, Float::SquareRoot, 1)),
    Row::typed("abs", SINGLE_OR_DOUBLE, |m| unrounded(m, Float::Absolute)),
    Row::typed("neg", SINGLE_OR_DOUBLE, |m| unrounded(m, Float::Negate)),
    Row::typed("min", SINGLE_OR_DOUBLE, |m| extreme(m, Float::Minimum)),
    Row::typed("max", SINGLE_OR_DOUBLE, |m| extreme(m, Float::Maximum)),
    Row::any("copysign", |m| {
        let ty = m.required()?;
        Ok((Operation::Float(Float::CopySign(ty)), uniform(ty, 2)))
    }),
    Row::any("testp", |m| {
        let (property, ty): (_, FloatType) = (m.required()?, m.required()?);
        let signature = mixed(ScalarType::Pred, &[ty.into()]);
        Ok((Operation::Float(Float::Test(property, ty)), signature))
    }),
];

/// Type, `.ftz` and `.sat`.
fn format(m: &mut Modifiers<'_>) -> Result<(FloatFormat, VectorFloatType), Refusal> {
    let ty = m.required()?;
    let format = match ty {
        VectorFloatType::F32 => FloatFormat::F32(subnormals(m), clamp(m)),
        VectorFloatType::F32x2 => FloatFormat::F32x2(subnormals(m)),
        VectorFloatType::F64 => FloatFormat::F64,
    };
    Ok((format, ty))
}

pub(crate) fn subnormals(m: &mut Modifiers<'_>) -> Subnormals {
    if m.flag("ftz") { Subnormals::Flush } else { Subnormals::Keep }
}

pub(crate) fn clamp(m: &mut Modifiers<'_>) -> Clamp {
    if m.flag("sat") { Clamp::Unit } else { Clamp::None }
}

/// Without a rounding mode, round to nearest. The mode permits a compiler to contract operations; the virtual GPU
/// never does.
fn rounded(
    m: &mut Modifiers<'_>,
    operation: fn(FloatFormat, Rounding) -> Float,
    sources: usize,
) -> Decoded {
    let rounding = m.optional().unwrap_or(Rounding::NearestEven);
    let (format, ty) = format(m)?;
    Ok((Operation::Float(operation(format, rounding)), uniform(ty, sources)))
}

fn strictly_rounded(
    m: &mut Modifiers<'_>,
    operation: fn(FloatFormat, Rounding) -> Float,
    sources: usize,
) -> Decoded {
    let rounding = m.required()?;
    let (format, ty) = format(m)?;
    Ok((Operation::Float(operation(format, rounding)), uniform(ty, sources)))
}

fn unrounded(m: &mut Modifiers<'_>, operation: fn(FloatFormat) -> Float) -> Decoded {
    let (format, ty) = format(m)?;
    if matches!(format, FloatFormat::F32(_, Clamp::Unit)) {
        return Err(m.combination("`.abs` and `.neg` do not support `.sat`"));
    }
    Ok((Operation::Float(operation(format)), uniform(ty, 1)))
}

fn extreme(m: &mut Modifiers<'_>, operation: fn(FloatFormat, Choice) -> Float) -> Decoded {
    let choice = choice(m);
    let (format, ty) = format(m)?;
    let plain = Choice { nan: NanRule::Number, sign: SignRule::Winner };
    match format {
        FloatFormat::F32(_, Clamp::None) => {}
        FloatFormat::F32(_, Clamp::Unit) => {
            return Err(m.combination("`.min` and `.max` do not support `.sat`"));
        }
        FloatFormat::F64 | FloatFormat::F32x2(_) if choice == plain => {}
        FloatFormat::F64 | FloatFormat::F32x2(_) => {
            return Err(m.combination("only .f32 has `.NaN` and `.xorsign.abs`"));
        }
    }
    let sources = if m.operands() == 4 && ty == VectorFloatType::F32 { 3 } else { 2 };
    Ok((Operation::Float(operation(format, choice)), uniform(ty, sources)))
}

/// `.NaN` and `.xorsign.abs`.
pub(crate) fn choice(m: &mut Modifiers<'_>) -> Choice {
    let nan = if m.flag("NaN") { NanRule::Propagate } else { NanRule::Number };
    let absolute = m.flag("abs");
    let sign = match (m.flag("xorsign"), absolute) {
        (true, _) => SignRule::Product,
        (false, true) => SignRule::Absolute,
        (false, false) => SignRule::Winner,
    };
    Choice { nan, sign }
}
