//! Two runs side by side.

use egui::Ui;

use super::empty;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

pub(super) fn show(ui: &mut Ui, _: &Workbench, _: &mut Vec<Command>) {
    empty::show(ui, "Nothing to compare yet", "Choose a run in the history and press Ctrl+D");
}
