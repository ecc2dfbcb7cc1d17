//! A number with the document it comes from, or the reason why it is unknown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value of a device sheet.
///
/// In RON: `known(value: 132, source: "h100-whitepaper")`, `absent(source: "ptx-isa")` or `unknown(reason: "the data
/// sheet does not say")`. A source is a key of the file's `sources`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Sourced<T> {
    /// The value, and the key of the document that states it.
    Known {
        /// The documented value.
        value: T,
        /// The document.
        source: String,
    },
    /// The device lacks this feature, according to the document.
    Absent {
        /// The document.
        source: String,
    },
    /// No document was found: code that needs the value must work without it.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl<T> Sourced<T> {
    /// The value, if known.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Absent { .. } | Self::Unknown { .. } => None,
        }
    }

    /// The key of the document, if there is one.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Known { source, .. } | Self::Absent { source } => Some(source),
            Self::Unknown { .. } => None,
        }
    }

    /// The same fact in another unit.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Sourced<U> {
        match self {
            Self::Known { value, source } => Sourced::Known { value: convert(value), source },
            Self::Absent { source } => Sourced::Absent { source },
            Self::Unknown { reason } => Sourced::Unknown { reason },
        }
    }
}

impl<T: Copy> Sourced<T> {
    /// A copy of the value, if known.
    pub fn get(&self) -> Option<T> {
        self.value().copied()
    }
}

impl<T: fmt::Display> fmt::Display for Sourced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { value, .. } => value.fmt(f),
            Self::Absent { .. } => f.pad("none"),
            Self::Unknown { .. } => f.pad("unknown"),
        }
    }
}
