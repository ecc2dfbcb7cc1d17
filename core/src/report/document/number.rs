//! Numbers that JSON may be unable to represent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scalar_value::ScalarValue;

/// Integers beyond it lose precision in readers that keep every number as a double.
const LARGEST_EXACT_INTEGER: u64 = 1 << 53;

/// A number that JSON may be unable to represent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReportedNumber {
    /// A value of type `bool`.
    Boolean(bool),
    /// An integer of at most 2^53 in magnitude.
    Integer(i64),
    /// A finite floating-point number.
    Real(f64),
    /// A NaN or an infinity.
    NotFinite {
        /// `nan`, `inf` or `-inf`.
        value: String,
        /// The bits of the 64-bit floating-point number, in hexadecimal.
        bits: String,
    },
    /// A larger integer, in decimal.
    LargeInteger(String),
}

impl ReportedNumber {
    /// The finite floating-point number, if it is one.
    #[must_use]
    pub const fn real(&self) -> Option<f64> {
        match self {
            Self::Real(value) => Some(*value),
            Self::Boolean(_)
            | Self::Integer(_)
            | Self::NotFinite { .. }
            | Self::LargeInteger(_) => None,
        }
    }
}

impl fmt::Display for ReportedNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(formatter),
            Self::Integer(value) => value.fmt(formatter),
            Self::Real(value) => write!(formatter, "{value:?}"),
            Self::NotFinite { value, .. } | Self::LargeInteger(value) => formatter.write_str(value),
        }
    }
}

impl From<f64> for ReportedNumber {
    fn from(value: f64) -> Self {
        if value.is_finite() {
            return Self::Real(value);
        }
        let name = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
        Self::NotFinite { value: name, bits: format!("{:#018x}", value.to_bits()) }
    }
}

impl From<ScalarValue> for ReportedNumber {
    fn from(value: ScalarValue) -> Self {
        match value {
            ScalarValue::Boolean(value) => Self::Boolean(value),
            ScalarValue::Integer(value) => match i64::try_from(value) {
                Ok(small) if small.unsigned_abs() <= LARGEST_EXACT_INTEGER => Self::Integer(small),
                Ok(_) | Err(_) => Self::LargeInteger(value.to_string()),
            },
            ScalarValue::Real(value) => value.into(),
        }
    }
}
