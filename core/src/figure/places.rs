//! Maps values to positions in a rectangle: the frame, the visible range, and the bands of rows.

use super::axis::View;
use super::scene::{Point, Rect};

/// The mapping from axis positions to points of a scene.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) frame: Rect,
    pub(super) view: View,
    /// The upper end and height of each row's band; empty for figures with a vertical axis.
    pub(super) rows: Option<Vec<(f64, f64)>>,
}

impl Places {
    pub(super) fn x(&self, place: f64) -> f64 {
        self.frame.left + self.view.x.share(place) * self.frame.width()
    }

    pub(super) fn y(&self, place: f64) -> f64 {
        let Some(rows) = &self.rows else {
            return self.frame.bottom - self.view.y.share(place) * self.frame.height();
        };
        let last = rows.len().saturating_sub(1) as f64;
        let row = (-place).round().clamp(0.0, last);
        let (top, height) = rows.get(row as usize).copied().unwrap_or((self.frame.top, 0.0));
        top + (-place - row + 0.5) * height
    }

    /// The upper and the lower end of a row.
    pub(super) fn row(&self, row: usize) -> Option<(f64, f64)> {
        let (top, height) = self.rows.as_ref()?.get(row).copied()?;
        Some((top, top + height))
    }

    /// The extents of a vertical line: the frame, or the band of each row, so that it crosses no text.
    pub(super) fn heights(&self) -> Vec<(f64, f64)> {
        match &self.rows {
            None => vec![(self.frame.top, self.frame.bottom)],
            Some(rows) => rows.iter().map(|(top, height)| (*top, top + height)).collect(),
        }
    }

    pub(super) fn point(&self, (x, y): (f64, f64)) -> Point {
        Point { x: self.x(x), y: self.y(y) }
    }

    /// Whether a point is in the frame, or so near that half of its symbol is.
    pub(super) fn sees(&self, point: Point) -> bool {
        let Rect { left, top, right, bottom } = self.frame;
        (left - 0.5..=right + 0.5).contains(&point.x)
            && (top - 0.5..=bottom + 0.5).contains(&point.y)
    }

    /// The part of a line inside the frame (Liang and Barsky 1984).
    pub(super) fn cut(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let Rect { left, top, right, bottom } = self.frame;
        let (mut begin, mut end) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.x - left),
            (dx, right - from.x),
            (-dy, from.y - top),
            (dy, bottom - from.y),
        ];
        for (toward, room) in sides {
            if toward == 0.0 {
                if room < 0.0 {
                    return None;
                }
                continue;
            }
            let at = room / toward;
            if toward < 0.0 { begin = begin.max(at) } else { end = end.min(at) }
        }
        let at = |share: f64| Point { x: from.x + share * dx, y: from.y + share * dy };
        let (first, last) = (at(begin), at(end));
        let is_there =
            begin <= end && [first.x, first.y, last.x, last.y].iter().all(|c| c.is_finite());
        is_there.then_some((first, last))
    }

    /// The part of a rectangle inside the frame.
    pub(super) fn cut_area(&self, (x0, x1): (f64, f64), (y0, y1): (f64, f64)) -> Option<Rect> {
        let Rect { left, top, right, bottom } = self.frame;
        let area = Rect {
            left: x0.min(x1).max(left),
            right: x0.max(x1).min(right),
            top: y0.min(y1).max(top),
            bottom: y0.max(y1).min(bottom),
        };
        (area.left <= area.right && area.top <= area.bottom).then_some(area)
    }
}
