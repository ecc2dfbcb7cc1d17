//! Rows of a history that cannot be read as runs: the run, the column, and the error in its value.

use std::fmt;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Serialize;

use super::store::RunNumber;

/// A value of a run that is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedRow {
    /// The run.
    pub run: RunNumber,
    /// The column, as the tables `run`, `document` and `label` name it.
    pub column: &'static str,
    /// The error in the value.
    pub reason: String,
}

impl fmt::Display for DamagedRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, column, reason } = self;
        write!(formatter, "run {run}, column `{column}`: {reason}")
    }
}

/// Why a row was not read.
#[derive(Debug)]
pub(super) enum RowError {
    /// One value of the row is damaged; other rows may be readable.
    Damaged(DamagedRow),
    /// The database cannot be read.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for RowError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Database(source)
    }
}

/// Reads the values of one row, and checks the type and encoding of each.
#[derive(Clone, Copy)]
pub(super) struct RowReader<'row, 'statement> {
    row: &'row Row<'statement>,
    run: RunNumber,
}

impl<'row, 'statement> RowReader<'row, 'statement> {
    /// The reader of a row that has the column `number`.
    pub(super) fn new(row: &'row Row<'statement>) -> rusqlite::Result<Self> {
        // The key of a table, which SQLite always returns as an integer.
        Ok(Self { row, run: RunNumber(row.get("number")?) })
    }

    pub(super) const fn run(self) -> RunNumber {
        self.run
    }

    /// The damage in a column of this row.
    pub(super) fn damaged(self, column: &'static str, reason: impl Into<String>) -> RowError {
        RowError::Damaged(DamagedRow { run: self.run, column, reason: reason.into() })
    }

    /// A text.
    pub(super) fn text(self, column: &'static str) -> Result<String, RowError> {
        self.optional_text(column)?.ok_or_else(|| self.damaged(column, "the value is missing"))
    }

    /// A text or nothing.
    pub(super) fn optional_text(self, column: &'static str) -> Result<Option<String>, RowError> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => match str::from_utf8(bytes) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(error) => {
                    let at = error.valid_up_to();
                    Err(self.damaged(column, format!("the text is not UTF-8 from byte {at}")))
                }
            },
            other @ (ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_)) => {
                Err(self.mistyped(column, "text", &other))
            }
        }
    }

    /// A floating-point number or nothing.
    pub(super) fn optional_real(self, column: &'static str) -> Result<Option<f64>, RowError> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Real(value) => Ok(Some(value)),
            other @ (ValueRef::Integer(_) | ValueRef::Text(_) | ValueRef::Blob(_)) => {
                Err(self.mistyped(column, "a floating-point number", &other))
            }
        }
    }

    /// Bytes or nothing.
    pub(super) fn optional_bytes(
        self,
        column: &'static str,
    ) -> Result<Option<&'row [u8]>, RowError> {
        match self.row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            other @ (ValueRef::Integer(_) | ValueRef::Text(_) | ValueRef::Real(_)) => {
                Err(self.mistyped(column, "bytes", &other))
            }
        }
    }

    fn mistyped(self, column: &'static str, expected: &str, found: &ValueRef<'_>) -> RowError {
        let reason = format!("expected {expected}, found {}", found.data_type());
        self.damaged(column, reason)
    }
}
