//! Two 16-bit integers in 32 bits. PTX ISA 9.7.1.1 "add", 9.7.1.12 "min" and 9.7.1.13 "max".

use super::super::{Extreme, Negative};

/// The type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackedType {
    U16x2,
    S16x2,
}

/// Two sums, each wrapped.
#[inline]
#[must_use]
pub fn add_packed(a: u32, b: u32) -> u32 {
    let low = a.wrapping_add(b) & 0xffff;
    low | (a & 0xffff_0000).wrapping_add(b & 0xffff_0000)
}

/// Two minima or maxima; `.relu` applies to `.s16x2`.
#[inline]
#[must_use]
pub fn extreme_packed(a: u32, b: u32, ty: PackedType, extreme: Extreme, negative: Negative) -> u32 {
    super::super::half::pair([a, b], |[a, b]| match ty {
        PackedType::U16x2 => super::extreme(a, b, extreme, Negative::Keep),
        PackedType::S16x2 => super::extreme(a as i16, b as i16, extreme, negative) as u16,
    })
}
