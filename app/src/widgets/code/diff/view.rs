//! A side-by-side diff: removals on the left, additions on the right, equal rows folded.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use egui::{
    Align, Align2, Color32, CornerRadius, FontId, Frame, Key, Layout, Margin, Modifiers, Painter,
    Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::{Diff, DiffRow, Item};
use crate::theme::{self, Color, Tokens};
use crate::widgets::code::highlight::Highlighter;
use crate::widgets::code::line_index::LineIndex;
use crate::widgets::code::paint;
use crate::widgets::code::syntax::{Language, Span};
use crate::widgets::icon::Icon;

/// Visible equal rows around a change.
const CONTEXT: usize = 3;

/// View state of a diff.
#[derive(Clone, Debug)]
pub struct DiffView {
    name: String,
    size: f32,
    opened: BTreeSet<usize>,
    /// The selected change.
    current: Option<usize>,
    scroll_to: Option<usize>,
    /// Horizontal scroll offset of both texts.
    shift: f32,
    fingerprint: Option<u64>,
    old: Highlighter,
    new: Highlighter,
}

/// Maximum number of lines highlighted per frame.
const PORTION: usize = 400;

/// One of the two texts.
struct Side<'a> {
    line: usize,
    text: &'a str,
    spans: &'a [Span],
    parts: &'a [Range<usize>],
    /// The sign and colour of a differing line; `None` for an equal line.
    difference: Option<(char, Color)>,
}

/// Positions of the columns of a row.
#[derive(Clone, Copy)]
struct Columns {
    number: f32,
    text: f32,
    half: f32,
}

impl DiffView {
    /// A view with this name.
    #[must_use]
    pub fn new(name: impl Into<String>, language: Language) -> Self {
        Self {
            name: name.into(),
            size: 12.5,
            opened: BTreeSet::new(),
            current: None,
            scroll_to: None,
            shift: 0.0,
            fingerprint: None,
            old: Highlighter::new(language),
            new: Highlighter::new(language),
        }
    }

    /// Sets the font size in points.
    pub fn set_font_size(&mut self, size: f32) {
        self.size = size.clamp(6.0, 48.0);
    }

    /// Adopts another diff and forgets open folds.
    fn synchronise(&mut self, ui: &Ui, diff: &Diff) {
        if self.fingerprint != Some(diff.fingerprint()) {
            self.fingerprint = Some(diff.fingerprint());
            self.opened.clear();
            self.current = None;
            self.shift = 0.0;
            self.old.update(&diff.old.join("\n"));
            self.new.update(&diff.new.join("\n"));
        }
        if !self.old.is_settled() || !self.new.is_settled() {
            self.old.read(PORTION);
            self.new.read(PORTION);
            ui.ctx().request_repaint();
        }
    }

    /// Goes to the next change; wraps around.
    pub fn next_change(&mut self, diff: &Diff) {
        let count = diff.changes().len();
        self.go_to(diff, self.current.map_or(0, |current| current + 1) % count.max(1));
    }

    /// Goes to the previous change; wraps around.
    pub fn previous_change(&mut self, diff: &Diff) {
        let count = diff.changes().len();
        self.go_to(diff, (self.current.unwrap_or(0) + count.max(1) - 1) % count.max(1));
    }

    fn go_to(&mut self, diff: &Diff, change: usize) {
        if let Some(rows) = diff.changes().get(change) {
            self.current = Some(change);
            self.scroll_to = Some(rows.start);
        }
    }

    /// Draws the diff in the available space; `titles` name the two sides.
    pub fn show(&mut self, ui: &mut Ui, diff: &Diff, titles: [&str; 2]) {
        self.synchronise(ui, diff);
        ui.push_id(self.name.clone(), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.spacing_mut().scroll.fade.strength = 0.0;
            self.head(ui, diff, titles);
            if diff.changes().is_empty() {
                ui.add_space(6.0 * theme::GAP);
                ui.vertical_centered(|ui| ui.weak("No differences"));
            } else {
                self.body(ui, diff);
            }
        });
    }

    fn head(&mut self, ui: &mut Ui, diff: &Diff, titles: [&str; 2]) {
        let tokens = theme::tokens(ui);
        let frame = Frame::new().fill(tokens.surface.panel.0).inner_margin(Margin::symmetric(8, 4));
        let shown = frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                let [old, new] = titles;
                sign(ui, '-', tokens.status.bad);
                ui.label(old);
                ui.add_space(theme::GAP);
                sign(ui, '+', tokens.status.good);
                ui.label(new);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let some = !diff.changes().is_empty();
                    ui.add_enabled_ui(some, |ui| {
                        if Icon::Down.button(ui, "Next change").clicked() {
                            self.next_change(diff);
                        }
                        if Icon::Up.button(ui, "Previous change").clicked() {
                            self.previous_change(diff);
                        }
                    });
                    ui.weak(self.count(diff));
                });
            });
        });
        let rect = shown.response.rect;
        let edge = Stroke::new(1.0, tokens.line.normal.0);
        ui.painter().hline(rect.x_range(), rect.bottom(), edge);
    }

    fn count(&self, diff: &Diff) -> String {
        match (diff.changes().len(), self.current) {
            (0, _) => "No changes".to_owned(),
            (1, _) => "1 change".to_owned(),
            (count, None) => format!("{count} changes"),
            (count, Some(current)) => format!("{} of {count} changes", current + 1),
        }
    }

    fn body(&mut self, ui: &mut Ui, diff: &Diff) {
        let tokens = theme::tokens(ui);
        let place = ui.available_rect_before_wrap();
        ui.painter().rect_filled(place, 0.0, tokens.surface.sunken.0);
        let id = ui.make_persistent_id(("diff", &self.name));
        let list = ui.interact(place, id, Sense::click());
        let name = self.name.clone();
        list.widget_info(|| WidgetInfo::labeled(Role::GenericContainer, true, &name));
        if list.has_focus() {
            self.keys(ui, diff);
        }
        let items = diff.items(CONTEXT, |first| self.opened.contains(&first));
        let height = paint::line_height(self.size);
        let columns = self.columns(ui, diff, place);
        self.slide(ui, diff, place, columns);
        let mut area =
            ScrollArea::vertical().id_salt(&self.name).auto_shrink(false).animated(false);
        if let Some(row) = self.scroll_to.take() {
            let at = items.iter().position(|item| match item {
                Item::Row(number) => *number >= row,
                Item::Fold { first, count } => first + count > row,
            });
            let most = (items.len() as f32 * height - place.height()).max(0.0);
            let top = at.unwrap_or(0) as f32 * height - place.height() / 3.0;
            area = area.vertical_scroll_offset(top.clamp(0.0, most));
        }
        area.show_rows(ui, height, items.len(), |ui, visible| {
            for item in &items[visible] {
                let size = vec2(ui.available_width(), height);
                match item {
                    Item::Row(number) => {
                        let (_, rect) = ui.allocate_space(size);
                        self.row(ui, diff, *number, rect, columns);
                    }
                    Item::Fold { first, count } => self.fold(ui, *first, *count, size),
                }
            }
        });
        let middle = place.left() + columns.half;
        ui.painter().vline(middle, place.y_range(), Stroke::new(1.0, tokens.line.normal.0));
    }

    fn keys(&mut self, ui: &Ui, diff: &Diff) {
        let (next, previous) = ui.input_mut(|input| {
            (
                input.consume_key(Modifiers::NONE, Key::F7),
                input.consume_key(Modifiers::SHIFT, Key::F7),
            )
        });
        if next {
            self.next_change(diff);
        } else if previous {
            self.previous_change(diff);
        }
    }

    fn columns(&self, ui: &Ui, diff: &Diff, place: Rect) -> Columns {
        let font = FontId::monospace(self.size);
        let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
        let (old, new) = diff.line_counts();
        let digits = old.max(new).max(100).to_string().len() as f32;
        let number = 8.0 + digits * letter;
        let half = ((place.width() - 8.0) / 2.0).floor();
        Columns { number, text: number + 8.0 + 2.0 * letter, half }
    }

    /// Scrolls both texts horizontally, limited by the longest line.
    fn slide(&mut self, ui: &Ui, diff: &Diff, place: Rect, columns: Columns) {
        if !ui.rect_contains_pointer(place) {
            return;
        }
        let delta = ui.input(|input| input.smooth_scroll_delta.x);
        if delta == 0.0 {
            return;
        }
        let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&FontId::monospace(self.size), '0'));
        let lines = diff.old.iter().chain(&diff.new);
        let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0) as f32 * letter;
        let most = (longest + 24.0 - (columns.half - columns.text)).max(0.0);
        self.shift = (self.shift - delta).clamp(0.0, most);
    }

    fn row(&self, ui: &Ui, diff: &Diff, number: usize, rect: Rect, columns: Columns) {
        let Some(row) = diff.rows().get(number) else { return };
        let tokens = theme::tokens(ui);
        let (gone, came) = (Some(('-', tokens.status.bad)), Some(('+', tokens.status.good)));
        let old = |line: usize, parts, difference| Side {
            line,
            text: diff.old_line(line),
            spans: self.old.spans(line),
            parts,
            difference,
        };
        let new = |line: usize, parts, difference| Side {
            line,
            text: diff.new_line(line),
            spans: self.new.spans(line),
            parts,
            difference,
        };
        let (left, right) = match row {
            DiffRow::Same { old: at, new: to } => {
                (Some(old(*at, &[], None)), Some(new(*to, &[], None)))
            }
            DiffRow::Changed { old: at, new: to, gone: removed, came: added } => {
                (Some(old(*at, removed, gone)), Some(new(*to, added, came)))
            }
            DiffRow::Removed { old: at } => (Some(old(*at, &[], gone)), None),
            DiffRow::Added { new: to } => (None, Some(new(*to, &[], came))),
        };
        let (first, second) = rect.split_left_right_at_x(rect.left() + columns.half);
        let is_current = self.current.and_then(|current| diff.changes().get(current));
        for (side, rect) in [(left, first), (right, second)] {
            match side {
                Some(side) => self.side(ui, &tokens, &side, rect, columns),
                None => nothing(&ui.painter_at(rect), &tokens, rect),
            }
        }
        if is_current.is_some_and(|rows| rows.contains(&number)) {
            let edge = Stroke::new(2.0, tokens.accent.0);
            ui.painter().vline(rect.left() + 1.0, rect.y_range(), edge);
        }
    }

    fn side(&self, ui: &Ui, tokens: &Tokens, side: &Side<'_>, rect: Rect, columns: Columns) {
        let painter = ui.painter_at(rect);
        if let Some((_, color)) = side.difference {
            painter.rect_filled(rect, 0.0, color.faded(0.13));
        }
        let number_at = pos2(rect.left() + columns.number, rect.center().y);
        let small = FontId::monospace(self.size * 0.92);
        painter.text(number_at, Align2::RIGHT_CENTER, side.line + 1, small, tokens.text.weak.0);
        if let Some((sign, color)) = side.difference {
            let at = pos2(rect.left() + columns.number + 8.0, rect.center().y);
            painter.text(at, Align2::LEFT_CENTER, sign, FontId::monospace(self.size), color.0);
        }
        let inner = Rect::from_min_max(pos2(rect.left() + columns.text, rect.top()), rect.max);
        let painter = painter.with_clip_rect(painter.clip_rect().intersect(inner));
        let galley = paint::line(ui, tokens, self.size, side.text, side.spans);
        let origin = pos2(inner.left() - self.shift, rect.top());
        if let (Some((_, color)), Some(row)) = (side.difference, galley.rows.first()) {
            let index = LineIndex::new(side.text);
            let x = |byte: usize| {
                let (_, column) = index.place(side.text, byte);
                origin.x + row.row.x_offset(egui::text::CharIndex(column))
            };
            for part in side.parts {
                let place = Rect::from_x_y_ranges(x(part.start)..=x(part.end), rect.y_range());
                word(&painter, place, color.faded(0.3));
            }
        }
        painter.galley(origin, galley, tokens.text.normal.0);
    }

    fn fold(&mut self, ui: &mut Ui, first: usize, count: usize, size: egui::Vec2) {
        let tokens = theme::tokens(ui);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let text = format!("{count} unchanged lines");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Show {text}")));
        let marked = response.hovered() || response.has_focus();
        let (ground, color) = if marked {
            (tokens.surface.hovered.0, tokens.text.normal.0)
        } else {
            (tokens.surface.raised.faded(0.7), tokens.text.weak.0)
        };
        ui.painter().rect_filled(rect, 0.0, ground);
        let side = rect.height() * 0.55;
        let center = pos2(rect.left() + 16.0, rect.center().y);
        Icon::Right.paint(ui.painter(), Rect::from_center_size(center, vec2(side, side)), color);
        let at = pos2(rect.left() + 28.0, rect.center().y);
        let font = FontId::proportional(self.size * 0.95);
        ui.painter().text(at, Align2::LEFT_CENTER, text, font, color);
        if response.clicked() {
            self.opened.insert(first);
        }
    }
}

/// The pattern for a missing line.
fn nothing(painter: &Painter, tokens: &Tokens, rect: Rect) {
    painter.rect_filled(rect, 0.0, tokens.surface.panel.0);
    let (step, height) = (9.0, rect.height());
    // Aligned to the screen, so that the patterns of adjacent rows join.
    let mut x = ((rect.left() + rect.top()) / step).floor() * step - rect.top() - height;
    while x < rect.right() {
        let ends = [pos2(x + height, rect.top()), pos2(x, rect.bottom())];
        painter.line_segment(ends, Stroke::new(1.0, tokens.line.normal.faded(0.6)));
        x += step;
    }
}

fn word(painter: &Painter, place: Rect, color: Color32) {
    painter.rect_filled(place.shrink2(vec2(0.0, 1.0)), CornerRadius::same(2), color);
}

fn sign(ui: &mut Ui, sign: char, color: Color) {
    ui.label(egui::RichText::new(sign).monospace().color(color.0));
}
