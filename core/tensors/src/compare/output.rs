//! One output during comparison: its layout, the found bytes and the expected values.

use std::ops::Range;

use super::super::case::{Case, TensorCase};
use super::super::element::{POISON, element_at};
use super::super::layout::Layout;
use super::error::CompareError;
use super::{Expected, Found};

/// An output whose buffers have the sizes of the case.
#[derive(Clone, Debug)]
pub(super) struct Output<'a> {
    pub(super) case: &'a Case,
    pub(super) tensor: usize,
    pub(super) made: &'a TensorCase,
    pub(super) layout: Layout,
    pub(super) found: Found<'a>,
    pub(super) expected: Expected<'a>,
}

impl<'a> Output<'a> {
    pub(super) fn new(
        case: &'a Case,
        tensor: usize,
        found: Found<'a>,
        expected: Expected<'a>,
    ) -> Result<Self, CompareError> {
        let made = case.tensors.get(tensor).ok_or(CompareError::NotAnOutput { tensor })?;
        let layout = Layout::new(made)
            .map_err(|reason| CompareError::Layout { tensor: made.name.clone(), reason })?;
        let output = Self { case, tensor, made, layout, found, expected };
        let reals = output.layout.span.saturating_mul(8);
        let values = if made.dtype.is_float() { reals } else { output.layout.bytes };
        output.require_size("output", found.bytes, output.layout.bytes)?;
        output.require_size("reference", expected.values, values)?;
        if let Some(magnitudes) = expected.magnitudes {
            output.require_size("magnitude", magnitudes, reals)?;
        }
        Ok(output)
    }

    fn require_size(
        &self,
        what: &'static str,
        bytes: &[u8],
        expected: usize,
    ) -> Result<(), CompareError> {
        let (tensor, found) = (self.name(), bytes.len());
        if found == expected {
            Ok(())
        } else {
            Err(CompareError::Size { tensor, what, found, expected })
        }
    }

    pub(super) fn name(&self) -> String {
        self.made.name.clone()
    }

    /// An input that the comparator reads, and its bytes.
    pub(super) fn input(
        &self,
        index: usize,
        inputs: &'a [Option<Vec<u8>>],
    ) -> Result<(&'a TensorCase, &'a [u8]), CompareError> {
        let missing = |input: String| CompareError::NoInput { tensor: self.name(), input };
        let unknown = || missing(format!("tensor {index}"));
        let tensor = self.case.tensors.get(index).ok_or_else(unknown)?;
        let bytes = inputs.get(index).and_then(Option::as_deref);
        let bytes = bytes.ok_or_else(|| missing(tensor.name.clone()))?;
        match usize::try_from(tensor.bytes) {
            Ok(expected) if expected == bytes.len() => Ok((tensor, bytes)),
            Ok(_) | Err(_) => Err(missing(tensor.name.clone())),
        }
    }

    /// Every element in the order of indices, and its place in memory.
    pub(super) fn elements(&self) -> impl Iterator<Item = (u64, usize)> {
        self.layout.runs().flat_map(|run| (run.first..).zip(run.places()))
    }

    /// The bits that were found at a place in memory.
    pub(super) fn found_at(&self, place: usize) -> u64 {
        element_at(self.made.dtype, self.found.bytes, place).unwrap_or(u64::MAX)
    }

    /// The bytes of an element, or the byte that it shares.
    pub(super) fn bytes_of(&self, places: Range<usize>) -> Range<usize> {
        if self.made.dtype.is_packed() {
            return places.start / 2..places.end.div_ceil(2);
        }
        let size = self.made.dtype.address_bytes() as usize;
        places.start * size..places.end * size
    }

    /// Whether something among these bytes was not written.
    pub(super) fn any_unwritten(&self, bytes: &Range<usize>) -> bool {
        let later = self.found.unwritten.partition_point(|gap| gap.end <= bytes.start);
        self.found.unwritten.get(later).is_some_and(|gap| gap.start < bytes.end)
    }

    /// Whether an element holds the poison of uninitialised memory.
    pub(super) fn holds_poison(&self, place: usize) -> bool {
        let bytes = self.found.bytes.get(self.bytes_of(place..place + 1));
        bytes.is_some_and(|bytes| bytes.iter().all(|byte| *byte == POISON))
    }
}
