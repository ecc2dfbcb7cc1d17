//! Edits of a text, and several of them as one rewrite.

use std::ops::Range;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the text; empty where something is only inserted.
    pub range: Range<usize>,
    /// What stands there afterwards.
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

/// Edits that belong together: applied all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// One sentence that names the place, without a period.
    pub what: String,
    /// The line that it is about, counted from 1.
    pub line: usize,
    /// In the order of the text; they do not overlap.
    pub edits: Vec<Edit>,
}

impl Rewrite {
    /// Insertions at one place keep the order in which they were made.
    pub(super) fn new(what: impl Into<String>, line: usize, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        Self { what: what.into(), line, edits }
    }

    /// The text with all edits made; edits that are not of this text are left out.
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

    /// Whether no edit begins before the one before it has ended.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        self.edits.windows(2).all(|pair| match pair {
            [first, second] => first.range.end <= second.range.start,
            _ => true,
        })
    }
}
