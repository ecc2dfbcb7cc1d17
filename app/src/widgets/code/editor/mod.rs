//! The code editor: egui's text field with gutter, completion, find bar, undo and locked lines.

mod commands;
mod completion_list;
mod decorations;
mod edit_buffer;
mod egui_text_buffer;
mod find_bar;
mod gutter;
mod keys;
mod paragraphs;
#[cfg(test)]
mod tests;
mod text_area;
mod text_page;
mod tooltip;

use std::ops::Range;

use egui::{Event, Response, Ui};

pub(super) use find_bar::{Direction, FindAction, FindBar, Purpose};
pub use keys::Command;

use self::completion_list::CompletionList;
use self::edit_buffer::{EditBuffer, EditOutcome};
use self::gutter::{Gutter, View};
use self::paragraphs::Paragraphs;
use super::change::Selection;
use super::marks::{Marks, Problem, Revision, Tracked};
use super::syntax::Language;
use crate::theme;

/// The editing state of one text: cursor, undo history and open popups. The text itself is the caller's.
pub struct CodeEditor {
    name: String,
    language: Language,
    size: f32,
    manuscript: EditBuffer,
    paragraphs: Paragraphs,
    offer: CompletionList,
    find_bar: FindBar,
    /// Keys held back for the next frame.
    waiting: Vec<Event>,
    orders: Vec<Command>,
    reveal: Option<Reveal>,
    takes_focus: bool,
    brackets: Brackets,
}

/// The matching brackets, and the revision and cursor they were computed for.
#[derive(Clone, Copy, Debug, Default)]
struct Brackets {
    sought: Option<(Revision, usize)>,
    found: Option<(usize, usize)>,
}

/// How far the text scrolls to show the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reveal {
    /// As little as possible.
    Near,
    /// To the middle.
    Center,
}

/// What happened to a text in a frame.
#[derive(Debug)]
pub struct Edited {
    /// The text changed.
    pub changed: bool,
    /// The user tried to edit locked lines.
    pub refused: bool,
    /// The linked line under the pointer, as the marks number it.
    pub pointed: Option<usize>,
    /// The response of the text field.
    pub response: Response,
}

/// A cursor position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl CodeEditor {
    /// An editor with this name, which must be unique within a panel: screen readers announce it.
    #[must_use]
    pub fn new(name: impl Into<String>, language: Language) -> Self {
        Self {
            name: name.into(),
            language,
            size: 13.5,
            manuscript: EditBuffer::default(),
            paragraphs: Paragraphs::new(language),
            offer: CompletionList::default(),
            find_bar: FindBar::default(),
            waiting: Vec::new(),
            orders: Vec::new(),
            reveal: None,
            takes_focus: false,
            brackets: Brackets::default(),
        }
    }

    /// Draws the editor in the available space and applies edits.
    pub fn show(&mut self, ui: &mut Ui, text: &mut String, marks: &Marks) -> Edited {
        let now = ui.input(|input| input.time);
        self.manuscript.synchronise(text, now);
        self.manuscript.tracker.adopt(marks);
        let before = self.manuscript.tracker.revision();
        let id = ui.make_persistent_id(("code editor", &self.name));
        let mut refused = false;
        for command in std::mem::take(&mut self.orders) {
            refused |= self.command(text, command, now, marks) == EditOutcome::Refused;
        }
        refused |= self.take_keys(ui, id, text, now, marks) == EditOutcome::Refused;
        // The bar's fields need unique ids if several editors share a place.
        ui.push_id(self.name.clone(), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            refused |= self.show_bar(ui, text, now) == EditOutcome::Refused;
            let shown = self.show_text(ui, id, text, now, marks);
            refused |= shown.refused;
            self.manuscript.end_step(text);
            let changed = self.manuscript.tracker.revision() != before;
            let pointed = self.pointed(&shown);
            Edited { changed, refused, pointed, response: shown.response }
        })
        .inner
    }

    /// The linked line under the pointer.
    fn pointed(&self, shown: &text_area::Shown) -> Option<usize> {
        let line = shown.page.line_at(shown.response.hover_pos()?.y)?;
        let links = &self.manuscript.tracker.linked;
        links.iter().find(|link| link.line == line).map(|link| link.item)
    }

    /// Queues a command for the next frame.
    pub fn order(&mut self, command: Command) {
        self.orders.push(command);
    }

    /// Moves the cursor, centres it, and takes the focus.
    pub fn go_to(&mut self, text: &str, place: Place) {
        self.manuscript.synchronise(text, 0.0);
        let (line, column) = (place.line.saturating_sub(1), place.column.saturating_sub(1));
        let offset = self.manuscript.index.offset(text, line, column);
        self.manuscript.moved(Selection::at(offset));
        self.reveal = Some(Reveal::Center);
        self.takes_focus = true;
    }

    /// Takes the focus in the next frame.
    pub const fn take_focus(&mut self) {
        self.takes_focus = true;
    }

    /// Locks lines, from 1; locked lines move with the text.
    pub fn lock(&mut self, text: &str, lines: &[Range<usize>]) {
        self.manuscript.synchronise(text, 0.0);
        let last = self.manuscript.index.count();
        let from_zero = |lines: &Range<usize>| {
            lines.start.saturating_sub(1)..lines.end.saturating_sub(1).min(last)
        };
        let locked = lines.iter().map(from_zero).filter(|lines| !lines.is_empty());
        self.manuscript.tracker.locked = locked.collect();
    }

    /// Sets the font size in points, independent of the window's.
    pub fn set_font_size(&mut self, size: f32) {
        self.size = size.clamp(6.0, 48.0);
    }

    /// The revision of the present text, for marks made from it.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.manuscript.tracker.revision()
    }

    /// The end with the cursor.
    #[must_use]
    pub fn cursor(&self, text: &str) -> Place {
        let head = self.manuscript.selection.within(text).head;
        let (line, column) = self.manuscript.index.place(text, head);
        Place { line: line + 1, column: column + 1 }
    }

    /// The selection.
    #[must_use]
    pub fn selected<'text>(&self, text: &'text str) -> &'text str {
        let selection = self.manuscript.selection.within(text);
        &text[selection.start()..selection.end()]
    }

    /// Problems at their present lines.
    #[must_use]
    pub fn problems(&self) -> &[Tracked<Problem>] {
        &self.manuscript.tracker.problems
    }

    /// Whether a step can be undone.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.manuscript.can_undo()
    }

    /// Whether a step can be redone.
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
        let gutter = Gutter::new(ui, lines, self.size, &self.manuscript.tracker);
        let (left, right) = place.split_left_right_at_x(place.left() + gutter.width);
        let shown =
            self.text_area(ui, id, text, &text_area::TextAreaContext { left, right, now, marks });
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
