//! Bit fields: find, extract, insert, extend, mask.
//!
//! Positions and lengths are taken modulo 256, as the ISA specifies; the 64-bit forms of an H200 do not reduce
//! them.

use super::Excess;

/// The result of `bfind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoundBit {
    /// The position of the bit.
    Position,
    /// The left shift that moves the bit to the top (`.shiftamt`).
    ShiftAmount,
}

/// The result of `bfind` and `fns` if there is no such bit.
const NOT_FOUND: u32 = u32::MAX;

/// The most significant one bit of a u32. PTX ISA 9.7.1.16 "bfind".
#[inline]
#[must_use]
pub fn find_32(a: u32, found: FoundBit) -> u32 {
    match (a, found) {
        (0, _) => NOT_FOUND,
        (_, FoundBit::Position) => 31 - a.leading_zeros(),
        (_, FoundBit::ShiftAmount) => a.leading_zeros(),
    }
}

/// The most significant one bit of a u64. PTX ISA 9.7.1.16 "bfind".
#[inline]
#[must_use]
pub fn find_64(a: u64, found: FoundBit) -> u32 {
    match (a, found) {
        (0, _) => NOT_FOUND,
        (_, FoundBit::Position) => 63 - a.leading_zeros(),
        (_, FoundBit::ShiftAmount) => a.leading_zeros(),
    }
}

/// The most significant bit of an s32 that differs from its sign. PTX ISA 9.7.1.16 "bfind".
#[inline]
#[must_use]
pub fn find_signed_32(a: i32, found: FoundBit) -> u32 {
    find_32((a ^ (a >> 31)) as u32, found)
}

/// The most significant bit of an s64 that differs from its sign. PTX ISA 9.7.1.16 "bfind".
#[inline]
#[must_use]
pub fn find_signed_64(a: i64, found: FoundBit) -> u32 {
    find_64((a ^ (a >> 63)) as u64, found)
}

/// The position of the n-th one bit, counted from `base` upwards or downwards. PTX ISA 9.7.1.17 "fns".
#[must_use]
pub fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { NOT_FOUND };
    }
    let wanted = (offset.unsigned_abs() - 1) as usize;
    let set = |position: &u32| mask >> position & 1 == 1;
    let found = if offset > 0 {
        (base..32).filter(set).nth(wanted)
    } else {
        (0..=base).rev().filter(set).nth(wanted)
    };
    found.unwrap_or(NOT_FOUND)
}

/// A field of a u32; position and length are taken modulo 256. PTX ISA 9.7.1.19 "bfe".
#[inline]
#[must_use]
pub fn extract_32(a: u32, position: u32, length: u32) -> u32 {
    extract_64(u64::from(a), position, length) as u32
}

/// A field of a u64; position and length are taken modulo 256. PTX ISA 9.7.1.19 "bfe".
#[inline]
#[must_use]
pub fn extract_64(a: u64, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    a.checked_shr(position).unwrap_or(0) & low_bits(length)
}

/// A field of an s32, extended with its sign, or with that of the number if the field ends beyond it. PTX ISA
/// 9.7.1.19 "bfe".
#[inline]
#[must_use]
pub fn extract_signed_32(a: i32, position: u32, length: u32) -> i32 {
    extract_signed_64(i64::from(a), position, length) as i32
}

/// A field of an s64, extended with its sign, or with that of the number if the field ends beyond it. PTX ISA
/// 9.7.1.19 "bfe".
#[inline]
#[must_use]
pub fn extract_signed_64(a: i64, position: u32, length: u32) -> i64 {
    let (position, length) = ((position & 0xff).min(63), length & 0xff);
    let field = a >> position;
    match length {
        0 => 0,
        1..64 => field << (64 - length) >> (64 - length),
        64.. => field,
    }
}

/// The low bits of `a`, inserted into `b`. PTX ISA 9.7.1.20 "bfi".
#[inline]
#[must_use]
pub fn insert_32(a: u32, b: u32, position: u32, length: u32) -> u32 {
    insert_64(u64::from(a), u64::from(b), position, length) as u32
}

/// The low bits of `a`, inserted into `b`. PTX ISA 9.7.1.20 "bfi".
#[inline]
#[must_use]
pub fn insert_64(a: u64, b: u64, position: u32, length: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let field = low_bits(length).checked_shl(position).unwrap_or(0);
    (b & !field) | (a.checked_shl(position).unwrap_or(0) & field)
}

/// The low `width` bits of `a`, sign-extended. PTX ISA 9.7.1.21 "szext", `.s32`.
#[inline]
#[must_use]
pub fn extend_sign(a: u32, width: u32, excess: Excess) -> u32 {
    match significant(width, excess) {
        0 => 0,
        bits => ((a << (32 - bits)) as i32 >> (32 - bits)) as u32,
    }
}

/// The low `width` bits of `a`, zero-extended. PTX ISA 9.7.1.21 "szext", `.u32`.
#[inline]
#[must_use]
pub fn extend_zero(a: u32, width: u32, excess: Excess) -> u32 {
    a & low_bits(significant(width, excess)) as u32
}

/// A mask of `width` bits from a position upwards. PTX ISA 9.7.1.22 "bmsk".
#[inline]
#[must_use]
pub fn mask(position: u32, width: u32, excess: Excess) -> u32 {
    let (position, width) = match excess {
        Excess::Clamp => (position.min(32), width.min(32)),
        Excess::Wrap => (position & 31, width & 31),
    };
    (low_bits(width) << position) as u32
}

#[inline]
fn significant(width: u32, excess: Excess) -> u32 {
    match excess {
        Excess::Clamp => width.min(32),
        Excess::Wrap => width & 31,
    }
}

#[inline]
fn low_bits(count: u32) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}
