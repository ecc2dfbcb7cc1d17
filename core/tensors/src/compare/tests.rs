//! What is right and what is wrong.

mod elements;
mod others;
mod precision;
mod splits;

use lightbench_project::manifest::Accuracy;

use super::*;
use crate::case::{Case, TensorCase};
use crate::fixture::case;

fn le(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Judges an output of floats; magnitudes are those of the reference unless given.
fn judge(tensor: &TensorCase, found: &[u8], expected: &[f64], magnitudes: &[f64]) -> Comparison {
    judge_strictly(tensor, found, (expected, magnitudes), Strictness::Tolerance)
}

fn judge_strictly(
    tensor: &TensorCase,
    found: &[u8],
    (expected, magnitudes): (&[f64], &[f64]),
    strictness: Strictness,
) -> Comparison {
    let case = case(Accuracy::F32, vec![tensor.clone()]);
    judge_case(&case, found, (expected, magnitudes), strictness)
}

fn judge_case(
    case: &Case,
    found: &[u8],
    (expected, magnitudes): (&[f64], &[f64]),
    strictness: Strictness,
) -> Comparison {
    let (values, magnitudes) = (le(expected), le(magnitudes));
    let expected = Expected { values: &values, magnitudes: Some(&magnitudes) };
    let found = Found { bytes: found, unwritten: &[] };
    compare(case, 0, found, expected, &[], strictness).unwrap()
}

fn kind(comparison: &Comparison) -> Option<WrongKind> {
    comparison.wrong.as_ref().map(|wrong| wrong.kind)
}
