//! Aligned columns without rules: a terminal's table.

use std::fmt;

use unicode_width::UnicodeWidthStr as _;

/// Rows of cells under headings; numbers are aligned to the right.
#[derive(Debug)]
pub struct Table {
    headings: Vec<Heading>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Heading {
    text: String,
    alignment: Alignment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alignment {
    Left,
    Right,
}

impl Table {
    /// A table with these headings; one that starts with `>` has its column aligned to the right.
    pub fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| match heading.strip_prefix('>') {
            Some(text) => Heading { text: text.to_owned(), alignment: Alignment::Right },
            None => Heading { text: (*heading).to_owned(), alignment: Alignment::Left },
        });
        Self { headings: headings.collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain([self.headings[column].text.width()]).max().unwrap_or(0)
    }

    fn line<'a>(&self, widths: &[usize], cells: impl Iterator<Item = &'a str>) -> String {
        let mut line = String::new();
        for ((cell, heading), width) in cells.zip(&self.headings).zip(widths) {
            let padding = " ".repeat(width - cell.width());
            let (before, after) = match heading.alignment {
                Alignment::Left => ("", padding.as_str()),
                Alignment::Right => (padding.as_str(), ""),
            };
            line.extend([before, cell, after, "  "]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<_> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        let headings = self.headings.iter().map(|heading| heading.text.as_str());
        writeln!(formatter, "{}", self.line(&widths, headings))?;
        for row in &self.rows {
            writeln!(formatter, "{}", self.line(&widths, row.iter().map(String::as_str)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_no_line_ends_in_space() {
        let mut table = Table::new(&["name", ">count", "note"]);
        table.row(["a".to_owned(), "1".to_owned(), String::new()]);
        table.row(["größer".to_owned(), "1000".to_owned(), "x".to_owned()]);
        assert_eq!(table.to_string(), "name    count  note\na           1\ngrößer   1000  x\n");
    }
}
