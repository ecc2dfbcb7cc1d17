//! Plots of the open project.

use egui::Ui;

use super::empty;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

pub(super) fn roofline(ui: &mut Ui, _: &Workbench, _: &mut Vec<Command>) {
    empty::show(ui, "No times yet", "Run a kernel");
}

pub(super) fn speed_of_light(ui: &mut Ui, _: &Workbench, _: &mut Vec<Command>) {
    empty::show(ui, "No times yet", "Run a kernel");
}

pub(super) fn timing(ui: &mut Ui, _: &Workbench, _: &mut Vec<Command>) {
    empty::show(ui, "No times yet", "Run a kernel");
}

pub(super) fn workloads(ui: &mut Ui, _: &Workbench, _: &mut Vec<Command>) {
    empty::show(ui, "No times yet", "Run a kernel");
}
