//! `lightbench history`: lists the runs of a project.

pub mod export;
pub mod import;
mod json;
pub mod page;
mod text;

use std::path::{Path, PathBuf};

use lightbench_core::history::label::Label;
use lightbench_core::history::location::HistoryLocation;
use lightbench_core::history::machine::Machine;
use lightbench_core::history::query::{Filter, Listing, Order};
use lightbench_core::history::{
    HistoryError, IntegrityCheck, Notice, OpenedHistory, Provenance, RunNumber, Store, open,
    open_and_read, table,
};
use lightbench_core::whole_file;

use crate::args::{self, Selection, Sort};
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Lists runs, or sets the baseline.
pub fn run(session: &Session, arguments: &args::History) -> Outcome {
    listed(session, arguments).unwrap_or_else(|refused| refused.outcome(arguments.json))
}

fn listed(session: &Session, arguments: &args::History) -> Result<Outcome, HistoryCommandError> {
    let root = project_folder(&arguments.project)?;
    let shown =
        |store: &Store| ListedRuns::from_store(store, &arguments.selection, order(arguments.sort));
    let Some((OpenedHistory { mut store, mut notices }, mut listing)) =
        read(session, &root, shown)?
    else {
        if let Some(number) = arguments.choose_baseline.or(arguments.set_label) {
            return Err(HistoryError::NoSuchRun(RunNumber(number)).into());
        }
        return report(arguments, &root, None, &[]);
    };
    if let Some(number) = arguments.choose_baseline {
        store.choose_baseline(RunNumber(number))?;
    }
    if let Some(number) = arguments.set_label {
        let words = arguments.words.as_deref().unwrap_or_default();
        let label =
            Label::typed(words).map_err(|error| HistoryCommandError::Request(error.to_string()))?;
        store.label(RunNumber(number), label.as_ref())?;
    }
    if arguments.choose_baseline.or(arguments.set_label).is_some() {
        listing = shown(&store)?;
    }
    let shown = listing;
    // Shown once for this command instead of with every run.
    notices
        .retain(|notice| !matches!(notice, Notice::FromElsewhere { .. }) || shown.has_recorded());
    report(arguments, &root, Some(&shown), &notices)
}

fn report(
    arguments: &args::History,
    root: &Path,
    shown: Option<&ListedRuns>,
    notices: &[Notice],
) -> Result<Outcome, HistoryCommandError> {
    let output = if arguments.json {
        document(&json::runs_json(root, shown))
    } else if arguments.csv {
        table::csv(shown.into_iter().flat_map(|shown| &shown.listing.runs))
            .map_err(|error| HistoryCommandError::Environment(error.to_string()))?
    } else {
        text::runs_text(shown)
    };
    let notices: Vec<String> = notices.iter().map(ToString::to_string).collect();
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}

/// The listed runs, the best ones and the baseline.
struct ListedRuns {
    listing: Listing,
    /// The number of all runs.
    count: u64,
    best: Vec<RunNumber>,
    baseline: Option<RunNumber>,
}

impl ListedRuns {
    fn from_store(
        store: &Store,
        selection: &Selection,
        order: Order,
    ) -> Result<Self, HistoryError> {
        let listing = store.newest(&filter(selection), order, selection.limit)?;
        let mut best = Vec::new();
        let mut bases = Vec::new();
        for run in &listing.runs {
            let Some(score) = run.record.score() else { continue };
            if !bases.contains(&score.basis) {
                best.extend(store.best(&score.basis)?.map(|run| run.number));
                bases.push(score.basis);
            }
        }
        let newest = listing.runs.iter().max_by_key(|run| run.number);
        let baseline = match newest {
            Some(run) => store.baseline(&run.record)?.map(|run| run.number),
            None => None,
        };
        Ok(Self { listing, count: store.count()?, best, baseline })
    }

    fn has_recorded(&self) -> bool {
        self.listing.runs.iter().any(|run| run.provenance == Provenance::Recorded)
    }
}

const fn order(sort: Sort) -> Order {
    match sort {
        Sort::Newest => Order::Newest,
        Sort::Fastest => Order::Fastest,
        Sort::Kernel => Order::Kernel,
    }
}

fn filter(selection: &Selection) -> Filter {
    Filter {
        kernel: selection.kernel.clone(),
        device: selection.device.clone(),
        verdict: selection.verdict.clone(),
        label: selection.label.clone(),
    }
}

/// Why a history command cannot be carried out.
pub(in crate::commands) enum HistoryCommandError {
    /// The request is wrong.
    Request(String),
    /// The machine lacks something.
    Environment(String),
}

impl HistoryCommandError {
    pub(in crate::commands) fn outcome(&self, as_json: bool) -> Outcome {
        match self {
            Self::Request(message) => report::request(message, as_json),
            Self::Environment(message) => report::environment(message, as_json),
        }
    }
}

impl From<HistoryError> for HistoryCommandError {
    fn from(error: HistoryError) -> Self {
        let message = error.to_string();
        match error {
            HistoryError::NoSuchRun(_)
            | HistoryError::OnlyRecorded(_)
            | HistoryError::NotPassed(_)
            | HistoryError::DamagedRun(_)
            | HistoryError::MissingText { .. } => Self::Request(message),
            HistoryError::Files { .. }
            | HistoryError::Newer { .. }
            | HistoryError::Damaged { .. }
            | HistoryError::Full { .. }
            | HistoryError::ReadOnly { .. }
            | HistoryError::Busy { .. }
            | HistoryError::Database { .. }
            | HistoryError::Unwritable(_)
            | HistoryError::NoTime(_)
            | HistoryError::NoRandomness(_) => Self::Environment(message),
        }
    }
}

/// Writes a text to a file and reports its path, or prints it.
fn write_or_print(
    text: String,
    path: Option<&Path>,
    what: &str,
) -> Result<String, HistoryCommandError> {
    let Some(path) = path else { return Ok(text) };
    let shown = path.display();
    match whole_file::replace(path, text.as_bytes()) {
        Ok(()) => Ok(format!("{what} in {shown}\n")),
        Err(error) => {
            Err(HistoryCommandError::Environment(format!("cannot write {shown}: {error}")))
        }
    }
}

/// The folder of a project; the project may have errors, its history can still be read.
fn project_folder(path: &Path) -> Result<PathBuf, HistoryCommandError> {
    if path.join("project.ron").is_file() {
        return Ok(path.to_owned());
    }
    let shown = path.display();
    Err(HistoryCommandError::Request(format!("{shown} is not a project: it has no project.ron")))
}

/// Opens the history of a project, if it has one; creates nothing.
pub(crate) fn existing(
    session: &Session,
    root: &Path,
) -> Result<Option<OpenedHistory>, HistoryError> {
    Ok(read(session, root, |_store| Ok(()))?.map(|(opened, ())| opened))
}

/// Opens the history of a project, if it has one, and reads from it; creates nothing. If the file is damaged, the
/// readable part is copied to a new file and read from there.
pub(crate) fn read<T>(
    session: &Session,
    root: &Path,
    read: impl FnMut(&Store) -> Result<T, HistoryError>,
) -> Result<Option<(OpenedHistory, T)>, HistoryError> {
    let state = session.state.as_deref();
    let Some(place) = HistoryLocation::for_reading(root, state)? else { return Ok(None) };
    let machine = state.map_or_else(|| Ok(Machine::without_key()), Machine::known)?;
    open_and_read(&place, &machine, read).map(Some)
}

/// Opens the history of a project, or creates it.
pub(crate) fn open_or_create(
    session: &Session,
    root: &Path,
    suspicion: IntegrityCheck,
) -> Result<OpenedHistory, HistoryError> {
    let place = HistoryLocation::for_writing(root, session.state.as_deref())?;
    open(&place, &machine(session)?, suspicion)
}

fn machine(session: &Session) -> Result<Machine, HistoryError> {
    session.state.as_deref().map_or_else(|| Ok(Machine::without_key()), Machine::open)
}
