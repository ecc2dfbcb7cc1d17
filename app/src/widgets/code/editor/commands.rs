//! Execution of commands and keys of the editor.

use std::ops::Range;

use egui::{Id, Key, Modifiers, Ui};

use super::edit_buffer::{EditBuffer, EditOutcome};
use super::find_bar::{Direction, FindAction, Purpose};
use super::keys::{self, Action, Command, OpenPopups};
use super::{CodeEditor, Place, Reveal};
use crate::widgets::code::change::{Edit, Selection};
use crate::widgets::code::edit;
use crate::widgets::code::find;
use crate::widgets::code::marks::Marks;
use crate::widgets::code::syntax::Language;
use crate::widgets::code::word_boundaries;

impl CodeEditor {
    pub(super) fn open(&self) -> OpenPopups {
        let names = self.offer.open();
        if names == OpenPopups::Nothing && self.find_bar.purpose != Purpose::Closed {
            return OpenPopups::Bar;
        }
        names
    }

    pub(super) fn take_keys(
        &mut self,
        ui: &Ui,
        id: Id,
        text: &mut String,
        now: f64,
        marks: &Marks,
    ) -> EditOutcome {
        if !ui.memory(|memory| memory.has_focus(id)) {
            self.waiting.clear();
            return self.take_keys_of_bar(ui, text, now, marks);
        }
        let open = self.open();
        let actions = ui.input_mut(|input| keys::take(input, &mut self.waiting, open));
        if !self.waiting.is_empty() {
            ui.ctx().request_repaint();
        }
        let mut outcome = EditOutcome::Nothing;
        for action in actions {
            let came = match action {
                Action::Command(command) => self.command(text, command, now, marks),
                Action::Choice(choice) => match self.offer.choose(choice) {
                    Some(name) => self.accept(text, &name, now),
                    None => EditOutcome::Nothing,
                },
            };
            outcome = if came == EditOutcome::Nothing { outcome } else { came };
        }
        outcome
    }

    /// Handles the bar's shortcuts while a field of the bar has the focus.
    fn take_keys_of_bar(
        &mut self,
        ui: &Ui,
        text: &mut String,
        now: f64,
        marks: &Marks,
    ) -> EditOutcome {
        if self.find_bar.purpose == Purpose::Closed || !self.find_bar.has_focus {
            return EditOutcome::Nothing;
        }
        let pressed = ui.input_mut(|input| {
            [
                (Modifiers::COMMAND, Key::F, Command::Find),
                (Modifiers::COMMAND, Key::H, Command::Replace),
                (Modifiers::COMMAND, Key::G, Command::GoToLine),
                (Modifiers::SHIFT, Key::F3, Command::FindPrevious),
                (Modifiers::NONE, Key::F3, Command::FindNext),
            ]
            .into_iter()
            .find(|(modifiers, key, _)| input.consume_key(*modifiers, *key))
        });
        pressed
            .map_or(EditOutcome::Nothing, |(_, _, command)| self.command(text, command, now, marks))
    }

    pub(super) fn command(
        &mut self,
        text: &mut String,
        command: Command,
        now: f64,
        marks: &Marks,
    ) -> EditOutcome {
        let selection = self.manuscript.selection.within(text);
        let closes_offer = command != Command::Complete;
        if closes_offer {
            self.offer.close();
        }
        match command {
            Command::Indent => self.perform(text, edit::indent(text, selection), now),
            Command::Outdent => self.perform(text, edit::outdent(text, selection), now),
            Command::NewLine => self.perform(text, edit::new_line(text, selection), now),
            Command::Comment if self.language == Language::Plain => EditOutcome::Nothing,
            Command::Comment => self.perform(text, edit::comment(text, selection), now),
            Command::Undo => self.reveal_after(|manuscript| manuscript.undo(text)),
            Command::Redo => self.reveal_after(|manuscript| manuscript.redo(text)),
            Command::Find => self.open_bar(text, Purpose::Find),
            Command::Replace => self.open_bar(text, Purpose::Replace),
            Command::GoToLine => self.open_bar(text, Purpose::GoToLine),
            Command::FindNext => self.find(text, Direction::Next),
            Command::FindPrevious => self.find(text, Direction::Previous),
            Command::Complete => {
                self.offer_names(text, marks);
                EditOutcome::Nothing
            }
            Command::Close => {
                self.find_bar.close();
                EditOutcome::Nothing
            }
        }
    }

    pub(super) fn perform(&mut self, text: &mut String, edit: Edit, now: f64) -> EditOutcome {
        self.reveal_after(|manuscript| manuscript.perform(text, edit, now))
    }

    fn reveal_after(&mut self, change: impl FnOnce(&mut EditBuffer) -> EditOutcome) -> EditOutcome {
        let outcome = change(&mut self.manuscript);
        if outcome == EditOutcome::Made {
            self.reveal = Some(Reveal::Near);
        }
        outcome
    }

    fn open_bar(&mut self, text: &str, purpose: Purpose) -> EditOutcome {
        let start = self.manuscript.selection.within(text).start();
        let selected = self.selected(text).to_owned();
        self.find_bar.open(purpose, &selected, start);
        EditOutcome::Nothing
    }

    fn find(&mut self, text: &str, direction: Direction) -> EditOutcome {
        if self.find_bar.purpose == Purpose::Closed {
            self.find_bar.purpose = Purpose::Find;
        }
        self.find_bar.search(text, self.manuscript.tracker.revision());
        let selection = self.manuscript.selection.within(text);
        self.find_bar.step(direction, &(selection.start()..selection.end()));
        self.select_match();
        EditOutcome::Nothing
    }

    fn select_match(&mut self) {
        if let Some(found) = self.find_bar.place() {
            self.manuscript.moved(Selection { anchor: found.start, head: found.end });
            self.reveal = Some(Reveal::Center);
        }
    }

    pub(super) fn show_bar(&mut self, ui: &mut Ui, text: &mut String, now: f64) -> EditOutcome {
        let selection = self.manuscript.selection.within(text);
        let wish = self.find_bar.show(ui, &(selection.start()..selection.end()));
        if self.find_bar.search(text, self.manuscript.tracker.revision()) {
            self.select_match();
        }
        let Some(wish) = wish else { return EditOutcome::Nothing };
        let outcome = match wish {
            FindAction::Show => {
                self.select_match();
                EditOutcome::Nothing
            }
            FindAction::Replace => self.replace_current(text, now),
            FindAction::ReplaceAll => self.replace_all(text, now),
            FindAction::GoTo(line) => {
                self.find_bar.close();
                self.go_to(text, Place { line, column: 1 });
                EditOutcome::Nothing
            }
            FindAction::Close => {
                self.find_bar.close();
                self.takes_focus = true;
                EditOutcome::Nothing
            }
        };
        self.find_bar.search(text, self.manuscript.tracker.revision());
        outcome
    }

    fn replace_current(&mut self, text: &mut String, now: f64) -> EditOutcome {
        let Some(found) = self.find_bar.place() else { return EditOutcome::Nothing };
        let end = found.start + self.find_bar.with.len();
        let replacing = find::replace(text, &[found], &self.find_bar.with, end);
        let outcome = self.perform(text, replacing, now);
        self.find_bar.search(text, self.manuscript.tracker.revision());
        self.find_bar.step(Direction::Next, &(end..end));
        self.select_match();
        outcome
    }

    /// Replaces all matches outside locked lines, as one step.
    fn replace_all(&mut self, text: &mut String, now: f64) -> EditOutcome {
        let (manuscript, bar) = (&self.manuscript, &self.find_bar);
        let free =
            |found: &&Range<usize>| manuscript.tracker.allows(&manuscript.index, (*found).clone());
        let matches: Vec<Range<usize>> = bar.matches.iter().filter(free).cloned().collect();
        let kept = matches.len() < bar.matches.len();
        let cursor = manuscript.selection.within(text).head;
        let replacing = find::replace(text, &matches, &bar.with, cursor);
        let outcome = self.perform(text, replacing, now);
        if kept { EditOutcome::Refused } else { outcome }
    }

    pub(super) fn accept(&mut self, text: &mut String, name: &str, now: f64) -> EditOutcome {
        let head = self.manuscript.selection.within(text).head;
        let place = word_boundaries::typed_word(text, head).unwrap_or(head..head);
        let accepted = edit::insert(place, text, name);
        self.perform(text, accepted, now)
    }

    /// Offers completions for the text before the cursor.
    pub(super) fn offer_names(&mut self, text: &str, marks: &Marks) {
        let head = self.manuscript.selection.within(text).head;
        let place = word_boundaries::typed_word(text, head).unwrap_or(head..head);
        if self.language == Language::Cuda {
            self.offer.fill(&text[place.clone()], place, &marks.words);
        }
    }
}
