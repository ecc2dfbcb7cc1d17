//! Panel of counters with explanations: of the hardware, if profiled, and of the virtual GPU.

use egui::{Grid, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, vec2};
use lightbench_core::history::RunNumber;
use lightbench_core::history::numbers::{CountedLocation, RecordedCounts};
use lightbench_core::speed_of_light::performance_data::{CounterLocation, Profile};
use lightbench_core::verify::verdict::WorkloadTiming;
use lightbench_core::virtual_gpu::cost::{Metric, metrics};

use super::{hardware, pinned_column, placeholder};
use crate::theme::{self, GAP};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::matrix::place;
use crate::workbench::pinned::recorded;

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct CountersView {
    filter: String,
}

/// The virtual GPU's counters of the shown run.
enum CounterSource<'a> {
    /// From a verdict of this window: all counters.
    Newest(&'a WorkloadTiming, &'a Profile),
    /// From the history: the stored counters.
    Recorded(RunNumber, &'a RecordedCounts),
}

fn counter_source(bench: &Workbench) -> Option<CounterSource<'_>> {
    let Some(evaluated) = bench.shown_verdict() else {
        let (run, numbers) = bench.recorded_numbers()?;
        return Some(CounterSource::Recorded(run.number, numbers.counted.as_ref()?));
    };
    let timing = bench.summary_timing(&evaluated.run.verdict.as_ref().ok()?.timings)?;
    Some(CounterSource::Newest(timing, timing.profile.as_ref().ok()?))
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut CountersView,
    commands: &mut Vec<Command>,
) {
    let told = counter_source(bench);
    if told.is_none() && !hardware::is_known(bench) {
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
        if let Some(told) = told {
            modelled(ui, bench, &told, &filter);
        }
    });
}

impl CounterSource<'_> {
    fn place(&self) -> CountedLocation {
        match self {
            Self::Newest(_, profile) => CountedLocation::from_source(&profile.at),
            Self::Recorded(_, counts) => counts.at.clone(),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Newest(timing, profile) => match &profile.at {
                CounterLocation::SameWorkload => format!("counted on {}", timing.workload),
                CounterLocation::Extrapolated(beside) => beside.sentence(),
            },
            Self::Recorded(number, counts) => {
                format!("recorded counters of run #{number}, counted {}", place(&counts.at))
            }
        }
    }

    fn value(&self, metric: &Metric) -> Option<f64> {
        match self {
            Self::Newest(_, profile) => (metric.value)(&profile.counted.total),
            Self::Recorded(_, counts) => recorded(counts, metric),
        }
    }
}

/// The virtual GPU's counters, with differences to the pinned run.
fn modelled(ui: &mut Ui, bench: &Workbench, told: &CounterSource<'_>, filter: &str) {
    let tokens = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        Icon::Ring.show(ui, tokens.origin.modelled.0);
        ui.label(RichText::new("Virtual GPU").family(egui::FontFamily::Name(theme::STRONG.into())));
        ui.weak(told.words());
    });
    ui.add_space(GAP);
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    let (pinned, at) = (bench.comparison_base(), told.place());
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
            let Some(value) = told.value(metric) else { continue };
            let name = ui.monospace(metric.name);
            name.on_hover_ui(|ui| card(ui, metric));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(RichText::new(number(value)).color(tokens.text.strong.0));
            });
            ui.weak(if metric.unit == "1" { "" } else { metric.unit });
            if let Some(pinned) = pinned {
                let beside = pinned.beside(workload, metric, (value, &at));
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
