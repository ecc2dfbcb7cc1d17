//! Generates integer and boolean inputs, element by element.

use lightbench_primitives::random::{Stream, whole};
use lightbench_project::fill::Fill;

use super::super::element::element_bits;
use super::place::CHUNK;
use super::reals::{on_or_below_diagonal, unit};
use super::sparse::{self, Indices, Shuffle};
use super::{InputError, Plan};

/// Source of the values.
pub(super) enum Base {
    Constant(u64),
    Between {
        low: i128,
        high: i128,
    },
    Mask {
        density: f64,
    },
    /// Rows and columns of each matrix.
    Causal {
        rows: u64,
        cols: u64,
    },
    Shuffle(Shuffle),
    Offsets(Vec<u64>),
    Indices(Indices),
}

/// A tensor of integers or booleans about to be made.
pub(super) struct Integers {
    stream: Stream,
    /// Bytes of an element.
    size: usize,
    pub(super) base: Base,
    values: Vec<u64>,
}

impl Integers {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, InputError> {
        let dtype = plan.made.dtype;
        let base = match plan.fill {
            Fill::Integers { low, high } => {
                Base::Between { low: i128::from(*low), high: i128::from(*high) }
            }
            Fill::Labels { below: 0 } => return Err(plan.no_value()),
            Fill::Labels { below } => Base::Between { low: 0, high: i128::from(*below) - 1 },
            Fill::Ones => Base::Constant(1),
            Fill::Zeros => Base::Constant(0),
            Fill::Constant(value) => Base::Constant(element_bits(dtype, *value)),
            Fill::Mask { density } => Base::Mask { density: *density },
            Fill::CausalMask => {
                let [rows, cols] = plan.inner_dims()?;
                Base::Causal { rows, cols }
            }
            Fill::Permutation => {
                plan.require_apart()?;
                Base::Shuffle(Shuffle::new(plan.stream, plan.made.elements))
            }
            Fill::SortedOffsets { total } => {
                plan.require_apart()?;
                Base::Offsets(sparse::offsets(plan.case, plan.tensor, *total, plan.recipe)?)
            }
            Fill::SortedIndices { offsets, below } => {
                plan.require_apart()?;
                Base::Indices(Indices::new(plan, *offsets, *below)?)
            }
            Fill::Normal { .. }
            | Fill::Uniform { .. }
            | Fill::HeavyTail { .. }
            | Fill::PackedWeights => return Err(plan.no_value()),
        };
        let size = dtype.address_bytes() as usize;
        Ok(Self { stream: plan.stream, size, base, values: vec![0; CHUNK] })
    }

    /// The elements from an index on.
    pub(super) fn chunk(&mut self, first: u64, bytes: &mut [u8]) {
        let values = &mut self.values[..bytes.len() / self.size];
        let stream = self.stream;
        match &mut self.base {
            Base::Constant(value) => values.fill(*value),
            Base::Between { low, high } => {
                stream.all_bits(first, values);
                values.iter_mut().for_each(|value| *value = whole(*low, *high, *value));
            }
            Base::Mask { density } => {
                stream.all_bits(first, values);
                values.iter_mut().for_each(|value| *value = u64::from(unit(*value) < *density));
            }
            Base::Causal { rows, cols } => {
                for (value, index) in values.iter_mut().zip(first..) {
                    *value = u64::from(on_or_below_diagonal(index, *rows, *cols));
                }
            }
            Base::Shuffle(shuffle) => {
                for (value, index) in values.iter_mut().zip(first..) {
                    *value = shuffle.at(index);
                }
            }
            Base::Offsets(offsets) => {
                for (value, offset) in values.iter_mut().zip(offsets.iter().skip(first as usize)) {
                    *value = *offset;
                }
            }
            Base::Indices(indices) => {
                stream.all_bits(first, values);
                for (value, index) in values.iter_mut().zip(first..) {
                    *value = indices.at(index, *value);
                }
            }
        }
        for (slot, value) in bytes.chunks_exact_mut(self.size).zip(values) {
            slot.copy_from_slice(&value.to_le_bytes()[..slot.len()]);
        }
    }
}
