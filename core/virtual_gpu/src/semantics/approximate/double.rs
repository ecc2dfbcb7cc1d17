//! The approximate functions of f64. PTX ISA 9.7.3.14 "rcp.approx.ftz.f64", 9.7.3.16 "rsqrt" and 9.7.3.17
//! "rsqrt.approx.ftz.f64".

use super::super::float;
use super::super::{Rounding, Subnormals};
use super::Approximation;

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
/// "NaN: 0x7fffffff00000000".
const NAN: u64 = 0x7fff_ffff_0000_0000;
const UPPER: u64 = 0xffff_ffff_0000_0000;

/// `1 / a` from the upper half of `a` to the upper half of the result; subnormal numbers are flushed.
///
/// The ISA calls it a gross approximation and gives no bound. On an H200 the error is within one unit in the last
/// place of the 20-bit fraction; results are moved by that distance.
#[inline]
#[must_use]
pub fn reciprocal_f64(a: u64, approximation: Approximation) -> u64 {
    let a = flush(a & UPPER);
    match a & !SIGN {
        0 => a | INFINITY,
        INFINITY => a & SIGN,
        magnitude if magnitude > INFINITY => NAN,
        _ => upper(float::reciprocal_f64(a, Rounding::NearestEven), approximation),
    }
}

/// The reciprocal square root from the upper half of `a` to that of the result; bounds as in [`reciprocal_f64`].
#[inline]
#[must_use]
pub fn reciprocal_square_root_ftz_f64(a: u64, approximation: Approximation) -> u64 {
    let a = flush(a & UPPER);
    match a {
        0 | SIGN => a | INFINITY,
        INFINITY => 0,
        _ if a > INFINITY => NAN,
        _ => upper((1.0 / f64::from_bits(a).sqrt()).to_bits(), approximation),
    }
}

/// The reciprocal square root. The ISA gives no bound; on an H200 the error is within one ulp.
#[inline]
#[must_use]
pub fn reciprocal_square_root_f64(
    a: u64,
    subnormals: Subnormals,
    approximation: Approximation,
) -> u64 {
    if subnormals == Subnormals::Flush {
        return reciprocal_square_root_ftz_f64(a, approximation);
    }
    let root = float::square_root_f64(a, Rounding::NearestEven);
    let nearest = match a {
        0 | SIGN => return a | INFINITY,
        INFINITY => return 0,
        // NaN and negative numbers.
        _ if a > INFINITY => return root,
        _ => nearest_reciprocal_square_root(f64::from_bits(a)),
    };
    moved_by_units(nearest.to_bits(), 1, approximation)
}

/// `1 / sqrt(x)` of a positive number, from its first 63 digits.
fn nearest_reciprocal_square_root(x: f64) -> f64 {
    use super::super::exact::{Beyond, Exact, Format, Value};
    let Value::Finite(number) = Format::F64.decode(x.to_bits()) else { return 1.0 / x.sqrt() };
    // 1/sqrt(m 2^e) = sqrt(2^k / m) 2^(-(k+e)/2) with k + e even, and a quotient of more than 106 bits.
    let k = 126 - ((126 + number.exponent) & 1);
    let quotient = (1_u128 << k) / number.significand;
    // The root has half as many digits as its square, which is therefore widened as far as possible.
    let shift = (quotient.leading_zeros()) & !1;
    let scaled = quotient << shift;
    let root = Exact {
        negative: false,
        exponent: -(k + number.exponent) / 2 - (shift / 2) as i32,
        significand: scaled.isqrt(),
        inexact: !number.significand.is_power_of_two() || number.exponent & 1 != 0,
    };
    f64::from_bits(Format::F64.round(root, Rounding::NearestEven, Beyond::Infinity))
}

fn flush(bits: u64) -> u64 {
    if bits & INFINITY == 0 { bits & SIGN } else { bits }
}

/// A result rounded to its upper half, moved by one unit of it, and flushed.
fn upper(bits: u64, approximation: Approximation) -> u64 {
    let half = 1 << 31;
    let even = bits >> 32 & 1;
    let nearest = (bits + (half - 1) + even) & UPPER;
    flush(moved_by_units(nearest, 1 << 32, approximation))
}

fn moved_by_units(nearest: u64, unit: u64, approximation: Approximation) -> u64 {
    let negative = nearest & SIGN != 0;
    let magnitude = nearest & !SIGN;
    match (approximation, negative) {
        (Approximation::Nearest, _) => nearest,
        (Approximation::Lowest, false) | (Approximation::Highest, true) => {
            nearest & SIGN | magnitude.saturating_sub(unit)
        }
        (Approximation::Lowest, true) | (Approximation::Highest, false) => {
            nearest & SIGN | (magnitude + unit).min(INFINITY)
        }
    }
}
