//! A number or a boolean that is passed by value.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dtype::{CType, Family};

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

    /// Converts the value to a C type without loss.
    ///
    /// # Errors
    /// The value does not fit; the text states the expected values.
    pub fn convert(self, c_type: CType) -> Result<Self, String> {
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
