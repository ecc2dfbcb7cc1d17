//! Conversions of the two 16-bit floating-point formats, f16 and bf16, to and from f32 and f64.
//!
//! [`HalfFormat::nearest`] rounds once, to nearest with ties to even. A result that was rounded to odd in f64 can
//! therefore be converted without a second rounding error.

use crate::float_format::FloatFormat;

/// A 16-bit floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfFormat {
    /// Five bits of exponent, ten of fraction.
    F16,
    /// Eight bits of exponent, seven of fraction.
    Bf16,
}

/// The NaN of f16 and bf16 results.
pub const CANONICAL_NAN: u16 = 0x7fff;

const SIGN: u16 = 0x8000;

impl HalfFormat {
    /// The widths of its fields.
    #[inline]
    #[must_use]
    pub const fn format(self) -> FloatFormat {
        match self {
            Self::F16 => FloatFormat::F16,
            Self::Bf16 => FloatFormat::BF16,
        }
    }

    /// The number one.
    #[inline]
    #[must_use]
    pub const fn one(self) -> u16 {
        let format = self.format();
        (format.bias() << format.fraction_bits) as u16
    }

    /// Infinity.
    #[inline]
    #[must_use]
    pub const fn infinity(self) -> u16 {
        self.format().largest_finite() as u16 + 1
    }

    /// Stored bits of the significand.
    #[inline]
    #[must_use]
    pub const fn fraction_bits(self) -> i32 {
        self.format().fraction_bits as i32
    }

    /// Exponent of the smallest normal number.
    #[inline]
    #[must_use]
    pub const fn smallest_exponent(self) -> i32 {
        self.format().smallest_exponent()
    }

    /// Whether a bit pattern is NaN.
    #[inline]
    #[must_use]
    pub const fn is_nan(self, bits: u16) -> bool {
        bits & !SIGN > self.infinity()
    }

    /// The f32 of the same value; a bf16 NaN keeps its payload, as `cvt.f32.bf16` does.
    #[inline]
    #[must_use]
    pub fn to_f32(self, bits: u16) -> f32 {
        let sign = u32::from(bits & SIGN) << 16;
        match self {
            Self::Bf16 => f32::from_bits(u32::from(bits) << 16),
            Self::F16 => {
                // Put the fields in place, then let a product correct the bias, of subnormals too.
                let rebias = f32::from_bits(0x7780_0000); // 2^112
                let magnitude = f32::from_bits(u32::from(bits & !SIGN) << 13) * rebias;
                let special = if bits & !SIGN >= 0x7c00 { 0x7f80_0000 } else { 0 };
                f32::from_bits(magnitude.to_bits() | special | sign)
            }
        }
    }

    /// The half nearest to a value that is exact or rounded to odd; NaN becomes the canonical NaN.
    #[inline]
    #[must_use]
    pub fn nearest(self, value: f64) -> u16 {
        if value.is_nan() {
            return CANONICAL_NAN;
        }
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
        let digits = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
        let smallest = self.smallest_exponent();
        let shift = (52 - self.fraction_bits() + (smallest - exponent).max(0)).min(63) as u32;
        let (kept, cut) = (digits >> shift, digits & ((1 << shift) - 1));
        let half = 1_u64 << (shift - 1);
        let up = u64::from(cut > half) | (u64::from(cut == half) & kept);
        let biased = (exponent.max(smallest) - smallest) as u64;
        let magnitude = (biased << self.fraction_bits()) + kept + (up & 1);
        magnitude.min(u64::from(self.infinity())) as u16 | ((bits >> 48) as u16 & SIGN)
    }

    /// The bits with a subnormal number replaced by the zero of its sign, as `.ftz` does.
    #[inline]
    #[must_use]
    pub fn flush(self, bits: u16) -> u16 {
        if bits & self.infinity() == 0 { bits & SIGN } else { bits }
    }
}
