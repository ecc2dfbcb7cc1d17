//! Numbers of the profiler, converted to Lightbench's units.

use std::fmt;

use serde::Serialize;

use super::metric::Unit;
use super::table::Cell;
use crate::units::{Bytes, Seconds};

/// A measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "unit", content = "value", rename_all = "snake_case")]
pub enum Quantity {
    /// A time.
    Seconds(f64),
    /// A size.
    Bytes(f64),
    /// A percentage.
    Percent(f64),
    /// A count.
    Count(f64),
    /// A plain ratio.
    Ratio(f64),
    /// A value in an unexpected unit, unchanged.
    AsWritten {
        /// The number.
        number: f64,
        /// The unit.
        of: String,
    },
}

impl Quantity {
    /// A number of the profiler, whose unit should be `expected`.
    #[must_use]
    pub fn from_cell(cell: &Cell, expected: Unit) -> Self {
        let Cell { value, unit } = cell;
        let scale = match expected {
            Unit::Seconds => seconds(unit),
            Unit::Bytes => bytes(unit),
            Unit::Percent => (unit == "%").then_some(1.0),
            // `inst`, `sector`, `register/thread` and their like.
            Unit::Count | Unit::Ratio => Some(1.0),
        };
        let Some(scale) = scale else {
            return Self::AsWritten { number: *value, of: unit.clone() };
        };
        let value = value * scale;
        match expected {
            Unit::Seconds => Self::Seconds(value),
            Unit::Bytes => Self::Bytes(value),
            Unit::Percent => Self::Percent(value),
            Unit::Count => Self::Count(value),
            Unit::Ratio => Self::Ratio(value),
        }
    }
}

/// Old versions write out units of time.
fn seconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" | "nsecond" => Some(1e-9),
        "us" | "usecond" => Some(1e-6),
        "ms" | "msecond" => Some(1e-3),
        "s" | "second" => Some(1.0),
        _ => None,
    }
}

/// Base units are requested; other units have decimal prefixes.
fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "byte" => Some(1.0),
        "Kbyte" => Some(1e3),
        "Mbyte" => Some(1e6),
        "Gbyte" => Some(1e9),
        _ => None,
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(value) => write!(formatter, "{}", Seconds(*value)),
            Self::Bytes(value) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the cast saturates, and is for reading"
                )]
                let whole = *value as u64;
                write!(formatter, "{}", Bytes(whole))
            }
            Self::Percent(value) => write!(formatter, "{value:.1} %"),
            Self::Count(value) => write!(formatter, "{value:.0}"),
            Self::Ratio(value) => write!(formatter, "{value:.2}"),
            Self::AsWritten { number, of } => write!(formatter, "{number} {of}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, unit: &str, expected: Unit, shown: &str) {
        let cell = Cell { value, unit: unit.to_owned() };
        assert_eq!(Quantity::from_cell(&cell, expected).to_string(), shown);
    }

    #[test]
    fn numbers_are_shown_in_units_of_ours() {
        check(128_352.0, "ns", Unit::Seconds, "128 µs");
        check(128_352.0, "nsecond", Unit::Seconds, "128 µs");
        check(128.352, "us", Unit::Seconds, "128 µs");
        check(536_870_912.0, "byte", Unit::Bytes, "512 MiB");
        check(1.5, "Kbyte", Unit::Bytes, "1.46 KiB");
        check(49.96, "%", Unit::Percent, "50.0 %");
        check(1_048_576.0, "inst", Unit::Count, "1048576");
        check(32.0, "register/thread", Unit::Count, "32");
        check(31.999, "", Unit::Ratio, "32.00");
    }

    #[test]
    fn a_unit_that_was_not_expected_is_shown_as_it_is() {
        check(3.0, "cycle", Unit::Seconds, "3 cycle");
        check(3.0, "sector", Unit::Bytes, "3 sector");
    }
}
