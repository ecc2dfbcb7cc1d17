//! Numbers as kernels have them in memory, and inputs that look random.

/// A type of C that has a counterpart here, little-endian.
pub(super) trait Element: Copy {
    fn bytes(self) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($t:ty)*) => {
        $(impl Element for $t {
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        })*
    };
}

element!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

/// A floating-point format by the widths of its fields (IEEE 754, and "Alternate Floating-Point Data Formats" of the
/// PTX ISA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    exponent: i32,
    mantissa: i32,
    /// The largest finite number, as bits.
    largest: u64,
}

pub(super) const F64: Format =
    Format { exponent: 11, mantissa: 52, largest: 0x7fef_ffff_ffff_ffff };
pub(super) const F32: Format = Format { exponent: 8, mantissa: 23, largest: 0x7f7f_ffff };
pub(super) const F16: Format = Format { exponent: 5, mantissa: 10, largest: 0x7bff };
pub(super) const BF16: Format = Format { exponent: 8, mantissa: 7, largest: 0x7f7f };
pub(super) const E4M3: Format = Format { exponent: 4, mantissa: 3, largest: 0x7e };
pub(super) const E5M2: Format = Format { exponent: 5, mantissa: 2, largest: 0x7b };

impl Format {
    pub(super) const fn bytes(self) -> usize {
        (1 + self.exponent + self.mantissa) as usize / 8
    }

    /// The value of bits; infinity and NaN beyond the largest number.
    pub(super) fn value(self, bits: u64) -> f64 {
        let width = self.exponent + self.mantissa;
        let sign = if bits >> width & 1 == 1 { -1.0 } else { 1.0 };
        let magnitude = bits & ((1 << width) - 1);
        if magnitude > self.largest {
            return if magnitude == self.largest + 1 && self != E4M3 {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        if self == F64 {
            return f64::from_bits(bits);
        }
        let field = (magnitude >> self.mantissa) as i32;
        let fraction = (magnitude & ((1 << self.mantissa) - 1)) as f64;
        let unit = self.least_exponent() - self.mantissa;
        if field == 0 {
            return sign * fraction * 2_f64.powi(unit);
        }
        let whole = fraction + 2_f64.powi(self.mantissa);
        sign * whole * 2_f64.powi(unit + field - 1)
    }

    /// The bits of the nearest number, ties to even, infinity beyond the largest (NaN where there is none).
    ///
    /// Found by looking between which two numbers the value lies, unlike any conversion in hardware or software.
    pub(super) fn bits(self, value: f64) -> u64 {
        if self == F64 {
            return value.to_bits();
        }
        let sign = u64::from(value.is_sign_negative()) << (self.exponent + self.mantissa);
        let magnitude = value.abs();
        if value.is_nan() {
            return self.largest + 1 + u64::from(self != E4M3);
        }
        let (mut below, mut above) = (0, self.largest + 1);
        while above - below > 1 {
            let middle = u64::midpoint(below, above);
            if self.value(middle) <= magnitude { below = middle } else { above = middle }
        }
        // Beyond the largest number, the next one would be as far as the last one was.
        let next = if above > self.largest {
            2.0 * self.value(self.largest) - self.value(self.largest - 1)
        } else {
            self.value(above)
        };
        let (down, up) = (magnitude - self.value(below), next - magnitude);
        let is_up = up < down || up == down && below & 1 == 1;
        sign | if is_up { above } else { below }
    }

    pub(super) fn round(self, value: f64) -> f64 {
        self.value(self.bits(value))
    }

    /// The distance of numbers around a value (the smaller one at a power of two).
    pub(super) fn ulp(self, value: f64) -> f64 {
        let exponent = if value == 0.0 { self.least_exponent() } else { exponent_of(value) };
        2_f64.powi(exponent.max(self.least_exponent()) - self.mantissa)
    }

    pub(super) fn read(self, bytes: &[u8]) -> f64 {
        self.value(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    const fn least_exponent(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }
}

fn exponent_of(value: f64) -> i32 {
    ((value.abs().to_bits() >> 52) as i32).max(1) - 1023
}

/// Halves as kernels have them.
pub(super) fn halves(format: Format, values: &[f32]) -> Vec<u16> {
    values.iter().map(|value| format.bits(f64::from(*value)) as u16).collect()
}

/// What halves are worth.
pub(super) fn worth(format: Format, bits: &[u16]) -> Vec<f64> {
    bits.iter().map(|bits| format.value(u64::from(*bits))).collect()
}

/// Words without a pattern, from the mixer of SplitMix64 (Steele, Lea, Flood 2014).
pub(super) fn words(count: usize, seed: u64) -> Vec<u32> {
    wide(count, seed).into_iter().map(|word| (word >> 32) as u32).collect()
}

pub(super) fn wide(count: usize, seed: u64) -> Vec<u64> {
    (0..count as u64)
        .map(|index| {
            let mut z = (seed * 1_000_003 + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        })
        .collect()
}

/// Numbers of [-1, 1).
pub(super) fn floats(count: usize, seed: u64) -> Vec<f32> {
    words(count, seed).into_iter().map(|word| (word >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

pub(super) fn doubles(count: usize, seed: u64) -> Vec<f64> {
    floats(count, seed).into_iter().map(f64::from).collect()
}

/// Whole numbers below a bound.
pub(super) fn below(bound: u32, count: usize, seed: u64) -> Vec<u32> {
    words(count, seed).into_iter().map(|word| word % bound).collect()
}

pub(super) fn ints(bound: u32, count: usize, seed: u64) -> Vec<i32> {
    below(bound, count, seed).into_iter().map(|word| word as i32).collect()
}

/// `f64` of each `f32`.
pub(super) fn widened(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

#[test]
fn formats_round_to_nearest_even() {
    for (value, bits) in [(1.0, 0x3c00), (65519.0, 0x7bff), (65520.0, 0x7c00), (-2.5e-8, 0x8000)] {
        assert_eq!(F16.bits(value), bits, "{value}");
    }
    assert_eq!(F16.bits(1.0 + 2_f64.powi(-11)), 0x3c00);
    assert_eq!(F16.bits(1.0 + 3.0 * 2_f64.powi(-11)), 0x3c02);
    assert_eq!(BF16.bits(3.0), 0x4040);
    assert_eq!(E4M3.value(0x7e), 448.0);
    assert_eq!(E5M2.value(0x7b), 57344.0);
    for value in [0.1, 1e30, -7.25, 1e-41] {
        assert_eq!(F32.bits(value), u64::from((value as f32).to_bits()), "{value}");
    }
}
