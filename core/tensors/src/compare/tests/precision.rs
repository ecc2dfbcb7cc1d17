//! Honest and dishonest dot products of normal numbers: the first always pass, the second never do.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;

use super::*;
use crate::element::{nearest, real, store_reals};
use crate::fixture::{elementwise, input, output};
use crate::inputs::{InputMode, InputSpec, generate, probe_applies};

/// How a kernel adds up products.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Sequential,
    SequentialFma,
    /// One thread for each 256th term, then a tree.
    Blocked,
    /// Halves of halves.
    Pairwise,
    /// Sequential, every sum rounded to this type.
    Kept(Dtype),
}

/// What a kernel makes of its inputs first.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inputs {
    AsGiven,
    Tf32,
    Rounded(Dtype),
}

const HONEST: [(Inputs, Order); 4] = [
    (Inputs::AsGiven, Order::Sequential),
    (Inputs::AsGiven, Order::SequentialFma),
    (Inputs::AsGiven, Order::Blocked),
    (Inputs::AsGiven, Order::Pairwise),
];

const DISHONEST: [(Inputs, Order); 6] = [
    (Inputs::Tf32, Order::Blocked),
    (Inputs::Rounded(Dtype::F16), Order::Blocked),
    (Inputs::Rounded(Dtype::Bf16), Order::Blocked),
    (Inputs::Tf32, Order::Pairwise),
    (Inputs::AsGiven, Order::Kept(Dtype::F16)),
    (Inputs::AsGiven, Order::Kept(Dtype::Bf16)),
];

fn rounded(value: f32, inputs: Inputs) -> f32 {
    match inputs {
        Inputs::AsGiven => value,
        // To nearest, ties to even, 13 bits fewer.
        Inputs::Tf32 => {
            let bits = value.to_bits();
            f32::from_bits((bits + 0xfff + (bits >> 13 & 1)) & !0x1fff)
        }
        Inputs::Rounded(dtype) => real(dtype, nearest(dtype, f64::from(value))) as f32,
    }
}

fn tree(sums: &[f32]) -> f32 {
    match sums {
        [] => 0.0,
        [one] => *one,
        more => {
            let (left, right) = more.split_at(more.len() / 2);
            tree(left) + tree(right)
        }
    }
}

fn dot(a: &[f32], b: &[f32], (inputs, order): (Inputs, Order)) -> f32 {
    let factors = || a.iter().zip(b).map(|(a, b)| (rounded(*a, inputs), rounded(*b, inputs)));
    match order {
        Order::Sequential => factors().fold(0.0, |sum, (a, b)| sum + a * b),
        Order::SequentialFma => factors().fold(0.0, |sum, (a, b)| a.mul_add(b, sum)),
        Order::Blocked => {
            let mut sums = [0.0_f32; 256];
            for (index, (a, b)) in factors().enumerate() {
                sums[index % 256] = a.mul_add(b, sums[index % 256]);
            }
            tree(&sums)
        }
        Order::Pairwise => tree(&factors().map(|(a, b)| a * b).collect::<Vec<_>>()),
        Order::Kept(dtype) => factors().fold(0.0, |sum, (a, b)| {
            real(dtype, nearest(dtype, f64::from(sum) + f64::from(a) * f64::from(b))) as f32
        }),
    }
}

/// How the terms lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Terms {
    /// Products of normal numbers: of either sign.
    EitherSign,
    /// Products of numbers from 0 to 1.
    OneSign,
}

fn vector(seed: u64, stream: u32, length: usize, terms: Terms) -> Vec<f32> {
    let mut values = vec![0.0; length];
    let stream = Stream::new(seed, stream);
    match terms {
        Terms::EitherSign => stream.normals(0, &mut values),
        Terms::OneSign => {
            values.iter_mut().zip(0..).for_each(|(value, index)| *value = stream.unit(index));
        }
    }
    values.into_iter().map(|value| value as f32).collect()
}

/// Pairs of vectors and their dot products.
pub(super) struct Rows {
    pairs: Vec<[Vec<f32>; 2]>,
    expected: Vec<f64>,
    magnitudes: Vec<f64>,
}

impl Rows {
    pub(super) fn new(seed: u64, (length, outputs): (usize, u32), terms: Terms) -> Self {
        let pairs: Vec<[Vec<f32>; 2]> = (0..outputs)
            .map(|row| [2 * row, 2 * row + 1].map(|stream| vector(seed, stream, length, terms)))
            .collect();
        let products = |[a, b]: &[Vec<f32>; 2]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).collect()
        };
        let expected = pairs.iter().map(|pair| products(pair).iter().sum()).collect();
        let magnitudes =
            pairs.iter().map(|pair| products(pair).iter().map(|one| one.abs()).sum()).collect();
        Self { pairs, expected, magnitudes }
    }

    /// Judges what a kernel makes of them.
    fn judge(&self, kernel: (Inputs, Order), dtype: Dtype) -> Comparison {
        self.judge_with(dtype, |a, b| dot(a, b, kernel))
    }

    /// Judges what a function makes of each pair.
    pub(super) fn judge_with(
        &self,
        dtype: Dtype,
        kernel: impl Fn(&[f32], &[f32]) -> f32,
    ) -> Comparison {
        let found: Vec<f64> = self.pairs.iter().map(|[a, b]| f64::from(kernel(a, b))).collect();
        let mut bytes = vec![0; found.len() * dtype.address_bytes() as usize];
        store_reals(dtype, &found, &mut bytes);
        let length = self.pairs[0][0].len() as u64;
        let tensor = output(dtype, &[found.len() as u64], elementwise(length));
        judge(&tensor, &bytes, &self.expected, &self.magnitudes)
    }
}

fn check(seeds: std::ops::Range<u64>, size: (usize, u32)) {
    for seed in seeds {
        for terms in [Terms::EitherSign, Terms::OneSign] {
            let rows = Rows::new(seed, size, terms);
            for dtype in [Dtype::F32, Dtype::Bf16] {
                for kernel in HONEST {
                    let wrong = rows.judge(kernel, dtype).wrong;
                    assert!(wrong.is_none(), "{kernel:?} {terms:?} seed {seed}: {wrong:?}");
                }
            }
        }
        let rows = Rows::new(seed, size, Terms::EitherSign);
        for kernel in DISHONEST {
            let wrong = rows.judge(kernel, Dtype::F32).wrong;
            assert!(wrong.is_some(), "{kernel:?} seed {seed} passes");
        }
    }
}

#[test]
fn honest_sums_pass_and_lower_precision_does_not() {
    check(0..6, (4096, 64));
}

#[test]
fn long_honest_sums_pass_and_lower_precision_does_not() {
    check(0..1, (65536, 64));
}

#[test]
#[ignore = "minutes: thousands of trials"]
fn thousands_of_honest_sums_pass_and_lower_precision_does_not() {
    check(100..1100, (4096, 64));
    check(100..200, (65536, 64));
    check(100..120, (4096, 4096));
}

#[test]
fn a_single_honest_sum_passes() {
    for seed in 0..400 {
        let rows = Rows::new(seed, (4096, 1), Terms::EitherSign);
        for kernel in HONEST {
            let wrong = rows.judge(kernel, Dtype::F32).wrong;
            assert!(wrong.is_none(), "{kernel:?} seed {seed}: {wrong:?}");
        }
    }
}

#[test]
fn only_the_mean_square_rejects_tf32() {
    let tf32 = (Inputs::Tf32, Order::Blocked);
    let rows = Rows::new(1, (65536, 64), Terms::EitherSign);
    let wrong = rows.judge(tf32, Dtype::F32).wrong.unwrap();
    let (found, limit) = wrong.root_mean_square.unwrap();
    assert_eq!((wrong.kind, wrong.count, wrong.first), (WrongKind::Imprecise, 0, None));
    assert!(found > 3.0 * limit && found.is_finite(), "{found} {limit}");
}

#[test]
fn tf32_shows_through_a_rounded_output() {
    for seed in 0..2 {
        let tf32 = (Inputs::Tf32, Order::Blocked);
        let comparison = Rows::new(seed, (4096, 1024), Terms::EitherSign).judge(tf32, Dtype::Bf16);
        assert!(comparison.wrong.is_some());
    }
}

/// One dot product of probe inputs: what a kernel computes of it.
fn probed(seed: u64, length: usize, dtype: Dtype, kernel: (Inputs, Order)) -> Option<WrongKind> {
    let fill = || Fill::Normal { mean: 0.0, std: 1.0 };
    let vector = |name| input(name, dtype, &[length as u64], fill());
    let sum = output(Dtype::F32, &[], elementwise(length as u64));
    let case = case(Accuracy::F32, vec![vector("a"), vector("b"), sum]);
    let inputs = generate(&case, InputSpec { seed, draw: InputMode::PrecisionProbe }).unwrap();
    let [a, b] = [0, 1].map(|index: usize| {
        let bytes: &Vec<u8> = inputs[index].as_ref().unwrap();
        let size = dtype.address_bytes() as usize;
        bytes
            .chunks(size)
            .map(|one| {
                let mut raw = [0; 8];
                raw[..size].copy_from_slice(one);
                real(dtype, u64::from_le_bytes(raw)) as f32
            })
            .collect::<Vec<f32>>()
    });
    let products = || a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    let (value, magnitude) = (le(&[products().sum()]), le(&[products().map(f64::abs).sum()]));
    let expected = Expected { values: &value, magnitudes: Some(&magnitude) };
    assert!(probe_applies(&case, &[None, None, Some(expected)]));
    let bytes = dot(&a, &b, kernel).to_le_bytes();
    let found = Found { bytes: &bytes, unwritten: &[] };
    kind(&compare(&case, 2, found, expected, &inputs, Strictness::Exact).unwrap())
}

#[test]
fn the_probe_tells_them_apart_by_a_single_result() {
    for length in [64, 4096, 65536] {
        for seed in 0..10 {
            for kernel in HONEST {
                for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
                    assert_eq!(probed(seed, length, dtype, kernel), None, "{kernel:?} {dtype:?}");
                }
            }
            for kernel in DISHONEST {
                let found = probed(seed, length, Dtype::F32, kernel);
                assert!(found.is_some(), "{kernel:?} {length} {seed}");
            }
            let kept = |dtype| (Inputs::AsGiven, Order::Kept(dtype));
            for (dtype, kernel) in [
                (Dtype::F16, kept(Dtype::F16)),
                (Dtype::F16, kept(Dtype::Bf16)),
                (Dtype::Bf16, kept(Dtype::Bf16)),
                (Dtype::Bf16, kept(Dtype::F16)),
            ] {
                assert!(probed(seed, length, dtype, kernel).is_some(), "{dtype:?} {kernel:?}");
            }
        }
    }
}
