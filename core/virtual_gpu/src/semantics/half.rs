//! f16 and bf16 arithmetic, scalar and packed. PTX ISA 9.7.4 "Half Precision Floating-Point Instructions".
//!
//! Halves are exact in f64, and so are their products; sums are rounded to odd (see [`super::float`]), so that one
//! more rounding to the half format is correct. A result that is NaN is 0x7fff, the canonical NaN of both formats.

pub use lightbench_primitives::half::{CANONICAL_NAN, HalfFormat};

use super::float::{Choice, odd_sum, ordered_key};
use super::{Extreme, HalfClamp, NanRule, SignRule, Subnormals};

#[cfg(test)]
mod tests;

const SIGN: u16 = 0x8000;

/// The modifiers of half-precision arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfMode {
    /// The element type.
    pub format: HalfFormat,
    /// `.ftz`, for f16 only.
    pub subnormals: Subnormals,
    /// `.sat`, `.relu`.
    pub clamp: HalfClamp,
}

/// `a + b`. PTX ISA 9.7.4.1 "add".
#[inline]
#[must_use]
pub fn add(a: u16, b: u16, mode: HalfMode) -> u16 {
    finish(odd_sum(input(a, mode), input(b, mode)), mode)
}

/// `a - b`. PTX ISA 9.7.4.2 "sub".
#[inline]
#[must_use]
pub fn subtract(a: u16, b: u16, mode: HalfMode) -> u16 {
    add(a, b ^ SIGN, mode)
}

/// `a * b`. PTX ISA 9.7.4.3 "mul".
#[inline]
#[must_use]
pub fn multiply(a: u16, b: u16, mode: HalfMode) -> u16 {
    finish(input(a, mode) * input(b, mode), mode)
}

/// `a * b + c`, rounded once. PTX ISA 9.7.4.4 "fma".
#[inline]
#[must_use]
pub fn multiply_add(a: u16, b: u16, c: u16, mode: HalfMode) -> u16 {
    finish(odd_sum(input(a, mode) * input(b, mode), input(c, mode)), mode)
}

/// `|a|`. PTX ISA 9.7.4.6 "abs".
#[inline]
#[must_use]
pub fn absolute(a: u16, format: HalfFormat, subnormals: Subnormals) -> u16 {
    canonical(a, format, subnormals) & !SIGN
}

/// `-a`. PTX ISA 9.7.4.5 "neg".
#[inline]
#[must_use]
pub fn negate(a: u16, format: HalfFormat, subnormals: Subnormals) -> u16 {
    let bits = canonical(a, format, subnormals);
    if bits == CANONICAL_NAN { bits } else { bits ^ SIGN }
}

/// The minimum or maximum; -0 is below +0. PTX ISA 9.7.4.7 "min" and 9.7.4.8 "max".
#[inline]
#[must_use]
pub fn extreme(a: u16, b: u16, choice: Choice, format: HalfFormat, subnormals: Subnormals) -> u16 {
    let flushed = |bits| match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => format.flush(bits),
    };
    let (a, b) = (flushed(a), flushed(b));
    let magnitude = |bits: u16| match choice.sign {
        SignRule::Winner => bits,
        SignRule::Product | SignRule::Absolute => bits & !SIGN,
    };
    let (x, y) = (magnitude(a), magnitude(b));
    let key = |bits: u16| ordered_key(u64::from(bits), 16);
    let first_wins = match choice.extreme {
        Extreme::Minimum => key(x) < key(y),
        Extreme::Maximum => key(x) > key(y),
    };
    let (x_nan, y_nan) = (format.is_nan(x), format.is_nan(y));
    let winner = if y_nan || (first_wins && !x_nan) { x } else { y };
    let lost = match choice.nan {
        NanRule::Number => x_nan & y_nan,
        NanRule::Propagate => x_nan | y_nan,
    };
    let sign = match choice.sign {
        SignRule::Product => (a ^ b) & SIGN,
        SignRule::Winner | SignRule::Absolute => 0,
    };
    if lost { CANONICAL_NAN } else { winner | sign }
}

/// Applies an operation to both halves of 32 bits (`.f16x2`, `.bf16x2`).
#[inline]
#[must_use]
pub fn pair<const N: usize>(operands: [u32; N], operation: impl Fn([u16; N]) -> u16) -> u32 {
    let low = operation(operands.map(|bits| bits as u16));
    let high = operation(operands.map(|bits| (bits >> 16) as u16));
    u32::from(low) | u32::from(high) << 16
}

#[inline]
fn input(bits: u16, mode: HalfMode) -> f64 {
    let bits = match mode.subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => mode.format.flush(bits),
    };
    f64::from(mode.format.to_f32(bits))
}

#[inline]
fn canonical(bits: u16, format: HalfFormat, subnormals: Subnormals) -> u16 {
    let flushed = match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => format.flush(bits),
    };
    if format.is_nan(bits) { CANONICAL_NAN } else { flushed }
}

/// The last steps of every result: one rounding, `.ftz`, then `.sat` or `.relu`.
#[inline]
fn finish(value: f64, mode: HalfMode) -> u16 {
    // As with f32, an H200 flushes results below the normal range before rounding.
    let tiny = f64::from_bits(((mode.format.smallest_exponent() + 1023) as u64) << 52);
    let flushed = mode.subnormals == Subnormals::Flush && value.abs() < tiny;
    let bits = mode.format.nearest(if flushed { 0_f64.copysign(value) } else { value });
    let negative = bits & SIGN != 0;
    let nan = mode.format.is_nan(bits);
    match mode.clamp {
        HalfClamp::None => bits,
        HalfClamp::Unit if negative || nan => 0,
        HalfClamp::Unit => bits.min(mode.format.one()),
        HalfClamp::Negative if negative && !nan => 0,
        HalfClamp::Negative => bits,
    }
}
