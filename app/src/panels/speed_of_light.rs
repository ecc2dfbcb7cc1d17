//! Panel of the speed of light: achieved fraction per unit of the device, beside those of the pinned run.

use egui::Ui;
use lightbench_core::figure::{self, BusyUnit};

use super::placeholder;
use crate::widgets::figure::{Export, FigureView, show as show_figure};
use crate::workbench::absence::Absence;

/// The selected metric.
#[derive(Clone, Copy, Debug)]
pub struct SpeedOfLightModel<'a> {
    /// The units, the busiest first.
    pub units: &'a [BusyUnit],
    /// The title of the pinned run.
    pub pinned: Option<&'a str>,
    /// The placeholder if there are no units.
    pub absence: &'a Absence,
}

/// View state of the panel.
#[derive(Clone, Debug, Default)]
pub struct SpeedOfLightView {
    figure: FigureView,
}

/// An action of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum SpeedOfLightAction {
    /// A unit was selected, by index.
    Explain(usize),
    /// An export was requested.
    Export(Export),
}

/// Draws the panel.
pub fn show(
    ui: &mut Ui,
    model: &SpeedOfLightModel<'_>,
    view: &mut SpeedOfLightView,
) -> Option<SpeedOfLightAction> {
    if model.units.is_empty() {
        placeholder::absent(ui, model.absence);
        return None;
    }
    let figure = match figure::speed_of_light(model.units, model.pinned) {
        Ok(figure) => figure,
        Err(error) => {
            placeholder::show(ui, "These fractions cannot be drawn", &error.to_string());
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
