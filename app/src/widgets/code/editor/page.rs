//! Where lines of a laid-out text are on the screen.

use std::ops::Range;
use std::sync::Arc;

use egui::text::CharIndex;
use egui::{Galley, Pos2, Rect, pos2};

/// A laid-out text that was shown: one row for each line.
pub(super) struct Page {
    pub(super) galley: Arc<Galley>,
    pub(super) origin: Pos2,
    /// What can be seen of it.
    pub(super) clip: Rect,
}

impl Page {
    /// Lines that can be seen.
    pub(super) fn visible(&self) -> Range<usize> {
        let rows = &self.galley.rows;
        let (top, bottom) = (self.clip.top() - self.origin.y, self.clip.bottom() - self.origin.y);
        let first = rows.partition_point(|row| row.max_y() < top);
        let last = rows.partition_point(|row| row.min_y() <= bottom);
        first..last.max(first)
    }

    /// A line, from its first to its last character.
    pub(super) fn row(&self, line: usize) -> Option<Rect> {
        let row = self.galley.rows.get(line)?;
        Some(row.rect().translate(self.origin.to_vec2()))
    }

    /// A part of a line, in characters from 0; at least as wide as one.
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

    /// The line at a height.
    pub(super) fn line_at(&self, y: f32) -> Option<usize> {
        let y = y - self.origin.y;
        let line = self.galley.rows.partition_point(|row| row.max_y() <= y);
        (y >= 0.0 && line < self.galley.rows.len()).then_some(line)
    }
}
