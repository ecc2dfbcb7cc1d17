//! The start page: recent projects, samples and lessons, and the state of the machine.

use std::path::Path;

use egui::{Frame, Margin, RichText, ScrollArea, Ui, vec2};

use super::recent_runs;
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::evaluations::MachineState;
use crate::workbench::new_project::NewProjectCommand;
use crate::workbench::recent_history::RecentHistory;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    ScrollArea::vertical().show(ui, |ui| {
        ui.vertical_centered(|ui| {
            ui.set_max_width(620.0);
            ui.add_space(ui.available_height() * 0.12);
            ui.label(RichText::new("Lightbench").size(34.0).family(egui::FontFamily::Name(theme::STRONG.into())).color(tokens.text.strong.0));
            ui.add_space(GAP);
            ui.label(RichText::new("Edit a kernel and save it: Lightbench shows whether it is correct, how fast it is, and how far from the speed of light").color(tokens.text.weak.0));
            ui.add_space(8.0 * GAP);
            let frame = Frame::new().fill(tokens.surface.panel.0).stroke(egui::Stroke::new(1.0, tokens.line.normal.0)).corner_radius(8).inner_margin(Margin::same(18));
            frame.show(ui, |ui| {
                ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
                    ui.set_width(ui.available_width());
                    projects(ui, bench, commands);
                });
            });
            ui.add_space(4.0 * GAP);
            machine(ui, bench);
        });
    });
}

fn projects(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    let there = |path: &&std::path::PathBuf| path.join("project.ron").is_file();
    let recent: Vec<_> = bench.settings.recent.iter().filter(there).collect();
    if !recent.is_empty() {
        ui.heading("Recent projects");
        for path in &recent {
            let history = bench.samples.recent.as_ref().and_then(|all| all.get(*path));
            entry(ui, path, history, commands);
        }
        ui.add_space(3.0 * GAP);
    }
    let samples =
        bench.samples.projects.iter().filter(|path| !recent.contains(path)).collect::<Vec<_>>();
    if !samples.is_empty() {
        ui.heading("Sample projects");
        ui.horizontal_wrapped(|ui| {
            for path in samples {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if ui.button(name).clicked() {
                    commands.push(Command::Open(path.clone()));
                }
            }
        });
        ui.add_space(3.0 * GAP);
    }
    lessons(ui, bench, commands);
    ui.horizontal(|ui| {
        if ui.button("New project…").clicked() {
            commands.push(Command::NewProject(NewProjectCommand::Ask));
        }
        if ui.button("Open project…").clicked() {
            commands.push(Command::OpenFolder);
        }
        if ui.button("By its path…").clicked() {
            commands.push(Command::AskForPath);
        }
        ui.weak("or drop a project folder or a kernel here");
    });
}

/// A line per lesson: number, title and goal.
fn lessons(ui: &mut Ui, bench: &Workbench, commands: &mut Vec<Command>) {
    if bench.samples.lessons.is_empty() {
        return;
    }
    let tokens = theme::tokens(ui);
    ui.heading("Lessons");
    for (path, heading) in &bench.samples.lessons {
        let title = format!("{}  {}", heading.order, heading.title);
        ui.horizontal(|ui| {
            let button = egui::Button::new(RichText::new(title).color(tokens.text.strong.0))
                .frame_when_inactive(false)
                .min_size(vec2(160.0, 26.0));
            let left = egui::Layout::left_to_right(egui::Align::Center);
            let response = ui.allocate_ui_with_layout(vec2(184.0, 26.0), left, |ui| ui.add(button));
            if response.inner.clicked() {
                commands.push(Command::OpenLesson(path.clone()));
            }
            let summary = RichText::new(&heading.summary).small().color(tokens.text.weak.0);
            ui.add(egui::Label::new(summary).truncate()).on_hover_text(&heading.summary);
        });
    }
    ui.add_space(3.0 * GAP);
}

fn entry(ui: &mut Ui, path: &Path, history: Option<&RecentHistory>, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(path).display().to_string();
    ui.horizontal(|ui| {
        let room = if history.is_some() { recent_runs::SIZE.x + GAP } else { 0.0 };
        let button = egui::Button::new(RichText::new(name).color(tokens.text.strong.0))
            .shortcut_text(RichText::new(folder).color(tokens.text.weak.0))
            .frame_when_inactive(false)
            .min_size(vec2(ui.available_width() - room, 28.0));
        if ui.add(button).clicked() {
            commands.push(Command::Open(path.to_owned()));
        }
        if let Some(history) = history {
            recent_runs::show(ui, history);
        }
    });
}

fn machine(ui: &mut Ui, bench: &Workbench) {
    let tokens = theme::tokens(ui);
    match &bench.evaluations.machine {
        MachineState::Detecting => drop(ui.weak("Detecting devices and compiler…")),
        MachineState::Unusable(why) => {
            ui.colored_label(tokens.status.bad.0, why);
        }
        MachineState::Known(found) => {
            let device = bench.device().map(|device| device.title.clone()).unwrap_or_default();
            ui.horizontal(|ui| {
                Icon::Check.show(ui, tokens.status.good.0);
                ui.weak(format!("Ready: {}, {device}", found.compiler));
            });
            if found.without_gpu.is_some() {
                ui.weak("No GPU was found: kernels run exactly on a virtual GPU, and times are modelled");
            }
        }
    }
}
