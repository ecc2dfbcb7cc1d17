//! The tooltip of the mark under the pointer or the keyboard cursor.

use egui::{Grid, Rect, Response, RichText, Tooltip, Ui};
use lightbench_core::figure::{Figure, Item, Spot};

use crate::theme;

/// Shows the tooltip beside the mark.
pub(super) fn show(ui: &Ui, figure: &Figure, spot: &Spot, (around, response): (Rect, &Response)) {
    let Some(item) = figure.items().get(spot.item) else { return };
    let card = figure.card(item);
    let tokens = theme::tokens(ui);
    let id = response.id.with("card");
    let anchor = around.expand(2.0);
    let tooltip = Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, anchor);
    tooltip.gap(6.0).show(|ui| {
        let family = egui::FontFamily::Name(theme::STRONG.into());
        ui.label(RichText::new(&card.title).family(family).color(tokens.text.strong.0));
        Grid::new("what is known").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
            for (name, value) in &card.rows {
                ui.label(RichText::new(name).color(tokens.text.weak.0));
                ui.label(value);
                ui.end_row();
            }
        });
    });
}

/// The tooltip in one line.
pub(super) fn words(figure: &Figure, item: &Item) -> String {
    let card = figure.card(item);
    let rows = card.rows.iter().map(|(name, value)| format!("{name} {value}"));
    std::iter::once(card.title.clone()).chain(rows).collect::<Vec<_>>().join(", ")
}
