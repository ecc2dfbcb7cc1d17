//! Conversion between byte offsets and lines.

use std::ops::Range;

/// The start offsets of a text's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl Default for LineIndex {
    fn default() -> Self {
        Self::new("")
    }
}

impl LineIndex {
    /// The index of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { starts, length: text.len() }
    }

    /// The number of lines: one more than line ends.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line of a byte offset, from 0.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The start of a line; the end of the text for lines beyond the last.
    #[must_use]
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.length)
    }

    /// A line without its line end.
    #[must_use]
    pub fn line(&self, line: usize) -> Range<usize> {
        let end = self.starts.get(line + 1).map_or(self.length, |next| next - 1);
        self.start(line)..end
    }

    /// The offset of a column, in characters from 0; the end of the line if it is shorter.
    #[must_use]
    pub fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let range = self.line(line.min(self.count() - 1));
        let within = text.get(range.clone()).unwrap_or_default();
        within.char_indices().nth(column).map_or(range.end, |(at, _)| range.start + at)
    }

    /// Line and column in characters, both from 0.
    #[must_use]
    pub fn place(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.line_of(offset);
        let before = text.get(self.start(line)..offset).unwrap_or_default();
        (line, before.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_places_are_two_names_of_the_same() {
        let text = "ab\n\nçde";
        let index = LineIndex::new(text);
        let check = |offset: usize, line: usize, column: usize| {
            assert_eq!(index.place(text, offset), (line, column), "{offset}");
            assert_eq!(index.offset(text, line, column), offset, "{line}:{column}");
        };
        check(0, 0, 0);
        check(2, 0, 2);
        check(3, 1, 0);
        check(4, 2, 0);
        check(6, 2, 1);
        check(8, 2, 3);
        assert_eq!(index.count(), 3);
        assert_eq!(index.offset(text, 0, 99), 2);
        assert_eq!(index.offset(text, 99, 0), 4);
    }
}
