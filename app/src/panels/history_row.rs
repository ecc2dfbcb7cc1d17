//! A run as a line of the history: kernel, result, and the difference to the pinned run.

use egui::text::{LayoutJob, TextFormat};
use egui::{FontId, Rect, Response, TextStyle, Ui, WidgetInfo, pos2, vec2};
use jiff::Timestamp;

use super::history::RowPlacement;
use super::source_icon;
use crate::theme::Tokens;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, Side};
use crate::workbench::runs::{RunRow, TimeSource, Trust};

/// Smaller relative differences are not shown.
const TOO_SMALL: f64 = 0.005;
/// Margin at the right edge, in points.
const EDGE: f32 = 10.0;
/// Gap between columns, in points.
const APART: f32 = 10.0;
/// Width for kernel and label side by side, in multiples of the font size.
const ROOM_FOR_BOTH: f32 = 14.0;

/// Column widths, from the right edge; a narrow panel has fewer columns.
pub(super) struct Columns {
    pub(super) font: FontId,
    small: FontId,
    pub(super) time: f32,
    /// Width of a difference; `None` if it does not fit.
    change: Option<f32>,
    /// Width of the fraction of the bound.
    fraction: Option<f32>,
    date: Option<f32>,
    device: Option<f32>,
}

impl Columns {
    /// The columns for this width; `indent` is the indentation below headers.
    pub(super) fn new(ui: &Ui, indent: f32) -> Self {
        let width = ui.available_width() - 4.0 * indent;
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

    /// Removes the column of differences, to leave its width to kernel names.
    pub(super) fn leave_out_differences(&mut self) {
        self.change = None;
    }

    /// The right edge of times in a line that ends at `right`.
    pub(super) fn time_edge(&self, right: f32) -> f32 {
        let beside = [self.date, self.device, self.fraction, self.change];
        right - EDGE - beside.into_iter().flatten().sum::<f32>()
    }
}

/// Draws a run.
pub(super) fn show(
    ui: &Ui,
    bench: &Workbench,
    row: &RunRow,
    (tokens, columns, indent): (&Tokens, &Columns, f32),
    RowPlacement { rect: place, response }: RowPlacement,
    commands: &mut Vec<Command>,
) {
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    let time = row.time(workload);
    let verdict = || row.verdict().replace('_', " ");
    let said = time.map_or_else(verdict, |time| time.median.to_string());
    let label = row.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
    let letter = bench.letter(row.number).map(|letter| format!(", {letter}")).unwrap_or_default();
    let name = format!("#{} {} {} {said}{label}{letter}", row.number, row.kernel, row.verdict());
    let selected = bench.shown_run().is_some_and(|shown| shown.number == row.number);
    response.widget_info(|| WidgetInfo::selected(egui::Role::ListItem, true, selected, &name));
    let pinned = bench.pinned() == Some(row.number);
    if selected {
        ui.painter().rect_filled(place, 0.0, tokens.surface.selected.0);
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(place, 0.0, tokens.surface.raised.0);
    }
    mark(ui, bench, row, tokens, place.with_min_x(place.left() + indent));
    let mut right = place.right() - EDGE;
    let middle = place.center().y;
    let mut cell = |width: Option<f32>, text: String, color, font: &FontId| {
        let Some(width) = width else { return right };
        let at = pos2(right, middle);
        ui.painter().text(at, egui::Align2::RIGHT_CENTER, text, font.clone(), color);
        right -= width;
        right
    };
    cell(columns.date, date(row.made_at), tokens.text.weak.0, &columns.small);
    let room = columns.device.unwrap_or_default() - APART;
    let device = elided(ui, &row.device, &columns.small, room);
    cell(columns.device, device, tokens.text.weak.0, &columns.small);
    let fraction =
        time.and_then(|time| time.share).map(|share| format!("{:.0} %", share.middle.0 * 100.0));
    cell(columns.fraction, fraction.unwrap_or_default(), tokens.text.weak.0, &columns.font);
    let (change, color) = change(bench, row, workload, tokens);
    cell(columns.change, change, color, &columns.font);
    let color = match (row.failure, time.map(|time| time.trust)) {
        (Some(word), _) if word.is_judged() => tokens.status.bad.0,
        (Some(_), _) | (None, Some(Trust::Tainted)) => tokens.status.warning.0,
        (None, _) => tokens.text.strong.0,
    };
    let said = if row.failure.is_none() && time.is_none() { "not timed".to_owned() } else { said };
    let right = cell(Some(columns.time), said, color, &columns.font);
    if let Some(time) = time {
        origin(ui, tokens, time.source, pos2(right + 4.0, middle));
    }
    title(
        ui,
        (row, bench.letter(row.number)),
        tokens,
        columns,
        Rect::from_min_max(
            pos2(place.left() + 28.0 + indent, place.top()),
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

/// A text, cut with an ellipsis if it exceeds the room.
fn elided(ui: &Ui, text: &str, font: &FontId, room: f32) -> String {
    let width = |text: &str| {
        ui.fonts_mut(|fonts| {
            fonts.layout_no_wrap(text.to_owned(), font.clone(), egui::Color32::WHITE).size().x
        })
    };
    if width(text) <= room {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at).rev();
    let mut shorter = ends.map(|at| format!("{}…", &text[..at]));
    shorter.find(|text| width(text) <= room).unwrap_or_default()
}

/// The icon of the result: best, passed, failed or not judged.
fn mark(ui: &Ui, bench: &Workbench, row: &RunRow, tokens: &Tokens, place: Rect) {
    let at = Rect::from_center_size(pos2(place.left() + 16.0, place.center().y), vec2(11.0, 11.0));
    let (icon, color) = if let Some(word) = row.failure {
        match word.is_judged() {
            true => (Icon::Cross, tokens.status.bad.0),
            false => (Icon::Warning, tokens.status.warning.0),
        }
    } else if bench.runs.is_best(row) {
        (Icon::Star, tokens.status.good.0)
    } else {
        (Icon::Check, tokens.status.good.0)
    };
    icon.paint(ui.painter(), at, color);
}

/// The icon of a time's source.
pub(super) fn origin(ui: &Ui, tokens: &Tokens, source: TimeSource, at: egui::Pos2) {
    let place = Rect::from_center_size(at, vec2(10.0, 10.0));
    let (icon, color) = source_icon(tokens, source);
    icon.paint(ui.painter(), place, color);
}

fn title(
    ui: &Ui,
    (row, letter): (&RunRow, Option<&str>),
    tokens: &Tokens,
    columns: &Columns,
    place: Rect,
) {
    let mut job = LayoutJob::default();
    job.wrap.max_width = place.width().max(0.0);
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let format =
        |color| TextFormat { font_id: columns.font.clone(), color, ..TextFormat::default() };
    job.append(&format!("#{}", row.number), 0.0, format(tokens.text.weak.0));
    // Without room for both, only the label is shown; the tooltip names the kernel.
    let room = place.width() / columns.font.size;
    if row.label.is_none() || room > ROOM_FOR_BOTH {
        job.append(&row.kernel, 6.0, format(tokens.text.normal.0));
    }
    if let Some(letter) = letter {
        job.append(letter, 6.0, format(tokens.accent.0));
    }
    if let Some(label) = &row.label {
        let mut format = TextFormat::simple(columns.small.clone(), tokens.text.strong.0);
        format.background = tokens.surface.pressed.0;
        format.expand_bg = 2.0;
        format.valign = egui::Align::Center;
        job.append(label, 10.0, format);
    }
    let galley = ui.painter().layout_job(job);
    let at = pos2(place.left(), place.center().y - galley.size().y / 2.0);
    ui.painter().with_clip_rect(place.intersect(ui.clip_rect())).galley(
        at,
        galley,
        tokens.text.normal.0,
    );
}

/// The difference to the pinned run, or to the previous run.
fn change(
    bench: &Workbench,
    row: &RunRow,
    workload: &str,
    tokens: &Tokens,
) -> (String, egui::Color32) {
    let pinned = bench.pinned().and_then(|number| bench.runs.get(number));
    let other = pinned.or_else(|| bench.runs.before(row));
    let Some(change) = other.and_then(|other| row.against(other, workload)) else {
        return (String::new(), tokens.text.weak.0);
    };
    if pinned.is_some_and(|pinned| pinned.number == row.number) {
        return ("pinned".to_owned(), tokens.text.weak.0);
    }
    if change.abs() < TOO_SMALL {
        return ("same".to_owned(), tokens.text.weak.0);
    }
    // Modelled times show numbers, but not which run is faster.
    let modelled = row.time(workload).is_some_and(|time| time.source == TimeSource::Modelled);
    let color = match (modelled, change < 0.0) {
        (true, _) => tokens.text.weak.0,
        (false, true) => tokens.status.good.0,
        (false, false) => tokens.status.bad.0,
    };
    let percent = change * 100.0;
    let text = match percent {
        percent if percent > 999.0 => format!("{:.1}x", change + 1.0),
        percent if percent > 99.9 => format!("{percent:+.0} %"),
        percent => format!("{percent:+.1} %"),
    };
    (text, color)
}

fn date(at: Timestamp) -> String {
    at.to_string().get(5..16).unwrap_or_default().replace('T', " ")
}

fn act(response: &Response, bench: &Workbench, row: &RunRow, commands: &mut Vec<Command>) {
    if response.clicked() && response.ctx.input(|input| input.modifiers.command) {
        commands.push(Command::AddToComparison(Some(row.number)));
    } else if response.clicked() {
        response.request_focus();
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
        entry("Label…", vec![Command::AskForLabel(Some(number))]);
        entry(
            "Compare with the one shown",
            vec![Command::Compare(Side::A, number), Command::CompareSelected],
        );
        entry("Add to the comparison, or remove", vec![Command::AddToComparison(Some(number))]);
        entry("Compare as A", vec![Command::Compare(Side::A, number)]);
        entry("Compare as B", vec![Command::Compare(Side::B, number)]);
    });
}

fn hover(response: Response, row: &RunRow, pinned: bool) {
    response.on_hover_ui(|ui| {
        ui.strong(format!("#{} {}", row.number, row.kernel));
        if let Some(label) = &row.label {
            ui.label(&**label);
        }
        ui.label(row.sentence.as_deref().unwrap_or("passed"));
        for time in &row.times {
            let how = time.source.word();
            let interval =
                time.interval.map(|(low, high)| format!(", {low} to {high}")).unwrap_or_default();
            ui.label(format!("{}: {} {how}{interval}", time.workload, time.median));
            if let Some(limiter) = &time.limiter {
                // Stored words of an unknown limiter; earlier versions wrote the second ones.
                let is_unknown =
                    ["unknown", "what is not known"].iter().any(|w| limiter.starts_with(w));
                ui.weak(if is_unknown {
                    "limiter unknown".to_owned()
                } else {
                    format!("limited by {limiter}")
                });
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
