//! Conversions between the bytes of elements and numbers, for every dtype.
//!
//! Conversions round to nearest, ties to even. f16, bf16 and f32 overflow to infinity; the 8-bit and 4-bit formats
//! saturate, as `cvt.rn.satfinite` does (PTX ISA 9.7.9.21: the only conversion to these formats, which the constructors
//! of `cuda_fp8.h` and `cuda_fp4.h` use as well).

use crate::dtype::{Dtype, Family};
use crate::float_format::FloatFormat;
pub use crate::float_format::power_of_two;
use crate::half::HalfFormat;
use crate::scalar_value::ScalarValue;

#[cfg(test)]
mod tests;

/// Content of uninitialised bytes on a device that does not track initialisation: a NaN as f32, f16 or bf16, and an
/// invalid address.
pub const POISON: u8 = 0xff;

/// Bits of the significand of a floating-point dtype, the leading one included; 0 for others.
pub fn digits(dtype: Dtype) -> u32 {
    dtype.float_format().map_or(0, FloatFormat::significand_bits)
}

/// The smallest positive number of a floating-point dtype, subnormals included; 0 for others.
pub fn smallest_positive(dtype: Dtype) -> f64 {
    dtype.float_format().map_or(0.0, FloatFormat::smallest_positive)
}

/// The smallest positive number of a floating-point dtype that is not subnormal; 0 for others.
pub fn smallest_normal(dtype: Dtype) -> f64 {
    dtype.float_format().map_or(0.0, FloatFormat::smallest_normal)
}

/// Half of the distance between neighbouring values of a floating-point dtype: the largest rounding error.
#[derive(Clone, Copy, Debug)]
pub struct HalfUlp {
    /// Half an ulp of one.
    unit: f64,
    /// Half an ulp of the smallest numbers.
    least: f64,
}

impl HalfUlp {
    /// For a floating-point dtype; zero for other dtypes.
    pub fn from_dtype(dtype: Dtype) -> Self {
        dtype.float_format().map_or(Self { unit: 0.0, least: 0.0 }, |format| Self {
            unit: power_of_two(-(format.significand_bits() as i32)),
            least: format.smallest_positive() * 0.5,
        })
    }

    /// The same, nowhere less than that.
    pub fn at_least(self, least: f64) -> Self {
        Self { least: self.least.max(least), ..self }
    }

    /// Half an ulp of one, and of the smallest numbers.
    pub fn parts(self) -> (f64, f64) {
        (self.unit, self.least)
    }

    /// At a number that is finite.
    #[inline(always)]
    pub fn at(self, value: f64) -> f64 {
        // The power of two at or below the number; subnormal f64 count as zero, which `least` covers.
        let power = f64::from_bits(value.to_bits() & 0x7ff0_0000_0000_0000);
        let half = power * self.unit;
        if half > self.least { half } else { self.least }
    }
}

/// The bits of the element nearest to a number, in the width of the dtype.
///
/// For integer dtypes the number is truncated; booleans are true unless it is 0.
pub fn nearest(dtype: Dtype, value: f64) -> u64 {
    match dtype {
        Dtype::F64 => value.to_bits(),
        Dtype::F32 => u64::from((value as f32).to_bits()),
        Dtype::F16 => u64::from(HalfFormat::F16.nearest(value)),
        Dtype::Bf16 => u64::from(HalfFormat::Bf16.nearest(value)),
        Dtype::F8E4M3 => u64::from(e4m3(value)),
        Dtype::F8E5M2 => u64::from(e5m2(value)),
        Dtype::E2M1 => u64::from(e2m1(value)),
        Dtype::Bool => u64::from(value != 0.0),
        Dtype::I64 | Dtype::I32 | Dtype::I16 | Dtype::I8 | Dtype::I4 => {
            masked(dtype, value as i64 as u64)
        }
        Dtype::U64 | Dtype::U32 | Dtype::U16 | Dtype::U8 | Dtype::U4 => masked(dtype, value as u64),
    }
}

/// The bits of a written value as an element.
pub fn element_bits(dtype: Dtype, value: ScalarValue) -> u64 {
    match (dtype.family(), value) {
        (Family::Signed | Family::Unsigned, ScalarValue::Integer(value)) => {
            masked(dtype, value as u64)
        }
        (Family::Float | Family::Boolean | Family::Signed | Family::Unsigned, value) => {
            nearest(dtype, value.as_real())
        }
    }
}

/// The bytes that, repeated, fill memory with a written value: one element, or two that share a byte.
pub fn pattern(dtype: Dtype, value: ScalarValue) -> Vec<u8> {
    let bits = element_bits(dtype, value);
    if dtype.is_packed() {
        return vec![(bits | bits << 4) as u8];
    }
    bits.to_le_bytes().into_iter().take(dtype.address_bytes() as usize).collect()
}

/// The low bits of a number, in the width of an element.
pub(crate) fn masked(dtype: Dtype, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - dtype.bits()))
}

/// The value of a floating-point element; for other dtypes as [`element_value`].
pub fn real(dtype: Dtype, bits: u64) -> f64 {
    match dtype {
        Dtype::F64 => f64::from_bits(bits),
        Dtype::F32 => f64::from(f32::from_bits(bits as u32)),
        Dtype::F16 => f64::from(HalfFormat::F16.to_f32(bits as u16)),
        Dtype::Bf16 => f64::from(HalfFormat::Bf16.to_f32(bits as u16)),
        Dtype::F8E4M3 => f64::from(from_e4m3(bits as u8)),
        Dtype::F8E5M2 => f64::from(from_e5m2(bits as u8)),
        Dtype::E2M1 => from_e2m1(bits as u8),
        Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::I4
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::U4
        | Dtype::Bool => element_value(dtype, bits).as_real(),
    }
}

/// The value of an element.
///
/// A boolean that is neither 0 nor 1 is not a valid value of its type and is returned as an integer.
pub fn element_value(dtype: Dtype, bits: u64) -> ScalarValue {
    match dtype.family() {
        Family::Float => ScalarValue::Real(real(dtype, bits)),
        Family::Boolean if bits <= 1 => ScalarValue::Boolean(bits == 1),
        Family::Boolean | Family::Unsigned => ScalarValue::Integer(i128::from(bits)),
        Family::Signed => {
            let unused = 64 - dtype.bits();
            ScalarValue::Integer(i128::from((bits << unused) as i64 >> unused))
        }
    }
}

/// The bits of the element at an index in memory; `None` beyond the end.
pub fn element_at(dtype: Dtype, bytes: &[u8], index: usize) -> Option<u64> {
    if dtype.is_packed() {
        let byte = *bytes.get(index / 2)?;
        return Some(u64::from(if index.is_multiple_of(2) { byte & 0xf } else { byte >> 4 }));
    }
    let length = usize::try_from(dtype.address_bytes()).ok()?;
    let start = index.checked_mul(length)?;
    let mut raw = [0; 8];
    raw.get_mut(..length)?.copy_from_slice(bytes.get(start..start.checked_add(length)?)?);
    Some(u64::from_le_bytes(raw))
}

/// The nearest number of a format that saturates, as bits; NaN becomes [`FloatFormat::canonical_nan`], as for `cvt`.
#[inline(always)]
fn saturating(value: f64, format: FloatFormat) -> u8 {
    let (fraction_bits, smallest) = (format.fraction_bits, format.smallest_exponent());
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let significand = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;
    let shift = (52 - fraction_bits as i32 + (smallest - exponent).max(0)).min(63) as u32;
    let (kept, cut) = (significand >> shift, significand & ((1 << shift) - 1));
    let half = 1_u64 << (shift - 1);
    let up = u64::from(cut > half) | (u64::from(cut == half) & kept & 1);
    let biased = (exponent.max(smallest) - smallest) as u64;
    let magnitude = ((biased << fraction_bits) + kept + up).min(format.largest_finite());
    let magnitude = if value.is_nan() { format.canonical_nan() } else { magnitude };
    let sign = if value.is_sign_negative() { format.sign_bit() } else { 0 };
    (magnitude | sign) as u8
}

#[inline(always)]
fn e4m3(value: f64) -> u8 {
    saturating(value, FloatFormat::E4M3)
}

#[inline(always)]
fn e5m2(value: f64) -> u8 {
    saturating(value, FloatFormat::E5M2)
}

#[inline(always)]
fn e2m1(value: f64) -> u8 {
    saturating(value, FloatFormat::E2M1)
}

/// Its fields in the layout of an f16, whose bias is larger by 8.
#[inline(always)]
fn from_e4m3(bits: u8) -> f32 {
    let wide = u16::from(bits & 0x80) << 8 | u16::from(bits & 0x7f) << 7;
    let value = HalfFormat::F16.to_f32(wide) * 256.0;
    if bits & 0x7f == 0x7f { f32::NAN } else { value }
}

/// The upper half of an f16.
#[inline(always)]
fn from_e5m2(bits: u8) -> f32 {
    HalfFormat::F16.to_f32(u16::from(bits) << 8)
}

#[inline(always)]
fn from_e2m1(bits: u8) -> f64 {
    const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let magnitude = MAGNITUDES[usize::from(bits & 7)];
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

/// Writes numbers as the nearest elements, two per byte for packed dtypes.
///
/// For integers and booleans as [`nearest`].
#[inline(always)]
pub fn store_reals(dtype: Dtype, values: &[f64], bytes: &mut [u8]) {
    fn each<const N: usize>(values: &[f64], bytes: &mut [u8], element: impl Fn(f64) -> [u8; N]) {
        for (slot, value) in bytes.as_chunks_mut::<N>().0.iter_mut().zip(values) {
            *slot = element(*value);
        }
    }
    match dtype {
        Dtype::F64 => each(values, bytes, f64::to_le_bytes),
        Dtype::F32 => each(values, bytes, |value| (value as f32).to_le_bytes()),
        Dtype::F16 => each(values, bytes, |value| HalfFormat::F16.nearest(value).to_le_bytes()),
        Dtype::Bf16 => each(values, bytes, |value| HalfFormat::Bf16.nearest(value).to_le_bytes()),
        Dtype::F8E4M3 => each(values, bytes, |value| [e4m3(value)]),
        Dtype::F8E5M2 => each(values, bytes, |value| [e5m2(value)]),
        Dtype::E2M1 | Dtype::I4 | Dtype::U4 => {
            for (byte, pair) in bytes.iter_mut().zip(values.chunks(2)) {
                let nibble =
                    |value: Option<&f64>| value.map_or(0, |value| nearest(dtype, *value) as u8);
                *byte = nibble(pair.first()) | nibble(pair.get(1)) << 4;
            }
        }
        Dtype::I64 | Dtype::U64 => {
            each(values, bytes, |value| nearest(dtype, value).to_le_bytes());
        }
        Dtype::I32 | Dtype::U32 => {
            each(values, bytes, |value| (nearest(dtype, value) as u32).to_le_bytes());
        }
        Dtype::I16 | Dtype::U16 => {
            each(values, bytes, |value| (nearest(dtype, value) as u16).to_le_bytes());
        }
        Dtype::I8 | Dtype::U8 | Dtype::Bool => {
            each(values, bytes, |value| [nearest(dtype, value) as u8]);
        }
    }
}

/// Reads neighbours as numbers; a shorter `bytes` leaves the rest as it is.
///
/// Packed elements and integers are read one by one.
#[inline(always)]
pub fn load_reals(dtype: Dtype, bytes: &[u8], values: &mut [f64]) {
    fn each<const N: usize>(bytes: &[u8], values: &mut [f64], number: impl Fn([u8; N]) -> f64) {
        for (value, element) in values.iter_mut().zip(bytes.as_chunks::<N>().0) {
            *value = number(*element);
        }
    }
    match dtype {
        Dtype::F64 => each(bytes, values, f64::from_le_bytes),
        Dtype::F32 => each(bytes, values, |element| f64::from(f32::from_le_bytes(element))),
        Dtype::F16 => each(bytes, values, |element| {
            f64::from(HalfFormat::F16.to_f32(u16::from_le_bytes(element)))
        }),
        Dtype::Bf16 => each(bytes, values, |element| {
            f64::from(HalfFormat::Bf16.to_f32(u16::from_le_bytes(element)))
        }),
        Dtype::F8E4M3 => each(bytes, values, |[element]| f64::from(from_e4m3(element))),
        Dtype::F8E5M2 => each(bytes, values, |[element]| f64::from(from_e5m2(element))),
        Dtype::E2M1
        | Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::I4
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::U4
        | Dtype::Bool => {
            for (index, value) in values.iter_mut().enumerate() {
                if let Some(bits) = element_at(dtype, bytes, index) {
                    *value = real(dtype, bits);
                }
            }
        }
    }
}
