//! Summation of the products of tensor cores.
//!
//! PTX does not specify order and rounding ("The accumulation order, rounding and handling of subnormal inputs are
//! unspecified"). The exact models are those published with MMA-Sim (arXiv:2511.10909), which were found bitwise
//! equal to hardware: the exact products of a group and c are aligned to the largest exponent, each is truncated to
//! F fractional bits, and their sum is rounded once, to f32 towards zero or to f16 to nearest.

use super::super::half::HalfFormat;
use super::element::{Accumulator, Multiplicand, Parts, ZERO_EXPONENT};

/// Generations of tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// sm_75
    Turing,
    /// sm_80 to sm_87
    Ampere,
    /// sm_89
    Ada,
    /// sm_90
    Hopper,
    /// sm_100 and later
    Blackwell,
}

/// The kind of instruction that issues a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Issuer {
    /// `mma` and `wmma`.
    Warp,
    /// `wgmma`.
    Warpgroup,
}

/// The parameters of a summation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summation {
    /// Fraction bits that are kept below the largest exponent.
    pub(super) fraction_bits: i16,
    /// The number of products that are added before the sum is rounded.
    pub(super) group: usize,
    /// The format of the rounded sum.
    pub(super) result: SumFormat,
}

/// The format of a rounded sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SumFormat {
    /// f16, to nearest even.
    F16,
    /// f32, towards zero.
    F32,
    /// f32 with 13 bits of fraction, towards zero.
    Short,
}

impl Summation {
    /// The model of an architecture; MMA-Sim, `nv_ptx/sim.py`. Eight-bit products of a warpgroup on Hopper are as on
    /// Ada, but in groups of 32: no difference from an H200 in 32,768 products of each combination of types.
    pub(super) fn new(
        (architecture, issuer): (Architecture, Issuer),
        multiplicand: Multiplicand,
        accumulator: Accumulator,
    ) -> Self {
        let eight_bits = matches!(multiplicand, Multiplicand::E4m3 | Multiplicand::E5m2);
        let short =
            eight_bits && (architecture == Architecture::Ada || issuer == Issuer::Warpgroup);
        let (fraction_bits, bytes) = match architecture {
            Architecture::Turing | Architecture::Ampere => (24, 16),
            Architecture::Ada => (24, 16),
            Architecture::Hopper | Architecture::Blackwell => (25, 32),
        };
        Self {
            fraction_bits: if short { 13 } else { fraction_bits },
            group: bytes / (multiplicand.bits() as usize / 8),
            result: match accumulator {
                Accumulator::F16 => SumFormat::F16,
                Accumulator::F32 if short => SumFormat::Short,
                Accumulator::F32 => SumFormat::F32,
            },
        }
    }
}

/// Columns that are computed together: the number of 16-bit exponents in a vector register of every host.
pub(super) const WIDTH: usize = 8;

/// The number of terms whose sum fits 32 bits.
const TERMS: usize = 8;

/// Adds one row of A times eight columns of B, of a whole group, to eight numbers.
///
/// `row` is the group's elements of A; `columns[k]` are the k-th elements of the eight columns.
#[inline]
pub(super) fn add_group(
    row: &[Parts],
    columns: &[Columns],
    sums: &mut [f32; WIDTH],
    accumulator: Accumulator,
    summation: Summation,
) {
    let carried = sums.map(|number| accumulator.parts(number));
    let mut largest = carried.map(|parts| parts.exponent);
    for (a, column) in row.iter().zip(columns) {
        for (largest, exponent) in largest.iter_mut().zip(&column.exponents) {
            // The exponent of zero stays below all others after any addition.
            *largest = (*largest).max(a.exponent.wrapping_add(*exponent));
        }
    }
    let largest = largest.map(|exponent| exponent.max(ZERO_EXPONENT / 2));
    let mut total = [0_i64; WIDTH];
    for lane in 0..WIDTH {
        let scale = power(carried[lane].exponent, largest[lane], summation.fraction_bits);
        total[lane] = i64::from((carried[lane].significand * scale) as i32);
    }
    for (row, columns) in row.chunks(TERMS).zip(columns.chunks(TERMS)) {
        let mut partial = [0_i32; WIDTH];
        for (a, column) in row.iter().zip(columns) {
            for lane in 0..WIDTH {
                let exponent = a.exponent.wrapping_add(column.exponents[lane]);
                let scale = power(exponent, largest[lane], summation.fraction_bits);
                let term = a.significand * column.significands[lane] * scale;
                // The conversion truncates.
                partial[lane] = partial[lane].wrapping_add(term as i32);
            }
        }
        for (total, partial) in total.iter_mut().zip(partial) {
            *total = total.wrapping_add(i64::from(partial));
        }
    }
    for lane in 0..WIDTH {
        let exponent = i32::from(largest[lane] - summation.fraction_bits);
        sums[lane] = summation.result.round(total[lane], exponent);
    }
}

/// The k-th elements of eight columns, decomposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) significands: [f32; WIDTH],
    pub(super) exponents: [i16; WIDTH],
}

/// `2^(exponent - largest + bits)`, or zero if that is negligible.
#[inline]
fn power(exponent: i16, largest: i16, bits: i16) -> f32 {
    // Wrapping arithmetic, although it never wraps: a check of every term would cost more than the sum.
    let biased = exponent.wrapping_sub(largest).wrapping_add(bits + 127).max(0);
    f32::from_bits((biased as u32) << 23)
}

impl SumFormat {
    /// `sum * 2^exponent`, rounded.
    #[inline]
    fn round(self, sum: i64, exponent: i32) -> f32 {
        if sum == 0 {
            return 0.0;
        }
        let scale = f64::from_bits(((exponent + 1023) as u64) << 52);
        let value = sum as f64 * scale;
        match self {
            Self::F16 => HalfFormat::F16.to_f32(HalfFormat::F16.nearest(value)),
            Self::F32 => truncated(value, 29),
            Self::Short => truncated(value, 39),
        }
    }
}

/// The f32 next to a value towards zero, without the low bits of its f64 form; infinity beyond the largest f32.
#[inline]
fn truncated(value: f64, cut: u32) -> f32 {
    let shorter = f64::from_bits(value.to_bits() >> cut << cut);
    let nearest = shorter as f32;
    // Only a subnormal result can have been rounded up here.
    let above = f64::from(nearest).abs() > shorter.abs() && nearest.is_finite();
    f32::from_bits(nearest.to_bits() - u32::from(above))
}
