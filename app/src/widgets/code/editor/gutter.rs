//! The gutter: line numbers, problem marks, heat, and links to machine code.

use egui::{
    Align2, FontId, Painter, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::text_page::TextPage;
use super::tooltip;
use crate::theme::{self, Tokens};
use crate::widgets::code::heat_colors;
use crate::widgets::code::marks::{Age, Severity, Tracked, Tracker};
use crate::widgets::icon::Icon;

/// The gutter's columns, from its left edge in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gutter {
    mark: f32,
    numbers: f32,
    heat: f32,
    link: f32,
    /// The total width.
    pub(super) width: f32,
    size: f32,
}

const HEAT: f32 = 7.0;
const LINK: f32 = 3.0;

impl Gutter {
    /// A gutter for this number of lines.
    pub(super) fn new(ui: &Ui, lines: usize, size: f32, tracker: &Tracker) -> Self {
        let font = FontId::monospace(size * 0.92);
        let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
        let digits = lines.max(100).to_string().len() as f32;
        let mark = size * 0.95;
        let numbers = 4.0 + mark + 2.0 + digits * digit;
        let heat = numbers + 6.0;
        let link = heat + if tracker.heat.is_empty() { 0.0 } else { HEAT + 3.0 };
        let width = link + if tracker.linked.is_empty() { 2.0 } else { LINK + 5.0 };
        Self { mark, numbers, heat, link, width, size }
    }

    /// Draws the gutter and its tooltips.
    pub(super) fn show(self, ui: &Ui, place: Rect, page: &TextPage, view: &View<'_>) -> Response {
        let tokens = theme::tokens(ui);
        let painter = ui.painter_at(place);
        let visible = page.visible();
        for line in visible.clone() {
            let Some(row) = page.row(line) else { continue };
            let row = Rect::from_x_y_ranges(place.x_range(), row.y_range());
            let color =
                if line == view.cursor_line { tokens.text.normal } else { tokens.text.weak };
            painter.text(
                pos2(place.left() + self.numbers, row.center().y),
                Align2::RIGHT_CENTER,
                line + 1,
                FontId::monospace(self.size * 0.92),
                color.0,
            );
        }
        self.marks(&painter, &tokens, place, page, view.tracker);
        painter.vline(place.right() - 0.5, place.y_range(), Stroke::new(1.0, tokens.line.faint.0));
        let response =
            ui.interact(place, ui.make_persistent_id(("gutter", view.name)), Sense::click());
        let name = format!("Lines of {}", view.name);
        response.widget_info(|| WidgetInfo::labeled(Role::GenericContainer, true, &name));
        let hovered = response.hover_pos().and_then(|pointer| page.line_at(pointer.y));
        match hovered {
            Some(line) if tooltip::has_line(view.tracker, line) => {
                response.on_hover_ui_at_pointer(|ui| tooltip::line(ui, view.tracker, line))
            }
            Some(_) | None => response,
        }
    }

    fn marks(
        self,
        painter: &Painter,
        tokens: &Tokens,
        place: Rect,
        page: &TextPage,
        tracker: &Tracker,
    ) {
        let visible = page.visible();
        let row = |line: usize| visible.contains(&line).then(|| page.row(line)).flatten();
        for heat in &tracker.heat {
            let Some(row) = row(heat.line) else { continue };
            let rect = Rect::from_min_size(
                pos2(place.left() + self.heat, row.top()),
                vec2(HEAT, row.height()),
            );
            let color = match heat.age {
                Age::Fresh => heat_colors::heat(tokens, heat.item.value),
                Age::Stale => tokens.line.normal.0,
            };
            painter.rect_filled(rect.shrink2(vec2(0.0, 0.5)), 1.0, color);
        }
        for link in &tracker.linked {
            let Some(row) = row(link.line) else { continue };
            let rect = Rect::from_min_size(
                pos2(place.left() + self.link, row.top()),
                vec2(LINK, row.height()),
            );
            let color = match link.age {
                Age::Fresh => heat_colors::line_color(tokens, link.item),
                Age::Stale => tokens.line.normal.0,
            };
            painter.rect_filled(rect.shrink2(vec2(0.0, 1.0)), 1.0, color);
        }
        for line in problem_lines(tracker) {
            let Some(row) = row(line) else { continue };
            let Some(problem) = worst(tracker, line) else { continue };
            let center = pos2(place.left() + 4.0 + self.mark / 2.0, row.center().y);
            let rect = Rect::from_center_size(center, vec2(self.mark, self.mark));
            icon(problem.item.severity).paint(painter, rect, tooltip::color(tokens, problem));
        }
        for lines in tracker.locked.iter().filter(|lines| !lines.is_empty()) {
            let (Some(top), Some(bottom)) = (page.row(lines.start), page.row(lines.end - 1)) else {
                continue;
            };
            let x = place.left() + 1.5;
            painter.vline(x, top.top()..=bottom.bottom(), Stroke::new(3.0, tokens.line.strong.0));
        }
    }
}

/// The text beside the gutter.
pub(super) struct View<'a> {
    pub(super) tracker: &'a Tracker,
    pub(super) cursor_line: usize,
    pub(super) name: &'a str,
}

fn problem_lines(tracker: &Tracker) -> Vec<usize> {
    let mut lines: Vec<usize> = tracker.problems.iter().map(|problem| problem.line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn worst(tracker: &Tracker, line: usize) -> Option<&Tracked<crate::widgets::code::marks::Problem>> {
    let here = tracker.problems.iter().filter(|problem| problem.line == line);
    here.max_by_key(|problem| (problem.age == Age::Fresh, problem.item.severity))
}

const fn icon(severity: Severity) -> Icon {
    match severity {
        Severity::Error => Icon::Cross,
        Severity::Warning => Icon::Warning,
        Severity::Note => Icon::Dot,
    }
}
