//! Table of run numbers: runs as columns, the best cell of each row marked.

use egui::{FontFamily, Grid, RichText, Ui, vec2};
use lightbench_core::history::StoredRun;
use lightbench_core::history::comparison_runs::compare_times;
use lightbench_core::measure::comparison::Conclusion;
use lightbench_core::speed_of_light::time_comparison::TimeComparison;

use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::command::{Command, Side};
use crate::workbench::matrix::{Cell, LETTERS, MatrixRow, Rank, RunMatrix};

/// Draws the table; two runs also have a column of differences.
pub(super) fn show(ui: &mut Ui, runs: &[&StoredRun], workload: &str, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let matrix = RunMatrix::from_runs(runs, workload);
    let pair = if let [a, b] = runs { Some([*a, *b]) } else { None };
    let columns = runs.len() + 1 + usize::from(pair.is_some());
    let grid = Grid::new("matrix").num_columns(columns).striped(true).spacing(vec2(5.0 * GAP, 3.0));
    grid.show(ui, |ui| {
        ui.label("");
        for ((run, title), at) in runs.iter().zip(&matrix.heads).zip(0..) {
            head(ui, (run, title, at), commands);
        }
        if pair.is_some() {
            ui.label(RichText::new("B against A").small().color(tokens.text.weak.0));
        }
        ui.end_row();
        for row in &matrix.rows {
            ui.label(RichText::new(&row.name).color(tokens.text.weak.0)).on_hover_text(row.means);
            for (cell, title) in row.cells.iter().zip(&matrix.heads) {
                let room = if runs.len() > 3 { Spacing::Little } else { Spacing::Enough };
                number(ui, &tokens, row, (cell, title, room));
            }
            if let Some([a, b]) = pair {
                let comparison =
                    row.workload.as_ref().and_then(|name| compare_times(&b.record, a, name));
                change(ui, &tokens, comparison);
            }
            ui.end_row();
        }
    });
}

/// The title of a run, with its commands.
fn head(ui: &mut Ui, (run, title, at): (&StoredRun, &str, usize), commands: &mut Vec<Command>) {
    let strong = RichText::new(title).family(FontFamily::Name(theme::STRONG.into()));
    ui.menu_button(strong, |ui| {
        let mut entry = |name: &str, command: Command| {
            if ui.button(name).clicked() {
                commands.push(command);
                ui.close();
            }
        };
        let number = run.number;
        entry("Show in every panel", Command::SelectRun(number));
        entry("Pin: compare everything with it", Command::Pin(number));
        entry("Label…", Command::AskForLabel(Some(number)));
        entry("Take its source into the editor", Command::TakeSource(number));
        if at > 1 {
            entry("Text and machine code as A", Command::Compare(Side::A, number));
            entry("Text and machine code as B", Command::Compare(Side::B, number));
            entry("Leave out", Command::AddToComparison(Some(number)));
        }
    });
}

/// Whether intervals are shown beside times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Enough,
    Little,
}

fn number(
    ui: &mut Ui,
    tokens: &Tokens,
    row: &MatrixRow,
    (cell, title, room): (&Cell, &str, Spacing),
) {
    if cell.text.is_empty() {
        ui.label(RichText::new("not known").color(tokens.text.weak.0));
        return;
    }
    let letter = title.split(' ').next().unwrap_or_default();
    let rank = match cell.rank {
        Rank::Best => ", best",
        Rank::Other => "",
    };
    let name = format!("{} of {letter}: {}{rank}", row.name, cell.text);
    ui.horizontal(|ui| {
        let text = match cell.rank {
            Rank::Best => RichText::new(&cell.text)
                .family(FontFamily::Name(theme::STRONG.into()))
                .color(tokens.status.good.0),
            Rank::Other => RichText::new(&cell.text).color(tokens.text.normal.0),
        };
        let label = ui.label(text);
        label.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &name));
        if !cell.how.is_empty() {
            label.on_hover_text(format!("{} {}", cell.how, cell.interval));
        }
        match cell.rank {
            Rank::Best => drop(Icon::Star.show(ui, tokens.status.good.0)),
            Rank::Other => {}
        }
        if room == Spacing::Enough && !cell.interval.is_empty() {
            ui.label(RichText::new(&cell.interval).small().color(tokens.text.weak.0));
        }
        if cell.how == "modelled" {
            Icon::Ring.show(ui, tokens.origin.modelled.0);
        }
    });
}

/// B compared with A, with the verdict's wording.
fn change(ui: &mut Ui, tokens: &Tokens, comparison: Option<TimeComparison>) {
    let Some(comparison) = comparison else {
        ui.label("");
        return;
    };
    let (icon, color) = match comparison {
        TimeComparison::Measured { conclusion: Conclusion::Faster, .. } => {
            (Icon::Up, tokens.status.good.0)
        }
        TimeComparison::Measured { conclusion: Conclusion::Slower, .. } => {
            (Icon::Down, tokens.status.bad.0)
        }
        TimeComparison::Measured { conclusion: Conclusion::NoMeasurableDifference, .. } => {
            (Icon::Equal, tokens.text.weak.0)
        }
        TimeComparison::Modelled { .. } => (Icon::Ring, tokens.origin.modelled.0),
        TimeComparison::NotComparable(_) => (Icon::Warning, tokens.status.warning.0),
    };
    ui.horizontal(|ui| {
        icon.show(ui, color);
        ui.colored_label(color, comparison.words("A"));
    });
}

/// Maximum number of compared runs.
pub(super) const MOST: usize = LETTERS.len();
