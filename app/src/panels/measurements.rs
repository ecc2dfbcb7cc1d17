//! Times under each condition, energy and device state, as text.

use egui::{Grid, RichText, Ui, vec2};
use lightbench_core::measure::energy::Joules;
use lightbench_core::measure::{Conditions, Mode};
use lightbench_core::report::document::timing::ReportedEnergy;
use lightbench_core::units::Watts;

use super::{sentence, source_icon};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::measurements::{Measurements, TimeOfMode};

/// Width of a time with its condition, in points.
const WIDTH: f32 = 196.0;

/// The times per condition, one of them selected, and the energy, side by side above the samples.
pub(super) fn times(ui: &mut Ui, measured: &Measurements, chosen: &mut Mode) {
    let tokens = theme::tokens(ui);
    let columns = ((ui.available_width() / WIDTH) as usize).clamp(1, 3);
    Grid::new("modes").num_columns(columns).spacing(vec2(GAP, 1.0)).show(ui, |ui| {
        for (number, time) in measured.times.iter().enumerate() {
            new_row(ui, number, columns);
            ui.horizontal(|ui| time_of_mode(ui, &tokens, time, chosen));
        }
        if let Some(energy) = &measured.energy {
            new_row(ui, measured.times.len(), columns);
            ui.horizontal(|ui| energy_text(ui, &tokens, energy));
        }
    });
}

fn new_row(ui: &mut Ui, number: usize, columns: usize) {
    if number > 0 && number.is_multiple_of(columns) {
        ui.end_row();
    }
}

fn time_of_mode(ui: &mut Ui, tokens: &Tokens, time: &TimeOfMode, chosen: &mut Mode) {
    let (icon, color) = source_icon(tokens, time.source);
    icon.show(ui, color);
    let about = time.interval.map(|(low, high)| {
        if time.is_modelled {
            let meaning = "The expected band of measured times".to_owned();
            return (format!(" ({low} to {high})"), meaning);
        }
        let half = (high.0 - low.0) / 2.0 / time.median.0 * 100.0;
        (format!(" ± {half:.1} %"), format!("95 % confidence interval: {low} to {high}"))
    });
    let (error, interval) = about.unwrap_or_default();
    let word = time.mode.map_or("not stated", Mode::word);
    let response = ui.selectable_label(time.mode == Some(*chosen), word);
    let meaning = time.mode.map(meaning).unwrap_or_default();
    if response.on_hover_text(meaning).clicked()
        && let Some(mode) = time.mode
    {
        *chosen = mode;
    }
    ui.spacing_mut().item_spacing.x = 0.0;
    let value = RichText::new(time.median.to_string()).color(tokens.text.strong.0);
    ui.label(value).on_hover_text(&interval);
    ui.weak(error).on_hover_text(interval);
    for taint in &time.taint {
        Icon::Warning.show(ui, tokens.status.warning.0).on_hover_text(sentence(taint));
    }
}

const fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Cold => "Cold caches: the scored condition",
        Mode::Warm => "Repeated executions on the same buffers",
        Mode::Graph => "Back-to-back replays of a CUDA graph of one execution",
        Mode::Server => "After idle periods of random length",
    }
}

fn energy_text(ui: &mut Ui, tokens: &Tokens, energy: &ReportedEnergy) {
    match energy {
        ReportedEnergy::Measured { joules, interval_joules, power_watts, idle_watts, .. } => {
            let (each, [low, high]) = (Joules(*joules), interval_joules.map(Joules));
            let (power, idle) = (Watts(*power_watts), Watts(*idle_watts));
            let about = format!(
                "Per execution, above idle power: {low} to {high}. Power was {power} during the measurement and {idle} when idle"
            );
            Icon::Dot.show(ui, tokens.origin.measured.0);
            ui.add_space(ui.spacing().button_padding.x);
            ui.label("energy").on_hover_text(&about);
            ui.add_space(ui.spacing().button_padding.x);
            let value = RichText::new(each.to_string()).color(tokens.text.strong.0);
            ui.label(value).on_hover_text(about);
        }
        ReportedEnergy::Withheld { withheld: why } => {
            Icon::Warning.show(ui, tokens.text.weak.0);
            ui.weak(format!("no energy: {why}"));
        }
    }
}

/// The device state as pairs of name and value.
pub(super) fn device_state(conditions: &Conditions) -> Vec<(&'static str, String)> {
    let Conditions { sm_clock, power, celsius, power_capped, other_processes, locked, memory } =
        conditions;
    let mut all = Vec::new();
    if let Some((low, high)) = sm_clock {
        let (low, high) = (low.to_string(), high.to_string());
        let range = if low == high { low } else { format!("{low} to {high}") };
        all.push(("clock", range));
    }
    if *power_capped {
        all.push(("power limit", "reduced the clock".to_owned()));
    }
    all.extend(locked.map(|locked| ("clock locked at", locked.to_string())));
    all.extend(power.map(|power| ("power", format!("up to {power}"))));
    all.extend(celsius.map(|celsius| ("temperature", format!("up to {celsius} °C"))));
    all.extend(memory.map(|memory| ("memory", format!("at least {memory}"))));
    if *other_processes > 0 {
        all.push(("other processes", other_processes.to_string()));
    }
    all
}
