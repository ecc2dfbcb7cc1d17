//! An editor for kernels: egui's text field with everything around it that people expect of one.

mod buffer;
mod commands;
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

use egui::{Event, Response, Ui};

pub(super) use find_bar::{Direction, FindBar, Purpose, Wish};
pub use keys::Command;

use self::gutter::{Gutter, View};
use self::manuscript::{Manuscript, Outcome};
use self::offer::Offer;
use self::paragraphs::Paragraphs;
use super::change::Selection;
use super::marks::{Marks, Problem, Revision, Tracked};
use super::syntax::Language;
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
        // Fields of the bar have names of their own even where several editors stand in one place.
        ui.push_id(self.name.clone(), |ui| {
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

    /// Problems where their lines are now, for lists beside the text.
    #[must_use]
    pub fn problems(&self) -> &[Tracked<Problem>] {
        &self.manuscript.tracker.problems
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
