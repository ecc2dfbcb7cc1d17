//! Edits of a text, and groups of edits that are applied together.

use std::ops::Range;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte range of the text; empty for an insertion.
    pub range: Range<usize>,
    /// The text that replaces the range.
    pub replacement: String,
}

impl Edit {
    pub(super) fn replace(range: Range<usize>, replacement: impl Into<String>) -> Self {
        Self { range, replacement: replacement.into() }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, replacement: text.into() }
    }
}

/// Edits that are applied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The change and its place, in a sentence without a period.
    pub what: String,
    /// Line of the place, from 1.
    pub line: usize,
    /// In the order of the text; they do not overlap.
    pub edits: Vec<Edit>,
}

impl Rewrite {
    /// A rewrite of these edits, sorted by place; insertions at one place keep their order.
    pub(super) fn new(what: impl Into<String>, line: usize, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        Self { what: what.into(), line, edits }
    }

    /// The text after all edits; edits whose range is not in the text are omitted.
    #[must_use]
    pub fn apply(&self, source: &str) -> String {
        let mut text = String::with_capacity(source.len());
        let mut at = 0;
        for Edit { range, replacement } in &self.edits {
            if let Some(before) = source.get(at..range.start)
                && source.get(range.clone()).is_some()
            {
                text.push_str(before);
                text.push_str(replacement);
                at = range.end;
            }
        }
        text.push_str(source.get(at..).unwrap_or_default());
        text
    }

    /// The edit that makes one text of another: what lies between their common beginning and end.
    pub(super) fn between(what: String, line: usize, old: &str, new: &str) -> Self {
        let same = |pair: &(char, char)| pair.0 == pair.1;
        let length = |(letter, _): (char, char)| letter.len_utf8();
        let start: usize = old.chars().zip(new.chars()).take_while(same).map(length).sum();
        let [old_rest, new_rest] = [old, new].map(|text| text.get(start..).unwrap_or_default());
        let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
        let end: usize = pairs.take_while(same).map(length).sum();
        let replacement = new_rest.get(..new_rest.len() - end).unwrap_or_default();
        Self::new(what, line, vec![Edit::replace(start..old.len() - end, replacement)])
    }

    /// Whether no two edits overlap.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        self.edits.windows(2).all(|pair| match pair {
            [first, second] => first.range.end <= second.range.start,
            _ => true,
        })
    }
}
