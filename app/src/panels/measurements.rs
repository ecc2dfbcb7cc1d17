//! Times under each condition, energy, and what the device did meanwhile, in words.

use egui::{Align, Grid, Layout, RichText, Ui, vec2};
use lightbench_core::measure::{Conditions, Energy, Mode, NoEnergy};

use super::sentence;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::measurements::{Measurements, TimeOfMode};
use crate::workbench::runs::TimeSource;

/// A line for each condition, of which one is chosen, and one for energy.
pub(super) fn times(ui: &mut Ui, measured: &Measurements, chosen: &mut Mode) {
    let tokens = theme::tokens(ui);
    Grid::new("modes").num_columns(4).spacing(vec2(3.0 * GAP, 3.0)).show(ui, |ui| {
        for time in &measured.times {
            time_of_mode(ui, &tokens, time, chosen);
            ui.end_row();
        }
        if let Some(energy) = &measured.energy {
            of_energy(ui, &tokens, energy);
            ui.end_row();
        }
    });
}

fn time_of_mode(ui: &mut Ui, tokens: &Tokens, time: &TimeOfMode, chosen: &mut Mode) {
    let (icon, color) = match time.source {
        TimeSource::Measured => (Icon::Dot, tokens.origin.measured.0),
        TimeSource::Modelled => (Icon::Ring, tokens.origin.modelled.0),
        TimeSource::Recorded => (Icon::Square, tokens.origin.recorded.0),
    };
    icon.show(ui, color);
    match time.mode {
        Some(mode) => {
            let label = ui.selectable_label(*chosen == mode, mode.word());
            if label.on_hover_text(meaning(mode)).clicked() {
                *chosen = mode;
            }
        }
        None => drop(ui.weak("not stated")),
    }
    value(ui, tokens, &time.median.to_string());
    let interval = time.interval.map(|(low, high)| format!("{low} to {high}"));
    ui.horizontal(|ui| {
        ui.weak(interval.unwrap_or_default());
        for taint in &time.taint {
            Icon::Warning.show(ui, tokens.status.warning.0).on_hover_text(sentence(taint));
        }
    });
}

const fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Cold => "Caches hold nothing of the workload: the score",
        Mode::Warm => "The same work again and again, on the same buffers",
        Mode::Graph => "A graph of one execution, replayed again and again",
        Mode::Server => "After pauses of random length in which the GPU does nothing",
    }
}

fn value(ui: &mut Ui, tokens: &Tokens, text: &str) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.label(RichText::new(text).color(tokens.text.strong.0));
    });
}

fn of_energy(ui: &mut Ui, tokens: &Tokens, energy: &Result<Energy, NoEnergy>) {
    match energy {
        Ok(energy) => {
            Icon::Dot.show(ui, tokens.origin.measured.0);
            ui.label("energy").on_hover_text(
                "Of one execution, above what the device draws when it does nothing",
            );
            value(ui, tokens, &energy.each.to_string());
            let Energy { interval: (low, high), power, idle, .. } = energy;
            ui.weak(format!("{low} to {high}; {power} in all, {idle} idle"));
        }
        Err(why) => {
            Icon::Warning.show(ui, tokens.text.weak.0);
            ui.label("energy");
            ui.weak("none");
            ui.weak(sentence(&why.to_string()));
        }
    }
}

/// What the device did, number by number.
pub(super) fn of_device(conditions: &Conditions) -> Vec<(&'static str, String)> {
    let Conditions { sm_clock, power, celsius, power_capped, other_processes, locked } = conditions;
    let mut all = Vec::new();
    if let Some((low, high)) = sm_clock {
        let (low, high) = (low.to_string(), high.to_string());
        let range = if low == high { low } else { format!("{low} to {high}") };
        let held = if *power_capped { ", held down by the power limit" } else { "" };
        all.push(("clock", range + held));
    }
    all.extend(locked.map(|locked| ("clock locked at", locked.to_string())));
    all.extend(power.map(|power| ("power", format!("up to {power}"))));
    all.extend(celsius.map(|celsius| ("temperature", format!("up to {celsius} °C"))));
    if *other_processes > 0 {
        all.push(("other processes", other_processes.to_string()));
    }
    all
}
