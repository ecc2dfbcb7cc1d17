//! The header of a candidate family in the history: its first kernel, its number of runs and the best of them.

use egui::text::{LayoutJob, TextFormat};
use egui::{Align2, FontFamily, FontId, Rect, Role, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::history::RowPlacement;
use super::history_row::{Columns, origin};
use crate::theme::{self, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::groups::{CandidateGroup, Fold};
use crate::workbench::runs::Grouping;

/// A click on the fold button of a header.
pub(super) struct Toggled;

/// The indentation of run lines, with and without headers.
pub(super) const fn indent(grouping: Grouping) -> f32 {
    match grouping {
        Grouping::None => 0.0,
        Grouping::Lineage => 10.0,
    }
}

/// Draws a header.
pub(super) fn show(
    ui: &Ui,
    bench: &Workbench,
    group: &CandidateGroup,
    (tokens, columns): (&Tokens, &Columns),
    RowPlacement { rect, response }: RowPlacement,
) -> Option<Toggled> {
    let best = group.best.and_then(|place| bench.runs.rows().get(place as usize));
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    let time = best.and_then(|best| best.time(workload));
    let count = match group.runs {
        1 => "1 run".to_owned(),
        runs if runs == group.passed => format!("{runs} runs"),
        runs => format!("{runs} runs, {} passed", group.passed),
    };
    let told = match (best, time) {
        (Some(best), Some(time)) => format!("best #{} {}", best.number, time.median),
        (Some(best), None) => format!("best #{}", best.number),
        (None, _) => "no comparable run".to_owned(),
    };
    let state = match group.fold {
        Fold::Open => "open",
        Fold::Closed => "closed",
    };
    let name = format!("Family {}, {count}, {told}, {state}", group.name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let lit = response.hovered() || response.has_focus();
    let ground = if lit { tokens.surface.hovered.0 } else { tokens.surface.raised.0 };
    ui.painter().rect_filled(rect, 0.0, ground);
    ui.painter().hline(rect.x_range(), rect.top(), Stroke::new(1.0, tokens.line.faint.0));
    let middle = rect.center().y;
    let fold = Rect::from_center_size(pos2(rect.left() + 14.0, middle), vec2(9.0, 9.0));
    let icon = match group.fold {
        Fold::Open => Icon::Down,
        Fold::Closed => Icon::Right,
    };
    icon.paint(ui.painter(), fold, tokens.text.weak.0);
    let right = columns.time_edge(rect.right());
    let text = time.map_or_else(
        || best.map_or(String::new(), |best| format!("#{}", best.number)),
        |time| time.median.to_string(),
    );
    let at = pos2(right, middle);
    ui.painter().text(at, Align2::RIGHT_CENTER, text, columns.font.clone(), tokens.text.strong.0);
    let mut right = right - columns.time;
    if let Some(time) = time {
        origin(ui, tokens, time.source, pos2(right + 4.0, middle));
    }
    if best.is_some() {
        let star = Rect::from_center_size(pos2(right - 8.0, middle), vec2(10.0, 10.0));
        Icon::Star.paint(ui.painter(), star, tokens.status.good.0);
        right -= 16.0;
    }
    title(ui, group, &count, (tokens, &columns.font), (rect.left() + 26.0, right - 6.0, middle));
    let toggled = response.clicked().then_some(Toggled);
    response.on_hover_text(name);
    toggled
}

fn title(
    ui: &Ui,
    group: &CandidateGroup,
    count: &str,
    (tokens, font): (&Tokens, &FontId),
    (left, right, middle): (f32, f32, f32),
) {
    let strong = FontId::new(font.size, FontFamily::Name(theme::STRONG.into()));
    let wrap = egui::text::TextWrapping::truncate_at_width((right - left).max(0.0));
    let mut job = LayoutJob { wrap, ..LayoutJob::default() };
    job.append(&group.name, 0.0, TextFormat::simple(strong, tokens.text.normal.0));
    job.append(count, 8.0, TextFormat::simple(font.clone(), tokens.text.weak.0));
    let galley = ui.painter().layout_job(job);
    let at = pos2(left, middle - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.text.normal.0);
}
