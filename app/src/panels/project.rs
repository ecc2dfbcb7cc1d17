//! The project: what it computes, and its kernels with what is known of each.

use egui::{Button, RichText, ScrollArea, Ui, vec2};
use lightbench_core::project::{Kernel, Purpose};

use super::empty;
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::opened::Opened;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else {
        empty::show(ui, "No project is open", "Open a folder with a project.ron");
        return;
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        heading(ui, "Kernels");
        for kernel in &opened.project.kernels {
            row(ui, bench, opened, kernel, commands);
        }
        ui.add_space(2.0 * GAP);
        task(ui, opened, commands);
        if !opened.project.wrong.is_empty() {
            ui.add_space(2.0 * GAP);
            ui.collapsing(
                format!("Kernels that must fail ({})", opened.project.wrong.len()),
                |ui| {
                    for kernel in &opened.project.wrong {
                        file(ui, &kernel.name, &kernel.file, commands);
                    }
                },
            );
        }
    });
}

fn heading(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.label(RichText::new(text).small().color(tokens.text.weak.0));
}

fn row(
    ui: &mut Ui,
    bench: &Workbench,
    opened: &Opened,
    kernel: &Kernel,
    commands: &mut Vec<Command>,
) {
    let tokens = theme::tokens(ui);
    let known = bench.evaluations.of(&kernel.name);
    let verdict =
        known.and_then(|known| known.evaluated.as_ref()).map(|each| each.run.verdict.is_ok());
    let running = known.is_some_and(|known| known.running.is_some());
    let (icon, color) = match (running, verdict) {
        (true, _) => (Icon::Dot, tokens.status.running.0),
        (false, Some(true)) => (Icon::Check, tokens.status.good.0),
        (false, Some(false)) => (Icon::Cross, tokens.status.bad.0),
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

fn task(ui: &mut Ui, opened: &Opened, commands: &mut Vec<Command>) {
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
        "{} workloads to verify, {} to measure, {} held out",
        count(Purpose::Verify),
        count(Purpose::Measure),
        count(Purpose::HeldOut)
    ));
    file(ui, "project.ron", std::path::Path::new("project.ron"), commands);
    file(ui, "reference", &project.reference.file, commands);
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
