//! Panel of the latest verdict with its evidence: the passed checks, or the failure and its location.

use egui::{Color32, Grid, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use lightbench_core::tensors::compare::{ErrorMap, Mismatch, OutputError};
use lightbench_core::verify::evidence;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Checks, Failure, Passed, Wrong};

use super::{catches, placeholder};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::evaluations::Evaluated;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let evaluated = bench
        .opened
        .as_ref()
        .and_then(|opened| bench.evaluations.kernel(&opened.kernel))
        .and_then(|known| known.evaluated.as_ref());
    let Some(evaluated) = evaluated else {
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
        match &evaluated.run.verdict {
            Ok(passed) => passed_checks(ui, &tokens, evaluated, passed),
            Err(NotPassed::Failed(failure)) => {
                failed(ui, &tokens, evaluated, failure, commands);
            }
            Err(NotPassed::NotJudged(reason)) => {
                let text = sentence::not_judged(&evaluated.kernel.name, reason);
                headline(ui, (Icon::Warning, tokens.status.warning.0), &text);
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
                "From the history; press F5 to evaluate again, with the evidence",
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

fn passed_checks(ui: &mut Ui, tokens: &Tokens, evaluated: &Evaluated, passed: &Passed) {
    let text = sentence::verdict(&evaluated.kernel.name, &evaluated.run.verdict);
    headline(ui, (Icon::Check, tokens.status.good.0), &text);
    checks(ui, tokens, &passed.checks);
}

fn checks(ui: &mut Ui, tokens: &Tokens, checks: &Checks) {
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
        ui.weak(format!("{:.1} % of the tolerance", 100.0 * checks.worst_error));
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
    for text in evidence::summarize(&checks.evidence) {
        ui.colored_label(tokens.text.weak.0, format!("Not refused: {text}"));
    }
    ui.add_space(GAP);
    let costs: Vec<String> = checks
        .costs
        .iter()
        .map(|(step, took)| format!("{step} {:.2} s", took.as_secs_f64()))
        .collect();
    ui.weak(costs.join(", "));
}

fn failed(
    ui: &mut Ui,
    tokens: &Tokens,
    evaluated: &Evaluated,
    failure: &Failure,
    commands: &mut Vec<Command>,
) {
    let text = sentence::describe_failure(&evaluated.kernel.name, failure);
    headline(ui, (Icon::Cross, tokens.status.bad.0), &text);
    if let Failure::Wrong(wrong) = failure {
        wrongness(ui, tokens, wrong);
        return;
    }
    let problems =
        crate::workbench::problem::from_failure(failure, &evaluated.kernel, &evaluated.project);
    for problem in problems {
        let place = problem.place;
        let at = place.as_ref().map(|place| format!("{}:{}  ", place.file.display(), place.line));
        let text = format!("{}{}", at.unwrap_or_default(), problem.message);
        let response = ui.add(egui::Label::new(text).wrap().sense(Sense::click()));
        if let Some(place) = place.filter(|_| response.clicked()) {
            commands.push(Command::GoTo(place.file, place.line, place.column));
        }
    }
    if let Failure::Fault(fault) = failure
        && !fault.printed.is_empty()
    {
        ui.add_space(GAP);
        ui.weak("The kernel printed");
        ui.monospace(&fault.printed);
    }
}

fn wrongness(ui: &mut Ui, tokens: &Tokens, wrong: &Wrong) {
    let Wrong::Seen { workload, step, outputs, details, .. } = wrong else {
        ui.weak("Details of held-out workloads are not shown");
        return;
    };
    for (name, wrong) in outputs {
        ui.label(sentence::describe_output(name, wrong));
        mismatches(ui, tokens, name, wrong);
        map(ui, tokens, name, &wrong.map);
        ui.add_space(2.0 * GAP);
    }
    if let Some(details) = details {
        ui.label(details);
    }
    ui.weak(format!("Found by {step} on {workload}"));
}

fn mismatches(ui: &mut Ui, tokens: &Tokens, name: &str, wrong: &OutputError) {
    Grid::new(("mismatches", name)).num_columns(6).spacing(vec2(4.0 * GAP, 2.0)).show(ui, |ui| {
        for title in ["", "index", "got", "expected", "ulp", "accepted error"] {
            ui.label(RichText::new(title).small().color(tokens.text.weak.0));
        }
        ui.end_row();
        for (which, mismatch) in [("first", &wrong.first), ("worst", &wrong.worst)] {
            let Some(mismatch) = mismatch else { continue };
            row(ui, which, mismatch);
        }
    });
}

fn row(ui: &mut Ui, which: &str, mismatch: &Mismatch) {
    let index: Vec<String> = mismatch.index.iter().map(ToString::to_string).collect();
    ui.weak(which);
    ui.monospace(format!("[{}]", index.join(", ")));
    ui.monospace(mismatch.found.to_string());
    ui.monospace(mismatch.expected.to_string());
    ui.monospace(mismatch.ulps.map_or_else(|| "none".to_owned(), |ulps| format!("{ulps:.0}")));
    ui.monospace(
        mismatch.accepted.map_or_else(|| "exact".to_owned(), |error| format!("{error:.2e}")),
    );
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
