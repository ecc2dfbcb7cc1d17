//! The memory layout of a tensor, as runs of equal strides.

use lightbench_project::tensor::MAX_RANK;

use super::case::TensorCase;

#[cfg(test)]
mod tests;

/// Why the sizes of a tensor describe no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Dimensions, strides, elements, span and bytes contradict each other.
    #[error("its dimensions, strides and sizes contradict each other")]
    Contradiction,
    /// More than this machine can address or give.
    #[error("it does not fit the memory of this machine")]
    TooLarge,
}

/// Equal steps through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first element, counted in the order of indices.
    pub(super) first: u64,
    /// Its first element, as an offset in elements.
    pub(super) offset: usize,
    /// Its number of elements.
    pub(super) length: usize,
    /// Elements of memory from one to the next.
    pub(super) step: usize,
}

impl Run {
    /// The offsets of its elements, in elements.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..self.length).map(move |index| self.offset + index * self.step)
    }
}

/// A tensor's place in memory. Neighbouring dimensions that step evenly are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Count and step of each, the last varying fastest; at least one.
    dims: Vec<(usize, usize)>,
    /// Elements in memory, gaps included.
    pub span: usize,
    /// Bytes in memory, gaps included.
    pub(super) bytes: usize,
}

impl Layout {
    /// That of a tensor.
    ///
    /// # Errors
    /// Sizes that contradict each other or this machine.
    pub fn new(tensor: &TensorCase) -> Result<Self, LayoutError> {
        let wrong = LayoutError::Contradiction;
        let size = |value: u64| usize::try_from(value).ok().ok_or(LayoutError::TooLarge);
        if tensor.dims.len() != tensor.strides.len() || tensor.dims.len() > MAX_RANK {
            return Err(wrong);
        }
        let (mut elements, mut last) = (1_u64, 0_u64);
        let mut dims: Vec<(usize, usize)> = Vec::new();
        for (dim, stride) in tensor.dims.iter().zip(&tensor.strides) {
            elements = elements.checked_mul(*dim).filter(|count| *count > 0).ok_or(wrong)?;
            last = (dim - 1)
                .checked_mul(*stride)
                .and_then(|reach| last.checked_add(reach))
                .ok_or(wrong)?;
            let (dim, stride) = (size(*dim)?, size(*stride)?);
            match dims.last_mut() {
                _ if dim == 1 => {}
                Some((count, step)) if stride.checked_mul(dim) == Some(*step) => {
                    (*count, *step) = (count.checked_mul(dim).ok_or(wrong)?, stride);
                }
                Some(_) | None => dims.push((dim, stride)),
            }
        }
        if dims.is_empty() {
            dims.push((1, 1));
        }
        let span = last.checked_add(1).ok_or(wrong)?;
        let bytes = span.checked_mul(tensor.dtype.bits()).ok_or(wrong)?.div_ceil(8);
        if (elements, span, bytes) != (tensor.elements, tensor.span, tensor.bytes) {
            return Err(wrong);
        }
        // Two packed elements share a byte, so rows must have no gaps.
        if tensor.dtype.is_packed() && (dims.len() > 1 || dims[0].1 != 1) {
            return Err(wrong);
        }
        Ok(Self { dims, span: size(span)?, bytes: size(bytes)? })
    }

    /// The same without the dimensions along which memory does not change: one element for all that share it.
    pub(super) fn without_repetition(&self) -> Self {
        let mut dims: Vec<_> = self.dims.iter().copied().filter(|(_, step)| *step > 0).collect();
        if dims.is_empty() {
            dims.push((1, 1));
        }
        Self { dims, ..*self }
    }

    /// Every element of the span, gaps included.
    pub(super) fn whole_span(&self) -> Self {
        Self { dims: vec![(self.span, 1)], ..*self }
    }

    /// Whether two elements may share memory: some step does not pass over everything inside it.
    pub(super) fn shares_memory(&self) -> bool {
        let mut nested = self.dims.clone();
        nested.sort_unstable_by_key(|(count, step)| (*step, *count));
        let mut reach = 0_usize;
        nested.into_iter().filter(|(count, _)| *count > 1).any(|(count, step)| {
            let meets = step <= reach;
            reach = reach.saturating_add((count - 1).saturating_mul(step));
            meets
        })
    }

    /// Count and step of each dimension, the last varying fastest; at least one.
    pub(super) fn dims(&self) -> &[(usize, usize)] {
        &self.dims
    }

    /// The elements, in the order of their indices.
    pub(super) fn elements(&self) -> u64 {
        self.dims.iter().map(|(count, _)| *count as u64).product()
    }

    /// Whether memory holds the elements in the order of their indices, without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.dims.len() == 1 && self.dims[0].0 == self.span
    }

    /// The offset of an element, in elements.
    pub(super) fn place(&self, mut element: u64) -> usize {
        let mut place = 0;
        for (count, step) in self.dims.iter().rev() {
            let count = *count as u64;
            place += (element % count) as usize * step;
            element /= count;
        }
        place
    }

    /// All elements in the order of their indices.
    pub fn runs(&self) -> Runs<'_> {
        let (outer, inner) = self.dims.split_at(self.dims.len() - 1);
        Runs { outer, inner: inner[0], index: [0; MAX_RANK], first: 0, done: false }
    }
}

/// The runs of a layout.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    outer: &'a [(usize, usize)],
    inner: (usize, usize),
    index: [usize; MAX_RANK],
    first: u64,
    done: bool,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.done {
            return None;
        }
        let offset = self.outer.iter().zip(self.index).map(|((_, step), index)| step * index).sum();
        let (length, step) = self.inner;
        let run = Run { first: self.first, offset, length, step };
        self.first += length as u64;
        self.done = true;
        for ((count, _), index) in self.outer.iter().zip(&mut self.index).rev() {
            *index += 1;
            if *index < *count {
                self.done = false;
                break;
            }
            *index = 0;
        }
        Some(run)
    }
}
