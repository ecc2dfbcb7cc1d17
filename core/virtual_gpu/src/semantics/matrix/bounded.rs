//! A faster form of the exact sum of `accumulate`, for elements whose exponents are bounded: significands are
//! prepared once for all outputs, and products are integers that a shift aligns and truncates.
//!
//! Halves and eight-bit elements are always bounded; the other types usually are. Elements that are not bounded are
//! left to `accumulate`, which is also the oracle of the tests.

use multiversion::multiversion;

use super::accumulate::{SumFormat, Summation, WIDTH};
use super::element::{Accumulator, Multiplicand, ZERO_EXPONENT};
use super::layout::Shape;

/// The exponents of non-zero elements of A and B for which no sum overflows or underflows f32.
const ELEMENTS: std::ops::RangeInclusive<i32> = -38..=60;
/// The exponents of C. A sum is a multiple of 2^-102, and so is the carry from group to group.
const SUMMANDS: std::ops::RangeInclusive<i32> = -76..=127;
/// The smallest exponent; only zeros are below.
const SMALLEST: i32 = -102;
/// The number of terms whose sum fits 32 bits: each is below `2^(FRACTION + 2)`.
const TERMS: usize = 8;
/// The largest number of fraction bits of a summation.
const FRACTION: u32 = 25;
/// Fraction bits of an f32.
const SINGLE: u32 = 23;
/// The largest number of elements of A, B or C.
const MOST: usize = 512;

/// The bit layout of a type.
#[derive(Clone, Copy)]
struct Layout {
    fraction: u32,
    exponent: u32,
    /// Bits below the fraction that are ignored.
    dropped: u32,
    /// Whether the largest exponent encodes no finite number.
    has_infinity: bool,
}

const fn layout(ty: Multiplicand) -> Layout {
    let (fraction, exponent, dropped) = match ty {
        Multiplicand::F16 => (10, 5, 0),
        Multiplicand::Bf16 => (7, 8, 0),
        Multiplicand::Tf32 => (10, 8, 13),
        Multiplicand::E4m3 => (3, 4, 0),
        Multiplicand::E5m2 => (2, 5, 0),
    };
    Layout { fraction, exponent, dropped, has_infinity: !matches!(ty, Multiplicand::E4m3) }
}

/// Magnitudes have fewer bits than this, so that one vector instruction multiplies sixteen of them.
const MAGNITUDE: u32 = (1 << 15) - 1;

type Eight<T> = [T; WIDTH];

/// Elements of eight columns, in one row.
#[derive(Clone, Copy, Default)]
struct Column {
    magnitudes: Eight<u32>,
    signs: Eight<u32>,
    exponents: Eight<i32>,
}

/// Eight consecutive values.
#[inline(always)]
fn eight<T: Copy + Default>(values: &[T; MOST], start: usize) -> Eight<T> {
    values[start..].first_chunk().copied().unwrap_or_default()
}

/// Decomposed numbers: `magnitude * 2^(exponent - …)`, with the sign as a mask. The exponent of zero is below all
/// others.
struct Numbers {
    magnitudes: [u32; MOST],
    signs: [u32; MOST],
    exponents: [i32; MOST],
}

impl Numbers {
    const fn new() -> Self {
        Self { magnitudes: [0; MOST], signs: [0; MOST], exponents: [0; MOST] }
    }

    /// Decomposes elements and shifts their significands; returns whether all are finite and bounded.
    #[inline(always)]
    fn take(&mut self, ty: Multiplicand, bits: &[u32], shift: u32) -> bool {
        match ty {
            Multiplicand::F16 => self.take_as(const { layout(Multiplicand::F16) }, bits, shift),
            Multiplicand::Bf16 => self.take_as(const { layout(Multiplicand::Bf16) }, bits, shift),
            Multiplicand::Tf32 => self.take_as(const { layout(Multiplicand::Tf32) }, bits, shift),
            Multiplicand::E4m3 => self.take_as(const { layout(Multiplicand::E4m3) }, bits, shift),
            Multiplicand::E5m2 => self.take_as(const { layout(Multiplicand::E5m2) }, bits, shift),
        }
    }

    /// Decomposes elements of one type, whose layout is a constant for the compiler: the loop vectorises.
    #[inline(always)]
    fn take_as(&mut self, layout: Layout, bits: &[u32], shift: u32) -> bool {
        let Layout { fraction, exponent, dropped, has_infinity } = layout;
        let (bias, whole) = ((1 << (exponent - 1)) - 1, (1_u32 << exponent) - 1);
        const BOUNDED: u32 = ELEMENTS.end().abs_diff(*ELEMENTS.start());
        let mut special = 0;
        let numbers = self.magnitudes.iter_mut().zip(&mut self.signs).zip(&mut self.exponents);
        for (((magnitude, sign), place), bits) in numbers.zip(bits) {
            let bits = bits >> dropped;
            let field = bits >> fraction & whole;
            let below = bits & ((1 << fraction) - 1);
            let significand = below | u32::from(field != 0) << fraction;
            // A subnormal number has the smallest normal exponent in the hardware.
            let exponent = field.max(1) as i32 - bias;
            let is_zero = significand == 0;
            special |= u32::from(field == whole) & u32::from(has_infinity | (below == 7));
            let beyond = (exponent - ELEMENTS.start()) as u32 > BOUNDED;
            special |= u32::from(beyond) & u32::from(!is_zero);
            *magnitude = significand << shift;
            *sign = 0_u32.wrapping_sub(bits >> (fraction + layout.exponent) & 1);
            *place = if is_zero { i32::from(ZERO_EXPONENT) } else { exponent };
        }
        special == 0
    }
}

/// A with bounded elements.
pub(super) struct Rows {
    shape: Shape,
    b_type: Multiplicand,
    numbers: Box<Numbers>,
    summation: Summation,
    /// The shift of the significands of B.
    shift: u32,
}

impl Rows {
    /// None if an element is out of bounds.
    pub(super) fn new(
        shape: Shape,
        (a_type, b_type): (Multiplicand, Multiplicand),
        a: &[u32],
        summation: Summation,
    ) -> Option<Self> {
        let Shape { m, n, k } = shape;
        let fits =
            n.is_multiple_of(WIDTH) && a.len() == m * k && a.len().max(n * k).max(m * n) <= MOST;
        // Products have the fraction of a sum. Each factor is shifted by half of that, so that both stay below 15 bits.
        let fractions = layout(a_type).fraction + layout(b_type).fraction;
        let shift = summation.fraction_bits as u32 - fractions;
        let mut numbers = Box::new(Numbers::new());
        let is_bounded = fits && numbers.take(a_type, a, shift.div_ceil(2));
        is_bounded.then_some(Self { shape, b_type, numbers, summation, shift: shift / 2 })
    }

    /// `sums` holds C and receives D, as bit patterns; returns false and changes nothing if a number is out of bounds.
    pub(super) fn multiply(&self, b: &[u32], sums: &mut [u32], c_type: Accumulator) -> bool {
        let Shape { m, n, k } = self.shape;
        if (b.len(), sums.len()) != (n * k, m * n) {
            return false;
        }
        let mut blocks = [0; MOST];
        for (column, line) in b.chunks_exact(k).enumerate() {
            let start = column / WIDTH * k * WIDTH + column % WIDTH;
            for (place, bits) in blocks[start..].iter_mut().step_by(WIDTH).zip(line) {
                *place = *bits;
            }
        }
        let mut numbers = [0.0; MOST];
        let numbers = &mut numbers[..sums.len()];
        for (number, bits) in numbers.iter_mut().zip(&*sums) {
            *number = c_type.number(*bits);
        }
        if !within(numbers, i32::from(c_type.smallest_exponent()))
            || !add_all(self, &blocks[..b.len()], numbers, c_type)
        {
            return false;
        }
        for (sum, number) in sums.iter_mut().zip(&*numbers) {
            *sum = match self.summation.result {
                SumFormat::F16 => half_bits(*number),
                SumFormat::F32 | SumFormat::Short => number.to_bits(),
            };
        }
        true
    }
}

/// Whether the exponents of summands are bounded.
fn within(numbers: &[f32], smallest: i32) -> bool {
    let (mut least, mut most) = (i32::MAX, i32::MIN);
    for number in numbers {
        let exponent = exponent(*number, smallest);
        let is_zero = exponent == i32::from(ZERO_EXPONENT);
        least = least.min(if is_zero { i32::MAX } else { exponent });
        most = most.max(exponent);
    }
    least >= *SUMMANDS.start() && most <= *SUMMANDS.end()
}

/// The exponent in the hardware; that of a subnormal number is the smallest normal one.
#[inline(always)]
fn exponent(value: f32, smallest: i32) -> i32 {
    let bits = value.to_bits();
    let exponent = ((bits >> SINGLE & 0xff) as i32 - 127).max(smallest);
    if bits << 1 == 0 { i32::from(ZERO_EXPONENT) } else { exponent }
}

/// All rows of A times B, whose columns are in blocks of eight.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn add_all(a: &Rows, b: &[u32], sums: &mut [f32], c_type: Accumulator) -> bool {
    let Rows { shape: Shape { n, k, .. }, b_type, numbers: ref rows, summation, shift } = *a;
    let mut columns = [Column::default(); MOST / WIDTH];
    let mut numbers = Numbers::new();
    if !numbers.take(b_type, b, shift) {
        return false;
    }
    for (index, column) in columns.iter_mut().take(b.len() / WIDTH).enumerate() {
        let start = index * WIDTH;
        *column = Column {
            magnitudes: eight(&numbers.magnitudes, start),
            signs: eight(&numbers.signs, start),
            exponents: eight(&numbers.exponents, start),
        };
    }
    let first = i32::from(c_type.smallest_exponent());
    let later = match summation.result {
        SumFormat::F16 => i32::from(Accumulator::F16.smallest_exponent()),
        SumFormat::F32 | SumFormat::Short => i32::from(Accumulator::F32.smallest_exponent()),
    };
    for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
        for (block, eight) in sums.chunks_exact_mut(WIDTH).enumerate() {
            let Some(eight) = eight.first_chunk_mut() else { return false };
            let mut smallest = first;
            // A range with a step would divide.
            let mut start = 0;
            while start < k {
                let length = summation.group.min(k - start);
                let row = row * k + start..row * k + start + length;
                let terms = Terms {
                    magnitudes: &rows.magnitudes[row.clone()],
                    signs: &rows.signs[row.clone()],
                    exponents: &rows.exponents[row],
                    columns: &columns,
                    first: block * k + start,
                };
                terms.add(eight, smallest, summation);
                smallest = later;
                start += length;
            }
        }
    }
    true
}

/// The products of one group: a part of a row and of eight columns.
struct Terms<'n> {
    magnitudes: &'n [u32],
    signs: &'n [u32],
    exponents: &'n [i32],
    columns: &'n [Column],
    /// The first element of the columns.
    first: usize,
}

impl Terms<'_> {
    /// Adds the products to eight numbers.
    #[inline(always)]
    fn add(&self, sums: &mut Eight<f32>, smallest: i32, summation: Summation) {
        let mut largest = sums.map(|sum| exponent(sum, smallest).max(SMALLEST));
        for (index, a) in self.exponents.iter().enumerate() {
            let b = self.columns[self.first + index].exponents;
            for lane in 0..WIDTH {
                largest[lane] = largest[lane].max(a + b[lane]);
            }
        }
        let mut partial = [0; WIDTH];
        for lane in 0..WIDTH {
            partial[lane] = summand(sums[lane], largest[lane], summation);
        }
        let mut totals = [0.0_f64; WIDTH];
        let mut index = 0;
        while index < self.magnitudes.len() {
            let end = self.magnitudes.len().min(index + TERMS);
            while index < end {
                self.add_one(index, &largest, &mut partial);
                index += 1;
            }
            for lane in 0..WIDTH {
                totals[lane] += f64::from(partial[lane]);
            }
            partial = [0; WIDTH];
        }
        for lane in 0..WIDTH {
            let exponent = largest[lane] - i32::from(summation.fraction_bits);
            totals[lane] *= f64::from_bits(((exponent + 1023) as u64) << 52);
        }
        *sums = round(totals, summation.result);
    }

    /// Adds the products of one element of the row.
    #[inline(always)]
    fn add_one(&self, index: usize, largest: &Eight<i32>, partial: &mut Eight<i32>) {
        let magnitude = self.magnitudes[index] & MAGNITUDE;
        let (sign, exponent) = (self.signs[index], self.exponents[index]);
        let Column { magnitudes, signs, exponents } = self.columns[self.first + index];
        for lane in 0..WIDTH {
            let below = (largest[lane] - exponent - exponents[lane]) as u32;
            // The shift truncates.
            let term = (magnitude * (magnitudes[lane] & MAGNITUDE)) >> below.min(31);
            let sign = sign ^ signs[lane];
            partial[lane] = partial[lane].wrapping_add((term ^ sign).wrapping_sub(sign) as i32);
        }
    }
}

/// The carried sum, aligned and truncated.
#[inline(always)]
fn summand(sum: f32, largest: i32, summation: Summation) -> i32 {
    let bits = sum.to_bits();
    let field = bits >> SINGLE & 0xff;
    let significand = (bits & ((1 << SINGLE) - 1) | 1 << SINGLE) << (FRACTION - SINGLE);
    // An infinite sum exceeds everything that can be added to it.
    let magnitude = match field {
        0 => 0,
        0xff => 1 << 30,
        _ => significand,
    };
    let below =
        largest - (field as i32 - 127) + (FRACTION as i32 - i32::from(summation.fraction_bits));
    let sign = 0_u32.wrapping_sub(bits >> 31);
    ((magnitude >> (below as u32).min(31)) ^ sign).wrapping_sub(sign) as i32
}

#[inline(always)]
fn round(totals: [f64; WIDTH], format: SumFormat) -> [f32; WIDTH] {
    // No sum here is too small for f32 to represent the rest of it.
    let cut =
        |bits: u32| totals.map(|total| f64::from_bits(total.to_bits() >> bits << bits) as f32);
    match format {
        SumFormat::F32 => cut(29),
        SumFormat::Short => cut(39),
        SumFormat::F16 => totals.map(half),
    }
}

/// The nearest f16, ties to even: adding a number whose last bit is the last bit of f16 rounds there.
#[inline(always)]
fn half(value: f64) -> f32 {
    let exponent = (value.to_bits() >> 52 & 0x7ff).max(1023 - 14);
    let anchor = f64::from_bits((exponent + 42) << 52);
    let rounded = ((value.abs() + anchor) - anchor) as f32;
    let limited = if rounded >= 65_536.0 { f32::INFINITY } else { rounded };
    limited.copysign(value as f32)
}

/// The f16 encoding of a number that is representable as f16.
#[inline(always)]
fn half_bits(number: f32) -> u32 {
    let scaled = number.abs() * f32::from_bits(0x0780_0000); // 2^-112
    (scaled.to_bits() >> 13).min(0x7c00) | number.to_bits() >> 16 & 0x8000
}
