//! Compares elements in any order, as multisets, with another tensor or the reference.
//!
//! A permutation moves elements, so they are compared bit for bit. The elements of a set are computed: -0 equals 0, and
//! all NaNs are equal. If an element occurs too often, its last occurrences in the order of indices are wrong.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::launch::expectation::WrongKind;

use super::super::case::TensorCase;
use super::super::element::{element_at, element_value, nearest, real};
use super::super::layout::{Layout, LayoutError};
use super::Comparison;
use super::error::CompareError;
use super::output::Output;
use super::tally::{Fault, Rejected, Tally};

/// Compares an output with the elements of the tensor `of`.
pub(super) fn compare_permutation(
    output: &Output<'_>,
    of: usize,
    inputs: &[Option<Vec<u8>>],
) -> Result<Comparison, CompareError> {
    let (tensor, bytes) = output.input(of, inputs)?;
    if tensor.dtype != output.made.dtype || tensor.dtype.is_packed() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let layout = Layout::new(tensor)
        .map_err(|reason| CompareError::Layout { tensor: tensor.name.clone(), reason })?;
    if layout.elements() != output.made.elements {
        let (tensor, input) = (output.name(), tensor.name.clone());
        return Err(CompareError::Shape { tensor, input });
    }
    let places = layout.runs().flat_map(|run| run.places());
    let expected = places.map(|place| element_at(tensor.dtype, bytes, place).unwrap_or_default());
    compare(output, expected, |bits| bits)
}

/// Compares an output with the elements of the reference.
pub(super) fn compare_set(output: &Output<'_>) -> Result<Comparison, CompareError> {
    let dtype = output.made.dtype;
    if dtype.is_packed() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let values = output.expected.values;
    let expected = output.elements().map(|(_, place)| {
        if dtype.is_float() {
            let bits = element_at(Dtype::F64, values, place).unwrap_or_default();
            same_value(dtype, nearest(dtype, f64::from_bits(bits)))
        } else {
            element_at(dtype, values, place).unwrap_or_default()
        }
    });
    compare(output, expected, |bits| same_value(dtype, bits))
}

/// The same bits for the same value.
fn same_value(dtype: Dtype, bits: u64) -> u64 {
    if !dtype.is_float() {
        return bits;
    }
    let value = real(dtype, bits);
    if value.is_nan() {
        nearest(dtype, f64::NAN)
    } else if value == 0.0 {
        0
    } else {
        bits
    }
}

fn compare(
    output: &Output<'_>,
    expected: impl Iterator<Item = u64>,
    meant: impl Fn(u64) -> u64,
) -> Result<Comparison, CompareError> {
    let found = output.elements().map(|(_, place)| meant(output.found_at(place)));
    let found = sorted(output.made, found)?;
    let expected = sorted(output.made, expected)?;
    let mut tally = Tally::new(&output.made.dims);
    let written = output.found.unwritten.is_empty();
    if !(found == expected && written) {
        reject_surplus(output, &Difference::new(&found, &expected), &meant, &mut tally);
    }
    Ok(tally.finish(output.tensor, output.made.elements, WrongKind::Numeric))
}

fn sorted(
    tensor: &TensorCase,
    elements: impl Iterator<Item = u64>,
) -> Result<Vec<u64>, CompareError> {
    let mut all = Vec::new();
    let count = usize::try_from(tensor.elements).unwrap_or(usize::MAX);
    all.try_reserve_exact(count).ok().ok_or_else(|| CompareError::Layout {
        tensor: tensor.name.clone(),
        reason: LayoutError::TooLarge,
    })?;
    all.extend(elements);
    all.sort_unstable();
    Ok(all)
}

/// The difference of two sorted lists.
struct Difference {
    /// Values that occur too often, ascending, with the expected number of occurrences.
    surplus: Vec<(u64, usize)>,
    /// Missing values, repeated as often as they are missing.
    missing: Vec<u64>,
}

impl Difference {
    fn new(found: &[u64], expected: &[u64]) -> Self {
        let (mut found, mut expected) = (found, expected);
        let mut difference = Self { surplus: Vec::new(), missing: Vec::new() };
        while let Some(value) = found.first().into_iter().chain(expected.first()).min().copied() {
            let count = |list: &[u64]| list.iter().take_while(|one| **one == value).count();
            let (there, wanted) = (count(found), count(expected));
            (found, expected) = (&found[there..], &expected[wanted..]);
            if there > wanted {
                difference.surplus.push((value, wanted));
            } else {
                difference.missing.extend(std::iter::repeat_n(value, wanted - there));
            }
        }
        difference
    }
}

/// Rejects surplus elements and uninitialised elements.
fn reject_surplus(
    output: &Output<'_>,
    difference: &Difference,
    meant: impl Fn(u64) -> u64,
    tally: &mut Tally,
) {
    let dtype = output.made.dtype;
    let mut surplus = difference.surplus.clone();
    let mut missing = difference.missing.iter();
    for (element, place) in output.elements() {
        let bits = meant(output.found_at(place));
        let unwritten = output.any_unwritten(&output.bytes_of(place..place + 1));
        let known = surplus.binary_search_by_key(&bits, |(value, _)| *value).ok();
        let beyond = known.and_then(|index| surplus.get_mut(index)).is_some_and(|(_, wanted)| {
            let none_left = *wanted == 0;
            *wanted = wanted.saturating_sub(1);
            none_left
        });
        if !beyond && !unwritten {
            continue;
        }
        let poison = unwritten || output.holds_poison(place);
        let fault = if poison { Fault::Unwritten } else { Fault::Value };
        let wanted = if beyond { missing.next().copied().unwrap_or(bits) } else { bits };
        let (found, expected) = (element_value(dtype, bits), element_value(dtype, wanted));
        tally.reject(Rejected::unequal(element, fault, found, expected));
    }
}
