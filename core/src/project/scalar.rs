//! Axes and scalars: what a task is given by value.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    dtype::{CType, Dtype, Family},
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

/// The values that a scalar may have beside those that workloads give it. Booleans have no others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarDomain {
    /// Every value for which the reference gives finite results.
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

/// A number or a boolean that fits the type it is given to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarValue {
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i128),
    /// A floating-point number, not yet rounded to its type.
    Real(#[serde(with = "as_bits")] f64),
}

/// JSON has no infinities: a real travels as its bits.
mod as_bits {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

impl ScalarValue {
    /// The value as a floating-point number; true is 1.
    #[expect(
        clippy::cast_precision_loss,
        reason = "work formulas are floating point by definition"
    )]
    pub fn as_real(self) -> f64 {
        match self {
            Self::Boolean(value) => f64::from(u8::from(value)),
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// The written number as a value of the dtype; otherwise what would have been right.
    pub(super) fn fit(written: NumberWritten, dtype: Dtype) -> Result<Self, String> {
        let fits = match (dtype.family(), written) {
            (Family::Boolean, NumberWritten::Boolean(value)) => Some(Self::Boolean(value)),
            (Family::Signed | Family::Unsigned, NumberWritten::Integer(value))
                if dtype.holds(value) =>
            {
                Some(Self::Integer(value))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "the value is rounded to its type in the end"
            )]
            (Family::Float, NumberWritten::Integer(value)) if dtype.holds(value) => {
                Some(Self::Real(value as f64))
            }
            (Family::Float, NumberWritten::Real(value)) => {
                let largest = dtype.largest_finite().unwrap_or_default();
                (value.is_infinite() || value.abs() <= largest).then_some(Self::Real(value))
            }
            (_, NumberWritten::Boolean(_) | NumberWritten::Integer(_) | NumberWritten::Real(_)) => {
                None
            }
        };
        fits.ok_or_else(|| match dtype.family() {
            Family::Boolean => "true or false".to_owned(),
            Family::Signed | Family::Unsigned => format!("an integer that fits {}", dtype.name()),
            Family::Float => format!("a number that fits {}", dtype.name()),
        })
    }

    /// The value converted to a C type without changing it; otherwise what would have been right.
    pub(super) fn convert(self, c_type: CType) -> Result<Self, String> {
        let target = c_type.dtype();
        let fits = match (self, target.family()) {
            (Self::Boolean(_), Family::Boolean) => true,
            (Self::Integer(value), Family::Signed | Family::Unsigned) => target.holds(value),
            (Self::Integer(value), Family::Float) => c_type
                .exact_integers()
                .is_some_and(|exact| value.unsigned_abs() <= exact.unsigned_abs()),
            (Self::Real(_), Family::Float) => true,
            (Self::Boolean(_) | Self::Integer(_) | Self::Real(_), _) => false,
        };
        match (fits, self) {
            (true, _) => Ok(self),
            (false, Self::Boolean(_)) => Err("the type bool".to_owned()),
            (false, Self::Integer(_)) => Err(format!("a value that fits {}", c_type.name())),
            (false, Self::Real(_)) => Err("a floating-point type".to_owned()),
        }
    }
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Real(value) => write!(formatter, "{value:?}"),
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
        findings.add(at, found, "the domain of a number: booleans keep their value");
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
    ScalarValue::fit(written, dtype).unwrap_or_else(|expected| {
        findings.add(at, format!("{written}"), expected);
        ScalarValue::Integer(1)
    })
}
