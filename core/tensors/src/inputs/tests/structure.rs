//! Fills with structure: permutations, compressed sparse rows, masks, labels.

use proptest::prelude::*;

use super::*;
use crate::fixture::{input, strided};

fn wholes(tensor: &TensorCase, seed: u64) -> Vec<u64> {
    elements(tensor, &bytes(tensor, declared(seed)))
}

#[test]
fn a_permutation_has_each_number_once() {
    for count in [1_u64, 2, 3, 4, 5, 16, 17, 1000, 1025, 65537] {
        for seed in [0, 9] {
            let found = wholes(&input("p", Dtype::U32, &[count], Fill::Permutation), seed);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            if count > 10 {
                let fixed = found.iter().zip(0..).filter(|(value, index)| *value == index).count();
                assert!(fixed < 8, "{fixed} of {count} stay where they are");
            }
        }
    }
}

#[test]
fn a_permutation_moves_everything_far() {
    let found = wholes(&input("p", Dtype::U32, &[30000], Fill::Permutation), 1);
    let moved: f64 =
        found.iter().zip(0..30000).map(|(to, from)| (*to as f64 - f64::from(from)).abs()).sum();
    // Two random places are a third of the length apart.
    assert!((moved / 30000.0 / 10000.0 - 1.0).abs() < 0.05, "{}", moved / 30000.0);
    let up = found.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
    assert!((up / 15000.0 - 1.0).abs() < 0.05, "{up}");
}

/// Offsets and the indices that belong to them.
fn sparse(rows: u64, total: u64, below: u64, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let offsets = input("o", Dtype::I32, &[rows + 1], Fill::SortedOffsets { total });
    let indices =
        input("i", Dtype::I32, &[total.max(1)], Fill::SortedIndices { offsets: 0, below });
    let case = case(Accuracy::F32, vec![offsets.clone(), indices.clone()]);
    let made = generate(&case, declared(seed)).unwrap();
    let read = |tensor, index: usize| elements(tensor, made[index].as_ref().unwrap());
    (read(&offsets, 0), read(&indices, 1))
}

fn check_sparse(rows: u64, total: u64, below: u64, seed: u64) {
    let (offsets, indices) = sparse(rows, total, below, seed);
    assert_eq!((offsets[0], *offsets.last().unwrap()), (0, total));
    for pair in offsets.windows(2) {
        assert!(pair[0] <= pair[1] && pair[1] - pair[0] <= below);
        let row = &indices[pair[0] as usize..pair[1] as usize];
        assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "{row:?}");
        assert!(row.iter().all(|index| *index < below));
    }
}

proptest! {
    #[test]
    fn rows_are_increasing_and_never_too_long(
        rows in 1_u64..200, below in 1_u64..60, fullness in 0.0..=1.0, seed: u64,
    ) {
        let total = ((rows * below) as f64 * fullness) as u64;
        check_sparse(rows, total, below, seed);
    }
}

#[test]
fn full_rows_hold_every_index() {
    check_sparse(50, 50 * 7, 7, 1);
    let (offsets, indices) = sparse(5, 5 * 7, 7, 1);
    assert_eq!(offsets, [0, 7, 14, 21, 28, 35]);
    assert!(indices.chunks(7).all(|row| row == [0, 1, 2, 3, 4, 5, 6]));
}

#[test]
fn rows_have_different_lengths() {
    let (offsets, _) = sparse(1000, 20_000, 100_000, 3);
    let lengths: Vec<u64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let count = |test: fn(u64) -> bool| lengths.iter().filter(|length| test(**length)).count();
    assert!(count(|length| length == 0) > 100);
    assert!(count(|length| length > 80) > 10);
}

#[test]
fn indices_beyond_the_last_row_stay_in_range() {
    let offsets = input("o", Dtype::I32, &[4], Fill::SortedOffsets { total: 6 });
    let indices = input("i", Dtype::I32, &[20], Fill::SortedIndices { offsets: 0, below: 3 });
    let case = case(Accuracy::F32, vec![offsets, indices.clone()]);
    let made = generate(&case, declared(1)).unwrap();
    assert!(elements(&indices, made[1].as_ref().unwrap()).iter().all(|index| *index < 3));
}

#[test]
fn a_causal_mask_is_one_on_and_below_the_diagonal() {
    for dtype in [Dtype::Bool, Dtype::F32, Dtype::I8, Dtype::Bf16] {
        let tensor = input("m", dtype, &[2, 5, 7], Fill::CausalMask);
        for tensor in [tensor.clone(), strided(tensor, &[100, 9, 1])] {
            for (index, bits) in wholes(&tensor, 1).into_iter().enumerate() {
                let (row, column) = (index / 7 % 5, index % 7);
                assert_eq!(real(dtype, bits), f64::from(u8::from(column <= row)));
            }
        }
    }
}

#[test]
fn labels_reach_both_ends() {
    let mut found = wholes(&input("l", Dtype::U8, &[2000], Fill::Labels { below: 7 }), 4);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, (0..7).collect::<Vec<_>>());
}

#[test]
fn packed_weights_have_every_value() {
    for dtype in [Dtype::I4, Dtype::U4, Dtype::E2M1] {
        let mut found = wholes(&input("w", dtype, &[40, 100], Fill::PackedWeights), 4);
        assert_eq!(found.len(), 4000);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (0..16).collect::<Vec<_>>());
    }
}
