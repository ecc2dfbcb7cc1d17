//! Panel of the device: its state while the kernel was timed, and its sheet with sources.

use egui::{Grid, RichText, ScrollArea, Ui, vec2};

use lightbench_core::measure::energy::Joules;
use lightbench_core::report::document::timing::ReportedEnergy;
use lightbench_core::units::Watts;

use super::{measurements, placeholder};
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::evaluations::MachineState;

pub(super) fn show(ui: &mut Ui, bench: &Workbench) {
    let Some(device) = bench.device() else {
        match &bench.evaluations.machine {
            MachineState::Unusable(why) => {
                placeholder::show(ui, "Nothing can run on this machine yet", &super::sentence(why));
            }
            MachineState::Detecting | MachineState::Known(_) => {
                placeholder::show(ui, "No device detected yet", "Detecting devices");
            }
        }
        return;
    };
    let sheet = device.sheet;
    ui.label(RichText::new(&device.title).family(egui::FontFamily::Name(theme::STRONG.into())));
    ui.weak(format!("{}, {}", device.name, sheet.architecture()));
    ui.add_space(2.0 * GAP);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        meanwhile(ui, bench);
        Grid::new("device").num_columns(2).spacing(vec2(6.0 * GAP, 3.0)).show(ui, |ui| {
            let mut line = |name: &str, value: Option<String>| {
                ui.weak(name);
                ui.label(value.unwrap_or_else(|| "unknown".to_owned()));
                ui.end_row();
            };
            line("compute capability", Some(sheet.capability.compute_capability.to_string()));
            line("multiprocessors", sheet.sms.get().map(|value| value.to_string()));
            line("boost clock", sheet.boost_clock.get().map(|value| value.to_string()));
            line("memory", sheet.memory_size());
            line("memory rate", sheet.dram_bandwidth.get().map(|value| value.to_string()));
            line("L2 cache", sheet.l2.get().map(|value| value.to_string()));
            line("board power", sheet.power_limit.get().map(|value| value.to_string()));
        });
        remarks(ui, &device.remarks);
        ui.add_space(2.0 * GAP);
        ui.label(RichText::new("Documents").small().color(theme::tokens(ui).text.weak.0));
        for document in sheet.sources.values() {
            ui.add(egui::Label::new(RichText::new(document).small()).wrap());
        }
    });
}

/// Particular properties of the device, and contradictions to its description.
fn remarks(ui: &mut Ui, remarks: &[String]) {
    if remarks.is_empty() {
        return;
    }
    ui.add_space(2.0 * GAP);
    ui.label(RichText::new("Description").small().color(theme::tokens(ui).text.weak.0));
    for remark in remarks {
        ui.add(egui::Label::new(super::sentence(remark)).wrap());
    }
}

/// State and energy of the device while the shown run was timed.
fn meanwhile(ui: &mut Ui, bench: &Workbench) {
    let Some(measured) = bench.measurements() else { return };
    let mut lines: Vec<(&str, String)> =
        measured.conditions.iter().flat_map(measurements::device_state).collect();
    if let Some(ReportedEnergy::Measured { joules, power_watts, idle_watts, .. }) = &measured.energy
    {
        lines.push(("energy of an execution", Joules(*joules).to_string()));
        lines.push(("power while it repeats", Watts(*power_watts).to_string()));
        lines.push(("power when idle", Watts(*idle_watts).to_string()));
    }
    let tokens = theme::tokens(ui);
    if let Some(what) = measured.unrecorded {
        ui.horizontal_wrapped(|ui| {
            Icon::Square.show(ui, tokens.origin.recorded.0);
            ui.weak(format!(
                "{what} of the shown run were not recorded; run it again to measure them"
            ));
        });
        ui.add_space(2.0 * GAP);
    }
    if lines.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        Icon::Dot.show(ui, tokens.origin.measured.0);
        ui.weak("measured during the shown run");
    });
    ui.add_space(GAP);
    Grid::new("meanwhile").num_columns(2).spacing(vec2(6.0 * GAP, 3.0)).show(ui, |ui| {
        for (name, value) in lines {
            ui.weak(name);
            ui.label(RichText::new(value).color(tokens.text.strong.0));
            ui.end_row();
        }
    });
    ui.add_space(3.0 * GAP);
    ui.weak("sheet");
    ui.add_space(GAP);
}
