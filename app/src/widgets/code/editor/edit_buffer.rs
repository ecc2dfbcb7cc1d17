//! The edit buffer of a text: line index, tracked marks, selection and undo history.

use crate::widgets::code::change::{Change, Edit, Selection};
use crate::widgets::code::line_index::LineIndex;
use crate::widgets::code::marks::Tracker;
use crate::widgets::code::undo::{History, Origin};

/// The result of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditOutcome {
    Made,
    /// It would change locked lines.
    Refused,
    /// There was nothing to do.
    Nothing,
}

/// The editing state of a text; the text itself is the caller's.
#[derive(Clone, Debug, Default)]
pub(super) struct EditBuffer {
    pub(super) index: LineIndex,
    pub(super) tracker: Tracker,
    pub(super) selection: Selection,
    history: History,
    /// The text when it was last shown.
    seen: Option<String>,
}

impl EditBuffer {
    /// Compares the text with its last state; an external change becomes one undo step.
    pub(super) fn synchronise(&mut self, text: &str, now: f64) {
        let Some(seen) = &self.seen else {
            self.index = LineIndex::new(text);
            self.selection = self.selection.within(text);
            self.seen = Some(text.to_owned());
            return;
        };
        let Some(change) = Change::between(seen, text) else { return };
        let before = self.selection;
        self.tracker.follow(&change, &self.index);
        self.index = LineIndex::new(text);
        let moved =
            Selection { anchor: change.moved(before.anchor), head: change.moved(before.head) };
        self.selection = moved.within(text);
        let edit = Edit { changes: vec![change], selection: self.selection };
        self.history.record(edit, before, Origin::Command, now);
        self.seen = Some(text.to_owned());
    }

    /// Stores the text as shown.
    pub(super) fn end_step(&mut self, text: &str) {
        if self.seen.as_deref() != Some(text) {
            self.seen = Some(text.to_owned());
        }
    }

    /// Applies a change without checking locks and without recording it.
    pub(super) fn apply(&mut self, text: &mut String, change: &Change) {
        self.tracker.follow(change, &self.index);
        change.apply(text);
        self.index = LineIndex::new(text);
    }

    /// Whether a change leaves locked lines unchanged.
    pub(super) fn allows(&self, change: &Change) -> bool {
        self.tracker.allows(&self.index, change.at..change.at + change.removed.len())
    }

    /// Applies a command's edit as one undo step, or not at all.
    pub(super) fn perform(&mut self, text: &mut String, edit: Edit, now: f64) -> EditOutcome {
        if edit.changes.is_empty() {
            self.selection = edit.selection;
            return EditOutcome::Nothing;
        }
        // Changes are ordered from the last to the first, so that positions stay valid.
        if !edit.changes.iter().all(|change| self.allows(change)) {
            return EditOutcome::Refused;
        }
        for change in &edit.changes {
            self.apply(text, change);
        }
        let before = self.selection;
        self.selection = edit.selection;
        self.history.record(edit, before, Origin::Command, now);
        EditOutcome::Made
    }

    /// Records changes that the text field has already made.
    pub(super) fn typed(&mut self, made: Vec<Change>, before: Selection, now: f64) {
        let mut merged: Vec<Change> = Vec::new();
        for change in made {
            match merged.last_mut() {
                // The removal of the selection and the typed text.
                Some(last)
                    if last.inserted.is_empty()
                        && last.at == change.at
                        && change.removed.is_empty() =>
                {
                    last.inserted = change.inserted;
                }
                Some(_) | None => merged.push(change),
            }
        }
        let mut before = before;
        for change in merged {
            let selection = Selection::at(change.at + change.inserted.len());
            let edit = Edit { changes: vec![change], selection };
            self.history.record(edit, before, Origin::Typed, now);
            before = selection;
        }
    }

    /// Undoes a step.
    pub(super) fn undo(&mut self, text: &mut String) -> EditOutcome {
        let edit = self.history.undo();
        self.apply_history(text, edit)
    }

    /// Redoes a step.
    pub(super) fn redo(&mut self, text: &mut String) -> EditOutcome {
        let edit = self.history.redo();
        self.apply_history(text, edit)
    }

    fn apply_history(&mut self, text: &mut String, edit: Option<Edit>) -> EditOutcome {
        let Some(edit) = edit else { return EditOutcome::Nothing };
        for change in &edit.changes {
            self.apply(text, change);
        }
        self.selection = edit.selection.within(text);
        EditOutcome::Made
    }

    /// Records a cursor movement: the next key begins a new step.
    pub(super) fn moved(&mut self, selection: Selection) {
        if self.selection != selection {
            self.selection = selection;
            self.history.close();
        }
    }

    pub(super) fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    pub(super) const fn can_redo(&self) -> bool {
        self.history.can_redo()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widgets::code::edit;

    #[test]
    fn what_others_change_can_be_taken_back() {
        let mut manuscript = EditBuffer::default();
        let mut text = "one\ntwo\n".to_owned();
        manuscript.synchronise(&text, 0.0);
        manuscript.selection = Selection::at(text.len());
        assert!(!manuscript.can_undo());
        text.insert_str(0, "zero\n");
        manuscript.synchronise(&text, 1.0);
        assert_eq!(manuscript.selection, Selection::at(text.len()));
        assert_eq!(manuscript.undo(&mut text), EditOutcome::Made);
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn locked_lines_refuse_a_command_as_a_whole() {
        let mut manuscript = EditBuffer::default();
        let mut text = "one\ntwo\n".to_owned();
        manuscript.synchronise(&text, 0.0);
        manuscript.tracker.locked.push(1..2);
        let all = Selection { anchor: 0, head: text.len() };
        let edit = edit::indent(&text, all);
        assert_eq!(manuscript.perform(&mut text, edit, 0.0), EditOutcome::Refused);
        assert_eq!(text, "one\ntwo\n");
        let edit = edit::indent(&text, Selection { anchor: 0, head: 3 });
        assert_eq!(manuscript.perform(&mut text, edit, 0.0), EditOutcome::Made);
        assert_eq!(text, "    one\ntwo\n");
    }
}
