//! What was counted, each with what it means: by hardware, where somebody had it profiled, and by the virtual GPU.

use egui::{Grid, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, vec2};
use lightbench_core::speed_of_light::situation::{CountedAt, Profile};
use lightbench_core::verify::verdict::WorkloadTiming;
use lightbench_core::virtual_gpu::cost::{Metric, metrics};

use super::{empty, hardware};
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

const WHO_COUNTS: &str =
    "A virtual GPU counts what a kernel does, by itself or beside the GPU that times it";

/// Which counters are looked for.
#[derive(Debug, Default)]
pub(super) struct CountersView {
    filter: String,
}

/// The time of the current kernel that numbers are shown for.
fn told(bench: &Workbench) -> Option<&WorkloadTiming> {
    let opened = bench.opened.as_ref()?;
    let evaluated = bench.evaluations.of(&opened.kernel)?.evaluated.as_ref()?;
    bench.told(&evaluated.run.verdict.as_ref().ok()?.timings)
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut CountersView,
    commands: &mut Vec<Command>,
) {
    let told = told(bench);
    let profile = told.map(|timing| timing.profile.as_ref().map(|profile| (timing, profile)));
    let counted = profile.as_ref().and_then(|profile| profile.as_ref().ok().copied());
    if counted.is_none() && !hardware::is_known(bench) {
        let why = profile.and_then(Result::err);
        let why = why.map_or_else(|| WHO_COUNTS.to_owned(), ToString::to_string);
        empty::show(ui, "Nothing was counted yet", &why);
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
        if let Some((timing, profile)) = counted {
            modelled(ui, (timing, profile), &filter);
        }
    });
}

/// What the virtual GPU counted.
fn modelled(ui: &mut Ui, (timing, profile): (&WorkloadTiming, &Profile), filter: &str) {
    let tokens = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        Icon::Ring.show(ui, tokens.origin.modelled.0);
        ui.label(RichText::new("Virtual GPU").family(egui::FontFamily::Name(theme::STRONG.into())));
        ui.weak(match &profile.at {
            CountedAt::There => format!("counted on {}", timing.workload),
            CountedAt::Beside(beside) => beside.sentence(),
        });
    });
    ui.add_space(GAP);
    let grid = Grid::new("counters").num_columns(3).striped(true).spacing(vec2(5.0 * GAP, 2.0));
    grid.show(ui, |ui| {
        for metric in metrics().filter(|metric| metric.name.contains(filter)) {
            let Some(value) = (metric.value)(&profile.counted.total) else { continue };
            let name = ui.monospace(metric.name);
            name.on_hover_ui(|ui| card(ui, metric));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(RichText::new(number(value)).color(tokens.text.strong.0));
            });
            ui.weak(if metric.unit == "1" { "" } else { metric.unit });
            ui.end_row();
        }
    });
}

/// What a counter is.
fn card(ui: &mut Ui, metric: &Metric) {
    ui.set_max_width(380.0);
    ui.strong(metric.name);
    ui.label(metric.meaning);
    if let Some(nsight) = metric.nsight {
        ui.weak(format!("Nsight Compute: {nsight}"));
    }
}

/// A count with its thousands apart, a ratio with its digits.
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
