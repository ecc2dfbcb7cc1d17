//! Compares outputs with the reference. Pure functions.
//!
//! ```text
//!  Case, Found, Expected, inputs ──► Output (sizes fit) ──► one file per comparator ──► Tally ──► Comparison
//! ```

mod admission;
mod elementwise;
mod error;
mod index;
mod integers;
mod multiset;
mod on_device;
mod output;
mod root_mean_square;
mod sampling;
mod tally;
#[cfg(test)]
mod tests;

use std::ops::Range;

use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::compare::Comparator;
use lightbench_project::launch::expectation::WrongKind;
use serde::{Deserialize, Serialize};

use super::case::Case;

pub use admission::{InadmissibleInputs, admits};
pub use error::CompareError;
pub use on_device::OnDevice;

use elementwise::Tolerance;
use output::Output;

/// Compares one output with the reference. `inputs` holds the bytes of each tensor as [`super::inputs::generate`] made
/// them: some comparators look up values in them.
///
/// An element with an uninitialised part is wrong whatever its value; a wrong element that holds poison (all bits set)
/// counts as unwritten. Gaps between elements are ignored.
///
/// # Errors
/// The arguments do not match the case, or the reference is invalid; never a defect of the candidate.
pub fn compare(
    case: &Case,
    tensor: usize,
    found: Found<'_>,
    expected: Expected<'_>,
    inputs: &[Option<Vec<u8>>],
    strictness: Strictness,
) -> Result<Comparison, CompareError> {
    let output = Output::new(case, tensor, found, expected)?;
    let comparator = output.made.role.compare().ok_or(CompareError::NotAnOutput { tensor })?;
    match comparator {
        Comparator::Elementwise { terms, factor, rms } => {
            let tolerance = Tolerance { terms: *terms, factor: *factor, rms: *rms };
            elementwise::compare(&output, tolerance, strictness)
        }
        Comparator::IntegerExact => integers::compare(&output),
        Comparator::IndexByValue { of, axis } => index::compare(&output, (*of, *axis), inputs),
        Comparator::Permutation { of } => multiset::compare_permutation(&output, *of, inputs),
        Comparator::Set => multiset::compare_set(&output),
        Comparator::Sampling { probabilities, draws } => {
            sampling::compare(&output, (*probabilities, *draws), inputs)
        }
    }
}

/// The reference's values of one output.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Floats: f64 elements in the output's strides. Other dtypes: the output's dtype and strides.
    pub values: &'a [u8],
    /// For `elementwise`: the sum of the magnitudes of the terms of each element, f64, in the output's strides.
    pub magnitudes: Option<&'a [u8]>,
}

/// The candidate's values of one output.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// In the output's dtype and strides.
    pub bytes: &'a [u8],
    /// Uninitialised ranges of bytes, ascending, if the device tracks them.
    pub unwritten: &'a [Range<usize>],
}

/// The tolerance for floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strictness {
    /// The comparator's tolerance.
    Tolerance,
    /// Equal to the reference rounded to the output's type.
    Exact,
}

/// The result of comparing one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The output, by its index in the case.
    pub tensor: usize,
    /// Elements that were compared.
    pub compared: u64,
    /// Nothing if the output is right.
    pub wrong: Option<OutputError>,
    /// The largest error of any element as a fraction of the tolerance, for reports. 0 if all are equal, [`f64::MAX`]
    /// without a tolerance.
    pub worst_fraction: f64,
}

/// The defect of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputError {
    /// In which way.
    pub kind: WrongKind,
    /// Number of wrong elements; 0 if only the root mean square exceeds its limit.
    pub count: u64,
    /// The first wrong element in the order of its index.
    pub first: Option<Mismatch>,
    /// The element with the largest error as a multiple of the tolerance.
    pub worst: Option<Mismatch>,
    /// The root mean square of the errors and its limit, if it exceeds the limit.
    pub root_mean_square: Option<(f64, f64)>,
    /// For samples: the distance of their distribution from the expected one and its limit, if it exceeds the limit.
    pub distribution: Option<(f64, f64)>,
    /// Positions of the wrong elements; empty if no single element is wrong.
    pub map: ErrorMap,
}

/// One wrong element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Where in the tensor, one number for each dimension.
    pub index: Vec<u64>,
    /// The candidate's value.
    pub found: ScalarValue,
    /// The reference's value: floats before rounding to the output's type.
    pub expected: ScalarValue,
    /// Their distance in units in the last place of the output's type; `None` for NaN, infinity and integers.
    pub ulps: Option<f64>,
    /// The accepted error; `None` if elements must be equal.
    pub accepted: Option<f64>,
}

/// Counts of wrong elements over a grid laid on the tensor: its last dimension across, all others down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorMap {
    /// Columns of cells, at most 64.
    pub columns: usize,
    /// Wrong elements in each cell, row by row; at most 16 rows.
    pub counts: Vec<u64>,
    /// Elements in each cell.
    pub sizes: Vec<u64>,
}
