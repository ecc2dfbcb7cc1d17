//! The text buffer that egui's field edits: records every change and refuses changes of locked lines.

use std::any::TypeId;
use std::ops::Range;

use egui::TextBuffer;
use egui::text::CharIndex;

use super::edit_buffer::EditBuffer;
use crate::widgets::code::change::Change;

/// A text with its edit buffer.
pub(super) struct EguiTextBuffer<'a> {
    pub(super) text: &'a mut String,
    pub(super) edit_buffer: &'a mut EditBuffer,
    pub(super) made: Vec<Change>,
    /// Set after a refusal; further changes in the same frame are refused too, because they assumed the refused one.
    pub(super) refused: bool,
}

impl EguiTextBuffer<'_> {
    fn make(&mut self, change: Change) -> bool {
        if self.refused || !self.edit_buffer.allows(&change) {
            self.refused = true;
            return false;
        }
        self.edit_buffer.apply(self.text, &change);
        self.made.push(change);
        true
    }
}

impl TextBuffer for EguiTextBuffer<'_> {
    fn is_mutable(&self) -> bool {
        true
    }

    fn as_str(&self) -> &str {
        self.text
    }

    fn insert_text(&mut self, text: &str, char_index: CharIndex) -> usize {
        // Line ends are normalised to `\n`.
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
        TypeId::of::<EguiTextBuffer<'static>>()
    }
}
