//! Undo history with steps of a word, a pause or a command.

use std::collections::VecDeque;

use super::change::{Change, Edit, Selection};

/// A pause of this many seconds begins a new step.
const PAUSE: f64 = 1.0;
/// Maximum size of the history, in bytes.
const MOST: usize = 8 << 20;

/// The origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Typed: joins the previous keys.
    Typed,
    /// A command: a step of its own.
    Command,
}

#[derive(Clone, Debug)]
struct Step {
    changes: Vec<Change>,
    before: Selection,
    after: Selection,
    size: usize,
}

/// The undo history.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    /// The time of the last key, while the next one may join its step.
    open: Option<f64>,
    size: usize,
}

impl History {
    /// Records an edit; `now` in seconds of any clock.
    pub fn record(&mut self, edit: Edit, before: Selection, origin: Origin, now: f64) {
        if edit.changes.is_empty() {
            return;
        }
        self.undone.clear();
        let joins = origin == Origin::Typed
            && self.open.is_some_and(|last| now - last < PAUSE)
            && self.done.back().is_some_and(|step| continues(step, &edit));
        let size = edit.changes.iter().map(|each| each.removed.len() + each.inserted.len()).sum();
        self.size += size;
        match self.done.back_mut().filter(|_| joins) {
            Some(step) => {
                step.changes.extend(edit.changes);
                step.after = edit.selection;
                step.size += size;
            }
            None => self.done.push_back(Step {
                changes: edit.changes,
                before,
                after: edit.selection,
                size,
            }),
        }
        self.open = (origin == Origin::Typed).then_some(now);
        while self.size > MOST && self.done.len() > 1 {
            self.size -= self.done.pop_front().map_or(0, |step| step.size);
        }
    }

    /// The edit that undoes the last step.
    pub fn undo(&mut self) -> Option<Edit> {
        self.open = None;
        let step = self.done.pop_back()?;
        self.size -= step.size;
        let changes = step.changes.iter().rev().map(Change::inverse).collect();
        let edit = Edit { changes, selection: step.before };
        self.undone.push(step);
        Some(edit)
    }

    /// The edit that redoes it.
    pub fn redo(&mut self) -> Option<Edit> {
        self.open = None;
        let step = self.undone.pop()?;
        let edit = Edit { changes: step.changes.clone(), selection: step.after };
        self.size += step.size;
        self.done.push_back(step);
        Some(edit)
    }

    /// Whether a step can be undone.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether a step can be redone.
    #[must_use]
    pub const fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Ends the step: the cursor was moved.
    pub const fn close(&mut self) {
        self.open = None;
    }
}

/// Whether an edit continues a step within a word.
fn continues(step: &Step, edit: &Edit) -> bool {
    let (Some(last), [next]) = (step.changes.last(), &edit.changes[..]) else { return false };
    let single = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    if last.removed.is_empty() && next.removed.is_empty() {
        let (Some(old), Some(new)) = (single(&last.inserted), single(&next.inserted)) else {
            return false;
        };
        let word_begins = old.is_whitespace() && !new.is_whitespace();
        return next.at == last.at + last.inserted.len() && !word_begins && new != '\n';
    }
    if last.inserted.is_empty() && next.inserted.is_empty() {
        let (Some(old), Some(new)) = (single(&last.removed), single(&next.removed)) else {
            return false;
        };
        let touches = next.at + next.removed.len() == last.at || next.at == last.at;
        return touches && old.is_whitespace() == new.is_whitespace();
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::code::edit;

    struct Desk {
        text: String,
        history: History,
    }

    impl Desk {
        fn new(text: &str) -> Self {
            Self { text: text.to_owned(), history: History::default() }
        }

        fn make(&mut self, edit: Edit, origin: Origin, now: f64) {
            edit.apply(&mut self.text);
            self.history.record(edit, Selection::default(), origin, now);
        }

        fn type_each(&mut self, keys: &str, start: f64) {
            for (number, key) in keys.chars().enumerate() {
                let end = self.text.len();
                let edit = edit::insert(end..end, &self.text, &key.to_string());
                self.make(edit, Origin::Typed, start + 0.1 * number as f64);
            }
        }

        fn erase(&mut self, count: usize, start: f64) {
            for number in 0..count {
                let end = self.text.len();
                let edit = edit::insert(end - 1..end, &self.text, "");
                self.make(edit, Origin::Typed, start + 0.1 * number as f64);
            }
        }

        /// The text after each undo step.
        fn steps(&mut self) -> Vec<String> {
            let mut steps = Vec::new();
            while let Some(edit) = self.history.undo() {
                edit.apply(&mut self.text);
                steps.push(self.text.clone());
            }
            steps
        }
    }

    #[test]
    fn a_step_is_a_word() {
        let mut desk = Desk::new("");
        desk.type_each("int a = 1;", 0.0);
        assert_eq!(desk.steps(), ["int a = ", "int a ", "int ", ""]);
    }

    #[test]
    fn a_pause_or_a_moved_cursor_begins_a_step() {
        let mut desk = Desk::new("");
        desk.type_each("ab", 0.0);
        desk.type_each("cd", 5.0);
        desk.history.close();
        desk.type_each("ef", 5.2);
        assert_eq!(desk.steps(), ["abcd", "ab", ""]);
    }

    #[test]
    fn erasing_is_a_step_of_its_own() {
        let mut desk = Desk::new("");
        desk.type_each("one two", 0.0);
        desk.erase(3, 0.7);
        assert_eq!(desk.steps(), ["one two", "one ", ""]);
    }

    #[test]
    fn a_command_is_one_step_and_can_be_made_again() {
        let mut desk = Desk::new("a\nb");
        let all = Selection { anchor: 0, head: 3 };
        let edit = edit::comment(&desk.text, all);
        desk.make(edit, Origin::Command, 0.0);
        assert_eq!(desk.text, "// a\n// b");
        assert_eq!(desk.steps(), ["a\nb"]);
        desk.history.redo().unwrap().apply(&mut desk.text);
        assert_eq!(desk.text, "// a\n// b");
        assert!(desk.history.redo().is_none());
    }

    proptest! {
        #[test]
        fn everything_undone_is_where_it_began(
            start in "[a \n]{0,12}",
            edits in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..4_usize, "[b \né]{0,3}", any::<bool>(), 0.0..2.0),
                0..24,
            ),
        ) {
            let mut desk = Desk::new(&start);
            let mut now = 0.0;
            for (at, removed, inserted, typed, wait) in edits {
                let at = crate::widgets::code::change::floor(&desk.text, at.index(desk.text.len() + 1));
                let end = crate::widgets::code::change::floor(&desk.text, at + removed);
                now += wait;
                let origin = if typed { Origin::Typed } else { Origin::Command };
                let edit = edit::insert(at..end.max(at), &desk.text, &inserted);
                desk.make(edit, origin, now);
            }
            let end = desk.text.clone();
            desk.steps();
            prop_assert_eq!(&desk.text, &start);
            while let Some(edit) = desk.history.redo() {
                edit.apply(&mut desk.text);
            }
            prop_assert_eq!(&desk.text, &end);
        }
    }
}
