//! Panel of the project: its task, and its kernels with their results.

use egui::{Button, Label, RichText, ScrollArea, Ui, vec2};
use lightbench_core::audit::gaps_of_definition;
use lightbench_core::project::{BrokenFile, Kernel, Part, Purpose};
use lightbench_core::verify::not_judged::NotPassed;

use super::{placeholder, sentence};
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::open_project::OpenProject;
use crate::workbench::problem;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else {
        placeholder::show(ui, "No project is open", "Open a folder with a project.ron");
        return;
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        heading(ui, "Kernels");
        kernels(ui, bench, opened, commands);
        ui.add_space(2.0 * GAP);
        task(ui, opened, commands);
        wrong(ui, opened, commands);
        gaps(ui, opened);
    });
}

/// Checks that the definition does not cover, with the lines that would add them.
fn gaps(ui: &mut Ui, opened: &OpenProject) {
    let gaps = gaps_of_definition(&opened.project);
    if gaps.is_empty() {
        return;
    }
    ui.add_space(2.0 * GAP);
    let tokens = theme::tokens(ui);
    ui.collapsing(format!("Checks that the definition omits ({})", gaps.len()), |ui| {
        for gap in &gaps {
            ui.horizontal_wrapped(|ui| {
                Icon::Warning.show(ui, tokens.status.warning.0);
                ui.label(sentence(&gap.sentence));
            });
            ui.add(Label::new(RichText::new(format!("Write {}", gap.write)).small().weak()).wrap());
        }
    });
}

/// Kernels by name, including broken files, so that a kernel keeps its place while it is edited.
fn kernels(ui: &mut Ui, bench: &Workbench, opened: &OpenProject, commands: &mut Vec<Command>) {
    let mut broken = broken_files(opened, Part::Kernel).peekable();
    for kernel in &opened.project.kernels {
        while let Some(before) = broken.next_if(|broken| broken.file < kernel.file) {
            broken_row(ui, before, opened.kernel == before.name(), commands);
        }
        row(ui, bench, opened, kernel, commands);
    }
    for rest in broken {
        broken_row(ui, rest, opened.kernel == rest.name(), commands);
    }
}

fn wrong(ui: &mut Ui, opened: &OpenProject, commands: &mut Vec<Command>) {
    let count = opened.project.wrong.len() + broken_files(opened, Part::Wrong).count();
    if count == 0 {
        return;
    }
    ui.add_space(2.0 * GAP);
    ui.collapsing(format!("Kernels that must fail ({count})"), |ui| {
        for kernel in &opened.project.wrong {
            file(ui, &kernel.name, &kernel.file, commands);
        }
        for broken in broken_files(opened, Part::Wrong) {
            broken_row(ui, broken, false, commands);
        }
    });
}

fn broken_files(opened: &OpenProject, part: Part) -> impl Iterator<Item = &BrokenFile> {
    opened.project.broken.iter().filter(move |broken| broken.part == part)
}

/// A broken file with its first problem; a click moves the cursor there.
fn broken_row(ui: &mut Ui, broken: &BrokenFile, chosen: bool, commands: &mut Vec<Command>) {
    let Some(first) = broken.problems.first().map(problem::from_project_problem) else { return };
    let tokens = theme::tokens(ui);
    let place = first.place.as_ref().map_or((1, 1), |place| (place.line, place.column));
    ui.horizontal(|ui| {
        Icon::Cross.show(ui, tokens.status.bad.0);
        let name = match broken.part {
            Part::Kernel | Part::Wrong => broken.name(),
            Part::Include => broken.file.display().to_string(),
        };
        let text = RichText::new(name).color(tokens.text.normal.0);
        let button = Button::selectable(chosen, text)
            .shortcut_text(RichText::new(format!("line {}", place.0)).color(tokens.text.weak.0))
            .min_size(vec2(ui.available_width(), theme::ROW));
        if ui.add(button).on_hover_text(&first.message).clicked() {
            commands.push(Command::GoTo(broken.file.clone(), place.0, place.1));
        }
    });
    ui.add(Label::new(RichText::new(first.message).small().color(tokens.status.bad.0)).wrap());
}

fn heading(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.label(RichText::new(text).small().color(tokens.text.weak.0));
}

fn row(
    ui: &mut Ui,
    bench: &Workbench,
    opened: &OpenProject,
    kernel: &Kernel,
    commands: &mut Vec<Command>,
) {
    let tokens = theme::tokens(ui);
    let known = bench.evaluations.kernel(&kernel.name);
    let verdict = known.and_then(|known| known.evaluated.as_ref()).map(|each| &each.run.verdict);
    let running = known.is_some_and(|known| known.running.is_some());
    let (icon, color) = match (running, verdict) {
        (true, _) => (Icon::Dot, tokens.status.running.0),
        (false, Some(Ok(_))) => (Icon::Check, tokens.status.good.0),
        (false, Some(Err(NotPassed::Failed(_)))) => (Icon::Cross, tokens.status.bad.0),
        (false, Some(Err(NotPassed::NotJudged(_)))) => (Icon::Warning, tokens.status.warning.0),
        (false, None) => (Icon::Ring, tokens.text.weak.0),
    };
    let newest = bench.runs.newest_of(&kernel.name);
    let time =
        newest.and_then(|row| row.time(&opened.workload)).map(|time| time.median.to_string());
    let chosen = opened.kernel == kernel.name;
    ui.horizontal(|ui| {
        icon.show(ui, color);
        let text = RichText::new(&kernel.name).color(if chosen {
            tokens.text.strong.0
        } else {
            tokens.text.normal.0
        });
        let button = Button::selectable(chosen, text)
            .shortcut_text(RichText::new(time.unwrap_or_default()).color(tokens.text.weak.0))
            .min_size(vec2(ui.available_width(), theme::ROW));
        let response = ui.add(button);
        if response.on_hover_text(&kernel.launch.title).clicked() {
            commands.push(Command::ChooseKernel(kernel.name.clone()));
        }
    });
}

fn task(ui: &mut Ui, opened: &OpenProject, commands: &mut Vec<Command>) {
    let project = &opened.project;
    heading(ui, "Task");
    for tensor in &project.definition.tensors {
        ui.horizontal(|ui| {
            ui.monospace(&tensor.name);
            ui.weak(format!("{}, {}", tensor.dtype.name(), role(tensor)));
        });
    }
    ui.add_space(GAP);
    let count =
        |purpose: Purpose| project.workloads.iter().filter(|each| each.purpose == purpose).count();
    ui.weak(format!(
        "Workloads: {} for verification, {} timed, {} held out",
        count(Purpose::Verify),
        count(Purpose::Measure),
        count(Purpose::HeldOut)
    ));
    file(ui, "project.ron", std::path::Path::new("project.ron"), commands);
    file(ui, "reference", project.reference.file(), commands);
    for broken in broken_files(opened, Part::Include) {
        broken_row(ui, broken, false, commands);
    }
}

fn role(tensor: &lightbench_core::project::tensor::Tensor) -> &'static str {
    use lightbench_core::project::tensor::Role;
    match tensor.role {
        Role::Input { .. } => "input",
        Role::Output { .. } => "output",
        Role::Inout { .. } => "input and output",
    }
}

fn file(ui: &mut Ui, title: &str, path: &std::path::Path, commands: &mut Vec<Command>) {
    if ui.add(Button::new(title).frame_when_inactive(false)).clicked() {
        commands.push(Command::GoTo(path.to_owned(), 1, 1));
    }
}
