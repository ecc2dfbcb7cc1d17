//! The dialog that creates a project.

use egui::{Button, Frame, Grid, Id, Key, Modal, ScrollArea, TextEdit, Ui, WidgetInfo, vec2};

use crate::theme::{self, GAP};
use crate::workbench::command::Command;
use crate::workbench::new_project::{
    CreationState, NewProject, NewProjectCommand, ProjectPlan, ProjectSource,
};

/// The edited plan; the workbench has the state of the creation.
#[derive(Debug)]
pub(super) struct NewProjectDialog {
    plan: ProjectPlan,
    focus: Focus,
}

/// Whether the first field takes the keyboard in the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Wanted,
    Given,
}

impl NewProjectDialog {
    pub(super) fn new(asked: &NewProject) -> Self {
        Self { plan: asked.plan.clone(), focus: Focus::Wanted }
    }

    /// The file that a dialog of the desktop selected.
    pub(super) fn take_path(&mut self, path: &str) {
        let before = std::mem::replace(&mut self.plan.path, path.to_owned());
        self.plan.propose_folder(&before);
    }

    pub(super) fn show(&mut self, ui: &Ui, asked: &NewProject, commands: &mut Vec<Command>) {
        let creating = asked.state == CreationState::Creating;
        let frame = Frame::popup(ui.style()).inner_margin(18.0);
        let modal = Modal::new(Id::unique("new-project")).frame(frame).show(ui.ctx(), |ui| {
            ui.set_width(620.0);
            ui.heading("New project");
            ui.add_space(2.0 * GAP);
            ui.add_enabled_ui(!creating, |ui| self.fields(ui, commands));
            ui.add_space(2.0 * GAP);
            self.answer(ui, asked);
            ui.add_space(2.0 * GAP);
            ui.horizontal(|ui| {
                let ready = self.plan.missing().is_none() && !creating;
                let create = ui.add_enabled(ready, Button::new("Create"));
                let entered = ready
                    && self.plan.source != ProjectSource::Pasted
                    && ui.input(|input| input.key_pressed(Key::Enter));
                if create.clicked() || entered {
                    commands.push(Command::NewProject(NewProjectCommand::Create(Box::new(
                        self.plan.clone(),
                    ))));
                }
                if ui.button("Cancel").clicked() {
                    commands.push(Command::NewProject(NewProjectCommand::Leave));
                }
            });
        });
        if modal.should_close() {
            commands.push(Command::NewProject(NewProjectCommand::Leave));
        }
    }

    fn fields(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        ui.horizontal(|ui| {
            for (source, title) in [
                (ProjectSource::Path, "From a file or folder"),
                (ProjectSource::Pasted, "From pasted source"),
                (ProjectSource::Example, "Small example"),
            ] {
                if ui.radio_value(&mut self.plan.source, source, title).changed() {
                    self.focus = Focus::Wanted;
                }
            }
        });
        ui.add_space(GAP);
        match self.plan.source {
            ProjectSource::Path => self.path(ui, commands),
            ProjectSource::Pasted => self.pasted(ui),
            ProjectSource::Example => {
                ui.weak("A vector addition with its reference and two workloads, to change");
            }
        }
        ui.add_space(GAP);
        Grid::new("new-project-fields").num_columns(2).spacing(vec2(3.0 * GAP, GAP)).show(
            ui,
            |ui| {
                if self.plan.source != ProjectSource::Example {
                    let hint = "the name of one kernel, if there are several";
                    field(ui, "Kernel", hint, &mut self.plan.kernel);
                }
                if self.plan.source == ProjectSource::Path {
                    let hint = "reference.py, for Triton and PyTorch extensions";
                    field(ui, "Reference", hint, &mut self.plan.reference);
                }
                field(ui, "Folder", "the folder to create", &mut self.plan.folder);
            },
        );
    }

    fn path(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        ui.weak("A CUDA or PTX kernel; a task of KernelBench or FlashInfer-Bench; a Triton file or a log of TritonParse; a PyTorch extension");
        ui.horizontal(|ui| {
            let before = self.plan.path.clone();
            let text = TextEdit::singleline(&mut self.plan.path)
                .hint_text("path of the file or folder")
                .desired_width(500.0);
            let response = ui.add(text);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Source"));
            if self.focus == Focus::Wanted {
                response.request_focus();
                self.focus = Focus::Given;
            }
            if response.changed() {
                self.plan.propose_folder(&before);
            }
            if ui.button("Choose…").clicked() {
                commands.push(Command::NewProject(NewProjectCommand::ChooseFile));
            }
        });
    }

    fn pasted(&mut self, ui: &mut Ui) {
        ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
            let text = TextEdit::multiline(&mut self.plan.pasted)
                .code_editor()
                .hint_text("__global__ void kernel(…) { … }")
                .desired_rows(12)
                .desired_width(f32::INFINITY);
            let response = ui.add(text);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Source"));
            if self.focus == Focus::Wanted {
                response.request_focus();
                self.focus = Focus::Given;
            }
        });
    }

    fn answer(&self, ui: &mut Ui, asked: &NewProject) {
        let tokens = theme::tokens(ui);
        match (&asked.state, self.plan.missing()) {
            (CreationState::Creating, _) => drop(ui.weak("Creating the project…")),
            // The refusal concerns the plan that was submitted.
            (CreationState::Refused(why), _) if asked.plan == self.plan => {
                ScrollArea::vertical().max_height(160.0).show(ui, |ui| {
                    ui.colored_label(tokens.status.bad.0, why);
                });
            }
            (CreationState::Editing | CreationState::Refused(_), Some(missing)) => {
                ui.weak(missing);
            }
            (CreationState::Editing | CreationState::Refused(_), None) => {
                ui.weak("Nothing in the source is executed; shapes and sizes that it does not state are guesses to confirm");
            }
        }
    }
}

fn field(ui: &mut Ui, label: &str, hint: &str, text: &mut String) {
    let name = ui.label(label);
    let edit = TextEdit::singleline(text).hint_text(hint).desired_width(500.0);
    ui.add(edit).labelled_by(name.id);
    ui.end_row();
}
