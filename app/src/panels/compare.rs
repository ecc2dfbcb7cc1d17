//! A or B: two runs side by side, what they have in common and what not, number by number and line by line.

use std::collections::BTreeSet;

use egui::{Grid, RichText, ScrollArea, Ui, vec2};
use lightbench_core::history::StoredRun;
use lightbench_core::history::before::than;
use lightbench_core::history::record::WorkloadName;
use lightbench_core::history::timing::{Mode, RecordedTiming};
use lightbench_core::measure::comparison::Conclusion;
use lightbench_core::speed_of_light::than::Than;

use super::empty;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::code::diff::Diff;
use crate::widgets::code::diff::DiffView;
use crate::widgets::code::syntax::Language;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::comparison::{clock, conditions};

/// Where somebody is in the texts.
#[derive(Debug, Default)]
pub(super) struct CompareView {
    shown: Option<Texts>,
}

struct Texts {
    of: [i64; 2],
    diff: Diff,
    view: DiffView,
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Texts").field("of", &self.of).finish_non_exhaustive()
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut CompareView,
    commands: &mut Vec<Command>,
) {
    let Some(runs) = bench.compared() else {
        empty::show(
            ui,
            "Nothing to compare yet",
            "Choose a run in the history and press Ctrl+D: it is held against the pinned one, or the one before",
        );
        return;
    };
    let tokens = theme::tokens(ui);
    controls(ui, runs, commands);
    for difference in conditions(runs[0], runs[1]) {
        ui.horizontal_wrapped(|ui| {
            Icon::Warning.show(ui, tokens.status.warning.0);
            ui.colored_label(tokens.status.warning.0, format!("Not the same {difference}"));
        });
    }
    ui.add_space(GAP);
    ScrollArea::vertical()
        .id_salt("numbers")
        .max_height(ui.available_height() * 0.4)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            numbers(ui, &tokens, runs);
        });
    ui.add_space(2.0 * GAP);
    texts(ui, bench, view, runs);
}

fn title(run: &StoredRun) -> String {
    format!("#{} {}", run.number, run.record.kernel)
}

fn controls(ui: &mut Ui, [a, b]: [&StoredRun; 2], commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let strong =
            |text: String| RichText::new(text).family(egui::FontFamily::Name(theme::STRONG.into()));
        ui.weak("A");
        ui.label(strong(title(a)));
        ui.weak("B");
        ui.label(strong(title(b)));
        let mut entry = |ui: &mut Ui, name: &str, command: Command| {
            if ui.button(name).clicked() {
                commands.push(command);
                ui.close();
            }
        };
        entry(ui, "Swap sides", Command::SwapSides);
        entry(ui, "Copy as Markdown", Command::CopyComparison);
        ui.menu_button("More", |ui| {
            entry(ui, "Take the source of A into the editor", Command::TakeSource(a.number));
            entry(ui, "Take the source of B into the editor", Command::TakeSource(b.number));
            entry(ui, "Pin A: compare everything with it", Command::Pin(a.number));
            entry(ui, "Show B in every panel", Command::SelectRun(b.number));
        });
    });
}

fn cold<'a>(run: &'a StoredRun, workload: &WorkloadName) -> Option<&'a RecordedTiming> {
    let mut times = run.record.timings().iter();
    times.find(|timing| timing.mode == Mode::Cold && timing.workload == *workload)
}

fn numbers(ui: &mut Ui, tokens: &Tokens, [a, b]: [&StoredRun; 2]) {
    Grid::new("numbers").num_columns(4).striped(true).spacing(vec2(6.0 * GAP, 3.0)).show(
        ui,
        |ui| {
            for head in ["", "A", "B", "B against A"] {
                ui.label(RichText::new(head).small().color(tokens.text.weak.0));
            }
            ui.end_row();
            ui.weak("verdict");
            ui.label(a.record.verdict());
            ui.label(b.record.verdict());
            ui.end_row();
            let timings = a.record.timings().iter().chain(b.record.timings());
            let names: BTreeSet<&WorkloadName> = timings.map(|timing| &timing.workload).collect();
            for name in names {
                let (one, other) = (cold(a, name), cold(b, name));
                ui.label(name.as_str());
                time(ui, one);
                time(ui, other);
                change(ui, tokens, than(&b.record, a, name));
                ui.end_row();
                ui.weak("of the speed of light");
                for timing in [one, other] {
                    let fraction = timing.and_then(|timing| timing.standing.as_ref());
                    ui.weak(fraction.map_or_else(String::new, |standing| {
                        format!("{} ({})", standing.fraction, standing.limiter)
                    }));
                }
                ui.end_row();
            }
        },
    );
}

fn time(ui: &mut Ui, timing: Option<&RecordedTiming>) {
    let Some(timing) = timing else {
        ui.weak("not timed");
        return;
    };
    let mut text = timing.median.seconds().to_string();
    if let Some(spread) = timing.spread {
        let (low, high) = spread.interval;
        text = format!("{text}  ({} to {})", low.seconds(), high.seconds());
    }
    ui.label(text).on_hover_text(clock(&timing.clock));
}

/// B against A, in the words of every verdict.
fn change(ui: &mut Ui, tokens: &Tokens, than: Option<Than>) {
    let Some(than) = than else { return };
    let (icon, color) = match than {
        Than::Measured { conclusion: Conclusion::Faster, .. } => (Icon::Up, tokens.status.good.0),
        Than::Measured { conclusion: Conclusion::Slower, .. } => (Icon::Down, tokens.status.bad.0),
        Than::Measured { conclusion: Conclusion::NoMeasurableDifference, .. } => {
            (Icon::Equal, tokens.text.weak.0)
        }
        Than::Modelled { .. } => (Icon::Ring, tokens.origin.modelled.0),
        Than::NotComparable(_) => (Icon::Warning, tokens.status.warning.0),
    };
    ui.horizontal(|ui| {
        icon.show(ui, color);
        ui.colored_label(color, than.words("A"));
    });
}

fn texts(ui: &mut Ui, bench: &Workbench, view: &mut CompareView, [a, b]: [&StoredRun; 2]) {
    let [Some(one), Some(other)] = &bench.selection.sides else { return };
    let (Some(old), Some(new)) = (&one.source, &other.source) else {
        ui.weak("The text of one of the two is not on record");
        return;
    };
    let of = [a.number.0, b.number.0];
    if view.shown.as_ref().is_none_or(|shown| shown.of != of) {
        let diff = Diff::of_texts(old, new);
        view.shown =
            Some(Texts { of, diff, view: DiffView::new("Comparison of sources", Language::Cuda) });
    }
    let Some(Texts { diff, view, .. }) = &mut view.shown else { return };
    view.show(ui, diff, [&title(a), &title(b)]);
}
