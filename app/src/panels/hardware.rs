//! Hardware counters measured by the profiler, kept apart from modelled counters.

use egui::{Align, Button, Grid, Layout, RichText, Ui, vec2};
use lightbench_core::nsight::metric::Group;
use lightbench_core::nsight::quantity::Quantity;
use lightbench_core::nsight::stalls::StalledLine;
use lightbench_core::nsight::{Measured, ProfiledLaunch};

use super::counters::number;
use super::sentence;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, MeasureCommand};
use crate::workbench::profiling::{Age, ProfiledRun, Profiling, ProfilingState};

/// Maximum number of shown lines.
const MOST_LINES: usize = 8;
/// Width of a column of numbers, in points.
const WIDTH_OF_VALUE: f32 = 84.0;
const WIDTH_OF_SHARE: f32 = 50.0;

/// The profile of the current kernel.
fn known(bench: &Workbench) -> Option<&Profiling> {
    let opened = bench.opened.as_ref()?;
    bench.evaluations.kernel(&opened.kernel).map(|known| &known.profiling)
}

/// Whether there is a profile, or a reason for a missing one.
pub(super) fn is_known(bench: &Workbench) -> bool {
    known(bench).is_some_and(|known| known.counted.is_some() || known.state != ProfilingState::Idle)
}

/// Draws the counters that pass the filter, and the profiler's state.
pub(super) fn show(ui: &mut Ui, bench: &Workbench, filter: &str, commands: &mut Vec<Command>) {
    let tokens = theme::tokens(ui);
    state(ui, bench, &tokens, commands);
    let Some((counted, age)) = bench.counted() else { return };
    ui.horizontal_wrapped(|ui| {
        Icon::Dot.show(ui, tokens.origin.measured.0);
        ui.label(RichText::new("Hardware").family(egui::FontFamily::Name(theme::STRONG.into())));
        ui.weak(format!(
            "measured by Nsight Compute on {} at {}; clocks not locked, caches flushed",
            counted.device, counted.workload
        ));
    });
    if age == Age::Old {
        let text = "Measured before the latest change of the text; profile again";
        ui.colored_label(tokens.status.warning.0, text);
    }
    ui.add_space(GAP);
    lines(ui, &tokens, counted, commands);
    ui.add_space(2.0 * GAP);
    let launches = &counted.hardware.profile.launches;
    for (number, launch) in (1..).zip(launches) {
        if launches.len() > 1 {
            let in_all = counted.hardware.profile.in_all;
            ui.weak(format!("Launch {number} of {in_all}, {}", launch.kernel));
        }
        numbers(ui, &tokens, (number, launch), filter);
        ui.add_space(2.0 * GAP);
    }
}

/// State of the latest request.
fn state(ui: &mut Ui, bench: &Workbench, tokens: &Tokens, commands: &mut Vec<Command>) {
    let Some(known) = known(bench) else { return };
    match &known.state {
        ProfilingState::Idle => return,
        ProfilingState::Running(_) => {
            ui.horizontal(|ui| {
                Icon::Dot.show(ui, tokens.status.running.0);
                ui.label("Verifying, then profiling with Nsight Compute…");
                if ui.button("Stop").clicked() {
                    commands.push(Command::Stop);
                }
            });
        }
        ProfilingState::Failed(why) => {
            ui.horizontal_wrapped(|ui| {
                Icon::Warning.show(ui, tokens.status.warning.0);
                ui.label(sentence(why));
            });
        }
    }
    ui.add_space(GAP);
}

/// The button that requests a profile, if the panel is otherwise empty.
pub(super) fn ask(ui: &mut Ui, commands: &mut Vec<Command>) {
    let button = Button::new("Profile on the GPU").shortcut_text("Ctrl+F5");
    if ui.add(button).on_hover_text("Nsight Compute counts what the hardware does").clicked() {
        commands.push(Command::Measure(MeasureCommand::Profile));
    }
}

fn numbers(ui: &mut Ui, tokens: &Tokens, (number, launch): (i32, &ProfiledLaunch), filter: &str) {
    let passes = |measured: &&Measured| {
        let metric = measured.metric;
        metric.title.contains(filter) || metric.name.contains(filter)
    };
    let grid = Grid::new(("hardware", number)).num_columns(3).spacing(vec2(5.0 * GAP, 2.0));
    grid.striped(true).show(ui, |ui| {
        let mut before: Option<Group> = None;
        for measured in launch.measured.iter().filter(passes) {
            let Measured { metric, quantity } = measured;
            let is_new = before.replace(metric.group) != Some(metric.group);
            ui.weak(if is_new { metric.group.to_string() } else { String::new() });
            ui.label(&metric.title).on_hover_ui(|ui| {
                ui.set_max_width(380.0);
                ui.strong(&metric.title);
                ui.label(sentence(&metric.what));
                ui.weak(format!("Nsight Compute: {}", metric.name));
            });
            let value = quantity.as_ref().map_or_else(|| "none".to_owned(), shown);
            to_the_right(ui, tokens, WIDTH_OF_VALUE, &value);
            ui.end_row();
        }
    });
}

/// A value as cell text; counts have separated thousands.
fn shown(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Count(count) => number(count.round()),
        Quantity::Seconds(_)
        | Quantity::Bytes(_)
        | Quantity::Percent(_)
        | Quantity::Ratio(_)
        | Quantity::AsWritten { .. } => quantity.to_string(),
    }
}

/// A right-aligned number.
fn to_the_right(ui: &mut Ui, tokens: &Tokens, width: f32, text: &str) {
    let place = vec2(width, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(place, Layout::right_to_left(Align::Center), |ui| {
        ui.label(RichText::new(text).color(tokens.text.strong.0));
    });
}

/// The lines with most stall samples; a click moves the cursor there.
fn lines(ui: &mut Ui, tokens: &Tokens, counted: &ProfiledRun, commands: &mut Vec<Command>) {
    let stalls = match &counted.hardware.stalls {
        Ok(stalls) => stalls,
        Err(why) => {
            ui.weak(format!("Warp stalls by line are unavailable: {why}"));
            return;
        }
    };
    ui.horizontal_wrapped(|ui| {
        Icon::Dot.show(ui, tokens.origin.measured.0);
        let title = RichText::new("Warp stalls by line");
        ui.label(title.family(egui::FontFamily::Name(theme::STRONG.into())));
        let inlined =
            if stalls.overlap() { "; inlined code counts at each of its lines" } else { "" };
        ui.weak(format!("of {} samples{inlined}", number(stalls.samples as f64)));
    });
    ui.add_space(GAP);
    let grid = Grid::new("stalls").num_columns(3).spacing(vec2(5.0 * GAP, 2.0));
    grid.striped(true).show(ui, |ui| {
        for line in stalls.lines.iter().take(MOST_LINES) {
            let share = stalls.share(line.samples) * 100.0;
            to_the_right(ui, tokens, WIDTH_OF_SHARE, &format!("{share:.1} %"));
            let own = std::path::Path::new(&line.file) == counted.kernel.file;
            if own {
                if ui.link(format!("line {}", line.line)).clicked() {
                    let file = counted.kernel.file.clone();
                    commands.push(Command::GoTo(file, line.line, 1));
                }
            } else {
                ui.weak(format!("{}:{}", file_name(&line.file), line.line))
                    .on_hover_text(&line.file);
            }
            ui.label(reasons(line)).on_hover_text(&line.instruction);
            ui.end_row();
        }
    });
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The two most frequent stall reasons.
fn reasons(line: &StalledLine) -> String {
    let part = |count: u64| count as f64 / line.samples as f64 * 100.0;
    let named = line.reasons.iter().take(2);
    let named = named.map(|(reason, count)| format!("{} {:.0} %", reason.title, part(*count)));
    named.collect::<Vec<_>>().join(", ")
}
