//! How far outputs are from the reference, and whether that is far enough to be wrong. Pure.
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
/// them: some comparators look values up in them.
///
/// An element that holds a part that nothing wrote is wrong whatever its value; one that is wrong and holds poison (all
/// bits set) counts as unwritten. Gaps between elements are not looked at.
///
/// # Errors
/// A call that does not fit the case, or a reference that is not sound; never anything that the candidate did.
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

/// What the reference computed for one output.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Floats: f64 elements in the output's own strides. Everything else: the output's own dtype and strides.
    pub values: &'a [u8],
    /// For `elementwise`: the sum of the magnitudes of the terms of each element, f64, in the output's own strides.
    pub magnitudes: Option<&'a [u8]>,
}

/// What a candidate left in one output.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// In the output's own dtype and strides.
    pub bytes: &'a [u8],
    /// Ranges of bytes that nothing wrote, ascending, where the device can tell.
    pub unwritten: &'a [Range<usize>],
}

/// How strictly floats are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strictness {
    /// By the comparator's own bound.
    Tolerance,
    /// Equal to the reference rounded to the output's type.
    Exact,
}

/// What came of comparing one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The output, by its index in the case.
    pub tensor: usize,
    /// Elements that were compared.
    pub compared: u64,
    /// Nothing if the output is right.
    pub wrong: Option<OutputError>,
    /// The largest error of an accepted or rejected element, as a fraction of what is accepted; for reports. 0 where all
    /// are equal, [`f64::MAX`] where there is no limit to compare with.
    pub worst_fraction: f64,
}

/// How an output is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputError {
    /// In which way.
    pub kind: WrongKind,
    /// Elements that are wrong; 0 where only the root mean square is.
    pub count: u64,
    /// The first wrong element in the order of its index.
    pub first: Option<Mismatch>,
    /// The element whose error is the largest multiple of what is accepted.
    pub worst: Option<Mismatch>,
    /// The root mean square of the errors and its limit, where that is what fails.
    pub root_mean_square: Option<(f64, f64)>,
    /// Samples: how far their distribution is from the right one, and the limit, where that is what fails.
    pub distribution: Option<(f64, f64)>,
    /// Where in the tensor the wrong elements are; empty where no single element is wrong.
    pub map: ErrorMap,
}

/// One wrong element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Where in the tensor, one number for each dimension.
    pub index: Vec<u64>,
    /// What the candidate computed.
    pub found: ScalarValue,
    /// What the reference computed: floats before they are rounded to the output's type.
    pub expected: ScalarValue,
    /// Their distance in units in the last place of the output's type; nothing for NaN and infinity, and for integers.
    pub ulps: Option<f64>,
    /// The error that would have been accepted; nothing where only equality is.
    pub accepted: Option<f64>,
}

/// Counts of wrong elements over a grid laid on the tensor: its last dimension across, all others down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorMap {
    /// Cells across, at most 64.
    pub columns: usize,
    /// Wrong elements in each cell, row by row; at most 16 rows.
    pub counts: Vec<u64>,
    /// Elements in each cell.
    pub sizes: Vec<u64>,
}
