//! The kernel's text.

use std::time::Duration;

use egui::{ScrollArea, TextEdit, Ui};

use super::empty;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, EditCommand};

/// How the text is looked at.
#[derive(Debug, Default)]
pub struct EditorView;

impl EditorView {
    /// Does something with the text in front, when it is drawn the next time.
    pub const fn ask(&mut self, _: EditCommand) {}
    /// Shows a place.
    pub const fn go_to(&mut self, _: u32, _: u32) {}
    /// Replaces the text, so that it can be undone.
    pub fn replace(&mut self, _: String) {}
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &mut Workbench,
    _: &mut EditorView,
    now: Duration,
    _: &mut Vec<Command>,
) {
    let Some(document) = bench.documents.front_mut() else {
        empty::show(ui, "No text is open", "Choose a kernel");
        return;
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let edit =
            TextEdit::multiline(&mut document.text).code_editor().desired_width(f32::INFINITY);
        if ui.add(edit).changed() {
            document.touch(now);
        }
    });
}
