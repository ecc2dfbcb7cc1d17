//! Aligned text tables and prose that fit the width of the terminal.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use anstream::adapter::strip_str;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthStr as _;

/// Spaces between columns.
const GAP: usize = 2;

/// Minimum width at which the last column is wrapped.
const LEAST_ROOM: usize = 20;

/// The width of the terminal that receives the tables. The program sets it once, unless the output is a file or a pipe,
/// which receive whole tables.
static TERMINAL: OnceLock<usize> = OnceLock::new();

/// Sets the terminal width for all tables.
pub fn fit_terminal(columns: usize) {
    // The first call wins.
    let _known = TERMINAL.set(columns);
}

/// Rows of cells under titles; numbers are right-aligned.
#[derive(Debug)]
pub struct Table {
    headings: Vec<Heading>,
    rows: Vec<Vec<String>>,
    spare: &'static [&'static str],
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

/// The shown columns and their widths.
struct Fit {
    columns: Vec<usize>,
    widths: Vec<usize>,
    left_out: Vec<usize>,
}

impl Table {
    /// A table with these titles; `>` at the start of a title right-aligns its column.
    pub fn new(headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| match heading.strip_prefix('>') {
            Some(text) => Heading { text: text.to_owned(), alignment: Alignment::Right },
            None => Heading { text: (*heading).to_owned(), alignment: Alignment::Left },
        });
        Self { headings: headings.collect(), rows: Vec::new(), spare: &[] }
    }

    /// Sets the columns that a narrow terminal omits first, in this order; after them the rightmost ones.
    pub fn spare(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table for a terminal of this width, or whole.
    fn text(&self, room: Option<usize>) -> String {
        let fit = self.fit(room);
        let headings: Vec<&str> =
            self.headings.iter().map(|heading| heading.text.as_str()).collect();
        let mut text = self.line(&fit, &headings);
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            text += &self.line(&fit, &cells);
        }
        let names = fit.left_out.iter().map(|column| self.headings[*column].text.as_str());
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            let told = format!("omitted for lack of width: {}", names.join(", "));
            text += &(wrapped(&told, room.unwrap_or(usize::MAX)).join("\n") + "\n");
        }
        text
    }

    fn fit(&self, room: Option<usize>) -> Fit {
        let width = |column| self.width(column);
        let mut columns: Vec<usize> = (0..self.headings.len()).collect();
        let mut left_out = Vec::new();
        let Some(room) = room else {
            return Fit { widths: columns.iter().copied().map(width).collect(), columns, left_out };
        };
        loop {
            let mut widths: Vec<usize> = columns.iter().copied().map(width).collect();
            let before = widths[..widths.len() - 1].iter().map(|width| width + GAP).sum::<usize>();
            let (last, left) = (columns[columns.len() - 1], room.saturating_sub(before));
            let wraps = self.headings[last].alignment == Alignment::Left && left >= LEAST_ROOM;
            if let Some(width) = widths.last_mut()
                && (*width <= left || wraps || columns.len() == 1)
            {
                *width = (*width).min(left.max(LEAST_ROOM));
                return Fit { columns, widths, left_out };
            }
            let spare = columns.remove(self.next_spare(&columns));
            left_out.push(spare);
        }
    }

    /// The column to omit next: never the first, which names the row.
    fn next_spare(&self, columns: &[usize]) -> usize {
        let named = |name: &&str| {
            let found = columns.iter().position(|column| self.headings[*column].text == **name);
            found.filter(|position| *position > 0)
        };
        self.spare.iter().find_map(named).unwrap_or(columns.len() - 1)
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain([self.headings[column].text.width()]).max().unwrap_or(0)
    }

    /// A row, with as many lines as its last cell needs.
    fn line(&self, fit: &Fit, cells: &[&str]) -> String {
        let (mut text, mut before) = (String::new(), 0);
        for (column, width) in fit.columns.iter().zip(&fit.widths) {
            let Some(cell) = cells.get(*column) else { break };
            let is_last = fit.columns.last() == Some(column);
            if is_last && cell.width() > *width {
                text += &wrapped(cell, *width).join(&format!("\n{}", " ".repeat(before)));
                break;
            }
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let (left, right) = match self.headings[*column].alignment {
                Alignment::Left => ("", padding.as_str()),
                Alignment::Right => (padding.as_str(), ""),
            };
            text.extend([left, cell, right, "  "]);
            before += width + GAP;
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

/// Wraps a text at word boundaries; a longer word gets its own line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, at_spaces(width)).into_iter().map(Cow::into_owned).collect()
}

fn at_spaces<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::AsciiSpace)
}

/// Prose as the terminal shows it: lines that are longer than its width are wrapped, and the rest of each is indented by
/// two more columns. Quoted code keeps its lines, and so does everything where there is no terminal.
pub fn fitted(text: String) -> String {
    match TERMINAL.get() {
        Some(columns) => fitted_to(&text, *columns),
        None => text,
    }
}

fn fitted_to(text: &str, columns: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if display_width(content) <= columns || quotes_code(content) {
            fitted.push_str(line);
            continue;
        }
        let words = content.trim_start_matches(' ');
        let indent = " ".repeat(content.len() - words.len());
        let rest = format!("{indent}  ");
        let options = at_spaces(columns.max(rest.len() + LEAST_ROOM));
        let options = options.initial_indent(&indent).subsequent_indent(&rest);
        fitted.push_str(&textwrap::wrap(words, options).join("\n"));
        fitted.push_str(&line[content.len()..]);
    }
    fitted
}

/// Whether a line belongs to an excerpt of source code: it has the gutter, or names the place.
fn quotes_code(line: &str) -> bool {
    let plain = strip_str(line).to_string();
    let after_number =
        plain.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    let gutter = after_number.trim_start();
    gutter.starts_with('|') || gutter.starts_with("-->") || gutter.starts_with(":::")
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text(TERMINAL.get().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["name", ">count", ">size", "note"]).spare(&["size"]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned);
        table.row(row(["a", "1", "2", ""]));
        table.row(row(["größer", "1000", "20000", "many words that take all the room there is"]));
        table.row(["bad".to_owned()]);
        table
    }

    #[test]
    fn prose_fits_and_code_keeps_its_lines() {
        let check =
            |text: &str, expected: &str| assert_eq!(fitted_to(text, 40), expected, "{text}");
        check("short\n\nlines", "short\n\nlines");
        check(
            "  note: a line of prose that is longer than the terminal is wide\nnext\n",
            "  note: a line of prose that is longer\n    than the terminal is wide\nnext\n",
        );
        let code = "   46 |     total = tl.dot(left, right, total) + left * right\n";
        check(code, code);
        let place = "  --> a/long/path/of/a/kernel/file/in/a/project.py:46:36";
        check(place, place);
        // Colours have no width, and a word stays whole.
        let colour = "\u{1b}[32m✓\u{1b}[0m a kernel is correct on all workloads";
        check(colour, colour);
        let word = "a ████████████████████████████████████████████████";
        check(word, "a\n  ████████████████████████████████████████████████");
    }

    fn check(room: Option<usize>, expected: &[&str]) {
        let text = table().text(room);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{room:?}");
        assert!(text.lines().all(|line| line.width() <= room.unwrap_or(usize::MAX)), "{text}");
    }

    #[test]
    fn columns_align_and_no_line_ends_in_space() {
        let all = [
            "name    count   size  note",
            "a           1      2",
            "größer   1000  20000  many words that take all the room there is",
            "bad",
        ];
        check(None, &all);
        check(Some(64), &all);
    }

    #[test]
    fn a_narrow_terminal_wraps_the_last_column_and_leaves_out_the_others() {
        check(
            Some(50),
            &[
                "name    count   size  note",
                "a           1      2",
                "größer   1000  20000  many words that take all the",
                "                      room there is",
                "bad",
            ],
        );
        check(
            Some(36),
            &[
                "name    count  note",
                "a           1",
                "größer   1000  many words that take",
                "               all the room there is",
                "bad",
                "omitted for lack of width: size",
            ],
        );
        check(
            Some(23),
            &[
                "name    count",
                "a           1",
                "größer   1000",
                "bad",
                "omitted for lack of",
                "width: size, note",
            ],
        );
    }
}
