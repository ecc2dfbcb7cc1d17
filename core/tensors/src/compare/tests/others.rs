//! Comparators that look at more than one element.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;
use proptest::prelude::*;

use super::*;
use crate::element::store_reals;
use crate::fixture::{input, output, strided};

fn words(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Judges an output, tensor 1, beside an input, tensor 0.
fn beside(
    (other, bytes): (TensorCase, Vec<u8>),
    tensor: TensorCase,
    found: &[u8],
    expected: &[u8],
) -> Result<Comparison, CompareError> {
    let case = case(Accuracy::F32, vec![other, tensor]);
    let expected = Expected { values: expected, magnitudes: None };
    let found = Found { bytes: found, unwritten: &[] };
    compare(&case, 1, found, expected, &[Some(bytes), None], Strictness::Tolerance)
}

fn table(values: &[f32], dims: &[u64]) -> (TensorCase, Vec<u8>) {
    (input("x", Dtype::F32, dims, Fill::Zeros), f32s(values))
}

fn wrong_at(comparison: &Comparison) -> Option<(u64, Vec<u64>)> {
    comparison.wrong.as_ref().map(|wrong| (wrong.count, wrong.first.clone().unwrap().index))
}

#[test]
fn an_index_is_right_where_its_value_ties() {
    let check = |found: &[i32], expected: Option<(u64, Vec<u64>)>| {
        let x = table(&[1.0, 5.0, 5.0, 2.0, -0.0, 0.0, f32::NAN, f32::NAN], &[2, 4]);
        let tensor = output(Dtype::I32, &[2], Comparator::IndexByValue { of: 0, axis: 1 });
        let comparison = beside(x, tensor, &words(found), &words(&[1, 2])).unwrap();
        assert_eq!(wrong_at(&comparison), expected, "{found:?}");
    };
    check(&[1, 2], None);
    check(&[2, 3], None);
    check(&[0, 2], Some((1, vec![0])));
    check(&[1, 1], Some((1, vec![1])));
    for outside in [4, -2, i32::MAX, i32::MIN] {
        check(&[outside, 2], Some((1, vec![0])));
    }
    let x = table(&[f32::NAN, 1.0, -0.0, 0.0], &[4]);
    let tensor = output(Dtype::I32, &[], Comparator::IndexByValue { of: 0, axis: 0 });
    assert_eq!(beside(x.clone(), tensor.clone(), &words(&[3]), &words(&[2])).unwrap().wrong, None);
    let error = beside(x, tensor, &words(&[3]), &words(&[4]));
    assert!(matches!(error, Err(CompareError::ReferenceIndex { element: 0, .. })));
}

#[test]
fn indices_of_the_largest_are_distinct() {
    let check = |found: &[i32], expected: Option<(u64, Vec<u64>)>| {
        // Along the first dimension: columns (5, 5, 1) and (2, 3, 3).
        let x = table(&[5.0, 2.0, 5.0, 3.0, 1.0, 3.0], &[3, 2]);
        let tensor = output(Dtype::I32, &[2, 2], Comparator::IndexByValue { of: 0, axis: 0 });
        let comparison = beside(x, tensor, &words(found), &words(&[0, 1, 1, 2])).unwrap();
        assert_eq!(wrong_at(&comparison), expected, "{found:?}");
    };
    check(&[0, 1, 1, 2], None);
    check(&[1, 2, 0, 1], None);
    check(&[0, 1, 0, 2], Some((1, vec![1, 0])));
    check(&[0, 2, 1, 2], Some((1, vec![1, 1])));
    check(&[0, 0, 1, 2], Some((1, vec![0, 1])));
}

#[test]
fn shapes_that_do_not_belong_together_are_errors() {
    let by_value = |dims: &[u64], axis| {
        let tensor = output(Dtype::I32, dims, Comparator::IndexByValue { of: 0, axis });
        let zeros = vec![0; tensor.bytes as usize];
        beside(table(&[0.0; 8], &[2, 4]), tensor, &zeros, &zeros)
    };
    assert!(by_value(&[2], 1).is_ok());
    assert!(matches!(by_value(&[4], 1), Err(CompareError::Shape { .. })));
    assert!(matches!(by_value(&[2], 2), Err(CompareError::Shape { .. })));
    assert!(matches!(by_value(&[2, 2, 2], 1), Err(CompareError::Shape { .. })));
    let tensor = output(Dtype::I32, &[2], Comparator::IndexByValue { of: 7, axis: 1 });
    let error = beside(table(&[0.0; 8], &[2, 4]), tensor, &[0; 8], &[0; 8]);
    assert!(matches!(error, Err(CompareError::NoInput { .. })));
    let tensor = output(Dtype::F32, &[7], Comparator::Permutation { of: 0 });
    let error = beside(table(&[0.0; 8], &[8]), tensor, &[0; 28], &[0; 56]);
    assert!(matches!(error, Err(CompareError::Shape { .. })));
    let tensor = output(Dtype::I32, &[7], Comparator::Sampling { probabilities: 0, draws: 1 });
    let error = beside(table(&[0.5; 8], &[2, 4]), tensor, &[0; 28], &[0; 28]);
    assert!(matches!(error, Err(CompareError::Shape { .. })));
}

fn permutation(found: &[f32], of: &[f32]) -> Comparison {
    let tensor = output(Dtype::F32, &[of.len() as u64], Comparator::Permutation { of: 0 });
    beside(table(of, &[of.len() as u64]), tensor, &f32s(found), &le(&vec![0.0; of.len()])).unwrap()
}

#[test]
fn a_permutation_has_the_same_bits_in_any_order() {
    assert_eq!(permutation(&[3.0, 1.0, 2.0, 1.0], &[1.0, 1.0, 2.0, 3.0]).wrong, None);
    assert_eq!(permutation(&[0.0, -0.0], &[-0.0, 0.0]).wrong, None);
    assert_eq!(wrong_at(&permutation(&[0.0, 0.0], &[-0.0, 0.0])), Some((1, vec![1])));
    let wrong = permutation(&[1.0, 1.0, 2.0, 1.0], &[1.0, 1.0, 2.0, 3.0]).wrong.unwrap();
    let first = wrong.first.unwrap();
    assert_eq!((wrong.count, first.index, first.expected), (1, vec![3], ScalarValue::Real(3.0)));
}

fn set(dtype: Dtype, found: &[f64], expected: &[f64]) -> Comparison {
    let tensor = output(dtype, &[found.len() as u64], Comparator::Set);
    let mut bytes = vec![0; tensor.bytes as usize];
    store_reals(dtype, found, &mut bytes);
    beside(table(&[0.0], &[1]), tensor, &bytes, &le(expected)).unwrap()
}

#[test]
fn a_set_has_the_same_values_in_any_order() {
    // The reference is rounded to the output's dtype first.
    assert_eq!(set(Dtype::Bf16, &[3.0, 1.0, 0.0], &[1.001, -0.0, 3.0]).wrong, None);
    assert_eq!(set(Dtype::F32, &[f64::NAN, 1.0], &[1.0, -f64::NAN]).wrong, None);
    assert_eq!(wrong_at(&set(Dtype::F32, &[1.0, 2.0], &[1.0, 3.0])), Some((1, vec![1])));
    assert_eq!(wrong_at(&set(Dtype::F32, &[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0])), Some((2, vec![1])));
}

proptest! {
    #[test]
    fn surplus_is_counted_as_by_hand(
        pairs in prop::collection::vec((0_u8..6, 0_u8..6), 1..40),
    ) {
        let (found, expected): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
        let tensor = output(Dtype::U8, &[found.len() as u64], Comparator::Set);
        let comparison = beside(table(&[0.0], &[1]), tensor, &found, &expected).unwrap();
        let mut left = expected.clone();
        let mut wrong = Vec::new();
        for (index, value) in found.iter().enumerate() {
            match left.iter().position(|one| one == value) {
                Some(place) => { left.remove(place); }
                None => wrong.push(index as u64),
            }
        }
        let first = wrong.first().map(|first| (wrong.len() as u64, vec![*first]));
        prop_assert_eq!(wrong_at(&comparison), first);
    }

    #[test]
    fn unwritten_elements_of_a_set_are_wrong(start in 0_usize..40, length in 1_usize..10) {
        let tensor = output(Dtype::U8, &[50], Comparator::Set);
        let case = case(Accuracy::F32, vec![tensor]);
        let bytes = [7; 50];
        let expected = Expected { values: &bytes, magnitudes: None };
        let range = start..start + length;
        let found = Found { bytes: &bytes, unwritten: std::slice::from_ref(&range) };
        let wrong = compare(&case, 0, found, expected, &[], Strictness::Tolerance).unwrap().wrong.unwrap();
        prop_assert_eq!((wrong.kind, wrong.count), (WrongKind::Unwritten, length as u64));
    }
}

/// Draws by the inverse of the distribution function, from rows of probabilities.
fn draws(probabilities: &[f32], cols: usize, per_row: usize, seed: u64) -> Vec<i32> {
    let stream = Stream::new(seed, 5);
    let mut all = Vec::new();
    for row in probabilities.chunks(cols) {
        let sum: f64 = row.iter().map(|one| f64::from(*one)).sum();
        for _ in 0..per_row {
            let mut left = stream.unit(all.len() as u64) * sum;
            let found = row.iter().position(|one| {
                left -= f64::from(*one);
                left < 0.0
            });
            all.push(found.unwrap_or(cols - 1) as i32);
        }
    }
    all
}

fn sampled(probabilities: &[f32], dims: &[u64], samples: &[i32], per_row: u64) -> Comparison {
    let comparator = Comparator::Sampling { probabilities: 0, draws: per_row };
    let tensor = output(Dtype::I32, &[samples.len() as u64], comparator);
    let reference = words(&vec![0; samples.len()]);
    beside(table(probabilities, dims), tensor, &words(samples), &reference).unwrap()
}

#[test]
fn honest_draws_pass() {
    let sizes = [(1_usize, 5_usize, 100_000_usize), (1, 1000, 1000), (2000, 8, 1), (50, 40, 200)];
    for (rows, cols, per_row) in sizes {
        for seed in 0..20 {
            let stream = Stream::new(seed, 1);
            let weights = (0..rows * cols).map(|index| stream.unit(index as u64).powi(6) as f32);
            let mut weights: Vec<f32> = weights.collect();
            weights.iter_mut().step_by(3).for_each(|weight| *weight *= 10.0);
            let samples = draws(&weights, cols, per_row, seed);
            let dims = [rows as u64, cols as u64];
            let comparison = sampled(&weights, &dims, &samples, per_row as u64);
            assert_eq!(comparison.wrong, None, "{rows} {cols} {per_row}");
            assert_eq!(comparison.compared, (rows * per_row) as u64);
        }
    }
}

#[test]
fn biased_draws_do_not() {
    let check = |samples: &[i32], weights: &[f32], dims: &[u64], per_row| {
        let wrong = sampled(weights, dims, samples, per_row).wrong.unwrap();
        assert!(wrong.kind == WrongKind::Numeric && wrong.distribution.is_some(), "{wrong:?}");
    };
    let weights = [0.1, 0.2, 0.3, 0.4];
    check(&[3; 1000], &weights, &[4], 1000);
    check(&draws(&[0.25; 4], 4, 1000, 1), &weights, &[4], 1000);
    check(&draws(&[0.1, 0.2, 0.33, 0.37], 4, 100_000, 1), &weights, &[4], 100_000);
    // Neighbours swapped: the distribution function hardly differs.
    let even: Vec<f32> = (0..1000).map(|index| if index % 2 == 0 { 3.0 } else { 1.0 }).collect();
    let swapped: Vec<i32> = draws(&even, 1000, 100_000, 1).into_iter().map(|one| one ^ 1).collect();
    check(&swapped, &even, &[1000], 100_000);
    // One draw for each of many rows, always the most probable.
    let rows: Vec<f32> = weights.repeat(2000);
    check(&[3; 2000], &rows, &[2000, 4], 1);
}

#[test]
fn impossible_draws_are_wrong_one_by_one() {
    let weights = [0.5, 0.0, 0.5];
    let mut samples = draws(&weights, 3, 100, 1);
    samples[40] = 1;
    samples[41] = 3;
    samples[42] = i32::MIN;
    let wrong = sampled(&weights, &[3], &samples, 100).wrong.unwrap();
    assert_eq!((wrong.count, wrong.first.unwrap().index), (3, vec![40]));
    samples[40] = -1;
    assert_eq!(sampled(&weights, &[3], &samples, 100).wrong.unwrap().kind, WrongKind::Unwritten);
    for bad in [[-1.0, 1.0, 1.0], [f32::NAN, 1.0, 1.0], [0.0; 3], [f32::INFINITY, 1.0, 1.0]] {
        let comparator = Comparator::Sampling { probabilities: 0, draws: 1 };
        let tensor = output(Dtype::I32, &[1], comparator);
        let error = beside(table(&bad, &[3]), tensor, &words(&[0]), &words(&[0]));
        assert!(matches!(error, Err(CompareError::Probabilities { row: 0, .. })));
    }
}

#[test]
fn strides_of_the_other_tensor_are_followed() {
    let x = strided(input("x", Dtype::F32, &[2, 3], Fill::Zeros), &[1, 4]);
    let mut values = [9.0; 10];
    // Rows 1 2 3 and 6 5 4.
    for (place, value) in [(0, 1.0), (4, 2.0), (8, 3.0), (1, 6.0), (5, 5.0), (9, 4.0)] {
        values[place] = value;
    }
    let tensor = output(Dtype::I32, &[2], Comparator::IndexByValue { of: 0, axis: 1 });
    let judge = |found: &[i32]| {
        let other = (x.clone(), f32s(&values));
        wrong_at(&beside(other, tensor.clone(), &words(found), &words(&[2, 0])).unwrap())
    };
    assert_eq!(judge(&[2, 0]), None);
    assert_eq!(judge(&[2, 2]), Some((1, vec![1])));
}
