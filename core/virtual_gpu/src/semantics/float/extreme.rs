//! Minimum and maximum of f32 and f64. PTX ISA 9.7.3.11 "min" and 9.7.3.12 "max".

use super::super::{Extreme, NanRule, SignRule, Subnormals};
use super::{CANONICAL_NAN_F32, double, flush_f32};

/// The modes of minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Minimum or maximum.
    pub extreme: Extreme,
    /// Treatment of NaN.
    pub nan: NanRule,
    pub sign: SignRule,
}

/// A bit pattern of `bits` bits as an integer with the order of the numbers; -0 is below +0.
#[inline]
#[must_use]
pub(in super::super) fn ordered_key(pattern: u64, bits: u32) -> i64 {
    let extended = ((pattern << (64 - bits)) as i64) >> (64 - bits);
    extended ^ (((extended >> 63) as u64) >> 1) as i64
}

/// The minimum or maximum of two f32; -0 is below +0.
#[inline]
#[must_use]
pub fn extreme_f32(a: u32, b: u32, choice: Choice, subnormals: Subnormals) -> u32 {
    let flushed = |bits| match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => flush_f32(bits),
    };
    let (a, b) = (flushed(a), flushed(b));
    let magnitude = |bits: u32| match choice.sign {
        SignRule::Winner => bits,
        SignRule::Product | SignRule::Absolute => bits & 0x7fff_ffff,
    };
    let (x, y) = (magnitude(a), magnitude(b));
    let key = |bits: u32| (bits as i32) ^ (((bits as i32 >> 31) as u32) >> 1) as i32;
    let first_wins = match choice.extreme {
        Extreme::Minimum => key(x) < key(y),
        Extreme::Maximum => key(x) > key(y),
    };
    let nan = |bits: u32| bits & 0x7fff_ffff > 0x7f80_0000;
    let winner = if nan(y) || (first_wins && !nan(x)) { x } else { y };
    let lost = match choice.nan {
        NanRule::Number => nan(x) & nan(y),
        NanRule::Propagate => nan(x) | nan(y),
    };
    let sign = match choice.sign {
        SignRule::Product => (a ^ b) & 0x8000_0000,
        SignRule::Winner | SignRule::Absolute => 0,
    };
    if lost { CANONICAL_NAN_F32 } else { winner | sign }
}

/// The minimum or maximum of three f32 (sm_100 and later).
#[inline]
#[must_use]
pub fn extreme_f32_of_three(operands: [u32; 3], choice: Choice, subnormals: Subnormals) -> u32 {
    let [a, b, c] = operands;
    extreme_f32(extreme_f32(a, b, choice, subnormals), c, choice, subnormals)
}

/// The minimum or maximum of two f64; -0 is below +0, and of two NaN the second is returned.
#[inline]
#[must_use]
pub fn extreme_f64(a: u64, b: u64, extreme: Extreme) -> u64 {
    if double::is_nan(a) {
        return if double::is_nan(b) { b | double::QUIET } else { b };
    }
    let first_wins = match extreme {
        Extreme::Minimum => ordered_key(a, 64) < ordered_key(b, 64),
        Extreme::Maximum => ordered_key(a, 64) > ordered_key(b, 64),
    };
    if first_wins || double::is_nan(b) { a } else { b }
}
