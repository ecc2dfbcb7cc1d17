//! Axes and scalars: the inputs of a task that are passed by value.

use lightbench_primitives::dtype::{CType, Dtype, Family};
use lightbench_primitives::scalar_value::ScalarValue;

use super::{
    locate::Located,
    manifest::{AxisWritten, LARGEST_AXIS, ScalarDomainWritten, ScalarWritten},
    problem::Findings,
    written::NumberWritten,
};

/// A size of the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name in expressions.
    pub name: String,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    /// Every value is a multiple of this.
    pub multiple_of: u64,
    /// Free text.
    pub note: String,
}

/// A value that is passed by value and is not a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Its name in expressions.
    pub name: String,
    /// Its type.
    pub dtype: Dtype,
    /// Its value, unless a workload overrides it.
    pub value: ScalarValue,
    /// The values that it may have.
    pub domain: ScalarDomain,
    /// Free text.
    pub note: String,
}

/// The values of a scalar besides those of workloads. Booleans have [`Any`](Self::Any) or [`Fixed`](Self::Fixed).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarDomain {
    /// Every value for which the reference yields finite results.
    Any,
    /// No other value.
    Fixed,
    /// Every value but 0.
    NonZero,
    /// Values above 0.
    Positive,
    /// 0 and values above it.
    NonNegative,
    /// Values from the first to the second, both included.
    Between(f64, f64),
}

impl ScalarDomain {
    /// The value itself or the nearest limit of an interval; `None` if the domain excludes it.
    #[must_use]
    pub fn admit(self, value: f64) -> Option<f64> {
        match self {
            Self::Any => Some(value),
            Self::Fixed => None,
            Self::NonZero => Some(value).filter(|value| *value != 0.0),
            Self::Positive => Some(value).filter(|value| *value > 0.0),
            Self::NonNegative => Some(value).filter(|value| *value >= 0.0),
            Self::Between(low, high) => Some(value.clamp(low, high)),
        }
    }
}

pub(super) fn check_axis(findings: &mut Findings<'_>, at: &Located, written: &AxisWritten) -> Axis {
    findings.identifier(at.field("name"), &written.name);
    let min = findings.within(at.field("min"), written.min, 1, LARGEST_AXIS);
    let before = findings.count();
    let mut max = findings.within(at.field("max"), written.max, 1, LARGEST_AXIS);
    if findings.count() > before {
        // One wrong limit is one problem: the workloads are held against the widest.
        max = LARGEST_AXIS.unsigned_abs();
    }
    let multiple_of =
        findings.within(at.field("multiple_of"), written.multiple_of, 1, LARGEST_AXIS);
    if max < min {
        findings.add(at.field("max"), format!("max {max} is below min {min}"), "max at least min");
    } else if max / multiple_of * multiple_of < min {
        let found = format!("no multiple of {multiple_of} lies between {min} and {max}");
        findings.add(at.field("multiple_of"), found, "limits with a multiple between them");
    }
    Axis { name: written.name.clone(), min, max, multiple_of, note: written.note.clone() }
}

pub(super) fn check_scalar(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &ScalarWritten,
) -> Scalar {
    findings.identifier(at.field("name"), &written.name);
    let dtype = written.dtype;
    if CType::from_name(dtype.name()).is_none() {
        let known = CType::ALL.map(CType::name).join(", ");
        let found = format!("{} cannot be passed by value", dtype.name());
        findings.add(at.field("dtype"), found, format!("one of {known}"));
    }
    let value = scalar_value(findings, at.field("value"), written.value, dtype);
    let domain = check_scalar_domain(findings, at.field("domain"), written);
    Scalar { name: written.name.clone(), dtype, value, domain, note: written.note.clone() }
}

fn check_scalar_domain(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &ScalarWritten,
) -> ScalarDomain {
    let is_number = written.dtype.family() != Family::Boolean;
    let is_narrow =
        !matches!(written.domain, ScalarDomainWritten::Any | ScalarDomainWritten::Fixed);
    if !is_number && is_narrow {
        let found = format!("a domain of {}", written.dtype.name());
        findings.add(at, found, "`any` or `fixed`");
    }
    match written.domain {
        ScalarDomainWritten::Any => ScalarDomain::Any,
        ScalarDomainWritten::Fixed => ScalarDomain::Fixed,
        ScalarDomainWritten::NonZero => ScalarDomain::NonZero,
        ScalarDomainWritten::Positive => ScalarDomain::Positive,
        ScalarDomainWritten::NonNegative => ScalarDomain::NonNegative,
        ScalarDomainWritten::Between { low, high } => {
            if low.is_finite() && high.is_finite() && low <= high {
                ScalarDomain::Between(low, high)
            } else {
                findings.add(
                    at,
                    "limits that describe no values",
                    "finite limits, low at most high",
                );
                ScalarDomain::Fixed
            }
        }
    }
}

pub(super) fn scalar_value(
    findings: &mut Findings<'_>,
    at: &Located,
    written: NumberWritten,
    dtype: Dtype,
) -> ScalarValue {
    fit(written, dtype).unwrap_or_else(|expected| {
        findings.add(at, format!("{written}"), expected);
        ScalarValue::Integer(1)
    })
}

/// Converts the written number to the dtype; the error states the expected values.
fn fit(written: NumberWritten, dtype: Dtype) -> Result<ScalarValue, String> {
    let fits = match (dtype.family(), written) {
        (Family::Boolean, NumberWritten::Boolean(value)) => Some(ScalarValue::Boolean(value)),
        (Family::Signed | Family::Unsigned, NumberWritten::Integer(value))
            if dtype.holds(value) =>
        {
            Some(ScalarValue::Integer(value))
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "the value is rounded to its type in the end"
        )]
        (Family::Float, NumberWritten::Integer(value)) if dtype.holds(value) => {
            Some(ScalarValue::Real(value as f64))
        }
        (Family::Float, NumberWritten::Real(value)) => {
            let largest = dtype.largest_finite().unwrap_or_default();
            (value.is_infinite() || value.abs() <= largest).then_some(ScalarValue::Real(value))
        }
        (_, NumberWritten::Boolean(_) | NumberWritten::Integer(_) | NumberWritten::Real(_)) => None,
    };
    fits.ok_or_else(|| match dtype.family() {
        Family::Boolean => "true or false".to_owned(),
        Family::Signed | Family::Unsigned => format!("an integer that fits {}", dtype.name()),
        Family::Float => format!("a number that fits {}", dtype.name()),
    })
}
