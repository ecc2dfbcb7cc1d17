//! Drawing of one row of a listing.

use std::ops::Range;
use std::sync::Arc;

use egui::{Align2, Color32, CornerRadius, FontId, Galley, Rect, Stroke, Ui, pos2, vec2};

use super::{Listing, Row, Side};
use crate::theme::Tokens;
use crate::widgets::code::heat_colors;
use crate::widgets::code::paint;

/// Column positions, from the left edge.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) columns: Vec<Range<f32>>,
    pub(super) text: f32,
    pub(super) letter: f32,
    pub(super) size: f32,
}

const EDGE: f32 = 12.0;
const GAP: f32 = 14.0;
const STRIPE: f32 = 3.0;

impl Layout {
    pub(super) fn new(ui: &Ui, listing: &Listing, size: f32) -> Self {
        let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&FontId::monospace(size), '0'));
        let mut from = EDGE;
        let columns = listing.columns.iter().map(|column| {
            let width = column.width.max(column.title.chars().count()) as f32 * letter;
            let place = from..from + width;
            from = place.end + GAP;
            place
        });
        let columns = columns.collect();
        Self { columns, text: from, letter, size }
    }

    /// Draws the column titles.
    pub(super) fn head(&self, ui: &Ui, tokens: &Tokens, listing: &Listing, rect: Rect) {
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0.0, tokens.surface.raised.0);
        let edge = Stroke::new(1.0, tokens.line.normal.0);
        painter.hline(rect.x_range(), rect.bottom() - 0.5, edge);
        let font = FontId::proportional(12.0);
        for (column, place) in listing.columns.iter().zip(&self.columns) {
            let (x, align) = side(column.side, place);
            let at = pos2(rect.left() + x, rect.center().y);
            painter.text(at, align, &column.title, font.clone(), tokens.text.weak.0);
        }
        let at = pos2(rect.left() + self.text, rect.center().y);
        painter.text(at, Align2::LEFT_CENTER, &listing.title, font, tokens.text.weak.0);
    }
}

/// The highlight of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowColors {
    pub(super) ground: Option<Color32>,
    pub(super) source: Option<Color32>,
    pub(super) edge: Option<Color32>,
}

/// A row and its position.
pub(super) struct RowView<'a> {
    pub(super) row: &'a Row,
    pub(super) rect: Rect,
    pub(super) galley: Arc<Galley>,
    pub(super) standing: RowColors,
    /// Matches within it, in characters.
    pub(super) found: Vec<Range<usize>>,
    pub(super) shift: f32,
}

impl Layout {
    pub(super) fn row(&self, ui: &Ui, tokens: &Tokens, listing: &Listing, drawn: RowView<'_>) {
        let rect = drawn.rect;
        let painter = ui.painter_at(rect);
        if let Some(ground) = drawn.standing.ground {
            painter.rect_filled(rect, 0.0, ground);
        }
        if let Some(color) = drawn.standing.source {
            let stripe = Rect::from_min_size(rect.min, vec2(STRIPE, rect.height()));
            painter.rect_filled(stripe.shrink2(vec2(0.0, 0.5)), 0.0, color);
        }
        let font = FontId::monospace(self.size * 0.95);
        let columns = listing.columns.iter().zip(&self.columns);
        for ((column, place), cell) in columns.zip(&drawn.row.cells) {
            if let Some(heat) = cell.heat {
                let bar = Rect::from_min_size(
                    pos2(rect.left() + place.start - 8.0, rect.top() + 1.0),
                    vec2(4.0, rect.height() - 2.0),
                );
                painter.rect_filled(bar, 1.0, heat_colors::heat(tokens, heat));
            }
            let (x, align) = side(column.side, place);
            let at = pos2(rect.left() + x, rect.center().y);
            let color = if cell.heat.is_some() { tokens.text.normal } else { tokens.text.weak };
            painter.text(at, align, &cell.text, font.clone(), color.0);
        }
        let inner = Rect::from_min_max(pos2(rect.left() + self.text, rect.top()), rect.max);
        let painter = painter.with_clip_rect(painter.clip_rect().intersect(inner));
        let origin = pos2(inner.left() - drawn.shift, rect.top());
        if let Some(row) = drawn.galley.rows.first() {
            for found in &drawn.found {
                let x = |column: usize| origin.x + row.row.x_offset(egui::text::CharIndex(column));
                let place = Rect::from_x_y_ranges(x(found.start)..=x(found.end), rect.y_range());
                let color = tokens.status.warning.faded(0.28);
                painter.rect_filled(place.shrink2(vec2(0.0, 1.0)), CornerRadius::same(2), color);
            }
        }
        painter.galley(
            origin,
            drawn.galley,
            paint::color(tokens, super::super::syntax::Token::Plain),
        );
        if let Some(color) = drawn.standing.edge {
            let stroke = Stroke::new(1.0, color);
            ui.painter_at(rect).rect_stroke(
                rect.shrink(0.5),
                2.0,
                stroke,
                egui::StrokeKind::Inside,
            );
        }
    }
}

fn side(side: Side, place: &Range<f32>) -> (f32, Align2) {
    match side {
        Side::Left => (place.start, Align2::LEFT_CENTER),
        Side::Right => (place.end, Align2::RIGHT_CENTER),
    }
}
