//! The find bar: find, replace, go to a line.

use std::ops::Range;

use egui::{Align, Button, Frame, Id, Key, Layout, Margin, Response, TextEdit, Ui, vec2};

use crate::theme;
use crate::widgets::code::find::{Case, Query, next, previous};
use crate::widgets::code::marks::Revision;
use crate::widgets::code::paint;
use crate::widgets::icon::Icon;

/// The mode of the bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    #[default]
    Closed,
    Find,
    /// Find and replace.
    Replace,
    GoToLine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Next,
    Previous,
}

/// An action of the user in the bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FindAction {
    /// Show the current match.
    Show,
    Replace,
    ReplaceAll,
    /// Go to a line, from 1.
    GoTo(usize),
    /// Close the bar and return the focus to the text.
    Close,
}

/// The bar and its matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindBar {
    pub(crate) purpose: Purpose,
    pub(crate) query: Query,
    pub(crate) with: String,
    pub(crate) matches: Vec<Range<usize>>,
    pub(crate) current: Option<usize>,
    line: String,
    searched: Option<(Revision, Query)>,
    /// Where the search started.
    origin: usize,
    takes_focus: bool,
    /// Whether one of its fields had the focus when it was last drawn.
    pub(crate) has_focus: bool,
}

impl FindBar {
    /// Opens the bar; the selection becomes the query.
    pub(crate) fn open(&mut self, purpose: Purpose, selected: &str, origin: usize) {
        self.purpose = purpose;
        self.origin = origin;
        self.takes_focus = true;
        if !selected.is_empty() && !selected.contains('\n') && purpose != Purpose::GoToLine {
            selected.clone_into(&mut self.query.needle);
        }
        self.line.clear();
    }

    /// Closes the bar and clears the matches.
    pub(crate) fn close(&mut self) {
        self.purpose = Purpose::Closed;
        self.matches.clear();
        self.searched = None;
        self.current = None;
    }

    /// Updates the matches if text or query changed; returns whether a new query changed the current match.
    pub(crate) fn search(&mut self, text: &str, revision: Revision) -> bool {
        self.search_in(revision, |query| query.matches(text))
    }

    /// Updates matches in anything with ascending positions.
    pub(crate) fn search_in(
        &mut self,
        revision: Revision,
        find: impl FnOnce(&Query) -> Vec<Range<usize>>,
    ) -> bool {
        if !matches!(self.purpose, Purpose::Find | Purpose::Replace) {
            return false;
        }
        let query_is_new = self.searched.as_ref().is_none_or(|(_, query)| *query != self.query);
        let key = (revision, self.query.clone());
        if self.searched.as_ref() == Some(&key) {
            return false;
        }
        let place = self.place().map_or(self.origin, |found| found.start);
        self.searched = Some(key);
        self.matches = find(&self.query);
        let from = if query_is_new { self.origin } else { place };
        self.current = next(&self.matches, from);
        query_is_new && self.current.is_some()
    }

    /// The current match.
    pub(crate) fn place(&self) -> Option<Range<usize>> {
        self.matches.get(self.current?).cloned()
    }

    /// Moves to the next or previous match from a position.
    pub(crate) fn step(&mut self, direction: Direction, from: &Range<usize>) {
        self.current = match direction {
            Direction::Next => next(&self.matches, from.end),
            Direction::Previous => previous(&self.matches, from.start),
        };
        if let Some(found) = self.place() {
            self.origin = found.start;
        }
    }

    /// Draws the bar if it is open.
    pub(crate) fn show(&mut self, ui: &mut Ui, selection: &Range<usize>) -> Option<FindAction> {
        if self.purpose == Purpose::Closed {
            return None;
        }
        let tokens = theme::tokens(ui);
        self.has_focus = false;
        let frame = Frame::new().fill(tokens.surface.panel.0).inner_margin(Margin::symmetric(8, 4));
        let wish = frame.show(ui, |ui| match self.purpose {
            Purpose::Closed => None,
            Purpose::Find => self.find_row(ui, selection),
            Purpose::Replace => {
                let found = self.find_row(ui, selection);
                ui.add_space(theme::GAP);
                self.replace_row(ui).or(found)
            }
            Purpose::GoToLine => self.line_row(ui),
        });
        let escaped = self.has_focus && ui.input(|input| input.key_pressed(Key::Escape));
        let line = wish.response.rect;
        ui.painter().hline(
            line.x_range(),
            line.bottom(),
            egui::Stroke::new(1.0, tokens.line.normal.0),
        );
        if escaped { Some(FindAction::Close) } else { wish.inner }
    }

    fn find_row(&mut self, ui: &mut Ui, selection: &Range<usize>) -> Option<FindAction> {
        let mut wish = None;
        ui.horizontal(|ui| {
            let mut needle = std::mem::take(&mut self.query.needle);
            let field = self.field(ui, &mut needle, "Find");
            self.query.needle = needle;
            let mut direction = entered(ui, &field);
            if direction.is_some() {
                field.request_focus();
            }
            if self.case_button(ui).clicked() {
                self.query.case = match self.query.case {
                    Case::Ignored => Case::Matched,
                    Case::Matched => Case::Ignored,
                };
            }
            ui.add_enabled_ui(!self.matches.is_empty(), |ui| {
                if Icon::Up.button(ui, "Previous match").clicked() {
                    direction = Some(Direction::Previous);
                }
                if Icon::Down.button(ui, "Next match").clicked() {
                    direction = Some(Direction::Next);
                }
            });
            ui.weak(self.count());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if Icon::Cross.button(ui, "Close find").clicked() {
                    wish = Some(FindAction::Close);
                }
            });
            if let Some(direction) = direction {
                let from = self.place().unwrap_or_else(|| selection.clone());
                self.step(direction, &from);
                wish = Some(FindAction::Show);
            }
        });
        wish
    }

    fn replace_row(&mut self, ui: &mut Ui) -> Option<FindAction> {
        let mut wish = None;
        ui.horizontal(|ui| {
            let mut with = std::mem::take(&mut self.with);
            let field = self.field(ui, &mut with, "Replace with");
            self.with = with;
            if entered(ui, &field).is_some() {
                field.request_focus();
                wish = Some(FindAction::Replace);
            }
            ui.add_enabled_ui(!self.matches.is_empty(), |ui| {
                if ui.button("Replace").clicked() {
                    wish = Some(FindAction::Replace);
                }
                if ui.button("Replace all").clicked() {
                    wish = Some(FindAction::ReplaceAll);
                }
            });
        });
        wish
    }

    fn line_row(&mut self, ui: &mut Ui) -> Option<FindAction> {
        let mut wish = None;
        ui.horizontal(|ui| {
            let mut line = std::mem::take(&mut self.line);
            let field = self.field(ui, &mut line, "Go to line");
            self.line = line;
            if entered(ui, &field).is_some() {
                wish = Some(self.line.trim().parse().map_or(FindAction::Close, FindAction::GoTo));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if Icon::Cross.button(ui, "Close").clicked() {
                    wish = Some(FindAction::Close);
                }
            });
        });
        wish
    }

    fn field(&mut self, ui: &mut Ui, text: &mut String, name: &str) -> Response {
        let id: Id = ui.make_persistent_id(name);
        let width = (ui.available_width() - 230.0).clamp(80.0, 280.0);
        let field = TextEdit::singleline(text).id(id).hint_text(name).desired_width(width);
        let output = field.show(ui);
        paint::name(ui, id, name);
        let response = output.response.response;
        self.has_focus |= response.has_focus() || response.lost_focus();
        if self.takes_focus && name != "Replace with" {
            self.takes_focus = false;
            response.request_focus();
            // Selects the field's content, so that typing replaces it.
            let mut state = output.state;
            let all = egui::text::CCursorRange::select_all(&output.galley);
            state.cursor.set_char_range(Some(all));
            state.store(ui.ctx(), id);
        }
        response
    }

    fn case_button(&self, ui: &mut Ui) -> Response {
        let matched = self.query.case == Case::Matched;
        let button = Button::selectable(matched, "Aa").min_size(vec2(26.0, 0.0));
        let response = ui.add(button);
        paint::name(ui, response.id, "Match case");
        response.on_hover_text("Match case")
    }

    fn count(&self) -> String {
        match (self.current, self.query.needle.is_empty()) {
            (_, true) => String::new(),
            (Some(current), false) => format!("{} of {}", current + 1, self.matches.len()),
            (None, false) => "No matches".to_owned(),
        }
    }
}

/// The direction, if Enter was pressed in a field.
fn entered(ui: &Ui, field: &Response) -> Option<Direction> {
    let (enter, shift) = ui.input(|input| (input.key_pressed(Key::Enter), input.modifiers.shift));
    let direction = if shift { Direction::Previous } else { Direction::Next };
    (field.lost_focus() && enter).then_some(direction)
}
