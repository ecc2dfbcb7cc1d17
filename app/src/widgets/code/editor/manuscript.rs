//! A text that is edited: where its lines begin, what moves with it, what can be taken back.

use crate::widgets::code::change::{Change, Edit, Selection};
use crate::widgets::code::line_index::LineIndex;
use crate::widgets::code::marks::Tracker;
use crate::widgets::code::undo::{History, Origin};

/// What came of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was made.
    Made,
    /// Something is locked.
    Refused,
    /// There was nothing to do.
    Nothing,
}

/// Everything about a text but the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Manuscript {
    pub(super) index: LineIndex,
    pub(super) tracker: Tracker,
    pub(super) selection: Selection,
    history: History,
    /// The text when it was last shown.
    seen: Option<String>,
}

impl Manuscript {
    /// Looks at the text again: what others have changed in it is one step that can be taken back.
    pub(super) fn meet(&mut self, text: &str, now: f64) {
        let Some(seen) = &self.seen else {
            self.index = LineIndex::of(text);
            self.selection = self.selection.within(text);
            self.seen = Some(text.to_owned());
            return;
        };
        let Some(change) = Change::between(seen, text) else { return };
        let before = self.selection;
        self.tracker.follow(&change, &self.index);
        self.index = LineIndex::of(text);
        let moved =
            Selection { anchor: change.moved(before.anchor), head: change.moved(before.head) };
        self.selection = moved.within(text);
        let edit = Edit { changes: vec![change], selection: self.selection };
        self.history.record(edit, before, Origin::Command, now);
        self.seen = Some(text.to_owned());
    }

    /// The text is now as it was shown.
    pub(super) fn leave(&mut self, text: &str) {
        if self.seen.as_deref() != Some(text) {
            self.seen = Some(text.to_owned());
        }
    }

    /// Makes one change without asking and without remembering it.
    pub(super) fn make(&mut self, text: &mut String, change: &Change) {
        self.tracker.follow(change, &self.index);
        change.apply(text);
        self.index = LineIndex::of(text);
    }

    /// Whether a change touches nothing that is locked.
    pub(super) fn allows(&self, change: &Change) -> bool {
        self.tracker.allows(&self.index, change.at..change.at + change.removed.len())
    }

    /// Makes a command's edit as one step, or nothing of it.
    pub(super) fn perform(&mut self, text: &mut String, edit: Edit, now: f64) -> Outcome {
        if edit.changes.is_empty() {
            self.selection = edit.selection;
            return Outcome::Nothing;
        }
        // Changes go from the last to the first, so that each is still where it was.
        if !edit.changes.iter().all(|change| self.allows(change)) {
            return Outcome::Refused;
        }
        for change in &edit.changes {
            self.make(text, change);
        }
        let before = self.selection;
        self.selection = edit.selection;
        self.history.record(edit, before, Origin::Command, now);
        Outcome::Made
    }

    /// Remembers what keys have changed already.
    pub(super) fn typed(&mut self, made: Vec<Change>, before: Selection, now: f64) {
        let mut merged: Vec<Change> = Vec::new();
        for change in made {
            match merged.last_mut() {
                // What was selected, and what was typed in its place.
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

    /// Takes a step back.
    pub(super) fn undo(&mut self, text: &mut String) -> Outcome {
        let edit = self.history.undo();
        self.again(text, edit)
    }

    /// Makes it again.
    pub(super) fn redo(&mut self, text: &mut String) -> Outcome {
        let edit = self.history.redo();
        self.again(text, edit)
    }

    fn again(&mut self, text: &mut String, edit: Option<Edit>) -> Outcome {
        let Some(edit) = edit else { return Outcome::Nothing };
        for change in &edit.changes {
            self.make(text, change);
        }
        self.selection = edit.selection.within(text);
        Outcome::Made
    }

    /// The cursor was moved: the next key begins a step.
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
        let mut manuscript = Manuscript::default();
        let mut text = "one\ntwo\n".to_owned();
        manuscript.meet(&text, 0.0);
        manuscript.selection = Selection::at(text.len());
        assert!(!manuscript.can_undo());
        text.insert_str(0, "zero\n");
        manuscript.meet(&text, 1.0);
        assert_eq!(manuscript.selection, Selection::at(text.len()));
        assert_eq!(manuscript.undo(&mut text), Outcome::Made);
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn locked_lines_refuse_a_command_as_a_whole() {
        let mut manuscript = Manuscript::default();
        let mut text = "one\ntwo\n".to_owned();
        manuscript.meet(&text, 0.0);
        manuscript.tracker.locked.push(1..2);
        let all = Selection { anchor: 0, head: text.len() };
        let edit = edit::indent(&text, all);
        assert_eq!(manuscript.perform(&mut text, edit, 0.0), Outcome::Refused);
        assert_eq!(text, "one\ntwo\n");
        let edit = edit::indent(&text, Selection { anchor: 0, head: 3 });
        assert_eq!(manuscript.perform(&mut text, edit, 0.0), Outcome::Made);
        assert_eq!(text, "    one\ntwo\n");
    }
}
