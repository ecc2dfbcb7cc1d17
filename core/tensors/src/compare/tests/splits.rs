//! Products of f32 matrices on tensor cores: which splits of the factors an f32 task accepts.

use lightbench_primitives::dtype::Dtype;

use super::precision::{Rows, Terms};

/// A product of split factors. Each factor is a sum of parts with few significant bits.
#[derive(Clone, Copy, Debug)]
struct Split {
    significant_bits: u32,
    /// Which part of `a` meets which part of `b`, the smallest product first.
    products: &'static [(usize, usize)],
    /// Terms of one instruction.
    step: usize,
    /// After how many terms the accumulator is added to a sum in f32 and begins anew.
    promoted_after: usize,
}

const ONE: &[(usize, usize)] = &[(0, 0)];
const THREE: &[(usize, usize)] = &[(0, 1), (1, 0), (0, 0)];
const SIX: &[(usize, usize)] = &[(0, 2), (2, 0), (1, 1), (0, 1), (1, 0), (0, 0)];
const NEVER: usize = usize::MAX;

const TF32: Split = Split { significant_bits: 11, products: ONE, step: 8, promoted_after: NEVER };
const TF32_THREE: Split = Split { products: THREE, ..TF32 };
const TF32_THREE_PROMOTED: Split = Split { promoted_after: 256, ..TF32_THREE };
const TF32_SIX_PROMOTED: Split = Split { products: SIX, promoted_after: 64, ..TF32 };
const BF16_TWO: Split =
    Split { significant_bits: 8, products: THREE, step: 16, promoted_after: 256 };

/// To the nearest number of so many significant bits.
fn nearest(value: f64, bits: u32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let exponent = value.abs().log2().floor() as i32;
    let unit = 2.0_f64.powi(exponent + 1 - bits as i32);
    (value / unit).round_ties_even() * unit
}

/// To the f32 that is not farther from zero: what tensor cores keep of a sum.
fn truncated(value: f64) -> f64 {
    let near = value as f32;
    let beyond = f64::from(near).abs() > value.abs();
    f64::from(if beyond { f32::from_bits(near.to_bits() - 1) } else { near })
}

fn parts(value: f32, bits: u32) -> [f64; 3] {
    let mut rest = f64::from(value);
    [(); 3].map(|()| {
        let part = nearest(rest, bits);
        rest -= part;
        part
    })
}

fn dot(a: &[f32], b: &[f32], split: Split) -> f32 {
    let of = |values: &[f32]| -> Vec<[f64; 3]> {
        values.iter().map(|value| parts(*value, split.significant_bits)).collect()
    };
    let (a, b) = (of(a), of(b));
    let mut sum = 0.0_f32;
    for (a, b) in
        a.chunks(split.promoted_after.min(a.len())).zip(b.chunks(split.promoted_after.min(b.len())))
    {
        let mut accumulator = 0.0;
        for (a, b) in a.chunks(split.step).zip(b.chunks(split.step)) {
            for (left, right) in split.products {
                // The products of one instruction are added exactly, as the virtual GPU does it.
                let products: f64 = a.iter().zip(b).map(|(a, b)| a[*left] * b[*right]).sum();
                accumulator = truncated(accumulator + products);
            }
        }
        sum += accumulator as f32;
    }
    sum
}

/// Terms and outputs of the workloads of the sample project `sgemm` that verify, but for the single element: outputs are at
/// most 256 here, which only makes the limit wider.
const VERIFIED: [(usize, u32); 7] =
    [(29, 256), (67, 130), (64, 256), (300, 256), (101, 256), (200, 256), (1100, 256)];
/// Those that are measured.
const MEASURED: [(usize, u32); 3] = [(4096, 64), (768, 64), (1021, 64)];

fn passes(split: Split, size: (usize, u32), terms: Terms) -> bool {
    let rows = Rows::new(7, size, terms);
    rows.judge_with(Dtype::F32, |a, b| dot(a, b, split)).wrong.is_none()
}

#[test]
fn three_products_of_tf32_pass_where_accumulators_are_short() {
    for size in VERIFIED.into_iter().chain(MEASURED) {
        for terms in [Terms::EitherSign, Terms::OneSign] {
            for split in [TF32_THREE_PROMOTED, TF32_SIX_PROMOTED] {
                assert!(passes(split, size, terms), "{split:?} {terms:?} of {size:?}");
            }
        }
    }
}

#[test]
fn one_product_of_tf32_passes_nowhere() {
    for size in VERIFIED.into_iter().chain(MEASURED) {
        let promoted = Split { promoted_after: 256, ..TF32 };
        for split in [TF32, promoted] {
            assert!(!passes(split, size, Terms::EitherSign), "{split:?} of {size:?}");
        }
    }
}

/// What is left of a factor after two parts is 2^-18 of it: more than f32 rounds away, and less than what 1,000 additions
/// in f32 may err by. So it shows where sums are short, and every workload counts.
#[test]
fn two_parts_of_bf16_fail_where_sums_are_short() {
    for size in VERIFIED.into_iter().filter(|(terms, _)| *terms <= 300) {
        assert!(!passes(BF16_TWO, size, Terms::EitherSign), "of {size:?}");
    }
}

/// A tensor core cuts its accumulator after each instruction: the error grows with the number of instructions, not with
/// its square root, as that of an honest f32 sum does.
#[test]
fn a_long_accumulator_on_tensor_cores_is_no_f32_sum() {
    for size in VERIFIED.into_iter().filter(|(terms, _)| *terms <= 300) {
        assert!(passes(TF32_THREE, size, Terms::EitherSign), "of {size:?}");
    }
    for size in [(1021, 64), (4096, 64)] {
        assert!(!passes(TF32_THREE, size, Terms::EitherSign), "of {size:?}");
    }
}
