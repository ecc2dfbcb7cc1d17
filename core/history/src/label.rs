//! Labels: text that a user gives to a run to find it again. A label does not change the run or its role.

use std::fmt;

use lightbench_primitives::display_text::visible;
use rusqlite::params;
use serde::Serialize;

use super::error::HistoryError;
use super::store::{RunNumber, Store};

/// The maximum length of a label in characters, so that it fits in a table cell.
pub const MOST_CHARACTERS: usize = 60;

/// Words that a person gave to a run: one line, not empty, nothing in it that cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Label(String);

/// A text that cannot be a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLabel {
    /// The label is too long.
    #[error("a label has at most {MOST_CHARACTERS} characters, and this text has {0}")]
    TooLong(usize),
    /// The label has invisible characters, such as line breaks.
    #[error("a label is one line of characters that can be seen")]
    Invisible,
}

impl Label {
    /// The typed text without surrounding white space; `None` if nothing is left, which removes a label.
    ///
    /// # Errors
    /// The text is too long, or has invisible characters.
    pub fn typed(text: &str) -> Result<Option<Self>, NoLabel> {
        let text = text.trim();
        let characters = text.chars().count();
        if characters > MOST_CHARACTERS {
            return Err(NoLabel::TooLong(characters));
        }
        if visible(text) != text {
            return Err(NoLabel::Invisible);
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Store {
    /// Sets or removes the label of a run; earlier labels stay in the history.
    ///
    /// # Errors
    /// The run does not exist, or the database cannot be written.
    pub fn label(&mut self, number: RunNumber, label: Option<&Label>) -> Result<(), HistoryError> {
        self.run(number)?.ok_or(HistoryError::NoSuchRun(number))?;
        let insert = "INSERT INTO label (run, words) VALUES (?1, ?2)";
        let words = label.map_or("", Label::as_str);
        let inserted = self.connection().execute(insert, params![number.0, words]);
        inserted.map(drop).map_err(|source| self.failed("label a run", source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_line_that_can_be_seen() {
        let check = |text: &str, expected: Result<Option<&str>, NoLabel>| {
            let found = Label::typed(text);
            let found = found.as_ref().map(|label| label.as_ref().map(Label::as_str));
            assert_eq!(found, expected.as_ref().map(|label| *label), "{text:?}");
        };
        check("two rows a block", Ok(Some("two rows a block")));
        check("  für später ", Ok(Some("für später")));
        check(" \t", Ok(None));
        check(&"ä".repeat(60), Ok(Some(&"ä".repeat(60))));
        check(&"ä".repeat(61), Err(NoLabel::TooLong(61)));
        check("one\ntwo", Err(NoLabel::Invisible));
        check("a\u{202e}b", Err(NoLabel::Invisible));
    }
}
