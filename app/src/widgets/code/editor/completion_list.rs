//! The completion list below the cursor.

use std::ops::Range;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Area, Context, FontId, Frame, Id, Margin, Order, Rect, Response, RichText, Role, Sense,
    Stroke, Ui, WidgetInfo, vec2,
};

use super::keys::{Choice, OpenPopups};
use crate::theme::{self, Tokens};
use crate::widgets::code::completion::{self, Word};

/// Maximum number of visible rows.
const ROWS: usize = 8;
const WIDTH: f32 = 460.0;

/// Names that match the typed text.
#[derive(Clone, Debug, Default)]
pub(super) struct CompletionList {
    words: Vec<Word>,
    /// The range that a name replaces.
    pub(super) place: Range<usize>,
    selected: usize,
    chosen: bool,
}

impl CompletionList {
    /// Whether the list is open.
    pub(super) const fn open(&self) -> OpenPopups {
        match (self.words.is_empty(), self.chosen) {
            (true, _) => OpenPopups::Nothing,
            (false, false) => OpenPopups::Names,
            (false, true) => OpenPopups::Chosen,
        }
    }

    /// Fills the list with matching names; closes it if there are none.
    pub(super) fn fill(&mut self, typed: &str, place: Range<usize>, of_caller: &[Word]) {
        let found = completion::matching(typed, of_caller, completion::cuda_words());
        self.words = found.into_iter().take(60).cloned().collect();
        self.place = place;
        self.selected = 0;
        self.chosen = false;
    }

    pub(super) fn close(&mut self) {
        self.words.clear();
    }

    /// Handles a key; returns the accepted name.
    pub(super) fn choose(&mut self, choice: Choice) -> Option<String> {
        let count = self.words.len();
        if count == 0 {
            return None;
        }
        match choice {
            // The first arrow key selects the top row.
            Choice::Next if self.chosen => self.selected = (self.selected + 1) % count,
            Choice::Next => {}
            Choice::Previous => self.selected = (self.selected + count - 1) % count,
            Choice::Dismiss => {
                self.close();
                return None;
            }
            Choice::Accept => {
                let name = self.words.get(self.selected).map(|word| word.name.clone());
                self.close();
                return name;
            }
        }
        self.chosen = true;
        None
    }

    /// Draws the list below (or above) the cursor; returns a clicked name.
    pub(super) fn show(&mut self, context: &Context, id: Id, cursor: Rect) -> Option<String> {
        if self.words.is_empty() {
            return None;
        }
        let below = context.content_rect().bottom() - cursor.bottom() > 230.0;
        let (pivot, corner) = if below {
            (Align2::LEFT_TOP, cursor.left_bottom() + vec2(-6.0, 3.0))
        } else {
            (Align2::LEFT_BOTTOM, cursor.left_top() + vec2(-6.0, -3.0))
        };
        let area = Area::new(id).order(Order::Foreground).pivot(pivot).fixed_pos(corner);
        let clicked = area.show(context, |ui| {
            Frame::popup(ui.style()).inner_margin(4.0).show(ui, |ui| self.rows(ui)).inner
        });
        let clicked = clicked.inner?;
        self.selected = clicked;
        self.choose(Choice::Accept)
    }

    fn rows(&self, ui: &mut Ui) -> Option<usize> {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.set_width(WIDTH);
        let tokens = theme::tokens(ui);
        let first =
            self.selected.saturating_sub(ROWS - 2).min(self.words.len().saturating_sub(ROWS));
        let shown = || self.words.iter().enumerate().skip(first).take(ROWS);
        let font = FontId::monospace(13.0);
        let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
        let longest = shown().map(|(_, word)| word.name.chars().count()).max().unwrap_or(0);
        let names = (longest as f32 * letter + 24.0).min(WIDTH * 0.6);
        let mut clicked = None;
        for (number, word) in shown() {
            if self.row(ui, &tokens, word, Column { number, names }).clicked() {
                clicked = Some(number);
            }
        }
        if let Some(word) = self.words.get(self.selected) {
            explain(ui, &tokens, word);
        }
        clicked
    }

    fn row(&self, ui: &mut Ui, tokens: &Tokens, word: &Word, column: Column) -> Response {
        let Column { number, names } = column;
        let (place, response) = ui.allocate_exact_size(vec2(WIDTH, theme::ROW), Sense::click());
        let selected = number == self.selected;
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, selected, &word.name));
        let ground = match (selected, response.hovered()) {
            (true, _) if self.chosen => Some(tokens.surface.selected),
            (true, _) | (_, true) => Some(tokens.surface.hovered),
            (false, false) => None,
        };
        if let Some(ground) = ground {
            ui.painter().rect_filled(place, f32::from(theme::RADIUS), ground.0);
        }
        let font = FontId::monospace(13.0);
        ui.painter().text(
            place.left_center() + vec2(6.0, 0.0),
            Align2::LEFT_CENTER,
            &word.name,
            font,
            tokens.text.strong.0,
        );
        let left = place.left() + names;
        let format = TextFormat::simple(FontId::monospace(11.5), tokens.text.weak.0);
        let mut job = LayoutJob::single_section(word.signature.clone(), format);
        job.wrap = egui::text::TextWrapping::truncate_at_width(place.right() - 6.0 - left);
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
        let corner = egui::pos2(left, place.center().y - galley.size().y / 2.0);
        ui.painter().galley(corner, galley, tokens.text.weak.0);
        response
    }
}

/// A row and the width of the column of names.
#[derive(Clone, Copy)]
struct Column {
    number: usize,
    names: f32,
}

/// The signature and description of a name.
fn explain(ui: &mut Ui, tokens: &Tokens, word: &Word) {
    ui.add_space(theme::GAP);
    let line = ui.available_rect_before_wrap();
    ui.painter().hline(line.x_range(), line.top(), Stroke::new(1.0, tokens.line.normal.0));
    ui.add_space(1.5 * theme::GAP);
    Frame::new().inner_margin(Margin::symmetric(6, 0)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = theme::GAP;
        let signature = RichText::new(&word.signature).monospace().size(12.0);
        ui.label(signature.color(tokens.text.weak.0));
        ui.label(&word.about);
    });
    ui.add_space(theme::GAP);
}
