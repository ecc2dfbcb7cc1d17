//! Exact real numbers, and their single rounding to a binary format.
//!
//! Operations that the host's arithmetic does not have (directed rounding, narrow formats) compute an exact value
//! here and round it once. The rounding mode of the host is never changed.

use super::Rounding;

#[cfg(test)]
mod tests;

/// A binary floating-point format. PTX ISA 5.2.1 "Fundamental Types" and 5.2.3 "Alternate Floating-Point
/// Data Formats".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the biased exponent.
    pub exponent_bits: u32,
    /// Fraction bits of the significand.
    pub fraction_bits: u32,
    /// The meaning of encodings with the largest exponent.
    pub specials: Specials,
}

/// The meaning of encodings with the largest exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// Infinity and NaN, as in IEEE 754.
    InfinityAndNan,
    /// Numbers, except that all ones is NaN (e4m3).
    NanOnly,
    /// Numbers (e2m1, e2m3, e3m2).
    Neither,
}

/// The result of an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Infinity, unless the rounding mode forbids it; the largest finite number in formats without infinity.
    Infinity,
    /// The largest finite number (`.satfinite`).
    LargestFinite,
}

/// `(-1)^negative * significand * 2^exponent`, and a positive fraction of the lowest bit more if `inexact`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// The sign.
    pub negative: bool,
    /// The exponent of the significand's lowest bit.
    pub exponent: i32,
    pub significand: u128,
    /// Whether the magnitude exceeds the significand by less than one unit of its lowest bit.
    pub inexact: bool,
}

/// The value of a bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Not a number.
    Nan,
    /// Infinity with its sign.
    Infinity {
        /// The sign.
        negative: bool,
    },
    /// A number.
    Finite(Exact),
}

impl Format {
    /// IEEE binary16.
    pub const F16: Self = Self::ieee(5, 10);
    /// bfloat16.
    pub const BF16: Self = Self::ieee(8, 7);
    /// tf32, of which the 19 significant bits are stored.
    pub const TF32: Self = Self::ieee(8, 10);
    /// IEEE binary32.
    pub const F32: Self = Self::ieee(8, 23);
    /// IEEE binary64.
    pub const F64: Self = Self::ieee(11, 52);
    /// e5m2: binary16 with a shorter fraction.
    pub const E5M2: Self = Self::ieee(5, 2);
    /// e4m3: no infinity.
    pub const E4M3: Self = Self { exponent_bits: 4, fraction_bits: 3, specials: Specials::NanOnly };
    /// e2m1: numbers only.
    pub const E2M1: Self = Self { exponent_bits: 2, fraction_bits: 1, specials: Specials::Neither };
    /// e2m3: numbers only.
    pub const E2M3: Self = Self { exponent_bits: 2, fraction_bits: 3, specials: Specials::Neither };
    /// e3m2: numbers only.
    pub const E3M2: Self = Self { exponent_bits: 3, fraction_bits: 2, specials: Specials::Neither };

    const fn ieee(exponent_bits: u32, fraction_bits: u32) -> Self {
        Self { exponent_bits, fraction_bits, specials: Specials::InfinityAndNan }
    }

    /// All bits but the sign.
    #[must_use]
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_bit() - 1
    }

    /// The sign's bit.
    #[must_use]
    pub const fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// The encoding of the largest finite number.
    #[must_use]
    pub const fn largest_finite(self) -> u64 {
        match self.specials {
            Specials::InfinityAndNan => self.infinity() - 1,
            Specials::NanOnly => self.magnitude_mask() - 1,
            Specials::Neither => self.magnitude_mask(),
        }
    }

    /// The canonical NaN of NVIDIA's conversions: all ones with a clear sign. In formats without NaN, the largest
    /// number, as PTX ISA 9.7.9.21 "cvt" specifies.
    #[must_use]
    pub const fn canonical_nan(self) -> u64 {
        self.magnitude_mask()
    }

    /// The encoding of infinity; only for formats that have one.
    #[must_use]
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The exponent of the smallest normal number.
    #[must_use]
    pub const fn smallest_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    /// The value of a bit pattern; bits above the sign are ignored.
    #[must_use]
    pub fn decode(self, bits: u64) -> Value {
        let magnitude = bits & self.magnitude_mask();
        let negative = bits & self.sign_bit() != 0;
        match self.specials {
            Specials::InfinityAndNan if magnitude > self.infinity() => return Value::Nan,
            Specials::InfinityAndNan if magnitude == self.infinity() => {
                return Value::Infinity { negative };
            }
            Specials::NanOnly if magnitude == self.magnitude_mask() => return Value::Nan,
            Specials::InfinityAndNan | Specials::NanOnly | Specials::Neither => {}
        }
        let fraction = magnitude & ((1 << self.fraction_bits) - 1);
        let biased = (magnitude >> self.fraction_bits) as i32;
        let hidden = if biased == 0 { 0 } else { 1 << self.fraction_bits };
        Value::Finite(Exact {
            negative,
            exponent: self.quantum(biased.max(1)),
            significand: u128::from(fraction | hidden),
            inexact: false,
        })
    }

    /// The exponent of the lowest fraction bit at a biased exponent.
    fn quantum(self, biased: i32) -> i32 {
        biased - 1 + self.smallest_exponent() - self.fraction_bits as i32
    }

    /// Rounds a value to an encoding.
    ///
    /// An inexact value must have at least two bits more than the format.
    #[must_use]
    pub fn round(self, value: Exact, rounding: Rounding, beyond: Beyond) -> u64 {
        let sign = if value.negative { self.sign_bit() } else { 0 };
        if value.significand == 0 {
            return sign;
        }
        let top = 127 - value.significand.leading_zeros() as i32 + value.exponent;
        let biased = (top - self.smallest_exponent() + 1).max(1);
        let shift = self.quantum(biased) - value.exponent;
        let digits = if shift <= 0 {
            value.significand << -shift
        } else {
            let (kept, rest) = split(value.significand, shift as u32, value.inexact);
            kept + u128::from(rounds_up(rounding, value.negative, kept, rest))
        };
        // The hidden bit increments the exponent, and so does a carry out of the fraction.
        let magnitude = ((biased as u128 - 1) << self.fraction_bits) + digits;
        if magnitude > u128::from(self.largest_finite()) {
            return sign | self.overflow(value.negative, rounding, beyond);
        }
        sign | magnitude as u64
    }

    fn overflow(self, negative: bool, rounding: Rounding, beyond: Beyond) -> u64 {
        let away = match rounding {
            Rounding::NearestEven => true,
            Rounding::TowardZero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        let infinite =
            away && beyond == Beyond::Infinity && self.specials == Specials::InfinityAndNan;
        if infinite { self.infinity() } else { self.largest_finite() }
    }
}

/// The comparison of the truncated part with half a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

fn split(significand: u128, shift: u32, inexact: bool) -> (u128, Rest) {
    let rest = |cut: u128, half: u128| match (cut.cmp(&half), cut == 0 && !inexact, inexact) {
        (_, true, _) => Rest::Nothing,
        (std::cmp::Ordering::Less, false, _) => Rest::BelowHalf,
        (std::cmp::Ordering::Equal, false, false) => Rest::Half,
        (std::cmp::Ordering::Equal, false, true) | (std::cmp::Ordering::Greater, false, _) => {
            Rest::AboveHalf
        }
    };
    match shift {
        0..128 => {
            let cut = significand & ((1 << shift) - 1);
            (significand >> shift, rest(cut, 1 << (shift - 1)))
        }
        128 => (0, rest(significand, 1 << 127)),
        129.. => (0, Rest::BelowHalf),
    }
}

/// Whether `kept` is incremented.
fn rounds_up(rounding: Rounding, negative: bool, kept: u128, rest: Rest) -> bool {
    match rounding {
        Rounding::NearestEven => rest == Rest::AboveHalf || (rest == Rest::Half && kept & 1 == 1),
        Rounding::TowardZero => false,
        Rounding::Down => negative && rest != Rest::Nothing,
        Rounding::Up => !negative && rest != Rest::Nothing,
    }
}

/// The bit to which sums are aligned: two bits below the top, for the carry.
const TOP: u32 = 125;

impl Exact {
    #[must_use]
    pub const fn zero(negative: bool) -> Self {
        Self { negative, exponent: 0, significand: 0, inexact: false }
    }

    #[must_use]
    pub const fn integer(value: i128) -> Self {
        Self { negative: value < 0, exponent: 0, significand: value.unsigned_abs(), inexact: false }
    }

    /// The product of two exact values of at most 64 digits each.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            exponent: self.exponent + other.exponent,
            significand: self.significand * other.significand,
            inexact: false,
        }
    }

    /// The sum of two exact values of at most 106 digits; an exact zero from opposite signs is negative only
    /// when rounding down (IEEE 754, section 6.3).
    #[must_use]
    pub fn add(self, other: Self, rounding: Rounding) -> Self {
        match (self.significand == 0, other.significand == 0) {
            (true, true) => {
                let same = self.negative == other.negative;
                return Self::zero(if same { self.negative } else { rounding == Rounding::Down });
            }
            (true, false) => return other,
            (false, true) => return self,
            (false, false) => {}
        }
        let (a, b) = (self.aligned(), other.aligned());
        let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let distance = (large.exponent - small.exponent) as u32;
        let shifted = small.significand.checked_shr(distance).unwrap_or(0);
        let inexact = shifted.checked_shl(distance).unwrap_or(0) != small.significand;
        let sum = |negative, significand| Self { negative, significand, inexact, ..large };
        if large.negative == small.negative {
            return sum(large.negative, large.significand + shifted);
        }
        if large.significand == shifted && !inexact {
            return Self::zero(rounding == Rounding::Down);
        }
        if large.significand < shifted {
            return sum(small.negative, shifted - large.significand);
        }
        // The lost tail reduces the difference: borrow one unit and add the complement of the tail.
        sum(large.negative, large.significand - shifted - u128::from(inexact))
    }

    /// The quotient by a number other than zero; both of at most 64 digits.
    #[must_use]
    pub fn divide(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        if self.significand == 0 {
            return Self::zero(negative);
        }
        let shift = self.significand.leading_zeros();
        let scaled = self.significand << shift;
        Self {
            negative,
            exponent: self.exponent - shift as i32 - other.exponent,
            significand: scaled / other.significand,
            inexact: !scaled.is_multiple_of(other.significand),
        }
    }

    /// The square root of a number that is not negative.
    #[must_use]
    pub fn square_root(self) -> Self {
        if self.significand == 0 {
            return self;
        }
        let spare = self.significand.leading_zeros();
        let shift = spare - u32::from((self.exponent - spare as i32) & 1 != 0);
        let scaled = self.significand << shift;
        let root = scaled.isqrt();
        Self {
            negative: false,
            exponent: (self.exponent - shift as i32) / 2,
            significand: root,
            inexact: root * root != scaled,
        }
    }

    fn aligned(self) -> Self {
        let shift = self.significand.leading_zeros() - (127 - TOP);
        Self {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }
}
