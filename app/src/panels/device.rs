//! The device: what its sheet says, each number with its source.

use egui::{Grid, RichText, ScrollArea, Ui, vec2};

use super::empty;
use crate::theme::{self, GAP};
use crate::workbench::Workbench;

pub(super) fn show(ui: &mut Ui, bench: &Workbench) {
    let Some(device) = bench.device() else {
        empty::show(ui, "No device is known yet", "It is being looked for");
        return;
    };
    let sheet = device.sheet;
    ui.label(RichText::new(&device.title).family(egui::FontFamily::Name(theme::STRONG.into())));
    ui.weak(format!("{}, {}", device.name, sheet.architecture()));
    ui.add_space(2.0 * GAP);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Grid::new("device").num_columns(2).spacing(vec2(6.0 * GAP, 3.0)).show(ui, |ui| {
            let mut line = |name: &str, value: Option<String>| {
                ui.weak(name);
                ui.label(value.unwrap_or_else(|| "unknown".to_owned()));
                ui.end_row();
            };
            line("compute capability", Some(sheet.capability.compute_capability.to_string()));
            line("multiprocessors", sheet.sms.get().map(|value| value.to_string()));
            line("boost clock", sheet.boost_clock.get().map(|value| value.to_string()));
            line("memory", sheet.dram.get().map(|value| value.to_string()));
            line("memory rate", sheet.dram_bandwidth.get().map(|value| value.to_string()));
            line("L2 cache", sheet.l2.get().map(|value| value.to_string()));
            line("board power", sheet.power_limit.get().map(|value| value.to_string()));
        });
        ui.add_space(2.0 * GAP);
        ui.label(RichText::new("Documents").small().color(theme::tokens(ui).text.weak.0));
        for document in sheet.sources.values() {
            ui.add(egui::Label::new(RichText::new(document).small()).wrap());
        }
    });
}
