//! Panel of counters with explanations: of the hardware, if profiled, and of the virtual GPU.

use egui::{Grid, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, vec2};
use lightbench_core::speed_of_light::performance_data::{CounterLocation, Profile};
use lightbench_core::virtual_gpu::cost::{Metric, metrics};

use super::{hardware, pinned_column, placeholder};
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct CountersView {
    filter: String,
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut CountersView,
    commands: &mut Vec<Command>,
) {
    let counted =
        bench.shown_counters().and_then(|(workload, counters)| Some((workload, counters.ok()?)));
    if counted.is_none() && !hardware::is_known(bench) {
        placeholder::absent(ui, &bench.without_counts());
        ui.add_space(2.0 * GAP);
        ui.vertical_centered(|ui| hardware::ask(ui, commands));
        return;
    }
    ui.horizontal(|ui| {
        let field =
            ui.add(TextEdit::singleline(&mut view.filter).hint_text("Filter").desired_width(160.0));
        field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Filter counters"));
        hardware::ask(ui, commands);
    });
    ui.add_space(GAP);
    let filter = view.filter.trim().to_owned();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if hardware::is_known(bench) {
            hardware::show(ui, bench, &filter, commands);
            ui.add_space(3.0 * GAP);
        }
        if let Some(counted) = counted {
            modelled(ui, bench, counted, &filter);
        }
    });
}

/// The virtual GPU's counters, with differences to the pinned run.
fn modelled(ui: &mut Ui, bench: &Workbench, (workload, profile): (&str, &Profile), filter: &str) {
    let tokens = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        Icon::Ring.show(ui, tokens.origin.modelled.0);
        ui.label(RichText::new("Virtual GPU").family(egui::FontFamily::Name(theme::STRONG.into())));
        ui.weak(match &profile.at {
            CounterLocation::SameWorkload => format!("counted on {workload}"),
            CounterLocation::Extrapolated(beside) => beside.sentence(),
        });
    });
    ui.add_space(GAP);
    let pinned = bench.comparison_base();
    let grid = Grid::new("counters").num_columns(4).striped(true).spacing(vec2(5.0 * GAP, 2.0));
    grid.show(ui, |ui| {
        if let Some(pinned) = pinned {
            ui.label("");
            ui.label("");
            ui.label("");
            pinned_column::head(ui, bench, pinned);
            ui.end_row();
        }
        for metric in metrics().filter(|metric| metric.name.contains(filter)) {
            let Some(value) = (metric.value)(&profile.counted.total) else { continue };
            let name = ui.monospace(metric.name);
            name.on_hover_ui(|ui| card(ui, metric));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(RichText::new(number(value)).color(tokens.text.strong.0));
            });
            ui.weak(if metric.unit == "1" { "" } else { metric.unit });
            if let Some(pinned) = pinned {
                let beside = pinned.beside(workload, metric, (value, &profile.at));
                pinned_column::cell(
                    ui,
                    (metric.name, pinned),
                    beside,
                    pinned_column::counter(beside),
                );
            }
            ui.end_row();
        }
    });
}

/// The explanation of a counter.
fn card(ui: &mut Ui, metric: &Metric) {
    ui.set_max_width(380.0);
    ui.strong(metric.name);
    ui.label(metric.meaning);
    if let Some(nsight) = metric.nsight {
        ui.weak(format!("Nsight Compute: {nsight}"));
    }
}

/// A count with separated thousands, or a ratio.
pub(super) fn number(value: f64) -> String {
    if value.fract() != 0.0 {
        return format!("{value:.3}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}
