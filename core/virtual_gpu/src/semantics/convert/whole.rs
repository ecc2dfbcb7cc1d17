//! Conversions from and to integers.

use super::super::exact::{Beyond, Exact, Value};
use super::super::{Clamp, Overflow, Rounding, Subnormals};
use super::FloatFormat;

/// The integer types of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WholeType {
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// 8 bits, signed.
    S8,
    /// 16 bits, signed.
    S16,
    /// 32 bits, signed.
    S32,
    /// 64 bits, signed.
    S64,
}

/// Rounding to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WholeRounding {
    /// To nearest even (`.rni`).
    NearestEven,
    /// Towards zero (`.rzi`).
    TowardZero,
    /// Towards negative infinity (`.rmi`).
    Down,
    /// Towards positive infinity (`.rpi`).
    Up,
}

impl WholeType {
    /// The width in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 8,
            Self::U16 | Self::S16 => 16,
            Self::U32 | Self::S32 => 32,
            Self::U64 | Self::S64 => 64,
        }
    }

    /// Whether the type is signed.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// The value of the low bits of a register.
    #[inline]
    #[must_use]
    pub const fn value(self, register: u64) -> i128 {
        let spare = 64 - self.bits();
        if self.is_signed() {
            ((register << spare) as i64 >> spare) as i128
        } else {
            (register << spare >> spare) as i128
        }
    }

    const fn limits(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }
}

impl WholeRounding {
    /// `magnitude / 2^shift`, rounded, for a number with this sign.
    fn divide(self, magnitude: u128, shift: u32, negative: bool) -> u128 {
        let (kept, cut, half) = if shift < 127 {
            (magnitude >> shift, magnitude & ((1 << shift) - 1), (1 << shift) / 2)
        } else {
            // Far below one half: the significand of a format has at most 53 bits.
            (0, u128::from(magnitude != 0), 2)
        };
        let up = match self {
            Self::NearestEven => cut > half || (cut == half && cut != 0 && kept & 1 == 1),
            Self::TowardZero => false,
            Self::Down => negative && cut != 0,
            Self::Up => !negative && cut != 0,
        };
        kept + u128::from(up)
    }
}

/// Converts an integer to another type: extended, truncated, or saturated (`.sat`).
///
/// The result is extended to 64 bits by its own type, for registers that are wider than the type.
#[inline]
#[must_use]
pub fn whole_to_whole(a: u64, from: WholeType, to: WholeType, overflow: Overflow) -> u64 {
    let value = from.value(a);
    match overflow {
        Overflow::Wrap => to.value(value as u64) as u64,
        Overflow::Saturate => {
            let (low, high) = to.limits();
            value.clamp(low, high) as u64
        }
    }
}

/// Converts an integer to a floating-point number; `.sat` clamps it to [0, 1].
#[inline]
#[must_use]
pub fn whole_to_real(
    a: u64,
    from: WholeType,
    to: FloatFormat,
    rounding: Rounding,
    clamp: Clamp,
) -> u64 {
    let value = from.value(a);
    match (clamp, to, rounding) {
        (Clamp::Unit, _, _) => to.round(Exact::integer(value.clamp(0, 1)), rounding),
        // The host rounds to nearest even, the usual mode of compilers.
        (Clamp::None, FloatFormat::F32, Rounding::NearestEven) => match from.is_signed() {
            true => u64::from((value as i64 as f32).to_bits()),
            false => u64::from((value as u64 as f32).to_bits()),
        },
        (Clamp::None, _, _) => to.round(Exact::integer(value), rounding),
    }
}

/// Converts a floating-point number to an integer, saturated to the type.
///
/// NaN becomes zero, but `2^(width - 1)` if the source is f64 or the result has 64 bits: "Zero if source is not .f64
/// and destination is not .s64, .u64. Otherwise 1 << (BitWidth(dtype) - 1)". The result is extended to 64 bits by its
/// type.
#[inline]
#[must_use]
pub fn real_to_whole(
    a: u64,
    from: FloatFormat,
    to: WholeType,
    rounding: WholeRounding,
    subnormals: Subnormals,
) -> u64 {
    let (low, high) = to.limits();
    match from.format().decode(from.flush(a, subnormals)) {
        Value::Nan if from != FloatFormat::F64 && to.bits() < 64 => 0,
        Value::Nan => to.value(1 << (to.bits() - 1)) as u64,
        Value::Infinity { negative: true } => low as u64,
        Value::Infinity { negative: false } => high as u64,
        Value::Finite(number) => {
            let magnitude = if number.exponent < 0 {
                rounding.divide(number.significand, number.exponent.unsigned_abs(), number.negative)
            } else if number.exponent > 64 && number.significand != 0 {
                1 << 65
            } else {
                number.significand << number.exponent.min(64)
            };
            let value = if number.negative { -(magnitude as i128) } else { magnitude as i128 };
            value.clamp(low, high) as u64
        }
    }
}

/// `cvt.rzi.s32.f32`, the most frequent conversion: the same as [`real_to_whole`], without branches.
#[inline]
#[must_use]
pub fn f32_to_s32_toward_zero(a: u32) -> u32 {
    // Rust's conversion saturates and converts NaN to zero.
    f32::from_bits(a) as i32 as u32
}

/// Rounds a floating-point number to an integer in the same format (`cvt.rni.f32.f32`).
pub(super) fn round_to_whole(number: Exact, rounding: WholeRounding) -> Exact {
    if number.exponent >= 0 {
        return number;
    }
    let shift = number.exponent.unsigned_abs();
    let magnitude = rounding.divide(number.significand, shift, number.negative);
    Exact { exponent: 0, significand: magnitude, ..number }
}

/// Two s32, saturated to 8 or 16 bits, below the low bits of `c`; `a` is the upper element. Types of 16 bits fill the
/// word, and `c` is ignored. PTX ISA 9.7.9.22 "cvt.pack".
#[inline]
#[must_use]
pub fn pack_integers(a: u32, b: u32, c: u32, to: WholeType) -> u32 {
    let bits = to.bits();
    let limited = |word: u32| {
        let value = whole_to_whole(u64::from(word), WholeType::S32, to, Overflow::Saturate);
        value & ((1 << bits) - 1)
    };
    let packed = limited(a) << bits | limited(b);
    (u64::from(c) << (2 * bits) | packed) as u32
}

impl FloatFormat {
    pub(super) fn round(self, value: Exact, rounding: Rounding) -> u64 {
        self.format().round(value, rounding, Beyond::Infinity)
    }
}
