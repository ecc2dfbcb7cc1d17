//! Where lines begin: from bytes to lines and back.

use std::ops::Range;

/// Where the lines of a text begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
    length: usize,
}

impl Default for LineIndex {
    fn default() -> Self {
        Self::of("")
    }
}

impl LineIndex {
    /// Of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { starts, length: text.len() }
    }

    /// How many lines there are: one more than line ends.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line that a byte is in, from 0.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Where a line begins; the end of the text behind the last one.
    #[must_use]
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.length)
    }

    /// A line without its end.
    #[must_use]
    pub fn line(&self, line: usize) -> Range<usize> {
        let end = self.starts.get(line + 1).map_or(self.length, |next| next - 1);
        self.start(line)..end
    }

    /// Where a column of a line is, in characters from 0; its end where it has no such column.
    #[must_use]
    pub fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let range = self.line(line.min(self.count() - 1));
        let within = text.get(range.clone()).unwrap_or_default();
        within.char_indices().nth(column).map_or(range.end, |(at, _)| range.start + at)
    }

    /// The line and the column in characters, both from 0.
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
        let index = LineIndex::of(text);
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
