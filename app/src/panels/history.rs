//! Every run, the newest first: filtered by words, sorted, with the difference to the pinned one. Only rows in view are
//! laid out, so that their number does not matter.

use egui::text::{LayoutJob, TextFormat};
use egui::{
    ComboBox, FontId, Rect, ScrollArea, Sense, TextEdit, TextStyle, Ui, WidgetInfo, pos2, vec2,
};
use jiff::Timestamp;

use super::empty;
use crate::theme::{self, ROW, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, Side};
use crate::workbench::runs::{Row, Sort, TimeSource, Trust, View};

/// A difference that is too small to be told, as a part of the time.
const TOO_SMALL: f64 = 0.005;

/// How the history is looked at.
#[derive(Debug, Default)]
pub(super) struct HistoryView {
    view: View,
    shown: Vec<u32>,
    /// What `shown` was made of.
    made_of: Option<(u64, View)>,
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut HistoryView,
    commands: &mut Vec<Command>,
) {
    if bench.runs.rows().is_empty() {
        empty::show(ui, "No runs yet", "Save a kernel, or press F5: every run is kept here");
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.add_space(8.0);
        controls(ui, &mut view.view);
    });
    ui.add_space(6.0);
    let made_of = (bench.runs.version(), view.view.clone());
    if view.made_of.as_ref() != Some(&made_of) {
        view.shown = bench.runs.shown(&view.view);
        view.made_of = Some(made_of);
    }
    if view.shown.is_empty() {
        empty::show(
            ui,
            "No run fits",
            "The filter looks for words in kernels, devices and verdicts",
        );
        return;
    }
    let tokens = theme::tokens(ui);
    let columns = Columns::of(ui);
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, ROW, view.shown.len(), |ui, range| {
        for place in view.shown.get(range).into_iter().flatten() {
            if let Some(row) = bench.runs.rows().get(*place as usize) {
                line(ui, bench, row, &tokens, &columns, commands);
            }
        }
    });
}

fn controls(ui: &mut Ui, view: &mut View) {
    let width = (ui.available_width() - 108.0).max(60.0);
    let field =
        ui.add(TextEdit::singleline(&mut view.filter).hint_text("Filter").desired_width(width));
    field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Filter runs"));
    let word = |sort: Sort| match sort {
        Sort::Newest => "newest",
        Sort::Fastest => "fastest",
        Sort::Kernel => "kernel",
    };
    let chosen = word(view.sort);
    ComboBox::from_id_salt("sort")
        .selected_text(chosen)
        .width(80.0)
        .show_ui(ui, |ui| {
            for sort in [Sort::Newest, Sort::Fastest, Sort::Kernel] {
                ui.selectable_value(&mut view.sort, sort, word(sort));
            }
        })
        .response
        .widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Sort: {chosen}")));
}

/// Where columns end, from the right edge; a narrow panel has fewer.
struct Columns {
    font: FontId,
    small: FontId,
    /// Width of a time.
    time: f32,
    /// Width of a difference; none where there is no room.
    change: Option<f32>,
    /// Width of the part of the speed of light.
    fraction: Option<f32>,
    /// Width of the date.
    date: Option<f32>,
    /// Width of the device's name.
    device: Option<f32>,
}

impl Columns {
    fn of(ui: &Ui) -> Self {
        let width = ui.available_width();
        let font = TextStyle::Body.resolve(ui.style());
        Self {
            small: TextStyle::Small.resolve(ui.style()),
            time: font.size * 5.6,
            change: (width > 230.0).then_some(font.size * 4.4),
            fraction: (width > 330.0).then_some(font.size * 3.4),
            device: (width > 560.0).then_some(font.size * 8.0),
            date: (width > 460.0).then_some(font.size * 8.5),
            font,
        }
    }
}

fn line(
    ui: &mut Ui,
    bench: &Workbench,
    row: &Row,
    tokens: &Tokens,
    columns: &Columns,
    commands: &mut Vec<Command>,
) {
    let (place, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    let time = row.time(workload);
    let said = time.map_or_else(|| row.verdict().to_owned(), |time| time.median.to_string());
    let name = format!("#{} {} {} {said}", row.number, row.kernel, row.verdict());
    let selected = bench.shown_run().is_some_and(|shown| shown.number == row.number);
    response.widget_info(|| WidgetInfo::selected(egui::Role::ListItem, true, selected, &name));
    let pinned = bench.pinned() == Some(row.number);
    if selected {
        ui.painter().rect_filled(place, 0.0, tokens.surface.selected.0);
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(place, 0.0, tokens.surface.raised.0);
    }
    mark(ui, bench, row, tokens, place);
    let mut right = place.right() - 10.0;
    let middle = place.center().y;
    let mut cell = |width: Option<f32>, text: String, color, font: &FontId| {
        let Some(width) = width else { return right };
        let at = pos2(right, middle);
        ui.painter().text(at, egui::Align2::RIGHT_CENTER, text, font.clone(), color);
        right -= width;
        right
    };
    cell(columns.date, date(row.made_at), tokens.text.weak.0, &columns.small);
    cell(columns.device, row.device.to_string(), tokens.text.weak.0, &columns.small);
    let fraction =
        time.and_then(|time| time.fraction).map(|fraction| format!("{:.0} %", fraction.0 * 100.0));
    cell(columns.fraction, fraction.unwrap_or_default(), tokens.text.weak.0, &columns.font);
    let (change, color) = change(bench, row, workload, tokens);
    cell(columns.change, change, color, &columns.font);
    let color = match (row.failure, time.map(|time| time.trust)) {
        (Some(_), _) => tokens.status.bad.0,
        (None, Some(Trust::Tainted)) => tokens.status.warning.0,
        (None, _) => tokens.text.strong.0,
    };
    let said = if row.failure.is_none() && time.is_none() { "not timed".to_owned() } else { said };
    let right = cell(Some(columns.time), said, color, &columns.font);
    if let Some(time) = time {
        origin(ui, tokens, time.source, pos2(right + 4.0, middle));
    }
    title(
        ui,
        row,
        tokens,
        columns,
        Rect::from_min_max(
            pos2(place.left() + 28.0, place.top()),
            pos2(right - 8.0, place.bottom()),
        ),
    );
    if pinned {
        ui.painter().vline(
            place.left() + 1.5,
            place.y_range(),
            egui::Stroke::new(3.0, tokens.accent.0),
        );
    }
    act(&response, bench, row, commands);
    hover(response, row, pinned);
}

/// Best, passed or failed.
fn mark(ui: &Ui, bench: &Workbench, row: &Row, tokens: &Tokens, place: Rect) {
    let at = Rect::from_center_size(pos2(place.left() + 16.0, place.center().y), vec2(11.0, 11.0));
    let (icon, color) = if row.failure.is_some() {
        (Icon::Cross, tokens.status.bad.0)
    } else if bench.runs.is_best(row) {
        (Icon::Star, tokens.status.good.0)
    } else {
        (Icon::Check, tokens.status.good.0)
    };
    icon.paint(ui.painter(), at, color);
}

/// Where a number comes from, so that none looks like another.
fn origin(ui: &Ui, tokens: &Tokens, source: TimeSource, at: egui::Pos2) {
    let place = Rect::from_center_size(at, vec2(10.0, 10.0));
    let (icon, color) = match source {
        TimeSource::Measured => (Icon::Dot, tokens.origin.measured.0),
        TimeSource::Modelled => (Icon::Ring, tokens.origin.modelled.0),
        TimeSource::Recorded => (Icon::Square, tokens.origin.recorded.0),
    };
    icon.paint(ui.painter(), place, color);
}

fn title(ui: &Ui, row: &Row, tokens: &Tokens, columns: &Columns, place: Rect) {
    let mut job = LayoutJob::default();
    job.wrap.max_width = place.width().max(0.0);
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let format =
        |color| TextFormat { font_id: columns.font.clone(), color, ..TextFormat::default() };
    job.append(&format!("#{}", row.number), 0.0, format(tokens.text.weak.0));
    job.append(&row.kernel, 6.0, format(tokens.text.normal.0));
    let galley = ui.painter().layout_job(job);
    let at = pos2(place.left(), place.center().y - galley.size().y / 2.0);
    ui.painter().with_clip_rect(place.intersect(ui.clip_rect())).galley(
        at,
        galley,
        tokens.text.normal.0,
    );
}

/// The difference to the pinned run, or to the one before.
fn change(
    bench: &Workbench,
    row: &Row,
    workload: &str,
    tokens: &Tokens,
) -> (String, egui::Color32) {
    let pinned = bench.pinned().and_then(|number| bench.runs.get(number));
    let other = pinned.or_else(|| bench.runs.before(row));
    let Some(change) = other.and_then(|other| row.against(other, workload)) else {
        return (String::new(), tokens.text.weak.0);
    };
    if change.abs() < TOO_SMALL {
        return ("same".to_owned(), tokens.text.weak.0);
    }
    // A model tells numbers, and not which is faster.
    let modelled = row.time(workload).is_some_and(|time| time.source == TimeSource::Modelled);
    let color = match (modelled, change < 0.0) {
        (true, _) => tokens.text.weak.0,
        (false, true) => tokens.status.good.0,
        (false, false) => tokens.status.bad.0,
    };
    let percent = change * 100.0;
    (
        if percent > 999.0 { format!("{:.1}x", change + 1.0) } else { format!("{percent:+.1} %") },
        color,
    )
}

fn date(at: Timestamp) -> String {
    at.to_string().get(5..16).unwrap_or_default().replace('T', " ")
}

fn act(response: &egui::Response, bench: &Workbench, row: &Row, commands: &mut Vec<Command>) {
    if response.clicked() {
        commands.push(Command::SelectRun(row.number));
    }
    if response.double_clicked()
        && bench.opened.as_ref().is_some_and(|opened| opened.project.kernel(&row.kernel).is_ok())
    {
        commands.push(Command::ChooseKernel(row.kernel.to_string()));
        commands.push(Command::SelectRun(row.number));
    }
    response.context_menu(|ui| {
        ui.set_min_width(180.0);
        let mut entry = |title: &str, command: Vec<Command>| {
            if ui.button(title).clicked() {
                commands.extend(command);
                ui.close();
            }
        };
        let number = row.number;
        let pin = if bench.pinned() == Some(number) {
            "Unpin"
        } else {
            "Pin: compare everything with it"
        };
        entry(pin, vec![Command::Pin(number)]);
        entry(
            "Compare with the one shown",
            vec![Command::Compare(Side::A, number), Command::CompareSelected],
        );
        entry("Compare as A", vec![Command::Compare(Side::A, number)]);
        entry("Compare as B", vec![Command::Compare(Side::B, number)]);
    });
}

fn hover(response: egui::Response, row: &Row, pinned: bool) {
    response.on_hover_ui(|ui| {
        ui.strong(format!("#{} {}", row.number, row.kernel));
        ui.label(row.sentence.as_deref().unwrap_or("passed"));
        for time in &row.times {
            let how = match time.source {
                TimeSource::Measured => "measured",
                TimeSource::Modelled => "modelled",
                TimeSource::Recorded => "recorded",
            };
            let interval =
                time.interval.map(|(low, high)| format!(", {low} to {high}")).unwrap_or_default();
            ui.label(format!("{}: {} {how}{interval}", time.workload, time.median));
            if let Some(limiter) = &time.limiter {
                ui.weak(format!("limited by {limiter}"));
            }
        }
        ui.weak(format!("{}, {}", row.device, date(row.made_at)));
        if let Some(hash) = &row.candidate {
            ui.weak(format!("candidate {hash}"));
        }
        if pinned {
            ui.weak("pinned: everything is compared with it");
        }
    });
}
