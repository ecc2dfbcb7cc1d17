//! Where elements lie, against the sum of index times stride.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::fill::Fill;
use proptest::prelude::*;

use super::super::fixture::{input, strided};
use super::*;

fn layout(dims: &[u64], strides: &[u64]) -> Layout {
    Layout::new(&strided(input("x", Dtype::F32, dims, Fill::Zeros), strides)).unwrap()
}

/// Every place by definition.
fn places(dims: &[u64], strides: &[u64]) -> Vec<usize> {
    dims.iter().zip(strides).fold(vec![0], |outer, (dim, stride)| {
        outer
            .iter()
            .flat_map(|place| (0..*dim).map(move |index| place + (index * stride) as usize))
            .collect()
    })
}

fn walked(layout: &Layout) -> Vec<usize> {
    let mut all = Vec::new();
    for run in layout.runs() {
        assert_eq!(run.first, all.len() as u64);
        all.extend((0..run.length).map(|index| run.offset + index * run.step));
    }
    all
}

proptest! {
    #[test]
    fn runs_visit_every_element_in_order(sizes in prop::collection::vec((1_u64..5, 0_u64..30), 0..5)) {
        let (dims, strides): (Vec<_>, Vec<_>) = sizes.into_iter().unzip();
        let layout = layout(&dims, &strides);
        let expected = places(&dims, &strides);
        prop_assert_eq!(walked(&layout), expected.clone());
        let placed: Vec<usize> = (0..layout.elements()).map(|index| layout.place(index)).collect();
        prop_assert_eq!(placed, expected.clone());
        prop_assert_eq!(layout.elements(), expected.len() as u64);
        let mut distinct = expected.clone();
        distinct.sort_unstable();
        distinct.dedup();
        // It may see an overlap where there is none, never the reverse.
        prop_assert!(layout.shares_memory() || distinct.len() == expected.len());
        let once = layout.without_repetition();
        if !once.shares_memory() {
            let mut places = walked(&once);
            places.sort_unstable();
            prop_assert_eq!(places, distinct);
        }
    }
}

#[test]
fn even_steps_are_one_run() {
    let runs = |dims: &[u64], strides: &[u64]| layout(dims, strides).runs().count();
    assert_eq!(runs(&[3, 4, 5], &[20, 5, 1]), 1);
    assert_eq!(runs(&[3, 4, 5], &[24, 6, 1]), 12);
    assert_eq!(runs(&[3, 4], &[8, 2]), 1);
    assert_eq!(runs(&[], &[]), 1);
    assert!(layout(&[3, 4, 5], &[20, 5, 1]).is_contiguous());
    assert!(!layout(&[3, 4], &[8, 2]).is_contiguous());
}

#[test]
fn contradictions_are_errors() {
    let sound = input("x", Dtype::F32, &[4, 4], Fill::Zeros);
    assert!(Layout::new(&sound).is_ok());
    let huge = u64::MAX;
    let check = |change: fn(&mut TensorCase, u64)| {
        let mut tensor = sound.clone();
        change(&mut tensor, huge);
        assert_eq!(Layout::new(&tensor), Err(LayoutError::Contradiction));
    };
    check(|tensor, _| tensor.elements = 15);
    check(|tensor, _| tensor.span = 17);
    check(|tensor, _| tensor.bytes = 63);
    check(|tensor, huge| tensor.dims[0] = huge);
    check(|tensor, huge| tensor.strides[0] = huge);
    check(|tensor, _| tensor.dims[0] = 0);
    check(|tensor, _| tensor.dims.clear());
    check(|tensor, _| {
        (tensor.dims, tensor.strides) = (vec![1; 9], vec![1; 9]);
    });
    let packed = strided(input("w", Dtype::I4, &[4, 4], Fill::Zeros), &[6, 1]);
    assert_eq!(Layout::new(&packed), Err(LayoutError::Contradiction));
}
