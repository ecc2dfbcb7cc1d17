//! f64: addition, multiplication, division, square root.

use super::super::Rounding;
use super::super::exact::{Beyond, Exact, Format, Value};

pub(super) const QUIET: u64 = 0x0008_0000_0000_0000;
const SIGN: u64 = 1 << 63;
/// The NaN of an invalid operation on an H200 and on x86; the ISA does not specify it.
const INVALID: u64 = 0xfff8_0000_0000_0000;

/// `a + b`. PTX ISA 9.7.3.3 "add".
#[inline]
#[must_use]
pub fn add_f64(a: u64, b: u64, rounding: Rounding) -> u64 {
    let sum = f64::from_bits(a) + f64::from_bits(b);
    if rounding == Rounding::NearestEven || !(is_finite(a) && is_finite(b)) {
        return finish(sum, [a, b]);
    }
    exactly([a, b, 0], |[a, b, _]| a.add(b, rounding), rounding)
}

/// `a - b`. PTX ISA 9.7.3.4 "sub".
#[inline]
#[must_use]
pub fn subtract_f64(a: u64, b: u64, rounding: Rounding) -> u64 {
    // NaN keeps its sign: it is propagated, not subtracted.
    let negated = if is_nan(b) { b } else { b ^ SIGN };
    add_f64(a, negated, rounding)
}

/// `a * b`. PTX ISA 9.7.3.5 "mul".
#[inline]
#[must_use]
pub fn multiply_f64(a: u64, b: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven || !(is_finite(a) && is_finite(b)) {
        return finish(f64::from_bits(a) * f64::from_bits(b), [a, b]);
    }
    exactly([a, b, 0], |[a, b, _]| a.multiply(b), rounding)
}

/// `a * b + c`, rounded once; of several NaN, `b` precedes `c` and `c` precedes `a`. PTX ISA 9.7.3.6 "fma" and
/// 9.7.3.7 "mad".
#[inline]
#[must_use]
pub fn multiply_add_f64(a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        let fused = multiply_add_in_range(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
        if let Some(fused) = fused {
            return fused.to_bits();
        }
    }
    if !(is_finite(a) && is_finite(b) && is_finite(c)) {
        // The product of finite numbers may overflow; its sign must not meet an infinite c.
        let product =
            if is_finite(a) && is_finite(b) { 0.0 } else { f64::from_bits(a) * f64::from_bits(b) };
        return finish(product + f64::from_bits(c), [a, c, b]);
    }
    exactly([a, b, c], |[a, b, c]| a.multiply(b).add(c, rounding), rounding)
}

/// `a / b`, as in IEEE 754. PTX ISA 9.7.3.8 "div".
#[inline]
#[must_use]
pub fn divide_f64(a: u64, b: u64, rounding: Rounding) -> u64 {
    let special = !(is_finite(a) && is_finite(b)) || b << 1 == 0;
    if rounding == Rounding::NearestEven || special {
        return finish(f64::from_bits(a) / f64::from_bits(b), [b, a]);
    }
    exactly([a, b, 0], |[a, b, _]| a.divide(b), rounding)
}

/// `1 / a`, as in IEEE 754. PTX ISA 9.7.3.13 "rcp".
#[inline]
#[must_use]
pub fn reciprocal_f64(a: u64, rounding: Rounding) -> u64 {
    divide_f64(1_f64.to_bits(), a, rounding)
}

/// The square root. PTX ISA 9.7.3.15 "sqrt".
#[inline]
#[must_use]
pub fn square_root_f64(a: u64, rounding: Rounding) -> u64 {
    let root = f64::from_bits(a).sqrt();
    if rounding == Rounding::NearestEven || !root.is_finite() || root == 0.0 {
        return finish(root, [a]);
    }
    exactly([a, 0, 0], |[a, _, _]| a.square_root(), rounding)
}

/// `a * b + c` by error-free transformations, if no intermediate value can overflow or lose bits.
///
/// Dekker's product, and the sum of Boldo and Melquiond with a term rounded to odd.
#[inline]
fn multiply_add_in_range(a: f64, b: f64, c: f64) -> Option<f64> {
    let exponent = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    // Exponents within ±300 keep every term, down to the last bit of the product, in the range.
    let small = |x: f64| exponent(x).abs() <= 300;
    if !(small(a) && small(b) && small(c)) {
        return None;
    }
    let high = a * b;
    let low = product_error(a, b, high);
    let (sum_low, error_low) = two_sum(c, low);
    let (sum, error) = two_sum(high, sum_low);
    let tail = super::odd_sum(error, error_low);
    Some(sum + tail)
}

#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

#[inline]
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let halves = |x: f64| {
        let scaled = SPLITTER * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
}

fn exactly(
    operands: [u64; 3],
    operation: impl FnOnce([Exact; 3]) -> Exact,
    rounding: Rounding,
) -> u64 {
    let numbers = operands.map(|bits| match Format::F64.decode(bits) {
        Value::Finite(number) => number,
        // Callers handle these operands.
        Value::Infinity { negative } => Exact::zero(negative),
        Value::Nan => Exact::zero(false),
    });
    Format::F64.round(operation(numbers), rounding, Beyond::Infinity)
}

/// The NaN of a result: the last operand that is NaN, made quiet.
#[inline]
pub(super) fn finish<const N: usize>(result: f64, operands: [u64; N]) -> u64 {
    if !result.is_nan() {
        return result.to_bits();
    }
    operands.into_iter().rev().find(|&bits| is_nan(bits)).map_or(INVALID, |bits| bits | QUIET)
}

#[inline]
pub(super) fn is_nan(bits: u64) -> bool {
    bits << 1 > 0xffe0_0000_0000_0000
}

#[inline]
fn is_finite(bits: u64) -> bool {
    bits << 1 < 0xffe0_0000_0000_0000
}
