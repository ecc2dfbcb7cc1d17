//! The new value that an atomic operation computes from the old one. PTX ISA 9.7.13.5 "atom" and 9.7.13.6 "red".
//!
//! `and`, `or`, `xor`, `exch`, `min` and `max` on integers are in [`super::bits`] and [`super::integer`]; the two
//! elements of a packed half are updated separately.

use super::float::{Choice, SingleMode, add_f32, add_f64};
use super::half::{self, HalfFormat, HalfMode};
use super::{Extreme, HalfClamp, NanRule, Rounding, SignRule, Subnormals};

#[cfg(test)]
mod tests;

/// The memory of an f32 addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Global memory, where subnormal inputs and results are flushed.
    Global,
    /// Shared memory, where they are kept.
    Shared,
}

/// `old + b`: "Current implementation of atom.add.f32 on global memory flushes subnormal inputs and results to
/// sign-preserving zero; whereas atom.add.f32 on shared memory supports subnormal inputs and results".
#[inline]
#[must_use]
pub fn add_f32_in(old: u32, b: u32, memory: Memory) -> u32 {
    let subnormals = match memory {
        Memory::Global => Subnormals::Flush,
        Memory::Shared => Subnormals::Keep,
    };
    add_f32(old, b, SingleMode { subnormals, ..SingleMode::DEFAULT })
}

/// `old + b`, rounded to nearest, with subnormals. A signalling NaN becomes quiet, as in `add.f64`; in memory of an
/// H200 it does not.
#[inline]
#[must_use]
pub fn add_double(old: u64, b: u64) -> u64 {
    add_f64(old, b, Rounding::NearestEven)
}

/// `old + b` (`.noftz`), with subnormals.
#[inline]
#[must_use]
pub fn add_half(old: u16, b: u16, format: HalfFormat) -> u16 {
    let mode = HalfMode { format, subnormals: Subnormals::Keep, clamp: HalfClamp::None };
    half::add(old, b, mode)
}

/// The minimum or maximum of halves (`.noftz`), for vector atomics.
#[inline]
#[must_use]
pub fn extreme_half(old: u16, b: u16, extreme: Extreme, format: HalfFormat) -> u16 {
    let choice = Choice { extreme, nan: NanRule::Number, sign: SignRule::Winner };
    half::extreme(old, b, choice, format, Subnormals::Keep)
}

/// `old >= b ? 0 : old + 1`.
#[inline]
#[must_use]
pub fn increment(old: u32, b: u32) -> u32 {
    if old >= b { 0 } else { old + 1 }
}

/// `old == 0 || old > b ? b : old - 1`.
#[inline]
#[must_use]
pub fn decrement(old: u32, b: u32) -> u32 {
    if old == 0 || old > b { b } else { old - 1 }
}

/// `old == expected ? new : old`, for every width.
#[inline]
#[must_use]
pub fn compare_and_swap<T: PartialEq + Copy>(old: T, expected: T, new: T) -> T {
    if old == expected { new } else { old }
}
