//! Sign and class operations of f32 and f64.

use super::super::Subnormals;
use super::double::{self, QUIET};
use super::{CANONICAL_NAN_F32, flush_f32};

/// The property that `testp` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatProperty {
    /// Neither infinity nor NaN (`.finite`).
    Finite,
    /// Infinity (`.infinite`).
    Infinite,
    /// Not NaN (`.number`).
    Number,
    /// NaN (`.notanumber`).
    NotANumber,
    /// A normal number or zero (`.normal`).
    Normal,
    /// A subnormal number (`.subnormal`).
    Subnormal,
}

/// `|a|`. PTX ISA 9.7.3.9 "abs".
#[inline]
#[must_use]
pub fn absolute_f32(a: u32, subnormals: Subnormals) -> u32 {
    canonical(a, subnormals) & 0x7fff_ffff
}

/// `-a`. PTX ISA 9.7.3.10 "neg".
#[inline]
#[must_use]
pub fn negate_f32(a: u32, subnormals: Subnormals) -> u32 {
    let bits = canonical(a, subnormals);
    if bits == CANONICAL_NAN_F32 { bits } else { bits ^ 0x8000_0000 }
}

/// `|a|`; NaN keeps its sign. PTX ISA 9.7.3.9 "abs".
#[inline]
#[must_use]
pub fn absolute_f64(a: u64) -> u64 {
    if double::is_nan(a) { a | QUIET } else { a & !(1 << 63) }
}

/// `-a`; NaN keeps its sign. PTX ISA 9.7.3.10 "neg".
#[inline]
#[must_use]
pub fn negate_f64(a: u64) -> u64 {
    if double::is_nan(a) { a | QUIET } else { a ^ (1 << 63) }
}

/// `b` with the sign of `a`. PTX ISA 9.7.3.2 "copysign".
#[inline]
#[must_use]
pub fn copy_sign_f32(a: u32, b: u32) -> u32 {
    (a & 0x8000_0000) | (b & 0x7fff_ffff)
}

/// `b` with the sign of `a`. PTX ISA 9.7.3.2 "copysign".
#[inline]
#[must_use]
pub fn copy_sign_f64(a: u64, b: u64) -> u64 {
    (a & (1 << 63)) | (b & !(1 << 63))
}

/// Whether `a` has a property. PTX ISA 9.7.3.1 "testp": "positive and negative zero are considered normal
/// numbers".
#[inline]
#[must_use]
pub fn test_f32(a: u32, property: FloatProperty) -> bool {
    test(u64::from(a & 0x7fff_ffff), 0x7f80_0000, 0x0080_0000, property)
}

/// Whether `a` has a property. PTX ISA 9.7.3.1 "testp".
#[inline]
#[must_use]
pub fn test_f64(a: u64, property: FloatProperty) -> bool {
    test(a & !(1 << 63), 0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000, property)
}

#[inline]
fn test(magnitude: u64, infinity: u64, smallest_normal: u64, property: FloatProperty) -> bool {
    let subnormal = magnitude != 0 && magnitude < smallest_normal;
    match property {
        FloatProperty::Finite => magnitude < infinity,
        FloatProperty::Infinite => magnitude == infinity,
        FloatProperty::Number => magnitude <= infinity,
        FloatProperty::NotANumber => magnitude > infinity,
        FloatProperty::Normal => magnitude < infinity && !subnormal,
        FloatProperty::Subnormal => subnormal,
    }
}

#[inline]
fn canonical(bits: u32, subnormals: Subnormals) -> u32 {
    let flushed = match subnormals {
        Subnormals::Keep => bits,
        Subnormals::Flush => flush_f32(bits),
    };
    if bits & 0x7fff_ffff > 0x7f80_0000 { CANONICAL_NAN_F32 } else { flushed }
}
