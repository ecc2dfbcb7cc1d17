//! Texture fetches: coordinates, addresses outside, weights and sums, as recorded on an H200.
//!
//! The CUDA C++ Programming Guide ("Texture Fetching") leaves open how coordinates, weights and sums are rounded. All
//! numbers here follow from fetches that an H200 did; `recorded/texture_fetches.txt` of the machine's tests has a part
//! of them.

use lightbench_primitives::half::HalfFormat;
use lightbench_primitives::texture::{
    Sampling, TexelFormat, TextureAddress, TextureCoordinates, TextureRead,
};

/// Bits of the fraction of a normalized coordinate.
const NORMALIZED_BITS: u32 = 21;
/// Bits of the weight of a texel.
const WEIGHT_BITS: u32 = 8;
/// The sum of the weights of a fetch.
const ONE: u32 = 1 << WEIGHT_BITS;
/// The f32 that filters return for what is not a number.
const NAN: u32 = 0x7fff_ffff;

/// The texels along one dimension between which a filter interpolates: the first one, and the weight of the second one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) first: i64,
    pub(crate) weight: u32,
}

/// A coordinate in units of 2^-21 of the extent.
fn normalized(coordinate: f32, address: TextureAddress) -> i128 {
    let coordinate = match address {
        // Whole textures and pairs of them do not matter.
        TextureAddress::Wrap | TextureAddress::Mirror => f64::from(coordinate).rem_euclid(2.0),
        TextureAddress::Clamp | TextureAddress::Border => f64::from(coordinate),
    };
    // NaN becomes 0.
    (coordinate * f64::from(1 << NORMALIZED_BITS)).floor() as i64 as i128
}

/// The coordinate with subnormal numbers as zero.
fn flushed(coordinate: f32) -> f32 {
    if coordinate.is_subnormal() { 0.0 } else { coordinate }
}

/// The index of the texel at a coordinate.
pub(crate) fn point(coordinate: f32, extent: u64, sampling: &Sampling) -> i64 {
    let coordinate = flushed(coordinate);
    match sampling.coordinates {
        TextureCoordinates::Texels => coordinate.floor() as i64,
        TextureCoordinates::Normalized => {
            ((normalized(coordinate, sampling.address) * i128::from(extent)) >> NORMALIZED_BITS)
                as i64
        }
    }
}

/// The texels around a coordinate, in units of 2^-8, rounded to the nearest, ties up.
pub(crate) fn interval(coordinate: f32, extent: u64, sampling: &Sampling) -> Interval {
    let coordinate = flushed(coordinate);
    let half = i64::from(ONE / 2);
    let fixed = match sampling.coordinates {
        TextureCoordinates::Texels => (f64::from(coordinate) * f64::from(ONE) + 0.5).floor() as i64,
        TextureCoordinates::Normalized => {
            let fine = normalized(coordinate, sampling.address) * i128::from(extent);
            let up = 1 << (NORMALIZED_BITS - WEIGHT_BITS - 1);
            ((fine + up) >> (NORMALIZED_BITS - WEIGHT_BITS)) as i64
        }
    };
    let fixed = fixed.saturating_sub(half);
    Interval { first: fixed >> WEIGHT_BITS, weight: (fixed & i64::from(ONE - 1)) as u32 }
}

impl Interval {
    /// The interval of a filter that clamps: outside of the centres of the outer texels their weight is one.
    pub(crate) fn clamped(self, extent: u64) -> Self {
        let last = extent as i64 - 1;
        if self.first < 0 {
            Self { first: 0, weight: 0 }
        } else if self.first >= last {
            Self { first: last, weight: 0 }
        } else {
            self
        }
    }
}

/// The texel that stands for an index; none is the border.
pub(crate) fn addressed(index: i64, extent: u64, address: TextureAddress) -> Option<u64> {
    let count = extent as i64;
    match address {
        TextureAddress::Clamp => Some(index.clamp(0, count - 1) as u64),
        TextureAddress::Border => (0..count).contains(&index).then_some(index as u64),
        TextureAddress::Wrap => Some(index.rem_euclid(count) as u64),
        TextureAddress::Mirror => {
            let place = index.rem_euclid(2 * count);
            Some(if place < count { place } else { 2 * count - 1 - place } as u64)
        }
    }
}

/// The weights of the eight corners, the first dimension varying fastest; dimensions that a texture lacks have weight 0
/// for the second texel. They are split along the last dimension first, and each half is the rest of the other.
pub(crate) fn weights([x, y, z]: [u32; 3]) -> [u32; 8] {
    let mut all = [0; 8];
    for (plane, whole) in all.as_chunks_mut::<4>().0.iter_mut().zip([ONE - z, z]) {
        let second = (whole * x + ONE / 2) >> WEIGHT_BITS;
        let first = whole - second;
        let first_up = (first * y + (ONE / 2 - 1)) >> WEIGHT_BITS;
        let second_up = (second * y + ONE / 2) >> WEIGHT_BITS;
        *plane = [first - first_up, second - second_up, first_up, second_up];
    }
    all
}

/// The value of a fetch of one texel: the bits of an f32, or an integer extended to 32 bits.
pub(crate) fn element(format: TexelFormat, read: TextureRead, bits: u32) -> u32 {
    let signed = match format {
        TexelFormat::I8 => i32::from(bits as i8),
        TexelFormat::I16 => i32::from(bits as i16),
        TexelFormat::F16 => return HalfFormat::F16.to_f32(bits as u16).to_bits(),
        TexelFormat::F32
        | TexelFormat::I32
        | TexelFormat::U32
        | TexelFormat::U16
        | TexelFormat::U8 => bits as i32,
    };
    match (read, largest(format)) {
        (TextureRead::Normalized, Some(largest)) => {
            (signed as f32 / largest as f32).max(-1.0).to_bits()
        }
        (TextureRead::Normalized | TextureRead::Element, _) => signed as u32,
    }
}

/// The value that a gather returns of a texel: subnormal f32 become zero.
pub(crate) fn gathered(format: TexelFormat, read: TextureRead, bits: u32) -> u32 {
    let is_subnormal = format == TexelFormat::F32 && f32::from_bits(bits).is_subnormal();
    element(format, read, if is_subnormal { bits & 0x8000_0000 } else { bits })
}

/// The element that a normalized read returns as 1.
const fn largest(format: TexelFormat) -> Option<i32> {
    match format {
        TexelFormat::I8 => Some(127),
        TexelFormat::U8 => Some(255),
        TexelFormat::I16 => Some(32_767),
        TexelFormat::U16 => Some(65_535),
        TexelFormat::F32 | TexelFormat::F16 | TexelFormat::I32 | TexelFormat::U32 => None,
    }
}

/// The weighted sum of texels as the bits of an f32; texels of the border are zero. Integers are read as normalized.
pub(crate) fn filtered(format: TexelFormat, weights: &[u32; 8], texels: &[u32; 8]) -> u32 {
    let sum = |value: &dyn Fn(u32) -> i32| {
        let products = weights.iter().zip(texels);
        let sum: i32 = products.map(|(weight, bits)| *weight as i32 * value(*bits)).sum();
        (sum + ONE as i32 / 2) >> WEIGHT_BITS
    };
    let ratio = |value: i32, largest: u16| (value as f32 / f32::from(largest)).to_bits();
    match format {
        TexelFormat::F32 => SINGLE.sum(weights, texels),
        TexelFormat::F16 => {
            let widened = texels.map(|bits| HalfFormat::F16.to_f32(bits as u16).to_bits());
            HALF.sum(weights, &widened)
        }
        // An element of 8 bits is filtered with 16: 255 becomes 65535.
        TexelFormat::U8 => ratio(sum(&|bits| (bits * 257) as i32), u16::MAX),
        TexelFormat::U16 => ratio(sum(&|bits| bits as i32), u16::MAX),
        TexelFormat::I16 => {
            let value = sum(&|bits| i32::from(bits as i16));
            ratio(value.max(-i32::from(i16::MAX)), i16::MAX as u16)
        }
        // No filter reads them; `TextureObject::check` rejects them.
        TexelFormat::I8 | TexelFormat::I32 | TexelFormat::U32 => 0,
    }
}

/// How texels of a floating-point type are summed: the four corners of a plane are aligned to the largest, whose
/// significand has so many bits, and truncated.
struct FloatFilter {
    aligned_bits: i32,
    /// Whether the sum of the other plane is aligned to that of the larger texels, and truncated too.
    aligns_planes: bool,
    result_bits: i32,
    /// The exponent of the smallest unit of a result.
    smallest_unit: i32,
    /// Results below become zero.
    smallest_result: f64,
}

const SINGLE: FloatFilter = FloatFilter {
    aligned_bits: 28,
    aligns_planes: false,
    result_bits: 24,
    smallest_unit: -149,
    smallest_result: f32::MIN_POSITIVE as f64,
};

const HALF: FloatFilter = FloatFilter {
    aligned_bits: 15,
    aligns_planes: true,
    result_bits: 11,
    smallest_unit: -24,
    smallest_result: 0.0,
};

/// A sum of products in units of a power of two.
#[derive(Clone, Copy)]
struct Sum {
    units: i128,
    exponent: i32,
}

impl FloatFilter {
    fn sum(&self, weights: &[u32; 8], texels: &[u32; 8]) -> u32 {
        let weighted = || {
            let pairs = weights.iter().zip(texels).filter(|(weight, _)| **weight != 0);
            pairs.map(|(_, bits)| f32::from_bits(*bits))
        };
        let has = |value: f32| weighted().any(|texel| texel == value);
        let (up, down) = (has(f32::INFINITY), has(f32::NEG_INFINITY));
        if weighted().any(f32::is_nan) || up && down {
            return NAN;
        }
        if up || down {
            return if up { f32::INFINITY } else { f32::NEG_INFINITY }.to_bits();
        }
        let (weights, texels) = (weights.as_chunks::<4>().0, texels.as_chunks::<4>().0);
        let mut planes = weights.iter().zip(texels).filter_map(|(w, t)| self.plane(w, t));
        let sum = match (planes.next(), planes.next()) {
            (Some(first), Some(second)) if first.exponent < second.exponent => {
                self.both(second, first)
            }
            (Some(first), Some(second)) => self.both(first, second),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => Sum { units: 0, exponent: 0 },
        };
        if sum.units == 0 {
            let is_negative = weighted().all(f32::is_sign_negative);
            return if is_negative { -0.0_f32 } else { 0.0 }.to_bits();
        }
        self.rounded(sum)
    }

    /// The sum of four products; none if all are zero.
    fn plane(&self, weights: &[u32; 4], texels: &[u32; 4]) -> Option<Sum> {
        let products = || {
            let pairs = weights.iter().zip(texels).filter(|(weight, _)| **weight != 0);
            pairs.filter_map(|(weight, bits)| {
                let (significand, exponent) = parts(*bits)?;
                Some((i64::from(*weight), significand, exponent))
            })
        };
        let unit = products().map(|(_, _, exponent)| exponent).max()? + 24 - self.aligned_bits;
        let sum: i64 = products()
            .map(|(weight, significand, exponent)| weight * aligned(significand, exponent - unit))
            .sum();
        Some(Sum { units: sum.into(), exponent: unit - WEIGHT_BITS as i32 })
    }

    /// The sum of two planes, the first with the larger unit.
    fn both(&self, first: Sum, second: Sum) -> Sum {
        /// Bits between two units that an exact sum needs: beyond, the smaller one only decides ties.
        const EXACT: i32 = 60;
        let distance = first.exponent - second.exponent;
        if self.aligns_planes {
            let aligned = second.units / (1_i128 << distance.min(100));
            return Sum { units: first.units + aligned, ..first };
        }
        if distance <= EXACT || first.units == 0 {
            let units = (first.units << distance.min(EXACT)) + second.units;
            return Sum { units, ..second };
        }
        let rest = second.units >> (distance - EXACT).min(100) | 1;
        Sum { units: (first.units << EXACT) + rest, exponent: first.exponent - EXACT }
    }

    /// The nearest result, ties away from zero, as the bits of an f32.
    fn rounded(&self, sum: Sum) -> u32 {
        let size = sum.units.unsigned_abs();
        let length = 128 - size.leading_zeros() as i32;
        let drop = (length - self.result_bits).max(self.smallest_unit - sum.exponent);
        let (digits, exponent) = if drop > 0 {
            ((size >> (drop - 1)).div_ceil(2), sum.exponent + drop)
        } else {
            (size, sum.exponent)
        };
        // At most 24 bits, within the range of f64.
        let value = digits as f64 * 2.0_f64.powi(exponent);
        let value = if value < self.smallest_result { 0.0 } else { value as f32 };
        if sum.units < 0 { -value } else { value }.to_bits()
    }
}

/// The significand of 24 bits with its sign, and the exponent of its unit; none for zero and subnormal numbers.
fn parts(bits: u32) -> Option<(i64, i32)> {
    let value = f32::from_bits(bits);
    if !value.is_normal() {
        return None;
    }
    let significand = i64::from(bits & 0x007f_ffff | 0x0080_0000);
    let exponent = (bits >> 23 & 0xff) as i32 - 150;
    Some((if value < 0.0 { -significand } else { significand }, exponent))
}

/// A significand in another unit, truncated.
fn aligned(significand: i64, shift: i32) -> i64 {
    if shift >= 0 { significand << shift } else { significand / (1_i64 << (-shift).min(62)) }
}
