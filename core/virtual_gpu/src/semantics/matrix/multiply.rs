//! Matrix products.

use super::super::float::{CANONICAL_NAN_F32, multiply_add_f64};
use super::super::half::{CANONICAL_NAN, HalfFormat};
use super::super::{Overflow, Rounding};
use super::accumulate::{Architecture, Columns, Issuer, Summation, WIDTH, add_group};
use super::bounded;
use super::element::{Accumulator, Multiplicand, Parts};
use super::layout::Shape;

/// The operation that replaces the product of single bits; the ones in the result are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitProduct {
    And,
    Xor,
}

/// The types of a floating-point product; A and B may differ for eight-bit types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatTypes {
    /// Element type of A.
    pub a: Multiplicand,
    /// Element type of B.
    pub b: Multiplicand,
    /// Element type of C.
    pub c: Accumulator,
    /// Element type of D.
    pub d: Accumulator,
}

/// D = A × B + C of floating-point numbers; `sums` holds C and receives D. The number of columns is a multiple of
/// eight, and sums have at most 64 products. `issuer` is the kind of instruction.
///
/// With [`super::Architecture::Hopper`] the result is bitwise that of an H200, except `mma.m8n8k4` of f16, which that
/// GPU computes without tensor cores: the last bit can differ.
pub fn multiply_float(
    shape: Shape,
    types: FloatTypes,
    a: &[u32],
    b: &[u32],
    sums: &mut [u32],
    model: (Architecture, Issuer),
) {
    FloatRows::new(shape, types, a, model).multiply(b, sums);
}

/// A, prepared for products with several matrices.
pub struct FloatRows<'a> {
    shape: Shape,
    types: FloatTypes,
    a: &'a [u32],
    prepared: Prepared,
}

enum Prepared {
    /// For the exact sum of bounded elements.
    Bounded(Summation, bounded::Rows),
    /// For the exact sum of any elements.
    Special(Summation),
    ByHalves(Summation),
}

impl<'a> FloatRows<'a> {
    /// The parameters are those of [`multiply_float`].
    #[must_use]
    pub fn new(
        shape: Shape,
        types: FloatTypes,
        a: &'a [u32],
        (architecture, issuer): (Architecture, Issuer),
    ) -> Self {
        let summation = Summation::new((architecture, issuer), types.a, types.d);
        let by_halves = architecture == Architecture::Hopper
            && issuer == Issuer::Warp
            && types.a.bits() == 8
            && types.d == Accumulator::F32;
        let prepared = if by_halves {
            Prepared::ByHalves(summation)
        } else {
            match bounded::Rows::new(shape, (types.a, types.b), a, summation) {
                Some(rows) => Prepared::Bounded(summation, rows),
                None => Prepared::Special(summation),
            }
        };
        Self { shape, types, a, prepared }
    }

    /// As [`multiply_float`].
    pub fn multiply(&self, b: &[u32], sums: &mut [u32]) {
        let Self { shape, types, a, prepared } = self;
        let product =
            |summation: &Summation| Product { shape: *shape, types: *types, summation: *summation };
        match prepared {
            Prepared::Bounded(summation, rows) => {
                if !rows.multiply(b, sums, types.c) {
                    product(summation).sum_special(a, b, sums);
                }
            }
            Prepared::Special(summation) => product(summation).sum_special(a, b, sums),
            Prepared::ByHalves(summation) => product(summation).sum_by_halves(a, b, sums),
        }
    }
}

impl FloatTypes {
    /// A, B and C as f32, which represents all of them.
    fn numbers(self, a: &[u32], b: &[u32], c: &[u32]) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
        let number = |ty: Multiplicand| move |bits: &u32| ty.number(*bits);
        (
            a.iter().map(number(self.a)).collect(),
            b.iter().map(number(self.b)).collect(),
            c.iter().map(|bits| self.c.number(*bits)).collect(),
        )
    }
}

/// A product with an exact sum.
struct Product {
    shape: Shape,
    types: FloatTypes,
    summation: Summation,
}

impl Product {
    /// Returns false and changes nothing if a number is out of bounds.
    fn sum_bounded(&self, a: &[u32], b: &[u32], sums: &mut [u32]) -> bool {
        let FloatTypes { a: a_type, b: b_type, c: c_type, d: _ } = self.types;
        bounded::Rows::new(self.shape, (a_type, b_type), a, self.summation)
            .is_some_and(|rows| rows.multiply(b, sums, c_type))
    }

    /// The sum of any numbers, including infinities and NaN.
    fn sum_special(&self, a: &[u32], b: &[u32], sums: &mut [u32]) {
        let (a, b, c) = self.types.numbers(a, b, sums);
        self.sum_any(&a, &b, &c, sums);
        if !a.iter().chain(&b).chain(&c).all(|number| number.is_finite()) {
            self.mend(&a, &b, &c, sums);
        }
    }

    /// The sum of any finite numbers.
    fn sum_any(&self, a: &[f32], b: &[f32], c: &[f32], sums: &mut [u32]) {
        let Shape { m, n, k } = self.shape;
        let rows: Vec<Parts> = a.iter().map(|number| self.types.a.parts(*number)).collect();
        for first in (0..n).step_by(WIDTH) {
            let columns: Vec<Columns> = (0..k)
                .map(|index| {
                    let parts: [Parts; WIDTH] = std::array::from_fn(|lane| {
                        self.types.b.parts(b[(first + lane) * k + index])
                    });
                    Columns {
                        significands: parts.map(|parts| parts.significand),
                        exponents: parts.map(|parts| parts.exponent),
                    }
                })
                .collect();
            for row in 0..m {
                let at = row * n + first;
                let mut eight: [f32; WIDTH] = std::array::from_fn(|lane| c[at + lane]);
                let mut accumulator = self.types.c;
                let groups = rows[row * k..(row + 1) * k].chunks(self.summation.group);
                for (row, columns) in groups.zip(columns.chunks(self.summation.group)) {
                    add_group(row, columns, &mut eight, accumulator, self.summation);
                    accumulator = self.types.d;
                }
                for (sum, number) in sums[at..at + WIDTH].iter_mut().zip(eight) {
                    *sum = encode(number, self.types.d);
                }
            }
        }
    }

    /// `mma` of eight-bit elements as on an H200, which has no such instruction: elements are converted to halves,
    /// those of the lower register halves are added first, then the others, and C last, rounded to nearest.
    fn sum_by_halves(&self, a: &[u32], b: &[u32], sums: &mut [u32]) {
        let reordered = |elements: &[u32]| -> Vec<u32> {
            let line = |line: &[u32]| {
                let half = |upper: bool| {
                    let chosen =
                        line.iter().enumerate().filter(move |(k, _)| (k % 4 >= 2) == upper);
                    chosen.map(|(_, element)| *element).collect::<Vec<_>>()
                };
                [half(false), half(true)].concat()
            };
            elements.chunks(self.shape.k).flat_map(line).collect()
        };
        let halves = Self { summation: Summation { group: 16, ..self.summation }, ..*self };
        let (left, right, mut products) = (reordered(a), reordered(b), vec![0; sums.len()]);
        if !halves.sum_bounded(&left, &right, &mut products) {
            let (left, right, zeros) = self.types.numbers(&left, &right, &products);
            halves.sum_any(&left, &right, &zeros, &mut products);
        }
        let (a, b, c) = self.types.numbers(a, b, sums);
        for ((sum, product), c) in sums.iter_mut().zip(products).zip(&c) {
            *sum = encode(f32::from_bits(product) + c, self.types.d);
        }
        if !a.iter().chain(&b).chain(&c).all(|number| number.is_finite()) {
            self.mend(&a, &b, &c, sums);
        }
    }

    /// Corrects sums with infinities and NaN, which the alignment does not handle.
    fn mend(&self, a: &[f32], b: &[f32], c: &[f32], sums: &mut [u32]) {
        let Shape { m, n, k } = self.shape;
        for (index, sum) in sums.iter_mut().enumerate().take(m * n) {
            let (row, column) = (index / n, index % n);
            let special = a[row * k..(row + 1) * k]
                .iter()
                .zip(&b[column * k..(column + 1) * k])
                // Only the signs of infinities matter: a product of finite numbers is ignored.
                .map(|(a, b)| {
                    if a.is_finite() && b.is_finite() { 0.0 } else { f64::from(*a) * f64::from(*b) }
                })
                .fold(if c[index].is_finite() { 0.0 } else { f64::from(c[index]) }, |x, y| x + y);
            if !special.is_finite() {
                *sum = encode(special as f32, self.types.d);
            }
        }
    }
}

#[inline]
fn encode(number: f32, to: Accumulator) -> u32 {
    match to {
        Accumulator::F16 if number.is_nan() => u32::from(CANONICAL_NAN),
        Accumulator::F16 => u32::from(HalfFormat::F16.nearest(f64::from(number))),
        Accumulator::F32 if number.is_nan() => CANONICAL_NAN_F32,
        Accumulator::F32 => number.to_bits(),
    }
}

/// D = A × B + C of f64: a chain of fused multiply-adds in the order of k. PTX ISA 9.7.15.5 "mma", `.f64`.
pub fn multiply_double(shape: Shape, a: &[u64], b: &[u64], sums: &mut [u64], rounding: Rounding) {
    let Shape { n, k, .. } = shape;
    for (index, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (index / n, index % n);
        for (a, b) in a[row * k..(row + 1) * k].iter().zip(&b[column * k..(column + 1) * k]) {
            *sum = multiply_add_f64(*a, *b, *sum, rounding);
        }
    }
}

/// D = A × B + C of integers, which the caller has extended to 32 bits; exact, then wrapped or saturated.
pub fn multiply_integer(shape: Shape, a: &[i32], b: &[i32], sums: &mut [i32], overflow: Overflow) {
    let Shape { n, k, .. } = shape;
    for (index, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (index / n, index % n);
        let pairs = a[row * k..(row + 1) * k].iter().zip(&b[column * k..(column + 1) * k]);
        let products: i32 = pairs.map(|(a, b)| a * b).sum();
        *sum = match overflow {
            Overflow::Wrap => sum.wrapping_add(products),
            Overflow::Saturate => sum.saturating_add(products),
        };
    }
}

/// D = C plus the number of ones in the combined rows of A and columns of B; both in 32-bit words, so that k counts
/// words. PTX ISA 9.7.15.5 "mma", `.b1`.
pub fn multiply_bits(shape: Shape, a: &[u32], b: &[u32], sums: &mut [u32], product: BitProduct) {
    let Shape { n, k, .. } = shape;
    for (index, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (index / n, index % n);
        let pairs = a[row * k..(row + 1) * k].iter().zip(&b[column * k..(column + 1) * k]);
        let ones: u32 = pairs
            .map(|(a, b)| match product {
                BitProduct::And => (a & b).count_ones(),
                BitProduct::Xor => (a ^ b).count_ones(),
            })
            .sum();
        *sum = sum.wrapping_add(ones);
    }
}

/// An 8 × 8 matrix of 16-bit elements across 32 lanes, transposed. PTX ISA 9.7.15.5.17 "movmatrix": each group of
/// four lanes holds a row, two elements in each lane.
#[must_use]
pub fn transpose_8x8(registers: &[u32; 32]) -> [u32; 32] {
    let element =
        |row: usize, column: usize| registers[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        element(column, row) | element(column + 1, row) << 16
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHAPE: Shape = Shape { m: 16, n: 8, k: 16 };

    #[derive(Clone, Copy, PartialEq)]
    enum Pattern {
        Half,
        Brain,
        Eight,
        Single,
    }

    /// Bit patterns: arbitrary ones, with infinities and NaN, or those whose exponents are bounded, with zeros.
    fn elements(pattern: Pattern, count: usize) -> impl Strategy<Value = Vec<u32>> {
        let mask = match pattern {
            Pattern::Half | Pattern::Brain => 0xffff,
            Pattern::Eight => 0xff,
            Pattern::Single => u32::MAX,
        };
        let tame = (any::<u32>(), 0_u32..40, 0_u8..9).prop_map(move |(any, by, zero)| {
            let value = match pattern {
                Pattern::Half if any & 0x7c00 == 0x7c00 => any ^ 0x4000,
                Pattern::Half => any,
                Pattern::Brain => any & 0x807f | (0x3580 + (by << 7)),
                Pattern::Eight if any & 0x7c >= 0x7c => any ^ 0x40,
                Pattern::Eight => any,
                Pattern::Single => any & 0x807f_ffff | (108 + by) << 23,
            };
            if zero == 0 { value & mask & !(mask >> 1) } else { value & mask }
        });
        let wild = any::<u32>().prop_map(move |any| any & mask);
        prop_oneof![
            1 => prop::collection::vec(wild, count),
            5 => prop::collection::vec(tame, count),
        ]
    }

    fn types() -> impl Strategy<Value = FloatTypes> {
        use Multiplicand::{Bf16, E4m3, E5m2, F16, Tf32};
        let multiplicands =
            prop::sample::select(vec![(F16, F16), (Bf16, Bf16), (Tf32, Tf32), (E4m3, E5m2)]);
        let sums = prop::sample::select(vec![Accumulator::F16, Accumulator::F32]);
        (multiplicands, sums).prop_map(|((a, b), c)| FloatTypes { a, b, c, d: c })
    }

    fn matrices() -> impl Strategy<Value = (FloatTypes, Vec<u32>, Vec<u32>, Vec<u32>)> {
        types().prop_flat_map(|types| {
            let pattern = match types.a {
                Multiplicand::F16 => Pattern::Half,
                Multiplicand::Bf16 => Pattern::Brain,
                Multiplicand::Tf32 => Pattern::Single,
                Multiplicand::E4m3 | Multiplicand::E5m2 => Pattern::Eight,
            };
            let sum = match types.c {
                Accumulator::F16 => Pattern::Half,
                Accumulator::F32 => Pattern::Single,
            };
            (Just(types), elements(pattern, 256), elements(pattern, 128), elements(sum, 128))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn bounded_sums_are_those_of_any_numbers((types, a, b, c) in matrices()) {
            for architecture in [Architecture::Ampere, Architecture::Ada, Architecture::Hopper] {
                let summation = Summation::new((architecture, Issuer::Warp), types.a, types.d);
                let product = Product { shape: SHAPE, types, summation };
                let (mut fast, mut slow) = (c.clone(), c.clone());
                let bounded = product.sum_bounded(&a, &b, &mut fast);
                let (x, y, z) = types.numbers(&a, &b, &c);
                let finite = x.iter().chain(&y).chain(&z).all(|number| number.is_finite());
                let small = matches!(types.a, Multiplicand::F16 | Multiplicand::E4m3);
                // Finite numbers of small types are bounded.
                prop_assert!(bounded || !finite || !small || types.c == Accumulator::F32);
                if bounded {
                    product.sum_special(&a, &b, &mut slow);
                }
                prop_assert_eq!(fast, slow);
            }
        }
    }
}
