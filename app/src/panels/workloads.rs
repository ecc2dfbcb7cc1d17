//! The times of all workloads, and how they grow with the sizes of a task.

use egui::Ui;
use lightbench_core::figure::{self, Figure, Scaled, Size, Undrawable, WorkloadTime};

use super::empty;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadsModel<'a> {
    /// The workloads in the project's order.
    pub times: &'a [WorkloadTime],
    /// Axes of the task along which there are at least two sizes.
    pub axes: &'a [SizedAxis],
    /// Why there are no times, where there are none.
    pub absence: &'a Absence,
}

/// An axis of a task.
#[derive(Clone, Debug)]
pub struct SizedAxis {
    /// What it is called.
    pub name: String,
    /// Workloads along it.
    pub sizes: Vec<Size>,
}

/// How it is looked at.
#[derive(Clone, Debug, Default)]
pub struct WorkloadsView {
    times: FigureView,
    scaling: FigureView,
    subject: Subject,
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Subject {
    /// Every workload.
    #[default]
    Workloads,
    /// Sizes along the axis of this name.
    Scaling(String, Scaled),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadsAction {
    /// This workload was chosen, by the id that the model gives it.
    Choose(i64),
    /// This leaves the window.
    Export(Export),
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &WorkloadsModel<'_>,
    view: &mut WorkloadsView,
) -> Option<WorkloadsAction> {
    if model.times.is_empty() {
        empty::absent(ui, model.absence);
        return None;
    }
    // An axis that is gone is no longer looked at.
    if drawn(model, &view.subject).is_none() {
        view.subject = Subject::Workloads;
    }
    let figure = match drawn(model, &view.subject)? {
        Ok(figure) => figure,
        Err(error) => {
            empty::show(ui, "These times cannot be drawn", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let mut subject = view.subject.clone();
    let looked_at = match subject {
        Subject::Workloads => &mut view.times,
        Subject::Scaling(..) => &mut view.scaling,
    };
    let shown = show_figure(ui, &figure, looked_at, height, |ui| controls(ui, model, &mut subject));
    if subject != view.subject {
        // Other axes, other limits.
        view.scaling = FigureView::default();
        view.subject = subject;
    }
    let chosen = shown.chosen.map(|id| WorkloadsAction::Choose(id.of));
    chosen.or(shown.export.map(WorkloadsAction::Export))
}

fn drawn(model: &WorkloadsModel<'_>, subject: &Subject) -> Option<Result<Figure, Undrawable>> {
    Some(match subject {
        Subject::Workloads => figure::workloads(model.times),
        Subject::Scaling(name, what) => {
            let axis = model.axes.iter().find(|axis| axis.name == *name)?;
            figure::scaling(name, &axis.sizes, *what)
        }
    })
}

/// What is looked at; with a single axis or none there is little to choose.
fn controls(ui: &mut Ui, model: &WorkloadsModel<'_>, subject: &mut Subject) {
    if model.axes.is_empty() {
        return;
    }
    let title = match subject {
        Subject::Workloads => "Workloads".to_owned(),
        Subject::Scaling(name, Scaled::Time) => format!("Time over {name}"),
        Subject::Scaling(name, Scaled::Share) => format!("Share over {name}"),
    };
    ui.menu_button(title, |ui| {
        ui.radio_value(subject, Subject::Workloads, "Workloads");
        for SizedAxis { name, .. } in model.axes {
            let time = Subject::Scaling(name.clone(), Scaled::Time);
            ui.radio_value(subject, time, format!("Time over {name}"));
            let share = Subject::Scaling(name.clone(), Scaled::Share);
            ui.radio_value(subject, share, format!("Share of the bound over {name}"));
        }
    });
}
