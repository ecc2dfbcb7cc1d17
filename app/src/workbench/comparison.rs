//! Runs that are compared: what differs between them besides their kernels, and all of it as a table for a pull request.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::history::before::than;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::Outcome;
use lightbench_core::history::timing::{Clock, Mode};
use lightbench_core::history::{Provenance, RunNumber, StoredRun};

use super::command::Side;
use super::errand::Errand;
use super::matrix::{LETTERS, Matrix, place};
use super::measurements::HIGHEST_CLOCK;
use super::notices::Weight;
use super::{Selection, Wish, Workbench};

/// A side of the comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which run.
    pub number: RunNumber,
    /// What is on record, once it was read.
    pub run: Option<Arc<StoredRun>>,
    /// The text of the kernel, once it was read.
    pub source: Option<Arc<str>>,
    /// What the compiler made of it.
    pub code: Code,
}

/// The machine code of a run as text.
#[derive(Clone, Debug, Default)]
pub enum Code {
    /// Nobody asked for it.
    #[default]
    Unread,
    /// It is being made.
    Reading,
    /// It is there.
    Read(Arc<str>),
    /// It cannot be made, for this reason.
    Unreadable(String),
}

impl Compared {
    /// One that is not read yet.
    const fn unread(number: RunNumber) -> Self {
        Self { number, run: None, source: None, code: Code::Unread }
    }
}

impl Selection {
    /// Every run that is compared.
    pub(super) fn all_compared(&mut self) -> impl Iterator<Item = &mut Compared> {
        self.sides.iter_mut().flatten().chain(&mut self.others)
    }
}

impl Workbench {
    /// The runs that are compared, as far as they were read; none unless there are two.
    #[must_use]
    pub fn compared(&self) -> Option<Vec<&StoredRun>> {
        let [a, b] = &self.selection.sides;
        let mut runs = vec![a.as_ref()?.run.as_deref()?, b.as_ref()?.run.as_deref()?];
        runs.extend(self.selection.others.iter().filter_map(|other| other.run.as_deref()));
        Some(runs)
    }

    /// The letter of a run that is compared.
    #[must_use]
    pub fn letter(&self, number: RunNumber) -> Option<&'static str> {
        let sides = self.selection.sides.iter().map(|side| side.as_ref().map(|side| side.number));
        let others = self.selection.others.iter().map(|other| Some(other.number));
        let at = sides.chain(others).position(|each| each == Some(number))?;
        LETTERS.get(at).copied()
    }

    /// Adds a run to those that are compared, or leaves it out again; the first two become the sides.
    pub(super) fn compare_too(&mut self, number: Option<RunNumber>, now: Duration) {
        let Some(number) = number.or_else(|| self.shown_run().map(|row| row.number)) else {
            self.notices.say(Weight::Note, "run a kernel first: there is nothing to compare", now);
            return;
        };
        let selection = &mut self.selection;
        if let Some(at) = selection.others.iter().position(|other| other.number == number) {
            selection.others.remove(at);
            return;
        }
        let mut sides = selection.sides.iter();
        if sides.any(|side| side.as_ref().is_some_and(|side| side.number == number)) {
            let text = format!("run {number} is compared already");
            self.notices.say(Weight::Note, text, now);
            return;
        }
        match selection.sides {
            [None, _] => self.compare(Side::A, number),
            [_, None] => self.compare(Side::B, number),
            [Some(_), Some(_)] if selection.others.len() + 2 < LETTERS.len() => {
                selection.others.push(Compared::unread(number));
                self.read_compared(number);
            }
            [Some(_), Some(_)] => {
                let text = format!("at most {} runs stand beside each other", LETTERS.len());
                self.notices.say(Weight::Note, text, now);
            }
        }
    }

    /// Puts a run on a side.
    pub(super) fn compare(&mut self, side: Side, number: RunNumber) {
        let at = match side {
            Side::A => 0,
            Side::B => 1,
        };
        // Whoever was there goes where this one came from.
        if let Some(other) = self.selection.others.iter().position(|other| other.number == number) {
            let moved = self.selection.others.remove(other);
            let before = self.selection.sides[at].replace(moved);
            self.selection.others.extend(before);
            return;
        }
        self.selection.sides[at] = Some(Compared::unread(number));
        self.read_compared(number);
    }

    fn read_compared(&self, number: RunNumber) {
        if let Some(opened) = &self.opened {
            self.clerk.hand(Errand::ReadRun(opened.project.root.clone(), number));
        }
    }

    /// Calls a run so.
    pub(super) fn label(&mut self, number: RunNumber, words: &str, now: Duration) {
        let Some(opened) = &self.opened else { return };
        match Label::typed(words) {
            Ok(label) => {
                self.clerk.hand(Errand::Label(opened.project.root.clone(), number, label));
            }
            Err(error) => self.notices.say(Weight::Warning, error.to_string(), now),
        }
    }

    /// Compares the run that is looked at with the pinned one, or one before.
    pub(super) fn compare_selected(&mut self, now: Duration) {
        let Some(row) = self.shown_run() else {
            self.notices.say(Weight::Note, "run a kernel first: there is nothing to compare", now);
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
            self.notices.say(Weight::Note, "there is only one run so far", now);
            return;
        };
        self.compare(Side::A, other);
        self.compare(Side::B, number);
    }

    /// Writes the source of a run that is compared into the editor.
    pub(super) fn take_source(&mut self, number: RunNumber) {
        let sides = self.selection.sides.iter().flatten().chain(&self.selection.others);
        let found = sides.filter(|side| side.number == number).find_map(|side| {
            Some((side.run.as_ref()?.record.kernel.clone(), side.source.clone()?))
        });
        if let Some((kernel, source)) = found {
            self.choose_kernel(&kernel);
            self.wishes.push(Wish::Replace(source.to_string()));
        }
    }

    /// Has the machine code of a run made that is compared, once.
    pub(super) fn disassemble_run(&mut self, number: RunNumber) {
        let Some(opened) = &self.opened else { return };
        let (project, workload) = (Arc::clone(&opened.project), opened.workload.clone());
        for side in self.selection.all_compared() {
            if let (true, Some(run), Code::Unread) = (side.number == number, &side.run, &side.code)
            {
                let (project, run, workload) =
                    (Arc::clone(&project), Arc::clone(run), workload.clone());
                self.clerk.hand(Errand::DisassembleRun { project, run, workload });
                side.code = Code::Reading;
            }
        }
    }

    pub(super) fn copy_comparison(&mut self, now: Duration) {
        let workload = self.opened.as_ref().map(|opened| opened.workload.as_str());
        match self.compared().map(|runs| markdown(&runs, workload.unwrap_or_default())) {
            Some(text) => self.wishes.push(Wish::Copy(text)),
            None => self.notices.say(Weight::Note, "choose two runs to compare first", now),
        }
    }
}

/// Clocks that lie closer together than this part of them are the same.
const SAME_CLOCK: f64 = 0.01;

/// What differs between runs besides their kernels: what makes their times hard to compare.
#[must_use]
pub fn conditions(runs: &[&StoredRun]) -> Vec<String> {
    let mut differences = Vec::new();
    // What a run does not have, it does not have otherwise than others.
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
    compare("place of the counts", &|run| counted(run).map(|at| place(&at)));
    differences.extend(highest_clocks(runs));
    differences
}

/// The highest clocks of the multiprocessors, where they are not the same.
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

/// A clock in words.
#[must_use]
pub fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Measured { method } => format!("measured by {method}"),
        Clock::Modelled => "modelled".to_owned(),
        Clock::Unstated => "unstated".to_owned(),
    }
}

fn markdown(runs: &[&StoredRun], workload: &str) -> String {
    let mut text = Matrix::of(runs, workload).markdown();
    if let [a, b] = runs {
        for name in b.record.timings().iter().filter(|timing| timing.mode == Mode::Cold) {
            if let Some(than) = than(&b.record, a, &name.workload) {
                text += &format!("\n{}: B is {}\n", name.workload, than.words("A"));
            }
        }
    }
    for difference in conditions(runs) {
        text += &format!("\nnot the same {difference}\n");
    }
    text
}
