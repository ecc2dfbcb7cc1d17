//! Whether inputs from the whole domain are fair to a correct kernel: the reference and its f32 twin, the same source
//! with `float` in place of `double`, agree within half of the tolerance.
//!
//! Otherwise an intermediate result overflows, underflows or cancels in f32, and a correct kernel may have the same
//! error. The twin is compared before its results are rounded to the dtype of an output, because that rounding costs
//! every kernel another half ulp.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::compare::Comparator;

use super::super::case::{Case, TensorCase};
use super::super::element::load_reals;
use super::super::layout::{Layout, Run};
use super::Expected;
use super::elementwise::{Bound, CHUNK, Tolerance};
use super::error::CompareError;
use super::root_mean_square::{SquareSums, SumsByGroup};

/// The share of the tolerance that the twin may use.
const SHARE: f64 = 0.5;

/// Why inputs are not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InadmissibleInputs(pub String);

/// Whether all results of the reference are finite and close enough to its twin's; `twin` is `None` if the reference
/// computes in no wider type than a kernel.
///
/// # Errors
/// Results that do not match the case.
pub fn admits(
    case: &Case,
    reference: &[Option<Expected<'_>>],
    twin: Option<&[Option<Expected<'_>>]>,
) -> Result<Result<(), InadmissibleInputs>, CompareError> {
    for (index, made) in case.tensors.iter().enumerate() {
        let Some(comparator) = made.role.compare() else { continue };
        let Some(expected) = reference.get(index).and_then(Option::as_ref) else { continue };
        let other = twin.and_then(|twin| twin.get(index)).and_then(Option::as_ref);
        let fair = match comparator {
            Comparator::Elementwise { terms, factor, rms } => {
                let tolerance = Tolerance { terms: *terms, factor: *factor, rms: *rms };
                of_reals(case, made, tolerance, (expected, other))?
            }
            Comparator::IntegerExact
            | Comparator::IndexByValue { .. }
            | Comparator::Permutation { .. }
            | Comparator::Set
            | Comparator::Sampling { .. } => {
                // Choices among values that are no longer distinct in f32 may fall otherwise.
                other.is_none_or(|other| made.dtype.is_float() || other.values == expected.values)
            }
        };
        if !fair {
            return Ok(Err(InadmissibleInputs(made.name.clone())));
        }
    }
    Ok(Ok(()))
}

fn of_reals(
    case: &Case,
    made: &TensorCase,
    tolerance: Tolerance,
    (expected, other): (&Expected<'_>, Option<&Expected<'_>>),
) -> Result<bool, CompareError> {
    let layout = Layout::new(made)
        .map_err(|reason| CompareError::Layout { tensor: made.name.clone(), reason })?;
    let missing = || CompareError::NoMagnitudes { tensor: made.name.clone() };
    let magnitudes = numbers(expected.magnitudes.ok_or_else(missing)?);
    let values = numbers(expected.values);
    let other = other.map(|other| numbers(other.values));
    let largest = match made.dtype {
        // These saturate, which a kernel must do, too.
        Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::E2M1 => f64::MAX,
        Dtype::F64
        | Dtype::F32
        | Dtype::F16
        | Dtype::Bf16
        | Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::Bool
        | Dtype::I4
        | Dtype::U4 => made.dtype.largest_finite().unwrap_or(f64::MAX),
    };
    // The twin's own format: its error is that of arithmetic, without the rounding to fewer bits.
    let format = if made.dtype == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
    let bound = Bound::new(case, format, tolerance);
    let mut sums = SumsByGroup::default();
    let mut chunk = ([0.0; CHUNK], [0.0; CHUNK], 0);
    for place in layout.runs().flat_map(Run::places) {
        let get = |numbers: &[f64]| numbers.get(place).copied().unwrap_or(f64::NAN);
        let (value, magnitude) = (get(&values), get(&magnitudes));
        let finite = value.abs() <= largest && (0.0..f64::INFINITY).contains(&magnitude);
        if !finite {
            return Ok(false);
        }
        let Some(other) = &other else { continue };
        let (arithmetic, accepted) = bound.accepted(value, value, magnitude);
        let error = (get(other) - value).abs();
        // Written so that NaN is not accepted.
        let agrees = error <= SHARE * accepted;
        if !agrees {
            return Ok(false);
        }
        let (errors, scales, used) = &mut chunk;
        errors[*used] = (error - (accepted - arithmetic)).max(0.0);
        scales[*used] = bound.typical.0 * value.abs() + bound.typical.1 * magnitude;
        *used += 1;
        if *used == CHUNK {
            sums.add(SquareSums::from_chunk(errors, scales));
            chunk = ([0.0; CHUNK], [0.0; CHUNK], 0);
        }
    }
    sums.add(SquareSums::from_chunk(&chunk.0, &chunk.1));
    Ok(!tolerance.rms || sums.total().beyond(SHARE * tolerance.factor).is_none())
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let mut numbers = vec![0.0; bytes.len() / 8];
    load_reals(Dtype::F64, bytes, &mut numbers);
    numbers
}

#[cfg(test)]
mod tests {
    use lightbench_project::manifest::Accuracy;

    use super::*;
    use crate::fixture::{case, elementwise, output};

    #[test]
    fn inputs_are_fair_where_the_twin_agrees_within_half_of_the_tolerance() {
        let check = |dtype, reference: f64, twin: Option<f64>, fair: bool| {
            let case = case(Accuracy::F32, vec![output(dtype, &[1], elementwise(4))]);
            let bytes = |value: f64| value.to_le_bytes().to_vec();
            let (values, magnitudes) = (bytes(reference), bytes(1.0));
            let expected = Expected { values: &values, magnitudes: Some(&magnitudes) };
            let other = twin.map(bytes);
            let other = other.as_ref().map(|values| [Some(Expected { values, magnitudes: None })]);
            let found = admits(&case, &[Some(expected)], other.as_ref().map(<[_; 1]>::as_slice));
            assert_eq!(found.unwrap().is_ok(), fair, "{dtype:?}: {reference}, {twin:?}");
        };
        let unit = 2.0_f64.powi(-24);
        check(Dtype::F32, 1.0, None, true);
        check(Dtype::F32, 1.0, Some(1.0), true);
        check(Dtype::F32, 1.0, Some(1.0 + 2.0 * unit), true);
        // The tolerance is 4 · √4 + 1 units.
        check(Dtype::F32, 1.0, Some(1.0 + 6.0 * unit), false);
        // The rounding to bf16 is no arithmetic.
        check(Dtype::Bf16, 1.0, Some(1.0 + 6.0 * unit), false);
        check(Dtype::F32, 1.0, Some(f64::INFINITY), false);
        check(Dtype::F32, 1.0, Some(f64::NAN), false);
        check(Dtype::F32, f64::NAN, Some(f64::NAN), false);
        check(Dtype::F32, f64::INFINITY, None, false);
        // Beyond the largest f16; 8-bit floats saturate.
        check(Dtype::F16, 70_000.0, None, false);
        check(Dtype::F8E4M3, 70_000.0, None, true);
    }
}
