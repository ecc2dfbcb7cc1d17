//! Inputs that agree with others almost everywhere: what changes, and what does not.

use std::collections::BTreeSet;

use lightbench_project::fill::Fill;
use proptest::prelude::*;

use super::*;
use crate::fixture::{input, strided, within};

const NORMAL: Fill<u64> = Fill::Normal { mean: 0.0, std: 1.0 };

fn tensors() -> Vec<TensorCase> {
    vec![
        input("floats", Dtype::F32, &[37, 19], NORMAL),
        input("halves", Dtype::Bf16, &[512], Fill::Uniform { low: 0.0, high: 1.0 }),
        input("small", Dtype::F8E4M3, &[64, 3], NORMAL),
        input("labels", Dtype::I32, &[200], Fill::Labels { below: 1000 }),
        input("mask", Dtype::Bool, &[33, 33], Fill::Mask { density: 0.5 }),
        input("packed", Dtype::E2M1, &[4096], Fill::PackedWeights),
        input("order", Dtype::I64, &[100], Fill::Permutation),
        strided(input("gaps", Dtype::F16, &[20, 30], NORMAL), &[50, 1]),
        strided(input("shared", Dtype::F32, &[20, 30], NORMAL), &[0, 1]),
        within(
            input("rows", Dtype::F32, &[6, 40], Fill::Uniform { low: 0.0, high: 1.0 }),
            Domain::Probability,
        ),
        input("scalar", Dtype::F32, &[1], NORMAL),
    ]
}

fn echoed(case: &Case, seed: u64, echo: PerturbedInput) -> Vec<Vec<u8>> {
    let made = generate(case, InputSpec { seed, draw: InputMode::Perturbed(echo) }).unwrap();
    made.into_iter().flatten().collect()
}

/// Indices of the elements, or packed bytes, that differ.
fn differences(tensor: &TensorCase, left: &[u8], right: &[u8]) -> Vec<usize> {
    let size = tensor.dtype.address_bytes() as usize;
    let pairs = left.chunks(size).zip(right.chunks(size)).enumerate();
    pairs.filter(|(_, (left, right))| left != right).map(|(index, _)| index).collect()
}

/// The first change of that number, and the change itself.
fn link(case: &Case, seed: u64, number: usize) -> (PerturbedInput, usize, Change) {
    let all = changes(case);
    let (tensor, change) = all[number % all.len()];
    (PerturbedInput { seed, first: number, links: 1 }, tensor, change)
}

#[test]
fn structure_is_not_changed() {
    let fixed = [
        Fill::Ones,
        Fill::Zeros,
        Fill::CausalMask,
        Fill::SortedOffsets { total: 7 },
        Fill::SortedIndices { offsets: 0, below: 7 },
    ];
    let fixed = fixed.map(|fill| input("fixed", Dtype::I32, &[8, 8], fill));
    assert_eq!(changes(&case(Accuracy::F32, fixed.to_vec())), []);
    let order = case(Accuracy::F32, vec![input("order", Dtype::I64, &[8], Fill::Permutation)]);
    assert_eq!(changes(&order), [(0, Change::Moved)]);
}

#[test]
fn how_much_changes_is_one_element_or_up_to_a_fourth() {
    let case = case(Accuracy::F32, vec![input("x", Dtype::F32, &[4096], NORMAL)]);
    let declared = generate(&case, declared(1)).unwrap().remove(0).unwrap();
    let counts = |first: usize, expected: Change| -> Vec<usize> {
        let count = |seed| {
            let (echo, tensor, change) = link(&case, seed, first);
            assert_eq!((tensor, change), (0, expected));
            differences(&case.tensors[0], &declared, &echoed(&case, 1, echo)[0]).len()
        };
        let mut counts: Vec<usize> = (1000..1200).map(count).collect();
        counts.sort_unstable();
        counts
    };
    // Each of the two ways comes with one element and with many, in turn.
    assert_eq!(counts(0, Change::Replaced), [1; 200]);
    assert_eq!(counts(3, Change::Moved), [2; 200]);
    for (first, way, each) in [(1, Change::Moved, 2), (2, Change::Replaced, 1)] {
        let counts = counts(first, way);
        assert_eq!(counts[0], each);
        assert!(counts[199] > 700 * each && counts[199] <= 1024 * each, "{counts:?}");
        assert!(counts.iter().filter(|count| **count <= 64 * each).count() > 90, "{counts:?}");
    }
}

#[test]
fn a_single_change_is_of_one_element_of_a_small_tensor() {
    let case = case(Accuracy::F32, tensors());
    let most = 2048;
    let declared = generate(&case, declared(1)).unwrap();
    let mut changed = BTreeSet::new();
    for seed in 0..100 {
        let first = single_change(&case, seed, most).unwrap();
        let (echo, tensor, change) = link(&case, 5, first);
        assert!(case.tensors[tensor].bytes <= most, "{}", case.tensors[tensor].name);
        let after = echoed(&case, 1, echo);
        let before = declared[tensor].as_ref().unwrap();
        let count = differences(&case.tensors[tensor], before, &after[tensor]).len();
        let single = if change == Change::Moved { 2 } else { 1 };
        assert!(count <= single, "{} {change:?}: {count}", case.tensors[tensor].name);
        changed.insert(tensor);
    }
    assert!(changed.len() > 5, "{changed:?}");
    assert_eq!(single_change(&case, 0, 0), None);
}

#[test]
fn a_change_is_made_to_what_the_one_before_left() {
    let case = case(Accuracy::F32, tensors());
    let ways = changes(&case).len();
    for links in 1..2 * ways {
        let (shorter, longer) = (links - 1, links);
        let of = |links| echoed(&case, 7, PerturbedInput { seed: 9, first: 3, links });
        let (before, after) = (of(shorter), of(longer));
        let (tensor, _) = changes(&case)[(3 + links - 1) % ways];
        for (index, made) in case.tensors.iter().enumerate().filter(|(index, _)| *index != tensor) {
            assert_eq!(before[index], after[index], "{} after {links}", made.name);
        }
    }
}

proptest! {
    #[test]
    fn one_tensor_changes_a_little(seed: u64, other: u64) {
        prop_assume!(seed != other);
        let case = case(Accuracy::F32, tensors());
        let before: Vec<Vec<u8>> = generate(&case, declared(seed)).unwrap().into_iter().flatten().collect();
        for number in 0..2 * changes(&case).len() {
            let (echo, tensor, change) = link(&case, other, number);
            let after = echoed(&case, seed, echo);
            for (index, made) in case.tensors.iter().enumerate() {
                let changed = differences(made, &before[index], &after[index]);
                if index != tensor {
                    prop_assert!(changed.is_empty(), "{}", made.name);
                    continue;
                }
                let is_single = made.elements == 1 && change == Change::Moved;
                let most = (made.elements as usize / 2).max(1);
                prop_assert!(is_single || !changed.is_empty(), "{} {change:?}", made.name);
                prop_assert!(changed.len() <= most, "{} {change:?}", made.name);
                if change == Change::Moved {
                    let sorted = |bytes: &[u8]| {
                        let mut all = elements(made, bytes);
                        all.sort_unstable();
                        all
                    };
                    prop_assert_eq!(sorted(&before[index]), sorted(&after[index]), "{}", &made.name);
                }
            }
        }
    }
}
