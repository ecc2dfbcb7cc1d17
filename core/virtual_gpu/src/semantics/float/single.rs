//! f32: addition, multiplication, division, square root.
//!
//! The product of two f32 is exact in f64, and a sum can be represented there rounded to odd (Boldo and Melquiond,
//! "Emulation of FMA and correctly rounded sums", IEEE Transactions on Computers 57, 2008). One more rounding to
//! f32 then gives the correctly rounded result in every rounding mode. No hardware FMA is needed, and the code
//! vectorises.

use super::super::exact::{Beyond, Exact, Format, Value};
use super::super::{Clamp, Rounding, Subnormals};
use super::CANONICAL_NAN_F32;

/// The modifiers of f32 arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleMode {
    /// `.rn`, `.rz`, `.rm`, `.rp`.
    pub rounding: Rounding,
    /// `.ftz`.
    pub subnormals: Subnormals,
    /// `.sat`.
    pub clamp: Clamp,
}

impl SingleMode {
    /// Round to nearest even, with subnormals, without clamping: the default of an opcode without modifiers.
    pub const DEFAULT: Self =
        Self { rounding: Rounding::NearestEven, subnormals: Subnormals::Keep, clamp: Clamp::None };
}

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// The smallest normal f32, in f64.
const SMALLEST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// `a + b`. PTX ISA 9.7.3.3 "add".
#[inline]
#[must_use]
pub fn add_f32(a: u32, b: u32, mode: SingleMode) -> u32 {
    let (a, b) = (input(a, mode), input(b, mode));
    match mode.rounding {
        // A sum of f32 below the normal range is exact, so flushing after rounding is the same as before it.
        Rounding::NearestEven => {
            let sum = f32::from_bits(a) + f32::from_bits(b);
            finish(flush_by(sum.to_bits(), mode.subnormals), mode)
        }
        Rounding::TowardZero | Rounding::Down | Rounding::Up => {
            let (a, b) = (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)));
            directed(odd_sum(a, b), a.is_sign_negative() | b.is_sign_negative(), mode)
        }
    }
}

/// `a - b`. PTX ISA 9.7.3.4 "sub".
#[inline]
#[must_use]
pub fn subtract_f32(a: u32, b: u32, mode: SingleMode) -> u32 {
    add_f32(a, b ^ SIGN, mode)
}

/// `a * b`. PTX ISA 9.7.3.5 "mul".
#[inline]
#[must_use]
pub fn multiply_f32(a: u32, b: u32, mode: SingleMode) -> u32 {
    let (a, b) = (f32::from_bits(input(a, mode)), f32::from_bits(input(b, mode)));
    if mode.rounding == Rounding::NearestEven && mode.subnormals == Subnormals::Keep {
        return finish((a * b).to_bits(), mode);
    }
    let product = f64::from(a) * f64::from(b);
    directed(product, product.is_sign_negative(), mode)
}

/// `a * b + c`, rounded once. PTX ISA 9.7.3.6 "fma" and 9.7.3.7 "mad".
#[inline]
#[must_use]
pub fn multiply_add_f32(a: u32, b: u32, c: u32, mode: SingleMode) -> u32 {
    let wide = |bits| f64::from(f32::from_bits(input(bits, mode)));
    let (product, c) = (wide(a) * wide(b), wide(c));
    directed(odd_sum(product, c), product.is_sign_negative() | c.is_sign_negative(), mode)
}

/// `a * b + c`, rounded once to nearest even, by the processor: fast if it has an instruction for it. The result
/// equals that of [`multiply_add_f32`] in the default mode.
#[inline(always)]
#[must_use]
pub fn fused_multiply_add_f32(a: u32, b: u32, c: u32) -> u32 {
    let fused = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
    if fused.is_nan() { CANONICAL_NAN_F32 } else { fused.to_bits() }
}

/// `a / b`, as in IEEE 754. PTX ISA 9.7.3.8 "div".
#[inline]
#[must_use]
pub fn divide_f32(a: u32, b: u32, mode: SingleMode) -> u32 {
    let (a, b) = (input(a, mode), input(b, mode));
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let nearest = x / y;
    if mode.subnormals == Subnormals::Flush
        && f64::from(x).abs() < f64::from(y).abs() * SMALLEST_NORMAL
    {
        return finish((a ^ b) & SIGN, mode);
    }
    if mode.rounding == Rounding::NearestEven {
        return finish(nearest.to_bits(), mode);
    }
    match (Format::F32.decode(u64::from(a)), Format::F32.decode(u64::from(b))) {
        (Value::Finite(x), Value::Finite(y)) if y.significand != 0 => {
            finish(rounded(x.divide(y), mode), mode)
        }
        // Infinity, zero and NaN are exact.
        (_, _) => finish(nearest.to_bits(), mode),
    }
}

/// `1 / a`, as in IEEE 754. PTX ISA 9.7.3.13 "rcp".
#[inline]
#[must_use]
pub fn reciprocal_f32(a: u32, mode: SingleMode) -> u32 {
    divide_f32(1_f32.to_bits(), a, mode)
}

/// The square root. PTX ISA 9.7.3.15 "sqrt".
#[inline]
#[must_use]
pub fn square_root_f32(a: u32, mode: SingleMode) -> u32 {
    let a = input(a, mode);
    if mode.rounding == Rounding::NearestEven {
        return finish(f32::from_bits(a).sqrt().to_bits(), mode);
    }
    match Format::F32.decode(u64::from(a)) {
        Value::Finite(x) if !x.negative && x.significand != 0 => {
            finish(rounded(x.square_root(), mode), mode)
        }
        Value::Finite(_) | Value::Infinity { .. } | Value::Nan => {
            finish(f32::from_bits(a).sqrt().to_bits(), mode)
        }
    }
}

/// Flushes a subnormal number to zero of the same sign.
#[inline]
#[must_use]
pub(in super::super) fn flush_f32(bits: u32) -> u32 {
    if bits & INFINITY == 0 { bits & SIGN } else { bits }
}

/// `a + b` in f64, rounded to odd: an inexact sum has its lowest bit set.
///
/// For sums without overflow and underflow, such as sums of f32 and of their products.
#[inline]
#[must_use]
pub(in super::super) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    let bits = sum.to_bits();
    // Not `error != 0.0`: it is NaN for infinities, which must not change.
    let inexact = u64::from((error > 0.0) | (error < 0.0));
    let apart = (error.to_bits() ^ bits) >> 63;
    let step = inexact & !bits & 1;
    f64::from_bits(bits.wrapping_add(step).wrapping_sub(2 * (step & apart)))
}

/// Rounds a value, which must be exact or rounded to odd, to f32.
///
/// `negative_zero` is the sign of an exact zero when rounding down, where opposite signs give -0.
#[inline]
fn directed(value: f64, negative_zero: bool, mode: SingleMode) -> u32 {
    // An H200 flushes results below the normal range before rounding.
    if mode.subnormals == Subnormals::Flush && value.abs() < SMALLEST_NORMAL && value != 0.0 {
        return finish(((value.to_bits() >> 32) as u32) & SIGN, mode);
    }
    let nearest = value as f32;
    let bits = nearest.to_bits();
    let back = f64::from(nearest);
    // One unit towards negative or positive infinity: up in the encoding if that is away from zero.
    let below = if bits & SIGN == 0 { bits.wrapping_sub(1) } else { bits.wrapping_add(1) };
    let above = if bits & SIGN == 0 { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let result = match mode.rounding {
        Rounding::NearestEven => bits,
        Rounding::TowardZero if back.abs() > value.abs() => bits.wrapping_sub(1),
        Rounding::Down if value == 0.0 => u32::from(negative_zero) << 31,
        Rounding::Down if back > value => below,
        Rounding::Up if back < value => above,
        Rounding::TowardZero | Rounding::Down | Rounding::Up => bits,
    };
    finish(result, mode)
}

fn rounded(value: Exact, mode: SingleMode) -> u32 {
    Format::F32.round(value, mode.rounding, Beyond::Infinity) as u32
}

#[inline]
fn input(bits: u32, mode: SingleMode) -> u32 {
    flush_by(bits, mode.subnormals)
}

#[inline]
fn flush_by(bits: u32, subnormals: Subnormals) -> u32 {
    match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => flush_f32(bits),
    }
}

/// The last step of every f32 result: `.sat`, and the canonical NaN.
#[inline]
fn finish(bits: u32, mode: SingleMode) -> u32 {
    let nan = f32::from_bits(bits).is_nan();
    match mode.clamp {
        Clamp::None if nan => CANONICAL_NAN_F32,
        Clamp::None => bits,
        // NaN, negative numbers and -0 become +0.
        Clamp::Unit if nan || bits & SIGN != 0 => 0,
        Clamp::Unit => bits.min(1_f32.to_bits()),
    }
}
