//! f16 and bf16 arithmetic, scalar and packed. PTX ISA, section "Half Precision Floating-Point Instructions".

use super::float::{Choice, Subnormals, choice, subnormals};
use super::keyword::scalar_subset;
use super::signature::uniform;
use super::{Decoded, Modifiers, Operation, Refusal, Row};

scalar_subset! {
    /// 16-bit formats, one or two numbers per register.
    HalfType: "a half-precision type" { F16, F16x2, Bf16, Bf16x2 }
}

/// Clamping of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfClamp {
    /// No clamping.
    None,
    /// The result is clamped to [0, 1]; NaN becomes zero (`.sat`).
    Unit,
    /// A negative result becomes zero; NaN becomes the canonical NaN (`.relu`).
    Negative,
}

/// A format with its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfFormat {
    /// The element type.
    pub ty: HalfType,
    /// Treatment of subnormal numbers; only f16 supports flushing.
    pub subnormals: Subnormals,
    pub clamp: HalfClamp,
}

/// Arithmetic on halves, always rounded to nearest even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// `a + b`.
    Add(HalfFormat),
    /// `a - b`.
    Subtract(HalfFormat),
    /// `a * b`.
    Multiply(HalfFormat),
    /// `a * b + c`, rounded once.
    MultiplyAdd(HalfFormat),
    /// `|a|`.
    Absolute(HalfFormat),
    /// `-a`.
    Negate(HalfFormat),
    Minimum(HalfFormat, Choice),
    Maximum(HalfFormat, Choice),
}

const TYPES: &[super::ScalarType] = HalfType::SCALARS;

pub(crate) const TABLE: &[Row] = &[
    Row::typed("add", TYPES, |m| rounded(m, Half::Add, 2)),
    Row::typed("sub", TYPES, |m| rounded(m, Half::Subtract, 2)),
    Row::typed("mul", TYPES, |m| rounded(m, Half::Multiply, 2)),
    Row::typed("fma", TYPES, |m| {
        m.require_flag("rn", "the rounding mode .rn")?;
        rounded(m, Half::MultiplyAdd, 3)
    }),
    Row::typed("abs", TYPES, |m| unrounded(m, Half::Absolute)),
    Row::typed("neg", TYPES, |m| unrounded(m, Half::Negate)),
    Row::typed("min", TYPES, |m| extreme(m, Half::Minimum)),
    Row::typed("max", TYPES, |m| extreme(m, Half::Maximum)),
];

fn format(m: &mut Modifiers<'_>) -> Result<HalfFormat, Refusal> {
    let ty = m.required()?;
    let subnormals = subnormals(m);
    if subnormals == Subnormals::Flush && matches!(ty, HalfType::Bf16 | HalfType::Bf16x2) {
        return Err(m.combination("`.ftz` takes .f16 or .f16x2"));
    }
    Ok(HalfFormat { ty, subnormals, clamp: HalfClamp::None })
}

fn rounded(m: &mut Modifiers<'_>, operation: fn(HalfFormat) -> Half, sources: usize) -> Decoded {
    m.flag("rn");
    let mut format = format(m)?;
    let saturates = matches!(format.ty, HalfType::F16 | HalfType::F16x2);
    format.clamp = match (m.flag("sat"), sources == 3 && m.flag("relu")) {
        (false, false) => HalfClamp::None,
        (true, false) if saturates => HalfClamp::Unit,
        (false, true) => HalfClamp::Negative,
        (true, false) => return Err(m.combination("`.sat` takes .f16 or .f16x2")),
        (true, true) => return Err(m.combination("`.sat` and `.relu` exclude each other")),
    };
    Ok((Operation::Half(operation(format)), uniform(format.ty, sources)))
}

fn unrounded(m: &mut Modifiers<'_>, operation: fn(HalfFormat) -> Half) -> Decoded {
    let format = format(m)?;
    Ok((Operation::Half(operation(format)), uniform(format.ty, 1)))
}

fn extreme(m: &mut Modifiers<'_>, operation: fn(HalfFormat, Choice) -> Half) -> Decoded {
    let choice = choice(m);
    let format = format(m)?;
    Ok((Operation::Half(operation(format, choice)), uniform(format.ty, 2)))
}
