//! Panel of problems: of the project, the compiler and the device. A click moves the cursor there.

use egui::{Button, RichText, ScrollArea, Ui, vec2};

use super::placeholder;
use crate::theme;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::problem::{Problem, Severity};

/// All problems: those of the project, then those of the current kernel.
fn all(bench: &Workbench) -> Vec<Problem> {
    let Some(opened) = &bench.opened else {
        return bench.broken.as_ref().map(|broken| broken.problems.clone()).unwrap_or_default();
    };
    let mut problems = opened.problems.clone();
    if let Some(known) = bench.evaluations.kernel(&opened.kernel) {
        problems.extend(known.problems());
    }
    problems.extend(bench.recorded_problems());
    problems
}

pub(super) fn count(bench: &Workbench) -> usize {
    all(bench).len()
}

/// The current kernel, if it was neither compiled nor checked.
fn nobody_looked(bench: &Workbench) -> Option<&str> {
    let kernel = &bench.opened.as_ref()?.kernel;
    let known = bench.evaluations.kernel(kernel);
    let looked = known.is_some_and(|known| known.facts.is_some() || known.evaluated.is_some());
    (!looked).then_some(kernel)
}

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let problems = all(bench);
    if problems.is_empty() {
        match nobody_looked(bench) {
            Some(kernel) => placeholder::show(
                ui,
                &format!("{kernel} was not evaluated since the window opened"),
                "Save it, or press F5, to see problems that the compiler and the checks report",
            ),
            None => placeholder::show(
                ui,
                "No problems",
                "Problems of the project, the compiler and the checks appear here",
            ),
        }
        return;
    }
    let tokens = theme::tokens(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for problem in problems {
            let (icon, color) = match problem.severity {
                Severity::Error => (Icon::Cross, tokens.status.bad.0),
                Severity::Warning => (Icon::Warning, tokens.status.warning.0),
                Severity::Note => (Icon::Dot, tokens.text.weak.0),
            };
            ui.horizontal(|ui| {
                icon.show(ui, color);
                let place = problem
                    .place
                    .as_ref()
                    .map(|place| format!("{}:{}", place.file.display(), place.line));
                let text = RichText::new(&problem.message).color(tokens.text.normal.0);
                let detail = format!("{}  {}", place.unwrap_or_default(), problem.source.word());
                let button = Button::new(text)
                    .wrap()
                    .frame_when_inactive(false)
                    .shortcut_text(RichText::new(detail).color(tokens.text.weak.0))
                    .min_size(vec2(ui.available_width(), theme::ROW));
                let clicked = ui.add(button).clicked();
                if let Some(place) = problem.place.filter(|_| clicked) {
                    commands.push(Command::GoTo(place.file, place.line, place.column));
                }
            });
        }
    });
}
