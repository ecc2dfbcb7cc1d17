//! Decorations below and above the text: current line, brackets, matches, squiggles.

use std::ops::Range;

use egui::epaint::PathStroke;
use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2};

use super::text_page::TextPage;
use super::tooltip;
use crate::theme::Tokens;
use crate::widgets::code::line_index::LineIndex;
use crate::widgets::code::marks::{Problem, Tracked, Tracker};

/// Decorations of a text.
pub(super) struct Decorations<'a> {
    pub(super) tracker: &'a Tracker,
    pub(super) index: &'a LineIndex,
    pub(super) text: &'a str,
    /// The line of the cursor, if the text has the focus and nothing is selected.
    pub(super) current_line: Option<usize>,
    /// The line that is selected in another panel.
    pub(super) marked_line: Option<(usize, Color32)>,
    pub(super) brackets: Option<(usize, usize)>,
    pub(super) matches: &'a [Range<usize>],
    pub(super) current_match: Option<usize>,
}

impl Decorations<'_> {
    /// All shapes below the text, in drawing order.
    pub(super) fn shapes(&self, page: &TextPage, tokens: &Tokens) -> Shape {
        let mut shapes = Vec::new();
        let whole = |line: usize| {
            page.row(line).map(|row| Rect::from_x_y_ranges(page.clip.x_range(), row.y_range()))
        };
        let visible = page.visible();
        for line in visible.clone() {
            if self.tracker.locked.iter().any(|lines| lines.contains(&line)) {
                shapes
                    .extend(whole(line).map(|row| filled(row, tokens.surface.raised.faded(0.55))));
            }
        }
        if let Some(row) = self.current_line.and_then(whole) {
            shapes.push(filled(row, tokens.surface.raised.0));
        }
        if let Some((line, color)) = self.marked_line
            && let Some(row) = whole(line)
        {
            shapes.push(filled(row, color.gamma_multiply(0.22)));
        }
        self.push_matches(page, tokens, &mut shapes);
        for at in self.brackets.iter().flat_map(|(one, other)| [*one, *other]) {
            if let Some(rect) = self.part(page, &(at..at + 1)) {
                shapes.push(filled(rect, tokens.accent.faded(0.22)));
                let edge = Stroke::new(1.0, tokens.accent.faded(0.7));
                shapes.push(Shape::rect_stroke(
                    rect,
                    CornerRadius::same(2),
                    edge,
                    StrokeKind::Inside,
                ));
            }
        }
        Shape::Vec(shapes)
    }

    fn push_matches(&self, page: &TextPage, tokens: &Tokens, shapes: &mut Vec<Shape>) {
        let visible = page.visible();
        let bytes = self.index.start(visible.start)..self.index.start(visible.end);
        let first = self.matches.partition_point(|found| found.end < bytes.start);
        for (number, found) in self.matches.iter().enumerate().skip(first) {
            if found.start > bytes.end {
                break;
            }
            let Some(rect) = self.part(page, found) else { continue };
            if self.current_match == Some(number) {
                shapes.push(filled(rect, tokens.status.warning.faded(0.45)));
                let edge = Stroke::new(1.0, tokens.status.warning.0);
                shapes.push(Shape::rect_stroke(
                    rect,
                    CornerRadius::same(2),
                    edge,
                    StrokeKind::Outside,
                ));
            } else {
                shapes.push(filled(rect, tokens.status.warning.faded(0.2)));
            }
        }
    }

    /// The rectangle of a byte range within one line.
    fn part(&self, page: &TextPage, bytes: &Range<usize>) -> Option<Rect> {
        let (line, from) = self.index.place(self.text, bytes.start);
        let (last, to) = self.index.place(self.text, bytes.end);
        let end = if last == line { to } else { usize::MAX };
        page.part(line, &(from..end))
    }
}

fn filled(rect: Rect, color: Color32) -> Shape {
    Shape::rect_filled(rect, CornerRadius::same(2), color)
}

/// Columns of a problem, in characters from 0: from the compiler, else the line without its indentation.
pub(super) fn columns(problem: &Tracked<Problem>, index: &LineIndex, text: &str) -> Range<usize> {
    let line = text.get(index.line(problem.line)).unwrap_or_default();
    let end = line.chars().count();
    let from_one = |columns: &Range<usize>| {
        columns.start.saturating_sub(1)..columns.end.saturating_sub(1).min(end)
    };
    let margin = end - line.trim_start().chars().count();
    problem.item.columns.as_ref().map_or(margin..end, from_one)
}

/// Draws the shapes above the text.
pub(super) fn over(painter: &Painter, page: &TextPage, ground: &Decorations<'_>, tokens: &Tokens) {
    let visible = page.visible();
    // Locked lines are dimmed, so that the lines to edit stand out.
    for lines in &ground.tracker.locked {
        for line in visible.clone().filter(|line| lines.contains(line)) {
            if let Some(row) = page.row(line) {
                let row = Rect::from_x_y_ranges(page.clip.x_range(), row.y_range());
                painter.rect_filled(row, 0.0, tokens.surface.sunken.faded(0.38));
            }
        }
    }
    for problem in ground.tracker.problems.iter().filter(|problem| visible.contains(&problem.line))
    {
        let columns = columns(problem, ground.index, ground.text);
        if let Some(rect) = page.part(problem.line, &columns) {
            squiggle(painter, rect, tooltip::color(tokens, problem));
        }
    }
}

fn squiggle(painter: &Painter, rect: Rect, color: Color32) {
    let bottom = rect.bottom() - 1.5;
    let step = 2.5;
    let count = ((rect.width() / step).ceil() as usize).clamp(2, 2000);
    let point = |number: usize| -> Pos2 {
        let lift = if number.is_multiple_of(2) { 0.0 } else { 2.5 };
        pos2(rect.left() + number as f32 * step, bottom - lift)
    };
    let points = (0..=count).map(point).collect();
    painter.add(Shape::line(points, PathStroke::new(1.2, color)));
}
