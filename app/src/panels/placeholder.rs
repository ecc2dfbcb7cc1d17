//! Placeholders of panels without data: what is missing, and what to do.

use egui::{Align, Layout, RichText, Ui};

use super::sentence;
use crate::theme::{self, GAP};
use crate::workbench::absence::Absence;

/// The placeholder for a missing number of a run.
pub(super) fn absent(ui: &mut Ui, absence: &Absence) {
    show(ui, &absence.what, &sentence(&absence.advice));
}

pub(super) fn show(ui: &mut Ui, what: &str, advice: &str) {
    let tokens = theme::tokens(ui);
    ui.with_layout(Layout::top_down(Align::Center), |ui| {
        ui.add_space((ui.available_height() * 0.3).min(80.0));
        let strong = egui::FontFamily::Name(theme::STRONG.into());
        ui.label(RichText::new(what).family(strong).color(tokens.text.normal.0));
        ui.add_space(GAP);
        ui.label(RichText::new(advice).color(tokens.text.weak.0));
    });
}
