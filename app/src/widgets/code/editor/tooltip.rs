//! Tooltips of lines.

use egui::{Color32, RichText, Ui};

use crate::theme::{self, Tokens};
use crate::widgets::code::marks::{Age, Problem, Severity, Tracked, Tracker};

/// The colour of a problem; grey if its line has changed.
pub(super) fn color(tokens: &Tokens, problem: &Tracked<Problem>) -> Color32 {
    match (problem.age, problem.item.severity) {
        (Age::Stale, _) => tokens.text.weak.0,
        (Age::Fresh, Severity::Error) => tokens.status.bad.0,
        (Age::Fresh, Severity::Warning) => tokens.status.warning.0,
        (Age::Fresh, Severity::Note) => tokens.status.running.0,
    }
}

/// Whether a line has a tooltip.
pub(super) fn has_line(tracker: &Tracker, line: usize) -> bool {
    tracker.problems.iter().any(|problem| problem.line == line)
        || tracker.heat.iter().any(|heat| heat.line == line)
        || tracker.locked.iter().any(|lines| lines.contains(&line))
}

/// The tooltip of a line.
pub(super) fn line(ui: &mut Ui, tracker: &Tracker, line: usize) {
    for problem in tracker.problems.iter().filter(|problem| problem.line == line) {
        problem_text(ui, problem);
    }
    for heat in tracker.heat.iter().filter(|heat| heat.line == line) {
        ui.label(&heat.item.text);
        stale(ui, heat.age);
    }
    if tracker.locked.iter().any(|lines| lines.contains(&line)) {
        ui.weak("This lesson locks the line");
    }
}

/// A problem.
pub(super) fn problem_text(ui: &mut Ui, problem: &Tracked<Problem>) {
    let tokens = theme::tokens(ui);
    let name = match problem.item.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Note => "Note",
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = theme::GAP;
        ui.label(RichText::new(name).color(color(&tokens, problem)));
        ui.label(&problem.item.message);
    });
    stale(ui, problem.age);
}

fn stale(ui: &mut Ui, age: Age) {
    match age {
        Age::Fresh => {}
        Age::Stale => {
            ui.weak("The line has been edited since");
        }
    }
}
