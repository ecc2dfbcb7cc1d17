//! Approximate functions: the result nearest to the exact value, or an end of the interval that the ISA documents.

use super::super::super::isa::approximate::{Approximate, ApproximateType};
use super::super::super::isa::float::Subnormals;
use super::super::super::lower::code::Op;
use super::super::super::semantics::approximate::{self as s, Approximation, HalfFunction};
use super::super::super::semantics::half;
use super::super::lanes::Lanes;
use super::modes::subnormals;

#[inline(always)]
pub(super) fn execute(
    lanes: &mut Lanes<'_>,
    op: &Op,
    what: Approximate,
    approximation: Approximation,
) {
    match approximation {
        Approximation::Nearest => at(lanes, op, what, Approximation::Nearest),
        Approximation::Lowest | Approximation::Highest => moved(lanes, op, what, approximation),
    }
}

/// Rarely used: one copy serves all processors.
#[inline(never)]
fn moved(lanes: &mut Lanes<'_>, op: &Op, what: Approximate, approximation: Approximation) {
    at(lanes, op, what, approximation);
}

#[inline(always)]
fn at(lanes: &mut Lanes<'_>, op: &Op, what: Approximate, approximation: Approximation) {
    match what {
        Approximate::Divide(mode) => {
            lanes.costly_words_2(op, |a, b| s::divide(a, b, subnormals(mode), approximation));
        }
        Approximate::DivideFull(mode) => {
            lanes.costly_words_2(op, |a, b| s::divide_full(a, b, subnormals(mode), approximation));
        }
        Approximate::Reciprocal(mode) => {
            lanes.costly_words_1(op, |a| s::reciprocal(a, subnormals(mode), approximation));
        }
        Approximate::ReciprocalDouble => {
            lanes.costly_doubles_1(op, |a| s::reciprocal_f64(a, approximation));
        }
        Approximate::SquareRoot(mode) => {
            lanes.costly_words_1(op, |a| s::square_root(a, subnormals(mode), approximation));
        }
        Approximate::ReciprocalSquareRoot(mode) => {
            lanes.costly_words_1(op, |a| {
                s::reciprocal_square_root(a, subnormals(mode), approximation)
            });
        }
        Approximate::ReciprocalSquareRootDouble(mode) => {
            lanes.costly_doubles_1(op, |a| {
                s::reciprocal_square_root_f64(a, subnormals(mode), approximation)
            });
        }
        Approximate::Sine(mode) => {
            lanes.costly_words_1(op, |a| s::sine(a, subnormals(mode), approximation));
        }
        Approximate::Cosine(mode) => {
            lanes.costly_words_1(op, |a| s::cosine(a, subnormals(mode), approximation));
        }
        Approximate::BinaryLogarithm(mode) => {
            lanes.costly_words_1(op, |a| s::binary_logarithm(a, subnormals(mode), approximation));
        }
        Approximate::BinaryExponential(ty, mode) => {
            let function = (HalfFunction::BinaryExponential, approximation);
            typed(lanes, op, ty, mode, function, |a| {
                s::binary_exponential(a, subnormals(mode), approximation)
            });
        }
        Approximate::HyperbolicTangent(ty) => {
            let function = (HalfFunction::HyperbolicTangent, approximation);
            typed(lanes, op, ty, Subnormals::Keep, function, |a| {
                s::hyperbolic_tangent(a, approximation)
            });
        }
    }
}

fn typed(
    lanes: &mut Lanes<'_>,
    op: &Op,
    ty: ApproximateType,
    mode: Subnormals,
    (function, approximation): (HalfFunction, Approximation),
    single: impl Fn(u32) -> u32,
) {
    let (format, pair) = match ty {
        ApproximateType::F32 => return lanes.costly_words_1(op, single),
        ApproximateType::F16 => (half::HalfFormat::F16, false),
        ApproximateType::F16x2 => (half::HalfFormat::F16, true),
        ApproximateType::Bf16 => (half::HalfFormat::Bf16, false),
        ApproximateType::Bf16x2 => (half::HalfFormat::Bf16, true),
    };
    let one = |a| s::half_function(function, a, format, subnormals(mode), approximation);
    if pair {
        lanes.costly_words_1(op, |a| half::pair([a], |[a]| one(a)));
    } else {
        lanes.costly_words_1(op, |a| u32::from(one(a as u16)));
    }
}
