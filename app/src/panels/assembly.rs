//! PTX and machine code.

use egui::{ScrollArea, Ui};

use super::empty;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

/// Which of the two is looked at.
#[derive(Debug, Default)]
pub(super) struct AssemblyView;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, _: &mut AssemblyView, _: &mut Vec<Command>) {
    let facts = bench
        .opened
        .as_ref()
        .and_then(|opened| bench.evaluations.of(&opened.kernel))
        .and_then(|known| known.facts.as_ref());
    let Some(facts) = facts else {
        empty::show(ui, "Nothing is compiled yet", "Save the kernel");
        return;
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| ui.monospace(&facts.artifact.ptx));
}
