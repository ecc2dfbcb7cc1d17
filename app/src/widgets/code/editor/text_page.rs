//! Positions of a laid-out text's lines on the screen.

use std::ops::Range;
use std::sync::Arc;

use egui::text::CharIndex;
use egui::{Galley, Pos2, Rect, pos2};

/// A laid-out text with one row per line.
pub(super) struct TextPage {
    pub(super) galley: Arc<Galley>,
    pub(super) origin: Pos2,
    /// The visible area.
    pub(super) clip: Rect,
}

impl TextPage {
    /// The visible lines.
    pub(super) fn visible(&self) -> Range<usize> {
        let rows = &self.galley.rows;
        let (top, bottom) = (self.clip.top() - self.origin.y, self.clip.bottom() - self.origin.y);
        let first = rows.partition_point(|row| row.max_y() < top);
        let last = rows.partition_point(|row| row.min_y() <= bottom);
        first..last.max(first)
    }

    /// The rectangle of a line.
    pub(super) fn row(&self, line: usize) -> Option<Rect> {
        let row = self.galley.rows.get(line)?;
        Some(row.rect().translate(self.origin.to_vec2()))
    }

    /// The rectangle of a part of a line, in characters from 0; at least one character wide.
    pub(super) fn part(&self, line: usize, columns: &Range<usize>) -> Option<Rect> {
        let row = self.galley.rows.get(line)?;
        let rect = row.rect().translate(self.origin.to_vec2());
        let x = |column: usize| rect.left() + row.row.x_offset(CharIndex(column));
        let (left, right) = (x(columns.start), x(columns.end));
        let least = rect.height() * 0.4;
        Some(Rect::from_min_max(
            pos2(left, rect.top()),
            pos2(right.max(left + least), rect.bottom()),
        ))
    }

    /// The line at a vertical position.
    pub(super) fn line_at(&self, y: f32) -> Option<usize> {
        let y = y - self.origin.y;
        let line = self.galley.rows.partition_point(|row| row.max_y() <= y);
        (y >= 0.0 && line < self.galley.rows.len()).then_some(line)
    }
}
