//! Approximate functions with a documented error. PTX ISA, section "Floating Point Instructions", the `.approx`
//! forms, and section "Half Precision Floating-Point Instructions" for `tanh` and `ex2`.

use super::float::{Subnormals, subnormals};
use super::keyword::scalar_subset;
use super::scalar::ScalarType;
use super::signature::uniform;
use super::{Decoded, Modifiers, Operation, Row};

scalar_subset! {
    /// The operand types of `tanh` and `ex2`.
    ApproximateType: "f32 or a half-precision type" { F32, F16, F16x2, Bf16, Bf16x2 }
}

/// Approximate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approximate {
    /// `a / b`, 2 ulp while `b` is in [2^-126, 2^126].
    Divide(Subnormals),
    /// `a / b`, 2 ulp in the full range.
    DivideFull(Subnormals),
    /// `1 / a`, f32.
    Reciprocal(Subnormals),
    /// `1 / a` from the upper half of an f64; subnormals are flushed.
    ReciprocalDouble,
    /// The square root, f32.
    SquareRoot(Subnormals),
    /// The reciprocal square root, f32.
    ReciprocalSquareRoot(Subnormals),
    /// The reciprocal square root, f64.
    ReciprocalSquareRootDouble(Subnormals),
    /// The sine, f32.
    Sine(Subnormals),
    /// The cosine, f32.
    Cosine(Subnormals),
    /// The binary logarithm, f32.
    BinaryLogarithm(Subnormals),
    /// Two to the power of `a`.
    BinaryExponential(ApproximateType, Subnormals),
    HyperbolicTangent(ApproximateType),
}

const SINGLE: &[ScalarType] = &[ScalarType::F32];

pub(crate) const TABLE: &[Row] = &[
    Row::with("div", "approx", |m| single(m, Approximate::Divide, 2)),
    Row::with("div", "full", |m| single(m, Approximate::DivideFull, 2)),
    Row::with("rcp", "approx", reciprocal),
    Row::with("sqrt", "approx", |m| single(m, Approximate::SquareRoot, 1)),
    Row::typed("rsqrt", SINGLE, |m| single(m, Approximate::ReciprocalSquareRoot, 1)),
    Row::any("rsqrt", |m| {
        m.require_flag("approx", "`.approx`")?;
        m.require_flag("f64", ".f32 or .f64")?;
        let operation = Approximate::ReciprocalSquareRootDouble(subnormals(m));
        Ok((Operation::Approximate(operation), uniform(ScalarType::F64, 1)))
    }),
    Row::any("sin", |m| single(m, Approximate::Sine, 1)),
    Row::any("cos", |m| single(m, Approximate::Cosine, 1)),
    Row::any("lg2", |m| single(m, Approximate::BinaryLogarithm, 1)),
    Row::any("ex2", |m| {
        m.require_flag("approx", "`.approx`")?;
        let ty = m.required()?;
        let operation = Approximate::BinaryExponential(ty, subnormals(m));
        Ok((Operation::Approximate(operation), uniform(ty, 1)))
    }),
    Row::any("tanh", |m| {
        m.require_flag("approx", "`.approx`")?;
        let ty = m.required()?;
        Ok((Operation::Approximate(Approximate::HyperbolicTangent(ty)), uniform(ty, 1)))
    }),
];

fn single(
    m: &mut Modifiers<'_>,
    operation: fn(Subnormals) -> Approximate,
    sources: usize,
) -> Decoded {
    if !m.flag("approx") && !m.flag("full") {
        return Err(m.missing("`.approx`"));
    }
    m.require_flag("f32", ".f32")?;
    let operation = operation(subnormals(m));
    Ok((Operation::Approximate(operation), uniform(ScalarType::F32, sources)))
}

fn reciprocal(m: &mut Modifiers<'_>) -> Decoded {
    if m.principal_type() != Some(ScalarType::F64) {
        return single(m, Approximate::Reciprocal, 1);
    }
    m.require_flag("approx", "`.approx`")?;
    m.require_flag("f64", ".f64")?;
    m.require_flag("ftz", "`.ftz`, without which doubles have no approximate reciprocal")?;
    let operation = Approximate::ReciprocalDouble;
    Ok((Operation::Approximate(operation), uniform(ScalarType::F64, 1)))
}
