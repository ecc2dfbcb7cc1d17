//! Panel of the comparison: numbers of two or more runs, and a diff of source or machine code for two of them.

use egui::{RichText, ScrollArea, Ui};
use lightbench_core::history::StoredRun;

use super::{compare_matrix, placeholder};
use crate::theme::{self, GAP};
use crate::widgets::code::diff::Diff;
use crate::widgets::code::diff::DiffView;
use crate::widgets::code::syntax::Language;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::comparison::{ComparedRun, MachineCode, conditions};

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct CompareView {
    what: CompareMode,
    shown: Option<ShownDiff>,
}

/// Which texts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CompareMode {
    /// The source.
    #[default]
    Source,
    Machine,
}

struct ShownDiff {
    of: ([i64; 2], CompareMode),
    diff: Diff,
    view: DiffView,
}

impl std::fmt::Debug for ShownDiff {
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
        placeholder::show(
            ui,
            "Nothing to compare yet",
            "Select a run in the history and press Ctrl+D to compare it with the pinned run, or with the previous one",
        );
        return;
    };
    let tokens = theme::tokens(ui);
    let workload = bench.opened.as_ref().map(|opened| opened.workload.as_str()).unwrap_or_default();
    controls(ui, &runs, commands);
    for difference in conditions(&runs) {
        ui.horizontal_wrapped(|ui| {
            Icon::Warning.show(ui, tokens.status.warning.0);
            ui.colored_label(tokens.status.warning.0, format!("Different {difference}"));
        });
    }
    ui.add_space(GAP);
    // Two runs also compare texts; more runs compare numbers only.
    let share = if runs.len() > 2 { 0.68 } else { 0.5 };
    ScrollArea::both()
        .id_salt("numbers")
        .max_height(ui.available_height() * share)
        .auto_shrink([false, true])
        .show(ui, |ui| compare_matrix::show(ui, &runs, workload, commands));
    ui.add_space(2.0 * GAP);
    texts(ui, bench, view, commands);
}

fn title(run: &StoredRun) -> String {
    format!("#{} {}", run.number, run.record.kernel)
}

fn controls(ui: &mut Ui, runs: &[&StoredRun], commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let mut entry = |ui: &mut Ui, name: &str, command: Command| {
            if ui.button(name).clicked() {
                commands.push(command);
            }
        };
        entry(ui, "Swap sides", Command::SwapSides);
        entry(ui, "Copy as Markdown", Command::CopyComparison);
        if runs.len() < compare_matrix::MOST {
            ui.weak("Ctrl and a click in the history, or Ctrl+Shift+D, adds a run");
        }
    });
}

fn texts(ui: &mut Ui, bench: &Workbench, view: &mut CompareView, commands: &mut Vec<Command>) {
    let [Some(a), Some(b)] = &bench.selection.sides else { return };
    let (Some(one), Some(other)) = (&a.run, &b.run) else { return };
    ui.horizontal(|ui| {
        for (what, name) in
            [(CompareMode::Source, "Source"), (CompareMode::Machine, "Machine code")]
        {
            ui.selectable_value(&mut view.what, what, name);
        }
        ui.weak("of A and B");
    });
    ui.add_space(GAP);
    let found = match view.what {
        CompareMode::Source => sources(a, b),
        CompareMode::Machine => machine_code(a, b, commands),
    };
    let [old, new] = match found {
        Ok(texts) => texts,
        Err(why) => {
            ui.label(RichText::new(why).color(theme::tokens(ui).text.weak.0));
            return;
        }
    };
    let of = ([a.number.0, b.number.0], view.what);
    if view.shown.as_ref().is_none_or(|shown| shown.of != of) {
        let (diff, name, language) = match view.what {
            CompareMode::Source => {
                (Diff::from_texts(old, new), "Comparison of sources", Language::Cuda)
            }
            CompareMode::Machine => {
                (Diff::from_sass(old, new), "Comparison of machine code", Language::Sass)
            }
        };
        view.shown = Some(ShownDiff { of, diff, view: DiffView::new(name, language) });
    }
    let Some(ShownDiff { diff, view, .. }) = &mut view.shown else { return };
    view.show(ui, diff, [&title(one), &title(other)]);
}

fn sources<'a>(a: &'a ComparedRun, b: &'a ComparedRun) -> Result<[&'a str; 2], String> {
    match (&a.source, &b.source) {
        (Some(old), Some(new)) => Ok([old, new]),
        (None, _) => Err(format!("The source of run {} was not recorded", a.number)),
        (_, None) => Err(format!("The source of run {} was not recorded", b.number)),
    }
}

/// The machine code of both runs; requests what is missing.
fn machine_code<'a>(
    a: &'a ComparedRun,
    b: &'a ComparedRun,
    commands: &mut Vec<Command>,
) -> Result<[&'a str; 2], String> {
    for side in [a, b] {
        if let MachineCode::Unread = side.code {
            commands.push(Command::DisassembleRun(side.number));
        }
    }
    for side in [a, b] {
        match &side.code {
            MachineCode::Unread | MachineCode::Reading => {
                return Err("Being compiled and disassembled; it takes a moment".to_owned());
            }
            MachineCode::Unreadable(why) => return Err(format!("Run {}: {why}", side.number)),
            MachineCode::Read(_) => {}
        }
    }
    match (&a.code, &b.code) {
        (MachineCode::Read(old), MachineCode::Read(new)) => Ok([old, new]),
        (
            MachineCode::Unread
            | MachineCode::Reading
            | MachineCode::Unreadable(_)
            | MachineCode::Read(_),
            _,
        ) => Err(String::new()),
    }
}
