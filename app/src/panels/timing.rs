//! Panel of the timing samples of a run, with those of another run below.

use egui::Ui;
use lightbench_core::figure::{self, SampledRun};
use lightbench_core::history::RunNumber;

use super::placeholder;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// The selected metric.
#[derive(Clone, Copy, Debug)]
pub struct TimingModel<'a> {
    /// One run, or the base of comparison and a run.
    pub runs: &'a [SampledRun],
    /// The placeholder if there are no units.
    pub absence: &'a Absence,
}

/// View state of the panel.
#[derive(Clone, Debug, Default)]
pub struct TimingView {
    figure: FigureView,
    /// The run under the pointer.
    pub hovered: Option<RunNumber>,
}

/// An action of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum TimingAction {
    /// A run was selected.
    Choose(RunNumber),
    /// An export was requested.
    Export(Export),
}

/// Draws the panel.
pub fn show(ui: &mut Ui, model: &TimingModel<'_>, view: &mut TimingView) -> Option<TimingAction> {
    if model.runs.is_empty() {
        placeholder::absent(ui, model.absence);
        return None;
    }
    let figure = match figure::distribution(model.runs) {
        Ok(figure) => figure,
        Err(error) => {
            placeholder::show(ui, "These samples cannot be drawn", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let shown = show_figure(ui, &figure, &mut view.figure, height, |_| {});
    view.hovered = shown.hovered.map(|id| RunNumber(id.of));
    let chosen = shown.chosen.map(|id| TimingAction::Choose(RunNumber(id.of)));
    chosen.or(shown.export.map(TimingAction::Export))
}
