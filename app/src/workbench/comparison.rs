//! The compared runs: differences in their conditions, and the comparison as a Markdown table.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::history::comparison_runs::compare_times;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::Outcome;
use lightbench_core::history::timing::{Clock, Mode};
use lightbench_core::history::{Provenance, RunNumber, StoredRun};

use super::background_task::BackgroundTask;
use super::command::Side;
use super::matrix::{LETTERS, RunMatrix, place};
use super::measurements::HIGHEST_CLOCK;
use super::notices::NoticeLevel;
use super::{Selection, UiEffect, Workbench};

/// A side of the comparison.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    pub number: RunNumber,
    /// The stored run, once it is read.
    pub run: Option<Arc<StoredRun>>,
    /// The source of the kernel, once it is read.
    pub source: Option<Arc<str>>,
    pub code: MachineCode,
}

/// Disassembled machine code of a run.
#[derive(Clone, Debug, Default)]
pub enum MachineCode {
    /// Not requested.
    #[default]
    Unread,
    Reading,
    Read(Arc<str>),
    /// The code is unavailable, for this reason.
    Unreadable(String),
}

impl ComparedRun {
    /// A run that is not read yet.
    const fn new(number: RunNumber) -> Self {
        Self { number, run: None, source: None, code: MachineCode::Unread }
    }
}

impl Selection {
    /// All compared runs.
    pub(super) fn all_compared(&mut self) -> impl Iterator<Item = &mut ComparedRun> {
        self.sides.iter_mut().flatten().chain(&mut self.others)
    }
}

impl Workbench {
    /// The compared runs that are read; empty below two.
    #[must_use]
    pub fn compared(&self) -> Option<Vec<&StoredRun>> {
        let [a, b] = &self.selection.sides;
        let mut runs = vec![a.as_ref()?.run.as_deref()?, b.as_ref()?.run.as_deref()?];
        runs.extend(self.selection.others.iter().filter_map(|other| other.run.as_deref()));
        Some(runs)
    }

    /// The letter of a compared run.
    #[must_use]
    pub fn letter(&self, number: RunNumber) -> Option<&'static str> {
        let sides = self.selection.sides.iter().map(|side| side.as_ref().map(|side| side.number));
        let others = self.selection.others.iter().map(|other| Some(other.number));
        let at = sides.chain(others).position(|each| each == Some(number))?;
        LETTERS.get(at).copied()
    }

    /// Adds a run to the comparison, or removes it; the first two become the sides.
    pub(super) fn add_compared(&mut self, number: Option<RunNumber>, now: Duration) {
        let Some(number) = number.or_else(|| self.shown_run().map(|row| row.number)) else {
            self.notices.add(
                NoticeLevel::Note,
                "there is no run to compare; run a kernel first",
                now,
            );
            return;
        };
        let selection = &mut self.selection;
        if let Some(at) = selection.others.iter().position(|other| other.number == number) {
            selection.others.remove(at);
            return;
        }
        let mut sides = selection.sides.iter();
        if sides.any(|side| side.as_ref().is_some_and(|side| side.number == number)) {
            let text = format!("run {number} is already in the comparison");
            self.notices.add(NoticeLevel::Note, text, now);
            return;
        }
        match selection.sides {
            [None, _] => self.compare(Side::A, number),
            [_, None] => self.compare(Side::B, number),
            [Some(_), Some(_)] if selection.others.len() + 2 < LETTERS.len() => {
                selection.others.push(ComparedRun::new(number));
                self.read_compared(number);
            }
            [Some(_), Some(_)] => {
                let text = format!("at most {} runs can be compared", LETTERS.len());
                self.notices.add(NoticeLevel::Note, text, now);
            }
        }
    }

    /// Puts a run on a side.
    pub(super) fn compare(&mut self, side: Side, number: RunNumber) {
        let at = match side {
            Side::A => 0,
            Side::B => 1,
        };
        // The run that was on this side moves to the place of the new one.
        if let Some(other) = self.selection.others.iter().position(|other| other.number == number) {
            let moved = self.selection.others.remove(other);
            let before = self.selection.sides[at].replace(moved);
            self.selection.others.extend(before);
            return;
        }
        self.selection.sides[at] = Some(ComparedRun::new(number));
        self.read_compared(number);
    }

    fn read_compared(&self, number: RunNumber) {
        if let Some(opened) = &self.opened {
            self.background.submit(BackgroundTask::ReadRun(opened.project.root.clone(), number));
        }
    }

    /// Sets the label of a run.
    pub(super) fn label(&mut self, number: RunNumber, words: &str, now: Duration) {
        let Some(opened) = &self.opened else { return };
        match Label::typed(words) {
            Ok(label) => {
                self.background.submit(BackgroundTask::Label(
                    opened.project.root.clone(),
                    number,
                    label,
                ));
            }
            Err(error) => self.notices.add(NoticeLevel::Warning, error.to_string(), now),
        }
    }

    /// Compares the shown run with the pinned run, or with the previous run.
    pub(super) fn compare_selected(&mut self, now: Duration) {
        let Some(row) = self.shown_run() else {
            self.notices.add(
                NoticeLevel::Note,
                "there is no run to compare; run a kernel first",
                now,
            );
            return;
        };
        let number = row.number;
        let pinned = self.pinned().and_then(|pinned| self.runs.get(pinned));
        let other = pinned
            .filter(|pinned| pinned.number != number)
            .or_else(|| self.runs.before(row))
            .or_else(|| self.runs.best_like(row).filter(|best| best.number != number))
            .or_else(|| self.runs.rows().iter().rev().find(|known| known.number != number));
        let Some(other) = other.map(|other| other.number) else {
            self.notices.add(
                NoticeLevel::Note,
                "there is only one run; a comparison needs two",
                now,
            );
            return;
        };
        self.compare_with(other);
    }

    /// Compares the shown run with another run.
    pub(super) fn compare_with(&mut self, other: RunNumber) {
        let Some(number) = self.shown_run().map(|row| row.number) else { return };
        self.compare(Side::A, other);
        self.compare(Side::B, number);
    }

    /// Writes the source of a compared run into the editor.
    pub(super) fn take_source(&mut self, number: RunNumber) {
        let sides = self.selection.sides.iter().flatten().chain(&self.selection.others);
        let found = sides.filter(|side| side.number == number).find_map(|side| {
            Some((side.run.as_ref()?.record.kernel.clone(), side.source.clone()?))
        });
        if let Some((kernel, source)) = found {
            self.choose_kernel(&kernel);
            self.effects.push(UiEffect::Replace(source.to_string()));
        }
    }

    /// Requests the machine code of a compared run, once.
    pub(super) fn disassemble_run(&mut self, number: RunNumber) {
        let Some(opened) = &self.opened else { return };
        let (project, workload) = (Arc::clone(&opened.project), opened.workload.clone());
        for side in self.selection.all_compared() {
            if let (true, Some(run), MachineCode::Unread) =
                (side.number == number, &side.run, &side.code)
            {
                let (project, run, workload) =
                    (Arc::clone(&project), Arc::clone(run), workload.clone());
                self.background.submit(BackgroundTask::DisassembleRun { project, run, workload });
                side.code = MachineCode::Reading;
            }
        }
    }

    pub(super) fn copy_comparison(&mut self, now: Duration) {
        let workload = self.opened.as_ref().map(|opened| opened.workload.as_str());
        match self.compared().map(|runs| markdown(&runs, workload.unwrap_or_default())) {
            Some(text) => self.effects.push(UiEffect::Copy(text)),
            None => self.notices.add(NoticeLevel::Note, "select two runs to compare first", now),
        }
    }
}

/// Clocks within this relative difference count as equal.
const SAME_CLOCK: f64 = 0.01;

/// Differences between runs besides their kernels that make their times hard to compare.
#[must_use]
pub fn conditions(runs: &[&StoredRun]) -> Vec<String> {
    let mut differences = Vec::new();
    // A condition that only some runs recorded is not reported as a difference.
    let mut compare = |what: &str, of: &dyn Fn(&StoredRun) -> Option<String>| {
        let mut known: Vec<(String, Vec<&str>)> = Vec::new();
        for (run, letter) in runs.iter().zip(LETTERS) {
            let Some(value) = of(run) else { continue };
            match known.iter_mut().find(|(other, _)| *other == value) {
                Some((_, letters)) => letters.push(letter),
                None => known.push((value, vec![letter])),
            }
        }
        if known.len() > 1 {
            let each = known.iter().map(|(value, letters)| match runs.len() {
                2 => value.clone(),
                _ => format!("{value} ({})", letters.join(", ")),
            });
            differences.push(format!("{what}: {}", each.collect::<Vec<_>>().join(" and ")));
        }
    };
    compare("device", &|run| Some(run.record.device.name.clone()));
    compare("task", &|run| {
        let hash = run.record.definition.as_ref();
        Some(hash.map_or("unknown", |hash| hash.get(..8).unwrap_or(hash)).to_owned())
    });
    for name in ["compiler", "driver", "lightbench"] {
        compare(name, &|run| {
            let version = run.record.environment.versions.get(name);
            Some(version.cloned().unwrap_or_else(|| "unknown".to_owned()))
        });
    }
    compare("clock", &|run| {
        let mut clocks: Vec<String> =
            run.record.timings().iter().map(|timing| clock(&timing.clock)).collect();
        clocks.sort();
        clocks.dedup();
        (!clocks.is_empty()).then(|| clocks.join(", "))
    });
    compare("origin of runs", &|run| match run.provenance {
        Provenance::Own => Some("this machine".to_owned()),
        Provenance::Recorded => Some("recorded".to_owned()),
    });
    let counted = |run: &StoredRun| match &run.record.outcome {
        Outcome::Passed { numbers, .. } => {
            numbers.values().find_map(|numbers| Some(numbers.counted.as_ref()?.at.clone()))
        }
        Outcome::Failed { .. } => None,
    };
    compare("workload of the counters", &|run| counted(run).map(|at| place(&at)));
    differences.extend(highest_clocks(runs));
    differences
}

/// The highest multiprocessor clocks, if they differ.
fn highest_clocks(runs: &[&StoredRun]) -> Option<String> {
    let clocks: Option<Vec<f64>> = runs
        .iter()
        .map(|run| run.record.environment.clocks.get(HIGHEST_CLOCK).map(|clock| clock.0))
        .collect();
    let clocks = clocks?;
    let (low, high) = clocks
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), clock| (low.min(*clock), high.max(*clock)));
    (high > low * (1.0 + SAME_CLOCK))
        .then(|| format!("clock of the multiprocessors: {:.0} to {:.0} MHz", low / 1e6, high / 1e6))
}

/// A clock rate as text.
#[must_use]
pub fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Measured { method } => format!("measured by {method}"),
        Clock::Modelled => "modelled".to_owned(),
        Clock::Unstated => "unstated".to_owned(),
    }
}

fn markdown(runs: &[&StoredRun], workload: &str) -> String {
    let mut text = RunMatrix::from_runs(runs, workload).markdown();
    if let [a, b] = runs {
        for name in b.record.timings().iter().filter(|timing| timing.mode == Mode::Cold) {
            if let Some(than) = compare_times(&b.record, a, &name.workload) {
                text += &format!("\n{}: B is {}\n", name.workload, than.words("A"));
            }
        }
    }
    for difference in conditions(runs) {
        text += &format!("\ndifferent {difference}\n");
    }
    text
}
