//! Comparison on a device: the encoded parameters, and the interpretation of the resulting sums.
//!
//! The device reports that every element is correct, by the same bound as the host; or that one may not be, and then
//! the host compares. It sums the same chunks in the same order as the host, so that both compute the same root mean
//! square.

use lightbench_project::compare::Comparator;

use super::super::case::Case;
use super::super::layout::Layout;
use super::elementwise::{Bound, Tolerance, imprecise};
use super::root_mean_square::SquareSums;
use super::{Comparison, Strictness};
use crate::encoding::comparison;
use crate::encoding::comparison::{ComparisonEncoding, ComparisonResult, GroupSquares};
use crate::encoding::format::Format;

/// One output that a device can judge.
#[derive(Clone, Debug)]
pub struct OnDevice {
    /// The parameters for the device.
    pub comparing: ComparisonEncoding,
    tensor: usize,
    elements: u64,
    /// For floats.
    tolerance: Option<Tolerance>,
}

impl OnDevice {
    /// The comparison of an output on a device; `None` if only the host supports it.
    #[must_use]
    pub fn new(case: &Case, tensor: usize) -> Option<Self> {
        let made = case.tensors.get(tensor)?;
        let layout = Layout::new(made).ok()?;
        let (tolerance, bound, format) = match made.role.compare()? {
            Comparator::Elementwise { terms, factor, rms } if made.dtype.is_float() => {
                let tolerance = Tolerance { terms: *terms, factor: *factor, rms: *rms };
                let bound = Bound::new(case, made.dtype, tolerance).on_device();
                (Some(tolerance), bound, Format::from_dtype(made.dtype)?)
            }
            Comparator::IntegerExact if !made.dtype.is_float() => {
                (None, comparison::Bound::default(), Format::from_stored_dtype(made.dtype))
            }
            Comparator::Elementwise { .. }
            | Comparator::IntegerExact
            | Comparator::IndexByValue { .. }
            | Comparator::Permutation { .. }
            | Comparator::Set
            | Comparator::Sampling { .. } => return None,
        };
        // Two packed elements share a byte, and rows have no gaps: bytes are compared.
        let dimensions = match made.dtype.is_packed() {
            true => vec![(layout.bytes as u64, 1)],
            false => {
                layout.dims().iter().map(|(count, step)| (*count as u64, *step as u64)).collect()
            }
        };
        let comparing = ComparisonEncoding { format, bound, dimensions };
        Some(Self { comparing, tensor, elements: made.elements, tolerance })
    }

    /// The result, if no closer comparison on the host is needed.
    #[must_use]
    pub fn settle(
        &self,
        strictness: Strictness,
        judged: ComparisonResult,
        groups: impl IntoIterator<Item = GroupSquares>,
    ) -> Option<Comparison> {
        if judged.rejected > 0 {
            return None;
        }
        let beyond = match (self.tolerance, strictness) {
            (Some(tolerance), Strictness::Tolerance) if tolerance.rms => {
                let each = groups.into_iter().map(SquareSums::from_group);
                each.fold(SquareSums::default(), SquareSums::and).beyond(tolerance.factor)
            }
            (Some(_) | None, Strictness::Tolerance | Strictness::Exact) => None,
        };
        Some(Comparison {
            tensor: self.tensor,
            compared: self.elements,
            wrong: beyond.map(imprecise),
            worst_fraction: judged.fraction,
        })
    }
}
