//! Panel of the latest verdict with its evidence: the passed checks, or the failure and its location.

use egui::{Color32, Grid, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use lightbench_core::report::document::RunOutcome;
use lightbench_core::report::document::checks::ReportedChecks;
use lightbench_core::report::document::failure::{
    NotPassedReport, ReportedMismatch, ReportedOutput, WrongReport,
};
use lightbench_core::report::document::number::ReportedNumber;
use lightbench_core::tensors::compare::ErrorMap;

use super::{catches, placeholder};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::problem;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let Some(details) = bench.shown_details() else {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            if catches::is_known(bench) {
                ui.weak("No verdict yet: save the kernel, or press F5");
                ui.add_space(3.0 * GAP);
                catches::show(ui, bench, commands);
            } else {
                no_verdict(ui, bench);
                ui.add_space(3.0 * GAP);
                ui.vertical_centered(|ui| catches::show(ui, bench, commands));
            }
        });
        return;
    };
    let tokens = theme::tokens(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let evidence = &details.evidence;
        let icon = match &evidence.outcome {
            RunOutcome::Passed { .. } => (Icon::Check, tokens.status.good.0),
            RunOutcome::NotPassed(reason) if reason.is_judged() => {
                (Icon::Cross, tokens.status.bad.0)
            }
            RunOutcome::NotPassed(_) => (Icon::Warning, tokens.status.warning.0),
        };
        if let (None, Some(row)) = (bench.shown_verdict(), bench.shown_run()) {
            ui.weak(format!("Run #{} of the history", row.number));
        }
        headline(ui, icon, &evidence.sentence);
        match &evidence.outcome {
            RunOutcome::Passed { passed } => {
                checks(ui, &tokens, &passed.checks, &evidence.permitted_findings);
            }
            RunOutcome::NotPassed(NotPassedReport::Wrong { wrong }) => {
                wrongness(ui, &tokens, wrong);
            }
            RunOutcome::NotPassed(reason) => {
                problems(ui, bench, reason, &evidence.sentence, commands);
            }
        }
        ui.add_space(3.0 * GAP);
        catches::show(ui, bench, commands);
    });
}

/// The placeholder without a verdict: the result from the history, if there is one.
fn no_verdict(ui: &mut Ui, bench: &Workbench) {
    match bench.shown_run() {
        Some(row) => {
            let said = row.sentence.as_deref().unwrap_or("it passed");
            let what = format!("Run #{}: {said}", row.number);
            placeholder::show(
                ui,
                &what,
                "Its evidence was not recorded; press F5 to evaluate again",
            );
        }
        None => placeholder::show(ui, "No verdict yet", "Save the kernel, or press F5"),
    }
}

fn headline(ui: &mut Ui, (icon, color): (Icon, Color32), text: &str) {
    ui.horizontal_wrapped(|ui| {
        icon.show(ui, color);
        ui.label(RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into())));
    });
    ui.add_space(GAP);
}

fn checks(ui: &mut Ui, tokens: &Tokens, checks: &ReportedChecks, permitted_findings: &[String]) {
    Grid::new("checks").num_columns(2).spacing(vec2(6.0 * GAP, GAP)).show(ui, |ui| {
        for run in &checks.workloads {
            ui.label(&run.workload);
            let instructions = run
                .warp_instructions
                .map(|count| format!(", {count} warp instructions"))
                .unwrap_or_default();
            ui.weak(format!("{} runs{instructions}", run.runs));
            ui.end_row();
        }
        ui.label("held out");
        ui.weak(format!("{} workloads", checks.held_out));
        ui.end_row();
        ui.label("largest error");
        let error = &checks.worst_error;
        let percent = error.real().map(|error| format!("{:.1} % of the tolerance", 100.0 * error));
        ui.weak(percent.unwrap_or_else(|| error.to_string()));
        ui.end_row();
        ui.label("bitwise reproducible");
        ui.weak(if checks.deterministic { "yes" } else { "no" });
        ui.end_row();
        if checks.precision_probed > 0 {
            ui.label("precision probe");
            ui.weak(format!("exact on {} workloads", checks.precision_probed));
            ui.end_row();
        }
        if checks.accepted_races > 0 {
            ui.label("accesses allowed by CUDA practice only");
            ui.weak(checks.accepted_races.to_string());
            ui.end_row();
        }
    });
    ui.add_space(2.0 * GAP);
    for not_run in &checks.not_run {
        let name = not_run.workload.as_deref().unwrap_or("a held-out workload");
        ui.colored_label(tokens.text.weak.0, format!("Not run: {name}, {}", not_run.reason));
    }
    if !checks.not_checked.is_empty() {
        ui.colored_label(
            tokens.status.warning.0,
            format!("Not checked: {}", checks.not_checked.join(", ")),
        );
    }
    for note in &checks.notes {
        ui.colored_label(tokens.status.warning.0, format!("Note: {note}"));
    }
    for text in permitted_findings {
        ui.colored_label(tokens.text.weak.0, format!("Not refused: {text}"));
    }
    ui.add_space(GAP);
    let costs: Vec<String> =
        checks.costs.iter().map(|cost| format!("{} {:.2} s", cost.step, cost.seconds)).collect();
    ui.weak(costs.join(", "));
}

/// The problems of a verdict that is not passed, each with a link to its location.
fn problems(
    ui: &mut Ui,
    bench: &Workbench,
    reason: &NotPassedReport,
    sentence: &str,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &bench.opened else { return };
    for problem in problem::from_verdict(reason, sentence, &opened.project) {
        let place = problem.place;
        // The headline has the sentence of a verdict without a location.
        if place.is_none() && problem.message == sentence {
            continue;
        }
        let at = place.as_ref().map(|place| format!("{}:{}  ", place.file.display(), place.line));
        let text = format!("{}{}", at.unwrap_or_default(), problem.message);
        let response = ui.add(egui::Label::new(text).wrap().sense(Sense::click()));
        if let Some(place) = place.filter(|_| response.clicked()) {
            commands.push(Command::GoTo(place.file, place.line, place.column));
        }
    }
    if let NotPassedReport::Fault { fault } = reason
        && !fault.printed.is_empty()
    {
        ui.add_space(GAP);
        ui.weak("The kernel printed");
        ui.monospace(&fault.printed);
    }
}

fn wrongness(ui: &mut Ui, tokens: &Tokens, wrong: &WrongReport) {
    let WrongReport::Visible { workload, step, outputs, details, likely_cause, .. } = wrong else {
        ui.weak("Details of held-out workloads are not shown");
        return;
    };
    for wrong in outputs {
        ui.label(if wrong.sentence.is_empty() { &wrong.output } else { &wrong.sentence });
        mismatches(ui, tokens, wrong);
        map(ui, tokens, &wrong.output, &wrong.map);
        ui.add_space(2.0 * GAP);
    }
    if let Some(details) = details {
        ui.label(details);
    }
    if let Some(cause) = likely_cause {
        ui.label(format!("Likely cause: {cause}"));
    }
    ui.weak(format!("Found by {step} on {workload}"));
}

fn mismatches(ui: &mut Ui, tokens: &Tokens, wrong: &ReportedOutput) {
    Grid::new(("mismatches", &wrong.output)).num_columns(6).spacing(vec2(4.0 * GAP, 2.0)).show(
        ui,
        |ui| {
            for title in ["", "index", "got", "expected", "ulp", "accepted error"] {
                ui.label(RichText::new(title).small().color(tokens.text.weak.0));
            }
            ui.end_row();
            for (which, mismatch) in [("first", &wrong.first), ("worst", &wrong.worst)] {
                let Some(mismatch) = mismatch else { continue };
                row(ui, which, mismatch);
            }
        },
    );
}

fn row(ui: &mut Ui, which: &str, mismatch: &ReportedMismatch) {
    let index: Vec<String> = mismatch.index.iter().map(ToString::to_string).collect();
    ui.weak(which);
    ui.monospace(format!("[{}]", index.join(", ")));
    ui.monospace(mismatch.found.to_string());
    ui.monospace(mismatch.expected.to_string());
    let rounded = |number: &Option<ReportedNumber>, none: &str, digits: fn(f64) -> String| {
        let number =
            number.as_ref().map(|number| number.real().map_or_else(|| number.to_string(), digits));
        number.unwrap_or_else(|| none.to_owned())
    };
    ui.monospace(rounded(&mismatch.ulps, "none", |ulps| format!("{ulps:.0}")));
    ui.monospace(rounded(&mismatch.accepted_error, "exact", |error| format!("{error:.2e}")));
    ui.end_row();
}

/// The error map of a tensor: the last dimension horizontally, the others vertically.
fn map(ui: &mut Ui, tokens: &Tokens, name: &str, map: &ErrorMap) {
    if map.columns == 0 || map.counts.len() < 2 {
        return;
    }
    let rows = map.counts.len().div_ceil(map.columns);
    let width = ui.available_width().min(480.0);
    let cell = vec2(width / map.columns as f32, (width / map.columns as f32).clamp(6.0, 14.0));
    ui.add_space(GAP);
    let (place, response) =
        ui.allocate_exact_size(vec2(width, cell.y * rows as f32), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(egui::Role::Image, true, format!("Where {name} is wrong"))
    });
    ui.painter().rect_filled(place, 2.0, tokens.surface.sunken.0);
    for (index, (count, size)) in map.counts.iter().zip(&map.sizes).enumerate() {
        let at = pos2(
            place.left() + cell.x * (index % map.columns) as f32,
            place.top() + cell.y * (index / map.columns) as f32,
        );
        let share = if *size == 0 { 0.0 } else { *count as f32 / *size as f32 };
        let color = if *count == 0 {
            tokens.surface.raised.0
        } else {
            tokens.status.bad.faded(0.25 + 0.75 * share)
        };
        ui.painter().rect_filled(Rect::from_min_size(at, cell).shrink(0.5), 1.0, color);
    }
    let under = response.hover_pos().and_then(|pointer| {
        let (column, row) =
            ((pointer.x - place.left()) / cell.x, (pointer.y - place.top()) / cell.y);
        let index = row as usize * map.columns + column as usize;
        Some((*map.counts.get(index)?, *map.sizes.get(index)?))
    });
    if let Some((count, size)) = under {
        response.on_hover_text(format!("{count} of {size} elements here are wrong"));
    }
}
