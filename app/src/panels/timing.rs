//! How the samples of a run lie, and those of another below them.

use egui::Ui;
use lightbench_core::figure::{self, Sampled};
use lightbench_core::history::RunNumber;

use super::empty;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct TimingModel<'a> {
    /// One run, or two of which the first is what the second is held against.
    pub runs: &'a [Sampled],
    /// Why there is none, where there is none.
    pub absence: &'a Absence,
}

/// How it is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimingView {
    figure: FigureView,
    /// The run under the pointer.
    pub hovered: Option<RunNumber>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum TimingAction {
    /// This run was chosen.
    Choose(RunNumber),
    /// This leaves the window.
    Export(Export),
}

/// Draws the panel.
pub fn show(ui: &mut Ui, model: &TimingModel<'_>, view: &mut TimingView) -> Option<TimingAction> {
    if model.runs.is_empty() {
        empty::absent(ui, model.absence);
        return None;
    }
    let figure = match figure::distribution(model.runs) {
        Ok(figure) => figure,
        Err(error) => {
            empty::show(ui, "These samples cannot be drawn", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height() - ui.spacing().interact_size.y - 16.0;
    let shown = show_figure(ui, &figure, &mut view.figure, height, |_| {});
    view.hovered = shown.hovered.map(|id| RunNumber(id.of));
    let chosen = shown.chosen.map(|id| TimingAction::Choose(RunNumber(id.of)));
    chosen.or(shown.export.map(TimingAction::Export))
}
