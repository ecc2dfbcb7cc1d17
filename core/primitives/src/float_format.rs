//! Binary floating-point formats: the widths of their fields, and the limits that follow from them.
//!
//! This is the only table of formats of elements. Every format has subnormal numbers (gradual underflow).
//! Sources: IEEE 754-2019 table 3.5; OCP OFP8 revision 1.0 table 2; OCP MX 1.0 section 5.3.3.

#[cfg(test)]
mod tests;

/// A binary floating-point format: a sign, a biased exponent, and the fraction of a significand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// Bits of the biased exponent.
    pub exponent_bits: u32,
    /// Stored bits of the significand; the leading bit of a normal number is not stored.
    pub fraction_bits: u32,
    /// The meaning of encodings with the largest exponent.
    pub specials: Specials,
}

/// The meaning of encodings with the largest exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Specials {
    /// Infinity and NaN, as in IEEE 754.
    InfinityAndNan,
    /// Numbers, except that all ones is NaN (e4m3).
    NanOnly,
    /// Numbers (e2m1).
    Neither,
}

impl FloatFormat {
    /// IEEE binary64.
    pub const F64: Self = Self::ieee(11, 52);
    /// IEEE binary32.
    pub const F32: Self = Self::ieee(8, 23);
    /// IEEE binary16.
    pub const F16: Self = Self::ieee(5, 10);
    /// bfloat16.
    pub const BF16: Self = Self::ieee(8, 7);
    /// OCP e5m2: binary16 with a shorter fraction.
    pub const E5M2: Self = Self::ieee(5, 2);
    /// OCP e4m3: no infinity.
    pub const E4M3: Self = Self { exponent_bits: 4, fraction_bits: 3, specials: Specials::NanOnly };
    /// OCP e2m1: numbers only.
    pub const E2M1: Self = Self { exponent_bits: 2, fraction_bits: 1, specials: Specials::Neither };

    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Self {
        Self { exponent_bits, fraction_bits, specials: Specials::InfinityAndNan }
    }

    /// Bits of the significand of a normal number, the leading one included.
    #[must_use]
    pub const fn significand_bits(self) -> u32 {
        self.fraction_bits + 1
    }

    /// The number that is added to the exponent of a normal number to encode it.
    #[must_use]
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The exponent of the smallest normal number.
    #[must_use]
    pub const fn smallest_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// The bit of the sign, above all others.
    #[must_use]
    pub const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// All bits but the sign.
    #[must_use]
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_bit() - 1
    }

    /// The encoding of infinity; `None` for formats without one.
    #[must_use]
    pub const fn infinity(self) -> Option<u64> {
        match self.specials {
            Specials::InfinityAndNan => Some(self.largest_finite() + 1),
            Specials::NanOnly | Specials::Neither => None,
        }
    }

    /// The encoding of the largest finite number.
    #[must_use]
    pub const fn largest_finite(self) -> u64 {
        match self.specials {
            Specials::InfinityAndNan => self.magnitude_mask() - (1 << self.fraction_bits),
            Specials::NanOnly => self.magnitude_mask() - 1,
            Specials::Neither => self.magnitude_mask(),
        }
    }

    /// What NVIDIA's conversions make of NaN: all ones with a clear sign, which is the largest number in formats
    /// without NaN (PTX ISA 9.7.9.21 "cvt").
    #[must_use]
    pub const fn canonical_nan(self) -> u64 {
        self.magnitude_mask()
    }

    /// The largest finite number.
    #[must_use]
    pub fn largest_number(self) -> f64 {
        let largest = self.largest_finite();
        let hidden = 1_u64 << self.fraction_bits;
        let significand = (largest & (hidden - 1)) | hidden;
        let exponent = (largest >> self.fraction_bits) as i32 - self.bias();
        significand as f64 * power_of_two(exponent - self.fraction_bits as i32)
    }

    /// The smallest positive number that is normal.
    #[must_use]
    pub fn smallest_normal(self) -> f64 {
        power_of_two(self.smallest_exponent())
    }

    /// The smallest positive number, which is subnormal.
    #[must_use]
    pub fn smallest_positive(self) -> f64 {
        power_of_two(self.smallest_exponent() - self.fraction_bits as i32)
    }
}

/// 2 to an exponent, subnormal results included.
#[must_use]
pub fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        1024.. => f64::INFINITY,
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        -1074..=-1023 => f64::from_bits(1 << (exponent + 1074)),
        i32::MIN..=-1075 => 0.0,
    }
}
