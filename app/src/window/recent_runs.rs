//! A small picture of a project's newest runs: times by height, failures below.

use egui::{Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::panels::source_icon;
use crate::theme;
use crate::workbench::recent_history::{RecentHistory, RecentRun};
use crate::workbench::runs::TimeSource;

/// The size of the picture, in points.
pub(super) const SIZE: egui::Vec2 = vec2(160.0, 22.0);

/// Draws the runs, newest at the right.
pub(super) fn show(ui: &mut Ui, history: &RecentHistory) -> Response {
    let (place, response) = ui.allocate_exact_size(SIZE, Sense::hover());
    let tokens = theme::tokens(ui);
    let times = || {
        history.runs.iter().filter_map(|run| match run {
            RecentRun::Timed(time, _) => Some(time.0.ln()),
            RecentRun::Failed | RecentRun::Passed => None,
        })
    };
    let slowest = times().fold(f64::MIN, f64::max);
    // Times within 5 % are one height: they are not worth a picture.
    let span = (slowest - times().fold(f64::MAX, f64::min)).max(0.05);
    let area = place.shrink2(vec2(4.0, 4.0));
    let steps = history.runs.len().saturating_sub(1) as f32;
    let step = (area.width() / steps.max(1.0)).min(10.0);
    let begin = area.right() - step * steps;
    for (index, run) in history.runs.iter().enumerate() {
        let x = begin + step * index as f32;
        match run {
            RecentRun::Failed => tick(ui, pos2(x, area.bottom()), tokens.status.bad.0),
            RecentRun::Passed => tick(ui, pos2(x, area.bottom()), tokens.line.strong.0),
            RecentRun::Timed(time, source) => {
                let height = ((slowest - time.0.ln()) / span) as f32;
                let at = pos2(x, area.top() + height * (area.height() - 5.0));
                dot(ui, at, *source);
            }
        }
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, history.words()));
    response.on_hover_text(history.words())
}

/// A run without a time.
fn tick(ui: &Ui, at: egui::Pos2, color: egui::Color32) {
    let ends = [at + vec2(0.0, 3.0), at - vec2(0.0, 1.0)];
    ui.painter().line_segment(ends, Stroke::new(1.5, color));
}

/// A time, with the symbol of its source.
fn dot(ui: &Ui, at: egui::Pos2, source: TimeSource) {
    let (_, color) = source_icon(&theme::tokens(ui), source);
    let edge = Stroke::new(1.0, color);
    match source {
        TimeSource::Measured => drop(ui.painter().circle_filled(at, 2.0, color)),
        TimeSource::Modelled => drop(ui.painter().circle_stroke(at, 2.0, edge)),
        TimeSource::Recorded => {
            let place = egui::Rect::from_center_size(at, vec2(4.0, 4.0));
            ui.painter().rect_stroke(place, 0.0, edge, egui::StrokeKind::Middle);
        }
    }
}
