//! Comparators of outputs, checked against the tensor.

use lightbench_primitives::dtype::Family;
use serde::{Deserialize, Serialize};

use super::PlanError;
use super::environment::Environment;
use super::expression::{Expression, Kind};
use super::locate::Located;
use super::manifest::{ComparatorWritten, RoleWritten, TensorWritten};
use super::problem::Findings;
use super::tensor::TensorContext;

/// The comparator of an output: as written, or with the counts of one workload as numbers. Tensors are identified by
/// their index in the definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Comparator<Count = Expression> {
    /// Compares the error of each element with a bound computed from the terms that it sums.
    Elementwise {
        /// Terms of each element's sum.
        terms: Count,
        /// Multiple of the bound that is accepted.
        factor: f64,
        /// Whether the root mean square of the errors is tested too.
        rms: bool,
    },
    /// Equal integers.
    IntegerExact,
    /// An index is right when the value that it points to ties with the right one.
    IndexByValue {
        /// The tensor that is pointed into.
        of: usize,
        /// The dimension of it that is pointed along.
        axis: usize,
    },
    /// The same elements as another tensor, in any order.
    Permutation {
        /// The other tensor.
        of: usize,
    },
    /// The same elements as the reference's, in any order.
    Set,
    /// Draws from a distribution.
    Sampling {
        /// The tensor with the probabilities.
        probabilities: usize,
        /// Draws that are compared with the distribution.
        draws: Count,
    },
}

impl<Count> Comparator<Count> {
    /// The comparator's count, if it has one.
    pub const fn count(&self) -> Option<&Count> {
        match self {
            Self::Elementwise { terms, .. } => Some(terms),
            Self::Sampling { draws, .. } => Some(draws),
            Self::IntegerExact
            | Self::IndexByValue { .. }
            | Self::Permutation { .. }
            | Self::Set => None,
        }
    }

    /// The other tensor that it reads, by its index in the definition.
    pub const fn reads(&self) -> Option<usize> {
        match self {
            Self::IndexByValue { of, .. } | Self::Permutation { of } => Some(*of),
            Self::Sampling { probabilities, .. } => Some(*probabilities),
            Self::Elementwise { .. } | Self::IntegerExact | Self::Set => None,
        }
    }
}

impl Comparator {
    /// The same with the numbers of one workload.
    ///
    /// # Errors
    /// An expression without a value from 0 to 2^64.
    pub fn resolve(&self, environment: &Environment<'_>) -> Result<Comparator<u64>, PlanError> {
        Ok(match self {
            Self::Elementwise { terms, factor, rms } => {
                let terms = terms.count(environment)?;
                Comparator::Elementwise { terms, factor: *factor, rms: *rms }
            }
            Self::IntegerExact => Comparator::IntegerExact,
            Self::IndexByValue { of, axis } => Comparator::IndexByValue { of: *of, axis: *axis },
            Self::Permutation { of } => Comparator::Permutation { of: *of },
            Self::Set => Comparator::Set,
            Self::Sampling { probabilities, draws } => Comparator::Sampling {
                probabilities: *probabilities,
                draws: draws.count(environment)?,
            },
        })
    }
}

/// Validates a comparator.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorWritten,
    around: TensorContext<'_>,
) -> Comparator {
    let dtype = written.dtype;
    let Some(compare) = &written.compare else {
        let suggestion = if dtype.is_float() { "elementwise()" } else { "integer_exact" };
        findings.add_with_help(
            at,
            format!("`{}` is an output without a comparator", written.name),
            "a comparator for every output and inout",
            format!("add `compare: {suggestion}`"),
        );
        return Comparator::Set;
    };
    let place = at.field("compare");
    let float = dtype.is_float();
    let integer = dtype.is_integer() && !dtype.is_packed();
    let (fits, expected, suggestion) = match compare {
        ComparatorWritten::Elementwise { .. } => {
            (float, "a floating-point output", "integer_exact")
        }
        ComparatorWritten::IntegerExact => (
            dtype.is_integer() || dtype.family() == Family::Boolean,
            "an integer or bool output",
            "elementwise()",
        ),
        ComparatorWritten::IndexByValue { .. } | ComparatorWritten::Sampling { .. } => {
            (integer, "an integer output", "elementwise()")
        }
        ComparatorWritten::Permutation { .. } | ComparatorWritten::Set => {
            (!dtype.is_packed(), "a dtype of at least 8 bits", "integer_exact")
        }
    };
    if !fits {
        let found = format!("a comparator that does not judge {}", dtype.name());
        findings.add_with_help(place, found, expected, format!("write `{suggestion}`"));
    }
    convert(findings, place, compare, written, around)
}

fn convert(
    findings: &mut Findings<'_>,
    at: &Located,
    compare: &ComparatorWritten,
    written: &TensorWritten,
    around: TensorContext<'_>,
) -> Comparator {
    match compare {
        ComparatorWritten::Elementwise { terms, factor, rms } => {
            if !(factor.is_finite() && *factor > 0.0) {
                findings.add(
                    at.field("factor"),
                    format!("a factor of {factor}"),
                    "a finite factor above 0",
                );
            }
            let terms = findings.formula(at.field("terms"), &terms.0, around.scope, Kind::Integer);
            Comparator::Elementwise { terms, factor: *factor, rms: *rms }
        }
        ComparatorWritten::IntegerExact => Comparator::IntegerExact,
        ComparatorWritten::IndexByValue { of, axis } => {
            let tensor = readable(findings, at.field("of"), of, around);
            let rank = tensor.map_or(1, |tensor| around.tensors[tensor].shape.len());
            let axis = match usize::try_from(*axis) {
                Ok(axis) if axis < rank => axis,
                Ok(_) | Err(_) => {
                    let found = format!("axis {axis} of `{of}`, which has {rank} dimensions");
                    findings.add(
                        at.field("axis"),
                        found,
                        format!("an axis below {rank}, counted from 0"),
                    );
                    0
                }
            };
            Comparator::IndexByValue { of: tensor.unwrap_or_default(), axis }
        }
        ComparatorWritten::Permutation { of } => {
            let tensor = readable(findings, at.field("of"), of, around);
            if let Some(other) = tensor.map(|tensor| &around.tensors[tensor])
                && other.dtype != written.dtype
            {
                let found = format!(
                    "`{of}` is {} and `{}` {}",
                    other.dtype.name(),
                    written.name,
                    written.dtype.name()
                );
                findings.add(at.field("of"), found, "the same dtype");
            }
            Comparator::Permutation { of: tensor.unwrap_or_default() }
        }
        ComparatorWritten::Set => Comparator::Set,
        ComparatorWritten::Sampling { probabilities, draws } => {
            let tensor = readable(findings, at.field("probabilities"), probabilities, around);
            if let Some(dtype) = tensor.map(|tensor| around.tensors[tensor].dtype)
                && !dtype.is_float()
            {
                let found = format!("`{probabilities}` is {}", dtype.name());
                findings.add(at.field("probabilities"), found, "floating-point probabilities");
            }
            let draws = findings.formula(at.field("draws"), &draws.0, around.scope, Kind::Integer);
            Comparator::Sampling { probabilities: tensor.unwrap_or_default(), draws }
        }
    }
}

/// Finds a tensor whose values are known before the kernel runs.
fn readable(
    findings: &mut Findings<'_>,
    at: &Located,
    name: &str,
    around: TensorContext<'_>,
) -> Option<usize> {
    let tensor = around.find(findings, at, name)?;
    if around.tensors[tensor].role == RoleWritten::Output {
        findings.add(at, format!("`{name}` is an output"), "an input or inout");
        return None;
    }
    Some(tensor)
}
