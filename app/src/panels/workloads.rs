//! Panel of the times of all workloads, and their scaling with the task's sizes.

use egui::Ui;
use lightbench_core::figure::{
    self, Figure, ScalingPoint, ScalingQuantity, Undrawable, WorkloadTime,
};

use super::placeholder;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// The selected metric.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadsModel<'a> {
    /// The workloads in the project's order.
    pub times: &'a [WorkloadTime],
    /// Axes of the task with at least two sizes.
    pub axes: &'a [SizedAxis],
    /// The placeholder if there are no times.
    pub absence: &'a Absence,
}

/// An axis of a task.
#[derive(Clone, Debug)]
pub struct SizedAxis {
    pub name: String,
    /// Workloads along it.
    pub sizes: Vec<ScalingPoint>,
}

/// View state of the panel.
#[derive(Clone, Debug, Default)]
pub struct WorkloadsView {
    times: FigureView,
    scaling: FigureView,
    subject: Subject,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Subject {
    #[default]
    Workloads,
    /// Sizes along the axis with this name.
    Scaling(String, ScalingQuantity),
}

/// An action of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadsAction {
    /// A workload was selected, by its id in the model.
    Choose(i64),
    /// An export was requested.
    Export(Export),
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &WorkloadsModel<'_>,
    view: &mut WorkloadsView,
) -> Option<WorkloadsAction> {
    if model.times.is_empty() {
        placeholder::absent(ui, model.absence);
        return None;
    }
    // The selected axis no longer exists.
    if drawn(model, &view.subject).is_none() {
        view.subject = Subject::Workloads;
    }
    let figure = match drawn(model, &view.subject)? {
        Ok(figure) => figure,
        Err(error) => {
            placeholder::show(ui, "These times cannot be drawn", &error.to_string());
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
        // Another axis has other limits.
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

/// The selector of the subject; hidden if there is only one.
fn controls(ui: &mut Ui, model: &WorkloadsModel<'_>, subject: &mut Subject) {
    if model.axes.is_empty() {
        return;
    }
    let title = match subject {
        Subject::Workloads => "Workloads".to_owned(),
        Subject::Scaling(name, ScalingQuantity::Time) => format!("Time over {name}"),
        Subject::Scaling(name, ScalingQuantity::BoundFraction) => format!("Share over {name}"),
    };
    ui.menu_button(title, |ui| {
        ui.radio_value(subject, Subject::Workloads, "Workloads");
        for SizedAxis { name, .. } in model.axes {
            let time = Subject::Scaling(name.clone(), ScalingQuantity::Time);
            ui.radio_value(subject, time, format!("Time over {name}"));
            let share = Subject::Scaling(name.clone(), ScalingQuantity::BoundFraction);
            ui.radio_value(subject, share, format!("Fraction of the bound over {name}"));
        }
    });
}
