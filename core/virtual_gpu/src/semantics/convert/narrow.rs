//! Floating-point formats of 8, 6 and 4 bits, and scale factors: `cvt` from and to `.e4m3x2`, `.e5m2x2`, `.e2m3x2`,
//! `.e3m2x2`, `.e2m1x2` and `.ue8m0x2`. PTX ISA 9.7.9.21 "cvt" and 5.2.3 "Alternate Floating-Point Data Formats".

use super::super::exact::{Beyond, Format, Value};
use super::super::half::HalfFormat;
use super::super::{Negative, Rounding};

/// The packed narrow formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NarrowFormat {
    /// `.e4m3x2`, one byte each.
    E4m3,
    /// `.e5m2x2`, one byte each.
    E5m2,
    /// `.e2m3x2`, the low six bits of a byte each.
    E2m3,
    /// `.e3m2x2`, the low six bits of a byte each.
    E3m2,
    /// `.e2m1x2`, four bits each.
    E2m1,
}

/// The modifiers of a conversion to a narrow format, which is always `.rn.satfinite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowMode {
    /// The result format.
    pub format: NarrowFormat,
    /// `.relu`.
    pub negative: Negative,
}

impl NarrowFormat {
    /// The binary format.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::E4m3 => Format::E4M3,
            Self::E5m2 => Format::E5M2,
            Self::E2m3 => Format::E2M3,
            Self::E3m2 => Format::E3M2,
            Self::E2m1 => Format::E2M1,
        }
    }

    /// The number of bits of one number of a pair.
    #[must_use]
    pub const fn container_bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E5m2 | Self::E2m3 | Self::E3m2 => 8,
            Self::E2m1 => 4,
        }
    }
}

/// Converts two f32 to a pair; `a` is the upper element.
#[must_use]
pub fn narrow_from_f32(a: u32, b: u32, mode: NarrowMode) -> u16 {
    let narrow = |bits: u32| narrow(Format::F32.decode(u64::from(bits)), mode);
    narrow(a) << mode.format.container_bits() | narrow(b)
}

/// Converts a pair of halves to a pair of narrow numbers.
#[must_use]
pub fn narrow_from_half(a: u32, from: HalfFormat, mode: NarrowMode) -> u16 {
    let source = match from {
        HalfFormat::F16 => Format::F16,
        HalfFormat::Bf16 => Format::BF16,
    };
    let narrow = |bits: u32| narrow(source.decode(u64::from(bits & 0xffff)), mode);
    narrow(a >> 16) << mode.format.container_bits() | narrow(a)
}

/// Converts a pair of narrow numbers to a pair of f16, which represent all of them; NaN becomes the canonical NaN.
#[must_use]
pub fn narrow_to_half(a: u16, from: NarrowFormat, negative: Negative) -> u32 {
    let widen = |bits: u16| -> u32 {
        let mask = (1 << from.container_bits()) - 1;
        let half = match from.format().decode(u64::from(bits & mask)) {
            Value::Nan => Format::F16.canonical_nan(),
            Value::Infinity { negative: true } => Format::F16.sign_bit() | Format::F16.infinity(),
            Value::Infinity { negative: false } => Format::F16.infinity(),
            Value::Finite(number) => {
                Format::F16.round(number, Rounding::NearestEven, Beyond::Infinity)
            }
        };
        let below_zero = half & Format::F16.sign_bit() != 0;
        if below_zero && negative == Negative::Zero { 0 } else { half as u32 }
    };
    widen(a >> from.container_bits()) << 16 | widen(a)
}

fn narrow(value: Value, mode: NarrowMode) -> u16 {
    let format = mode.format.format();
    let bits = match value {
        Value::Nan => format.canonical_nan(),
        Value::Infinity { negative: true } => format.sign_bit() | format.largest_finite(),
        Value::Infinity { negative: false } => format.largest_finite(),
        Value::Finite(number) => format.round(number, Rounding::NearestEven, Beyond::LargestFinite),
    };
    let below_zero = bits & format.sign_bit() != 0;
    if below_zero && mode.negative == Negative::Zero { 0 } else { bits as u16 }
}

/// Converts a number to a scale factor `.ue8m0`: an unsigned power of two, 0xff being NaN; rounded by `.rz` or `.rp`.
///
/// Without `.satfinite`, numbers beyond 2^127 become NaN, the only remaining encoding.
#[must_use]
pub fn scale_from_real(value: Value, rounding: Rounding, beyond: Beyond) -> u8 {
    const LARGEST: i32 = 254;
    let number = match value {
        Value::Nan => return 0xff,
        Value::Infinity { .. } if beyond == Beyond::LargestFinite => return LARGEST as u8,
        Value::Infinity { .. } => return 0xff,
        Value::Finite(number) => number,
    };
    if number.significand == 0 {
        return 0;
    }
    let digits = 127 - number.significand.leading_zeros() as i32;
    let above = !number.significand.is_power_of_two() && rounding == Rounding::Up;
    let biased = digits + number.exponent + i32::from(above) + 127;
    match (biased > LARGEST, beyond) {
        (true, Beyond::Infinity) => 0xff,
        (true, Beyond::LargestFinite) => LARGEST as u8,
        (false, _) => biased.max(0) as u8,
    }
}

/// Converts a scale factor `.ue8m0` to a bf16: exact, and the canonical NaN for 0xff.
#[must_use]
pub fn scale_to_bf16(scale: u8) -> u16 {
    match scale {
        // 2^-127 is subnormal in bf16.
        0 => 0x0040,
        0xff => super::super::half::CANONICAL_NAN,
        _ => u16::from(scale) << 7,
    }
}
