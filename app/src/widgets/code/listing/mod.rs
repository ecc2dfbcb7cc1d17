//! A read-only listing for long texts: PTX, machine code, logs. Only visible rows are laid out.

mod row;
#[cfg(test)]
mod tests;
mod view;

pub use view::{Answer, CodeListing};

use super::syntax::Language;

/// A text in rows, with additional columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The language of the text.
    pub language: Language,
    /// Identifies the text.
    pub generation: u64,
    /// The columns before the text.
    pub columns: Vec<Column>,
    /// The title of the text.
    pub title: String,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    /// In characters.
    pub width: usize,
    /// The alignment.
    pub side: Side,
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// A line of the list.
    pub text: String,
    /// One per column.
    pub cells: Vec<Cell>,
    /// The source line, from 1.
    pub source: Option<usize>,
    /// The tooltip; none if empty.
    pub hover: String,
}

impl Row {
    /// A line with tabs expanded, so that operands are aligned.
    #[must_use]
    pub fn from_line(line: &str) -> Self {
        let mut text = String::with_capacity(line.len());
        let mut column = 0;
        for character in line.chars() {
            let width = if character == '\t' { STOP - column % STOP } else { 1 };
            if character == '\t' {
                text.extend(std::iter::repeat_n(' ', width));
            } else {
                text.push(character);
            }
            column += width;
        }
        Self { text, ..Self::default() }
    }
}

/// Distance of tab stops, in characters.
const STOP: usize = 8;

/// A value of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The formatted value.
    pub text: String,
    /// The heat from 0 to 1, if the value is an amount.
    pub heat: Option<f32>,
}
