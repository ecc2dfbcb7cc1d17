//! The exact sum of `accumulate`, faster, for elements whose exponents are bounded: f32 then holds every product, so
//! that one factor for each output aligns all of its terms.
//!
//! Halves and eight-bit elements always are; the others as a rule. Whatever is not is left to `accumulate`, which is
//! also the oracle of the tests.

use multiversion::multiversion;

use super::accumulate::{SumFormat, Summation, WIDTH};
use super::element::{Accumulator, Multiplicand, ZERO_EXPONENT};
use super::layout::Shape;

/// Exponents of elements of A and B that are not zero. Products lie between 2^-76 and 2^122 and are f32.
const ELEMENTS: std::ops::RangeInclusive<i16> = -38..=60;
/// Exponents of C. A sum is a multiple of 2^-102, and so is what is carried from group to group.
const SUMMANDS: std::ops::RangeInclusive<i16> = -76..=127;
/// Below this nothing but zeros is added; the factor is still an f32.
const SMALLEST: i16 = -102;
/// Terms of which 32 bits hold a sum, with one more of the size of C.
const TERMS: usize = 8;

/// Numbers with their exponents; a zero's is below all others.
struct Numbers {
    values: Vec<f32>,
    exponents: Vec<i16>,
}

/// What is added up, taken apart: A by rows, B in blocks of eight columns, one block after the other.
pub(super) struct Bounded {
    shape: Shape,
    a: Numbers,
    b: Numbers,
}

impl Bounded {
    /// None if an exponent is out of bounds, as those of infinities and NaN are.
    pub(super) fn new(
        shape: Shape,
        (a_type, b_type, c_type): (Multiplicand, Multiplicand, Accumulator),
        (a, b, c): (&[f32], &[f32], &[f32]),
    ) -> Option<Self> {
        let Shape { n, k, .. } = shape;
        let mut blocks = vec![0.0; b.len()];
        for (column, line) in b.chunks_exact(k).enumerate() {
            let (block, lane) = (column / WIDTH, column % WIDTH);
            let block = &mut blocks[block * k * WIDTH..(block + 1) * k * WIDTH];
            for (eight, number) in block.chunks_exact_mut(WIDTH).zip(line) {
                eight[lane] = *number;
            }
        }
        if !n.is_multiple_of(WIDTH) || !within(c, c_type.smallest_exponent(), SUMMANDS) {
            return None;
        }
        let a = Numbers::new(a.to_vec(), a_type.smallest_exponent())?;
        let b = Numbers::new(blocks, b_type.smallest_exponent())?;
        Some(Self { shape, a, b })
    }

    /// `sums` holds C and receives D, as numbers.
    pub(super) fn add(
        &self,
        sums: &mut [f32],
        (c, d): (Accumulator, Accumulator),
        summation: Summation,
    ) {
        let Shape { n, k, .. } = self.shape;
        let rows = self.a.values.chunks_exact(k).zip(self.a.exponents.chunks_exact(k));
        for (row, sums) in rows.zip(sums.chunks_exact_mut(n)) {
            let values = self.b.values.chunks_exact(k * WIDTH);
            let blocks = values.zip(self.b.exponents.chunks_exact(k * WIDTH));
            for (block, eight) in blocks.zip(sums.chunks_exact_mut(WIDTH)) {
                let Some(eight) = eight.first_chunk_mut() else { return };
                add_row(
                    row,
                    block,
                    eight,
                    (c.smallest_exponent(), d.smallest_exponent()),
                    summation,
                );
            }
        }
    }
}

impl Numbers {
    fn new(values: Vec<f32>, smallest: i16) -> Option<Self> {
        if !within(&values, smallest, ELEMENTS) {
            return None;
        }
        let exponents = values.iter().map(|value| exponent(*value, smallest)).collect();
        Some(Self { values, exponents })
    }
}

fn within(values: &[f32], smallest: i16, bounds: std::ops::RangeInclusive<i16>) -> bool {
    let (least, most) = values.iter().fold((i16::MAX, i16::MIN), |(least, most), value| {
        let exponent = exponent(*value, smallest);
        let is_zero = exponent == ZERO_EXPONENT;
        let floor = if is_zero { i16::MAX } else { exponent };
        (least.min(floor), most.max(exponent))
    });
    least >= *bounds.start() && most <= *bounds.end()
}

/// The exponent that hardware sees: of a subnormal number that of the smallest normal one.
#[inline(always)]
fn exponent(value: f32, smallest: i16) -> i16 {
    let bits = value.to_bits();
    let exponent = ((bits >> 23 & 0xff) as i16 - 127).max(smallest);
    if bits << 1 == 0 { ZERO_EXPONENT } else { exponent }
}

/// One row of A times eight columns of B, group by group.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn add_row(
    row: (&[f32], &[i16]),
    block: (&[f32], &[i16]),
    sums: &mut [f32; WIDTH],
    (mut smallest, later): (i16, i16),
    summation: Summation,
) {
    let group = summation.group;
    let values = row.0.chunks(group).zip(block.0.chunks(group * WIDTH));
    let exponents = row.1.chunks(group).zip(block.1.chunks(group * WIDTH));
    for ((a, b), (a_exponents, b_exponents)) in values.zip(exponents) {
        let mut largest = sums.map(|sum| exponent(sum, smallest));
        for (a, b) in a_exponents.iter().zip(b_exponents.as_chunks::<WIDTH>().0) {
            for lane in 0..WIDTH {
                largest[lane] = largest[lane].max(a.wrapping_add(b[lane]));
            }
        }
        let largest = largest.map(|exponent| exponent.max(SMALLEST));
        let factors = largest.map(|exponent| {
            let biased = i32::from(summation.fraction_bits) - i32::from(exponent) + 127;
            f32::from_bits((biased as u32) << 23)
        });
        let mut totals = [0.0_f64; WIDTH];
        let mut partial = [0_i32; WIDTH];
        for lane in 0..WIDTH {
            // The conversion is what truncates.
            partial[lane] = (sums[lane] * factors[lane]) as i32;
        }
        for (a, b) in a.chunks(TERMS).zip(b.chunks(TERMS * WIDTH)) {
            for (a, b) in a.iter().zip(b.as_chunks::<WIDTH>().0) {
                for lane in 0..WIDTH {
                    let term = (a * b[lane] * factors[lane]) as i32;
                    partial[lane] = partial[lane].wrapping_add(term);
                }
            }
            for lane in 0..WIDTH {
                totals[lane] += f64::from(partial[lane]);
            }
            partial = [0; WIDTH];
        }
        for lane in 0..WIDTH {
            let exponent = i32::from(largest[lane]) - i32::from(summation.fraction_bits);
            let scale = f64::from_bits(((exponent + 1023) as u64) << 52);
            totals[lane] *= scale;
        }
        *sums = round(totals, summation.result);
        smallest = later;
    }
}

#[inline(always)]
fn round(totals: [f64; WIDTH], format: SumFormat) -> [f32; WIDTH] {
    // No sum here is so small that f32 could not hold what is left of it.
    let cut =
        |bits: u32| totals.map(|total| f64::from_bits(total.to_bits() >> bits << bits) as f32);
    match format {
        SumFormat::F32 => cut(29),
        SumFormat::Short => cut(39),
        SumFormat::F16 => totals.map(half),
    }
}

/// The number of the nearest f16, halfway cases to the even one: adding a number whose last bit is the f16's last
/// bit rounds there.
#[inline(always)]
fn half(value: f64) -> f32 {
    let exponent = (value.to_bits() >> 52 & 0x7ff).max(1023 - 14);
    let anchor = f64::from_bits((exponent + 42) << 52);
    let rounded = ((value.abs() + anchor) - anchor) as f32;
    let limited = if rounded >= 65_536.0 { f32::INFINITY } else { rounded };
    limited.copysign(value as f32)
}

/// The f16 of a number that is one.
#[inline(always)]
pub(super) fn half_bits(number: f32) -> u32 {
    let scaled = number.abs() * f32::from_bits(0x0780_0000); // 2^-112
    (scaled.to_bits() >> 13).min(0x7c00) | number.to_bits() >> 16 & 0x8000
}
