//! How near each unit of the device is to its best, beside a run that is held against it.

use egui::Ui;
use lightbench_core::figure::{self, Busy};

use super::empty;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct SpeedOfLightModel<'a> {
    /// The units, the busiest first.
    pub units: &'a [Busy],
    /// What the run is called that they are held against.
    pub pinned: Option<&'a str>,
    /// Why there is none, where there is none.
    pub absence: &'a Absence,
}

/// How it is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpeedOfLightView {
    figure: FigureView,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum SpeedOfLightAction {
    /// This unit was chosen, by its place in the model.
    Explain(usize),
    /// This leaves the window.
    Export(Export),
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &SpeedOfLightModel<'_>,
    view: &mut SpeedOfLightView,
) -> Option<SpeedOfLightAction> {
    if model.units.is_empty() {
        empty::absent(ui, model.absence);
        return None;
    }
    let figure = match figure::speed_of_light(model.units, model.pinned) {
        Ok(figure) => figure,
        Err(error) => {
            empty::show(ui, "These shares cannot be drawn", &error.to_string());
            return None;
        }
    };
    let height = ui.available_height();
    let shown = show_figure(ui, &figure, &mut view.figure, height, |_| {});
    let explained = shown.chosen.and_then(|id| {
        model.units.iter().position(|unit| unit.id == id.of).map(SpeedOfLightAction::Explain)
    });
    explained.or(shown.export.map(SpeedOfLightAction::Export))
}
