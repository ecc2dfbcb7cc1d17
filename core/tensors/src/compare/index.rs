//! Compares indices along a dimension of an input: an index is correct if the value it refers to equals the value of
//! the correct index.
//!
//! The output has the shape of the input without that dimension (argmax), or with another length there (top k). Indices
//! along the dimension must be distinct. Values are equal if they compare equal: -0 with 0, NaN with NaN.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::launch::expectation::WrongKind;

use super::super::element::{element_at, element_value, real};
use super::super::layout::Layout;
use super::Comparison;
use super::error::CompareError;
use super::output::Output;
use super::tally::{Fault, Rejected, Tally};

/// The input that is pointed into, and how.
struct Target<'a> {
    name: &'a str,
    dtype: Dtype,
    bytes: &'a [u8],
    /// Memory strides of the input for each dimension of the output; 0 along the indexed dimension.
    steps: Vec<u64>,
    /// Length and step of the dimension that is pointed along.
    along: (u64, u64),
}

/// Compares an output of indices into the tensor `of`, along its dimension `axis`.
pub(super) fn compare(
    output: &Output<'_>,
    (of, axis): (usize, usize),
    inputs: &[Option<Vec<u8>>],
) -> Result<Comparison, CompareError> {
    if !output.made.dtype.is_integer() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let target = Target::new(output, (of, axis), inputs)?;
    let same_rank = target.steps.len() == output.case.tensors[of].dims.len();
    let repeated = if same_rank { repeated(output, axis) } else { Vec::new() };
    let mut repeated = repeated.into_iter().peekable();
    let mut tally = Tally::new(&output.made.dims);
    let dtype = output.made.dtype;
    for (element, place) in output.elements() {
        let found = output.found_at(place);
        let expected = element_at(dtype, output.expected.values, place).unwrap_or_default();
        let (found, expected) = (element_value(dtype, found), element_value(dtype, expected));
        let base = base(element, &output.made.dims, &target.steps);
        let right = target.value(base, expected).ok_or_else(|| CompareError::ReferenceIndex {
            tensor: output.name(),
            input: target.name.to_owned(),
            element,
        })?;
        let again = repeated.next_if_eq(&element).is_some();
        let ties = target.value(base, found).is_some_and(|value| tie(value, right)) && !again;
        let unwritten = output.any_unwritten(&output.bytes_of(place..place + 1));
        if ties && !unwritten {
            continue;
        }
        let poison = unwritten || output.holds_poison(place);
        let fault = if poison { Fault::Unwritten } else { Fault::Value };
        tally.reject(Rejected::unequal(element, fault, found, expected));
    }
    Ok(tally.finish(output.tensor, output.made.elements, WrongKind::Numeric))
}

impl<'a> Target<'a> {
    fn new(
        output: &Output<'a>,
        (of, axis): (usize, usize),
        inputs: &'a [Option<Vec<u8>>],
    ) -> Result<Self, CompareError> {
        let (tensor, bytes) = output.input(of, inputs)?;
        let shape = || CompareError::Shape { tensor: output.name(), input: tensor.name.clone() };
        Layout::new(tensor)
            .map_err(|reason| CompareError::Layout { tensor: tensor.name.clone(), reason })?;
        let along = (*tensor.dims.get(axis).ok_or_else(shape)?, tensor.strides[axis]);
        let (mut dims, mut steps) = (tensor.dims.clone(), tensor.strides.clone());
        if dims.len() == output.made.dims.len() {
            (dims[axis], steps[axis]) = (output.made.dims[axis], 0);
        } else {
            dims.remove(axis);
            steps.remove(axis);
        }
        if dims != output.made.dims {
            return Err(shape());
        }
        Ok(Self { name: &tensor.name, dtype: tensor.dtype, bytes, steps, along })
    }

    /// The value that an index refers to; `None` if it is out of range.
    fn value(&self, base: u64, index: ScalarValue) -> Option<ScalarValue> {
        let ScalarValue::Integer(index) = index else { return None };
        let index = u64::try_from(index).ok().filter(|index| *index < self.along.0)?;
        let place = usize::try_from(base + index * self.along.1).ok()?;
        let bits = element_at(self.dtype, self.bytes, place)?;
        Some(match self.dtype.family() {
            Family::Float => ScalarValue::Real(real(self.dtype, bits)),
            Family::Signed | Family::Unsigned | Family::Boolean => element_value(self.dtype, bits),
        })
    }
}

fn tie(found: ScalarValue, expected: ScalarValue) -> bool {
    match (found, expected) {
        (ScalarValue::Real(found), ScalarValue::Real(expected)) => {
            found == expected || (found.is_nan() && expected.is_nan())
        }
        (found, expected) => found == expected,
    }
}

/// The memory offset of the slice that an element indexes.
fn base(element: u64, dims: &[u64], steps: &[u64]) -> u64 {
    let mut rest = element;
    let mut base = 0;
    for (dim, step) in dims.iter().zip(steps).rev() {
        base += rest % dim * step;
        rest /= dim;
    }
    base
}

/// Elements that repeat an earlier index along the dimension, in the order of elements.
fn repeated(output: &Output<'_>, axis: usize) -> Vec<u64> {
    let inner: u64 = output.made.dims[axis + 1..].iter().product();
    let length = output.made.dims[axis];
    if length == 1 {
        return Vec::new();
    }
    // Slice, index, element: neighbours that agree in the first two repeat each other.
    let mut said: Vec<(u64, u64, u64)> = output
        .elements()
        .map(|(element, place)| {
            let slice = element / (inner * length) * inner + element % inner;
            (slice, output.found_at(place), element)
        })
        .collect();
    said.sort_unstable();
    let mut repeated: Vec<u64> = said
        .windows(2)
        .filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
        .map(|pair| pair[1].2)
        .collect();
    repeated.sort_unstable();
    repeated
}
