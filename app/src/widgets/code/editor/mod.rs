//! An editor for kernels: egui's text field with everything around it that people expect of one.

mod buffer;
mod find_bar;
mod gutter;
mod ink;
mod keys;
mod manuscript;
mod offer;
mod page;
mod paragraphs;
#[cfg(test)]
mod tests;
mod text_area;
mod tooltip;

use std::ops::Range;

use egui::{Event, Key, Modifiers, Response, Ui};

pub(super) use find_bar::{Direction, FindBar, Purpose, Wish};
pub use keys::Command;

use self::gutter::{Gutter, View};
use self::keys::{Action, Open};
use self::manuscript::{Manuscript, Outcome};
use self::offer::Offer;
use self::paragraphs::Paragraphs;
use super::change::{Edit, Selection};
use super::edit;
use super::find;
use super::marks::{Marks, Revision};
use super::syntax::Language;
use super::words;
use crate::theme;

/// A text that is edited: its cursor, its history, and what is open around it. The text itself is the caller's.
pub struct CodeEditor {
    name: String,
    language: Language,
    size: f32,
    manuscript: Manuscript,
    paragraphs: Paragraphs,
    offer: Offer,
    find_bar: FindBar,
    /// Keys that came behind others.
    waiting: Vec<Event>,
    orders: Vec<Command>,
    reveal: Option<Reveal>,
    takes_focus: bool,
    brackets: Brackets,
}

/// Brackets that belong to each other, and for which text and cursor they were sought.
#[derive(Clone, Copy, Debug, Default)]
struct Brackets {
    sought: Option<(Revision, usize)>,
    found: Option<(usize, usize)>,
}

/// How the cursor is brought into view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reveal {
    /// No further than needed.
    Near,
    /// In the middle.
    Center,
}

/// What has happened to a text.
#[derive(Debug)]
pub struct Edited {
    /// It is another one than before it was shown.
    pub changed: bool,
    /// Somebody tried to edit lines that are locked.
    pub refused: bool,
    /// Of the text: focus, clicks.
    pub response: Response,
}

/// Where a cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters from 1.
    pub column: usize,
}

impl CodeEditor {
    /// For a text of this name, which must be unique among editors in one panel: it is what people hear who do not
    /// see it.
    #[must_use]
    pub fn new(name: impl Into<String>, language: Language) -> Self {
        Self {
            name: name.into(),
            language,
            size: 13.5,
            manuscript: Manuscript::default(),
            paragraphs: Paragraphs::new(language),
            offer: Offer::default(),
            find_bar: FindBar::default(),
            waiting: Vec::new(),
            orders: Vec::new(),
            reveal: None,
            takes_focus: false,
            brackets: Brackets::default(),
        }
    }

    /// Shows the text in all the room that there is, and edits it.
    pub fn show(&mut self, ui: &mut Ui, text: &mut String, marks: &Marks) -> Edited {
        let now = ui.input(|input| input.time);
        self.manuscript.meet(text, now);
        self.manuscript.tracker.adopt(marks);
        let before = self.manuscript.tracker.revision();
        let id = ui.make_persistent_id(("code editor", &self.name));
        let mut refused = false;
        for command in std::mem::take(&mut self.orders) {
            refused |= self.command(text, command, now, marks) == Outcome::Refused;
        }
        refused |= self.take_keys(ui, id, text, now, marks) == Outcome::Refused;
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            refused |= self.show_bar(ui, text, now) == Outcome::Refused;
            let shown = self.show_text(ui, id, text, now, marks);
            refused |= shown.refused;
            self.manuscript.leave(text);
            let changed = self.manuscript.tracker.revision() != before;
            Edited { changed, refused, response: shown.response }
        })
        .inner
    }

    /// Carries a command out when the text is shown next.
    pub fn order(&mut self, command: Command) {
        self.orders.push(command);
    }

    /// Puts the cursor in a place, in the middle of what is seen, and takes the focus.
    pub fn go_to(&mut self, text: &str, place: Place) {
        self.manuscript.meet(text, 0.0);
        let (line, column) = (place.line.saturating_sub(1), place.column.saturating_sub(1));
        let offset = self.manuscript.index.offset(text, line, column);
        self.manuscript.moved(Selection::at(offset));
        self.reveal = Some(Reveal::Center);
        self.takes_focus = true;
    }

    /// Takes the focus when it is shown next.
    pub const fn take_focus(&mut self) {
        self.takes_focus = true;
    }

    /// Lines, from 1, that nobody may edit; they move with the text from now on.
    pub fn lock(&mut self, text: &str, lines: &[Range<usize>]) {
        self.manuscript.meet(text, 0.0);
        let last = self.manuscript.index.count();
        let from_zero = |lines: &Range<usize>| {
            lines.start.saturating_sub(1)..lines.end.saturating_sub(1).min(last)
        };
        let locked = lines.iter().map(from_zero).filter(|lines| !lines.is_empty());
        self.manuscript.tracker.locked = locked.collect();
    }

    /// The size of its letters in points, whatever the window's is.
    pub fn set_font_size(&mut self, size: f32) {
        self.size = size.clamp(6.0, 48.0);
    }

    /// The text as it is now, for marks that are made of it.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.manuscript.tracker.revision()
    }

    /// Where the cursor is.
    #[must_use]
    pub fn cursor(&self, text: &str) -> Place {
        let head = self.manuscript.selection.within(text).head;
        let (line, column) = self.manuscript.index.place(text, head);
        Place { line: line + 1, column: column + 1 }
    }

    /// What is selected.
    #[must_use]
    pub fn selected<'text>(&self, text: &'text str) -> &'text str {
        let selection = self.manuscript.selection.within(text);
        &text[selection.start()..selection.end()]
    }

    /// Problems where their lines are now, from 1, for lists beside the text.
    pub fn problem_lines(&self) -> impl Iterator<Item = usize> + '_ {
        self.manuscript.tracker.problems.iter().map(|problem| problem.line + 1)
    }

    /// Whether there is something to take back.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.manuscript.can_undo()
    }

    /// Whether there is something to make again.
    #[must_use]
    pub const fn can_redo(&self) -> bool {
        self.manuscript.can_redo()
    }

    fn open(&self) -> Open {
        let names = self.offer.open();
        if names == Open::Nothing && self.find_bar.purpose != Purpose::Closed {
            return Open::Bar;
        }
        names
    }

    fn take_keys(
        &mut self,
        ui: &Ui,
        id: egui::Id,
        text: &mut String,
        now: f64,
        marks: &Marks,
    ) -> Outcome {
        if !ui.memory(|memory| memory.has_focus(id)) {
            self.waiting.clear();
            return self.take_keys_of_bar(ui, text, now, marks);
        }
        let open = self.open();
        let actions = ui.input_mut(|input| keys::take(input, &mut self.waiting, open));
        if !self.waiting.is_empty() {
            ui.ctx().request_repaint();
        }
        let mut outcome = Outcome::Nothing;
        for action in actions {
            let came = match action {
                Action::Command(command) => self.command(text, command, now, marks),
                Action::Choice(choice) => match self.offer.choose(choice) {
                    Some(name) => self.accept(text, &name, now),
                    None => Outcome::Nothing,
                },
            };
            outcome = if came == Outcome::Nothing { outcome } else { came };
        }
        outcome
    }

    /// While a field of the bar has the focus, the keys that open it still do.
    fn take_keys_of_bar(&mut self, ui: &Ui, text: &mut String, now: f64, marks: &Marks) -> Outcome {
        if self.find_bar.purpose == Purpose::Closed || !self.find_bar.has_focus {
            return Outcome::Nothing;
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
        pressed.map_or(Outcome::Nothing, |(_, _, command)| self.command(text, command, now, marks))
    }

    fn command(&mut self, text: &mut String, command: Command, now: f64, marks: &Marks) -> Outcome {
        let selection = self.manuscript.selection.within(text);
        let closes_offer = command != Command::Complete;
        if closes_offer {
            self.offer.close();
        }
        match command {
            Command::Indent => self.perform(text, edit::indent(text, selection), now),
            Command::Outdent => self.perform(text, edit::outdent(text, selection), now),
            Command::NewLine => self.perform(text, edit::new_line(text, selection), now),
            Command::Comment if self.language == Language::Plain => Outcome::Nothing,
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
                Outcome::Nothing
            }
            Command::Close => {
                self.find_bar.close();
                Outcome::Nothing
            }
        }
    }

    fn perform(&mut self, text: &mut String, edit: Edit, now: f64) -> Outcome {
        self.reveal_after(|manuscript| manuscript.perform(text, edit, now))
    }

    fn reveal_after(&mut self, change: impl FnOnce(&mut Manuscript) -> Outcome) -> Outcome {
        let outcome = change(&mut self.manuscript);
        if outcome == Outcome::Made {
            self.reveal = Some(Reveal::Near);
        }
        outcome
    }

    fn open_bar(&mut self, text: &str, purpose: Purpose) -> Outcome {
        let start = self.manuscript.selection.within(text).start();
        let selected = self.selected(text).to_owned();
        self.find_bar.open(purpose, &selected, start);
        Outcome::Nothing
    }

    fn find(&mut self, text: &str, direction: Direction) -> Outcome {
        if self.find_bar.purpose == Purpose::Closed {
            self.find_bar.purpose = Purpose::Find;
        }
        self.find_bar.search(text, self.manuscript.tracker.revision());
        let selection = self.manuscript.selection.within(text);
        self.find_bar.step(direction, &(selection.start()..selection.end()));
        self.select_match();
        Outcome::Nothing
    }

    fn select_match(&mut self) {
        if let Some(found) = self.find_bar.place() {
            self.manuscript.moved(Selection { anchor: found.start, head: found.end });
            self.reveal = Some(Reveal::Center);
        }
    }

    fn show_bar(&mut self, ui: &mut Ui, text: &mut String, now: f64) -> Outcome {
        let selection = self.manuscript.selection.within(text);
        let wish = self.find_bar.show(ui, &(selection.start()..selection.end()));
        if self.find_bar.search(text, self.manuscript.tracker.revision()) {
            self.select_match();
        }
        let Some(wish) = wish else { return Outcome::Nothing };
        let outcome = match wish {
            Wish::Show => {
                self.select_match();
                Outcome::Nothing
            }
            Wish::Replace => self.replace_current(text, now),
            Wish::ReplaceAll => self.replace_all(text, now),
            Wish::GoTo(line) => {
                self.find_bar.close();
                self.go_to(text, Place { line, column: 1 });
                Outcome::Nothing
            }
            Wish::Close => {
                self.find_bar.close();
                self.takes_focus = true;
                Outcome::Nothing
            }
        };
        self.find_bar.search(text, self.manuscript.tracker.revision());
        outcome
    }

    fn replace_current(&mut self, text: &mut String, now: f64) -> Outcome {
        let Some(found) = self.find_bar.place() else { return Outcome::Nothing };
        let end = found.start + self.find_bar.with.len();
        let replacing = find::replace(text, &[found], &self.find_bar.with, end);
        let outcome = self.perform(text, replacing, now);
        self.find_bar.search(text, self.manuscript.tracker.revision());
        self.find_bar.step(Direction::Next, &(end..end));
        self.select_match();
        outcome
    }

    /// Matches in locked lines stay; all others are one step.
    fn replace_all(&mut self, text: &mut String, now: f64) -> Outcome {
        let (manuscript, bar) = (&self.manuscript, &self.find_bar);
        let free =
            |found: &&Range<usize>| manuscript.tracker.allows(&manuscript.index, (*found).clone());
        let matches: Vec<Range<usize>> = bar.matches.iter().filter(free).cloned().collect();
        let kept = matches.len() < bar.matches.len();
        let cursor = manuscript.selection.within(text).head;
        let replacing = find::replace(text, &matches, &bar.with, cursor);
        let outcome = self.perform(text, replacing, now);
        if kept { Outcome::Refused } else { outcome }
    }

    fn accept(&mut self, text: &mut String, name: &str, now: f64) -> Outcome {
        let head = self.manuscript.selection.within(text).head;
        let place = words::typed_word(text, head).unwrap_or(head..head);
        let accepted = edit::insert(place, text, name);
        self.perform(text, accepted, now)
    }

    /// Offers names for what stands before the cursor.
    fn offer_names(&mut self, text: &str, marks: &Marks) {
        let head = self.manuscript.selection.within(text).head;
        let place = words::typed_word(text, head).unwrap_or(head..head);
        if self.language == Language::Cuda {
            self.offer.fill(&text[place.clone()], place, &marks.words);
        }
    }

    fn show_text(
        &mut self,
        ui: &mut Ui,
        id: egui::Id,
        text: &mut String,
        now: f64,
        marks: &Marks,
    ) -> text_area::Shown {
        let tokens = theme::tokens(ui);
        let place = ui.available_rect_before_wrap();
        ui.allocate_rect(place, egui::Sense::hover());
        ui.painter().rect_filled(place, 0.0, tokens.surface.sunken.0);
        let lines = self.manuscript.index.count();
        let gutter = Gutter::of(ui, lines, self.size, &self.manuscript.tracker);
        let (left, right) = place.split_left_right_at_x(place.left() + gutter.width);
        let shown = self.text_area(ui, id, text, &text_area::Room { left, right, now, marks });
        let cursor_line = self.manuscript.index.line_of(self.manuscript.selection.head);
        let view = View { tracker: &self.manuscript.tracker, cursor_line, name: &self.name };
        let response = gutter.show(ui, left, &shown.page, &view);
        if response.clicked()
            && let Some(line) =
                response.interact_pointer_pos().and_then(|pointer| shown.page.line_at(pointer.y))
        {
            // A click beside a line selects it.
            let index = &self.manuscript.index;
            let selection = Selection { anchor: index.start(line), head: index.start(line + 1) };
            self.manuscript.moved(selection);
            self.takes_focus = true;
        }
        shown
    }
}
