//! The element types of tensor cores, decomposed for summation.

use super::super::exact::{Format, Value};

/// Floating-point element types of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multiplicand {
    /// Half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// An f32 whose low 13 bits are ignored.
    Tf32,
    /// Eight bits, four of them exponent.
    E4m3,
    /// Eight bits, five of them exponent.
    E5m2,
}

/// Floating-point element types of C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

/// A number as `significand * 2^exponent` with a significand below two; that of a subnormal number is below one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) significand: f32,
    pub(super) exponent: i16,
}

/// The exponent of zero: below every other, also after two are added.
pub(super) const ZERO_EXPONENT: i16 = -4000;

/// Infinity and NaN are detected for whole matrices at once.
impl Multiplicand {
    /// The size of an element in a register, in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::E5m2 => 8,
        }
    }

    /// The number as an f32, which represents all of them.
    #[inline]
    pub(super) fn number(self, bits: u32) -> f32 {
        match self {
            Self::F16 => super::super::half::HalfFormat::F16.to_f32(bits as u16),
            Self::Bf16 => f32::from_bits(bits << 16),
            Self::Tf32 => f32::from_bits(bits & 0xffff_e000),
            Self::E4m3 => eight_bits(bits, Format::E4M3),
            Self::E5m2 => super::super::half::HalfFormat::F16.to_f32((bits << 8) as u16),
        }
    }

    /// The smallest exponent of a normal number.
    #[inline]
    pub(super) const fn smallest_exponent(self) -> i16 {
        match self {
            Self::F16 | Self::E5m2 => -14,
            Self::Bf16 | Self::Tf32 => -126,
            Self::E4m3 => -6,
        }
    }

    /// Decomposes a finite number.
    #[inline]
    pub(super) fn parts(self, number: f32) -> Parts {
        parts(number, self.smallest_exponent())
    }
}

impl Accumulator {
    /// A bit pattern as an f32, which represents it exactly.
    #[inline]
    pub(super) fn number(self, bits: u32) -> f32 {
        match self {
            Self::F16 => super::super::half::HalfFormat::F16.to_f32(bits as u16),
            Self::F32 => f32::from_bits(bits),
        }
    }

    /// Decomposes a finite number.
    #[inline]
    pub(super) fn parts(self, number: f32) -> Parts {
        parts(number, self.smallest_exponent())
    }

    /// The smallest exponent of a normal number.
    #[inline]
    pub(super) const fn smallest_exponent(self) -> i16 {
        match self {
            Self::F16 => -14,
            Self::F32 => -126,
        }
    }
}

/// Decomposes a finite number; below 2^smallest the significand is below one.
#[inline]
fn parts(number: f32, smallest: i16) -> Parts {
    let bits = number.to_bits();
    let biased = (bits >> 23 & 0xff) as i16;
    let exponent = (biased - 127).max(smallest);
    // Scaled in two steps: 2^126 and 2^(-126 - exponent) are f32, their product may not be.
    let half = -(exponent >> 1);
    let rest = -exponent - half;
    let significand = number * power_of_two(half) * power_of_two(rest);
    Parts { significand, exponent: if significand == 0.0 { ZERO_EXPONENT } else { exponent } }
}

/// A power of two in the range of normal f32.
#[inline]
fn power_of_two(exponent: i16) -> f32 {
    f32::from_bits(((i32::from(exponent) + 127) as u32) << 23)
}

fn eight_bits(bits: u32, format: Format) -> f32 {
    match format.decode(u64::from(bits)) {
        Value::Nan => f32::NAN,
        Value::Infinity { negative } => {
            if negative {
                f32::NEG_INFINITY
            } else {
                f32::INFINITY
            }
        }
        Value::Finite(number) => {
            let magnitude = number.significand as f32 * power_of_two(number.exponent as i16);
            if number.negative { -magnitude } else { magnitude }
        }
    }
}
