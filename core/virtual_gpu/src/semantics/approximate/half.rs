//! `ex2` and `tanh` of f16 and bf16. PTX ISA 9.7.4.9 "tanh" and 9.7.4.10 "ex2".

use super::super::exact::{Beyond, Format, Value};
use super::super::half::{CANONICAL_NAN, HalfFormat};
use super::super::{Rounding, Subnormals};
use super::{Approximation, Bound, moved};

/// The approximate functions of halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfFunction {
    /// `2^a`: relative error 2^-9.9 for f16 and 2^-7 for bf16.
    BinaryExponential,
    /// The hyperbolic tangent: absolute error 2^-10.987 for f16 and 2^-8 for bf16.
    HyperbolicTangent,
}

/// A function of one half. `ex2` of bf16 always flushes (`.ftz`), that of f16 only with the modifier.
#[inline]
#[must_use]
pub fn half_function(
    function: HalfFunction,
    a: u16,
    format: HalfFormat,
    subnormals: Subnormals,
    approximation: Approximation,
) -> u16 {
    if format.is_nan(a) {
        return CANONICAL_NAN;
    }
    let flush = |bits: u16| match subnormals {
        Subnormals::Flush if bits & format.infinity() == 0 => bits & 0x8000,
        Subnormals::Flush | Subnormals::Keep => bits,
    };
    let x = f64::from(format.to_f32(flush(a)));
    let exact = match function {
        HalfFunction::BinaryExponential => pxfm::f_exp2(x),
        HalfFunction::HyperbolicTangent => pxfm::f_tanh(x),
    };
    let nearest = flush(format.nearest(exact));
    let magnitude = nearest & 0x7fff;
    let special =
        magnitude == 0 || magnitude == format.infinity() || a & 0x7fff == format.infinity();
    if approximation == Approximation::Nearest || special {
        return nearest;
    }
    flush(end(exact, bound(function, format), format, approximation))
}

fn bound(function: HalfFunction, format: HalfFormat) -> Bound {
    match (function, format) {
        (HalfFunction::BinaryExponential, HalfFormat::F16) => Bound::Relative(1.046_6e-3), // 2^-9.9
        (HalfFunction::BinaryExponential, HalfFormat::Bf16) => Bound::Relative(0.007_812_5), // 2^-7
        // 2^-10.987
        (HalfFunction::HyperbolicTangent, HalfFormat::F16) => Bound::Absolute(4.927_1e-4),
        // 2^-8
        (HalfFunction::HyperbolicTangent, HalfFormat::Bf16) => Bound::Absolute(0.003_906_25),
    }
}

fn end(exact: f64, bound: Bound, format: HalfFormat, approximation: Approximation) -> u16 {
    let inward = match approximation {
        Approximation::Nearest => Rounding::NearestEven,
        Approximation::Lowest => Rounding::Up,
        Approximation::Highest => Rounding::Down,
    };
    let layout = match format {
        HalfFormat::F16 => Format::F16,
        HalfFormat::Bf16 => Format::BF16,
    };
    match Format::F64.decode(moved(exact, bound, approximation).to_bits()) {
        Value::Finite(value) => layout.round(value, inward, Beyond::Infinity) as u16,
        Value::Infinity { .. } | Value::Nan => format.nearest(exact),
    }
}
