//! A long text that is only read: PTX, machine code, logs. Only rows in view are laid out.

mod row;
#[cfg(test)]
mod tests;
mod view;

pub use view::{Answer, CodeListing};

use super::syntax::Language;

/// A text in rows, with columns beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// What it is written in.
    pub language: Language,
    /// Another number for another text.
    pub generation: u64,
    /// What stands before the text in each row.
    pub columns: Vec<Column>,
    /// What the text itself is called.
    pub title: String,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// What stands in one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub title: String,
    /// In letters.
    pub width: usize,
    /// Where text stands in it.
    pub side: Side,
}

/// Where text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One line.
    pub text: String,
    /// As many as there are columns.
    pub cells: Vec<Cell>,
    /// The source line that it came from, from 1.
    pub source: Option<usize>,
    /// What is said when the pointer rests on it; nothing where it is empty.
    pub hover: String,
}

impl Row {
    /// A line as a compiler wrote it: tabs reach to the next stop, so that operands stand in columns.
    #[must_use]
    pub fn of(line: &str) -> Self {
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

/// Letters from one tab stop to the next, as in terminals.
const STOP: usize = 8;

/// One value beside the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// As it is read.
    pub text: String,
    /// How much it is, from 0 to 1, where it is an amount.
    pub heat: Option<f32>,
}
