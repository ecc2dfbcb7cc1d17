//! The approximate functions of f32.

use super::super::exact::{Beyond, Format, Value};
use super::super::float::{
    CANONICAL_NAN_F32, SingleMode, divide_f32, flush_f32, reciprocal_f32, square_root_f32,
};
use super::super::{Rounding, Subnormals};
use super::{Approximation, Bound, moved};

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// `a / b` within 2 ulp for `b` in [2^-126, 2^126]; beyond 2^126 zero, or NaN if `a` is infinite. PTX ISA 9.7.3.8
/// "div", `.approx`.
#[inline]
#[must_use]
pub fn divide(a: u32, b: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let magnitude = b & !SIGN;
    if magnitude > 0x7e80_0000 && magnitude < INFINITY && a & !SIGN <= INFINITY {
        return if a & !SIGN == INFINITY { CANONICAL_NAN_F32 } else { (a ^ b) & SIGN };
    }
    divide_full(a, b, subnormals, approximation)
}

/// `a / b` within 2 ulp. PTX ISA 9.7.3.8 "div", `.full`.
#[inline]
#[must_use]
pub fn divide_full(a: u32, b: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let nearest = divide_f32(a, b, mode(subnormals));
    by_units(nearest, 2, subnormals, approximation)
}

/// `1 / a` within 1 ulp. PTX ISA 9.7.3.13 "rcp", `.approx`.
#[inline]
#[must_use]
pub fn reciprocal(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    by_units(reciprocal_f32(a, mode(subnormals)), 1, subnormals, approximation)
}

/// The square root within a relative 2^-23. PTX ISA 9.7.3.15 "sqrt", `.approx`.
#[inline]
#[must_use]
pub fn square_root(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let nearest = square_root_f32(a, mode(subnormals));
    if approximation == Approximation::Nearest || is_special(nearest) {
        return nearest;
    }
    let exact = f64::from(number(input(a, subnormals))).sqrt();
    within(exact, Bound::Relative(2_f64.powi(-23)), subnormals, approximation)
}

/// The reciprocal square root within a relative 2^-22.9. PTX ISA 9.7.3.16 "rsqrt".
#[inline]
#[must_use]
pub fn reciprocal_square_root(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let a = input(a, subnormals);
    let nearest = canonical(match a {
        0 => INFINITY,
        SIGN => SIGN | INFINITY,
        _ => pxfm::f_rsqrtf(number(a)).to_bits(),
    });
    if approximation == Approximation::Nearest || is_special(nearest) {
        return nearest;
    }
    let exact = 1.0 / f64::from(number(a)).sqrt();
    // 2^-22.9
    within(exact, Bound::Relative(1.277_6e-7), subnormals, approximation)
}

/// The sine within 2^-20.5 in [-2π, 2π] and 2^-14.7 in [-100π, 100π]; no bound is documented beyond. PTX ISA 9.7.3.18
/// "sin".
#[inline]
#[must_use]
pub fn sine(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let x = input(a, subnormals);
    trigonometric(x, pxfm::f_sinf, pxfm::f_sin, subnormals, approximation)
}

/// The cosine, with the bounds of the sine. PTX ISA 9.7.3.19 "cos".
#[inline]
#[must_use]
pub fn cosine(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let x = input(a, subnormals);
    trigonometric(x, pxfm::f_cosf, pxfm::f_cos, subnormals, approximation)
}

fn trigonometric(
    a: u32,
    single: fn(f32) -> f32,
    double: fn(f64) -> f64,
    subnormals: Subnormals,
    approximation: Approximation,
) -> u32 {
    let nearest = canonical(single(number(a)).to_bits());
    if approximation == Approximation::Nearest || is_special(nearest) {
        return output(nearest, subnormals);
    }
    let x = f64::from(number(a));
    let turns = x.abs() / std::f64::consts::TAU;
    let (exact, distance) = match turns {
        ..=1.0 => (double(x), 6.743_496e-7),  // 2^-20.5
        ..=50.0 => (double(x), 3.756_998e-5), // 2^-14.7
        _ => (0.0, 1.0),
    };
    within(exact, Bound::Absolute(distance), subnormals, approximation)
}

/// The binary logarithm within 2^-22, absolute in (0.5, 2) and relative elsewhere. PTX ISA 9.7.3.20 "lg2".
#[inline]
#[must_use]
pub fn binary_logarithm(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let a = input(a, subnormals);
    let nearest = canonical(if a & !SIGN == 0 {
        SIGN | INFINITY
    } else {
        pxfm::f_log2f(number(a)).to_bits()
    });
    if approximation == Approximation::Nearest || nearest & !SIGN >= INFINITY {
        return nearest;
    }
    let x = f64::from(number(a));
    let small = 2_f64.powi(-22);
    let near_one = x > 0.5 && x < 2.0;
    let bound = if near_one { Bound::Absolute(small) } else { Bound::Relative(small) };
    within(pxfm::f_log2(x), bound, subnormals, approximation)
}

/// `2^a` within 2 ulp of the nearest result. PTX ISA 9.7.3.21 "ex2".
#[inline]
#[must_use]
pub fn binary_exponential(a: u32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let nearest = canonical(pxfm::f_exp2f(number(input(a, subnormals))).to_bits());
    let flushed = output(nearest, subnormals);
    // Integral powers of two are moved like any other value; only 2^-inf and 2^inf are not.
    if a & !SIGN >= INFINITY { nearest } else { by_units(flushed, 2, subnormals, approximation) }
}

/// The hyperbolic tangent within a relative 2^-11; subnormal numbers are supported. PTX ISA 9.7.3.22 "tanh".
#[inline]
#[must_use]
pub fn hyperbolic_tangent(a: u32, approximation: Approximation) -> u32 {
    if a & INFINITY == 0 {
        return a;
    }
    let nearest = canonical(pxfm::f_tanhf(number(a)).to_bits());
    if approximation == Approximation::Nearest || a & !SIGN >= INFINITY {
        return nearest;
    }
    let exact = pxfm::f_tanh(f64::from(number(a)));
    within(exact, Bound::Relative(2_f64.powi(-11)), Subnormals::Keep, approximation)
}

fn mode(subnormals: Subnormals) -> SingleMode {
    SingleMode { subnormals, ..SingleMode::DEFAULT }
}

fn number(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn input(bits: u32, subnormals: Subnormals) -> u32 {
    output(bits, subnormals)
}

fn output(bits: u32, subnormals: Subnormals) -> u32 {
    match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => flush_f32(bits),
    }
}

fn canonical(bits: u32) -> u32 {
    if bits & !SIGN > INFINITY { CANONICAL_NAN_F32 } else { bits }
}

fn is_special(bits: u32) -> bool {
    bits & !SIGN == 0 || bits & !SIGN >= INFINITY
}

/// A result moved by units in the last place: steps of its encoding, limited by zero and infinity.
fn by_units(nearest: u32, units: i32, subnormals: Subnormals, approximation: Approximation) -> u32 {
    if is_special(nearest) {
        return nearest;
    }
    let outward = match approximation {
        Approximation::Nearest => return nearest,
        Approximation::Lowest if nearest & SIGN == 0 => -units,
        Approximation::Highest if nearest & SIGN != 0 => -units,
        Approximation::Lowest | Approximation::Highest => units,
    };
    let magnitude = (nearest & !SIGN) as i32 + outward;
    output(nearest & SIGN | magnitude.clamp(0, INFINITY as i32) as u32, subnormals)
}

/// The f32 farthest from an exact value that is within its error bound.
fn within(exact: f64, bound: Bound, subnormals: Subnormals, approximation: Approximation) -> u32 {
    let end = moved(exact, bound, approximation);
    let inward = match approximation {
        Approximation::Nearest => Rounding::NearestEven,
        Approximation::Lowest => Rounding::Up,
        Approximation::Highest => Rounding::Down,
    };
    let bits = match Format::F64.decode(end.to_bits()) {
        Value::Finite(value) => Format::F32.round(value, inward, Beyond::Infinity) as u32,
        Value::Infinity { .. } | Value::Nan => (end as f32).to_bits(),
    };
    output(bits, subnormals)
}
