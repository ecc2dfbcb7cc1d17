//! The text as egui edits it: every change is seen, and locked lines are left alone.

use std::any::TypeId;
use std::ops::Range;

use egui::TextBuffer;
use egui::text::CharIndex;

use super::manuscript::Manuscript;
use crate::widgets::code::change::Change;

/// A text under a guard.
pub(super) struct Buffer<'a> {
    pub(super) text: &'a mut String,
    pub(super) manuscript: &'a mut Manuscript,
    pub(super) made: Vec<Change>,
    /// Once something was refused, so is what follows in the same frame: it was meant for a text that there is not.
    pub(super) refused: bool,
}

impl Buffer<'_> {
    fn make(&mut self, change: Change) -> bool {
        if self.refused || !self.manuscript.allows(&change) {
            self.refused = true;
            return false;
        }
        self.manuscript.make(self.text, &change);
        self.made.push(change);
        true
    }
}

impl TextBuffer for Buffer<'_> {
    fn is_mutable(&self) -> bool {
        true
    }

    fn as_str(&self) -> &str {
        self.text
    }

    fn insert_text(&mut self, text: &str, char_index: CharIndex) -> usize {
        // Lines end as they do on Linux, wherever a text was copied.
        let inserted = text.replace('\r', "");
        let count = inserted.chars().count();
        let at = self.byte_index_from_char_index(char_index).0;
        let change = Change { at, removed: String::new(), inserted };
        if self.make(change) { count } else { 0 }
    }

    fn delete_char_range(&mut self, char_range: Range<CharIndex>) {
        let at = self.byte_index_from_char_index(char_range.start).0;
        let end = self.byte_index_from_char_index(char_range.end).0;
        if at < end {
            let removed = self.text[at..end].to_owned();
            self.make(Change { at, removed, inserted: String::new() });
        }
    }

    fn type_id(&self) -> TypeId {
        TypeId::of::<Buffer<'static>>()
    }
}
