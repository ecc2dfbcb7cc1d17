//! `lightbench export`: writes runs as traces.

use lightbench_core::history::query::Order;
use lightbench_core::history::trace;
use lightbench_core::units::counted;

use super::{HistoryCommandError, existing, filter, project_folder, write_or_print};
use crate::args;
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// Writes traces to a file or to standard output; standard error counts the runs that have none.
pub fn run(session: &Session, arguments: &args::Export) -> Outcome {
    exported(session, arguments).unwrap_or_else(|refused| refused.outcome(false))
}

fn exported(session: &Session, arguments: &args::Export) -> Result<Outcome, HistoryCommandError> {
    let root = project_folder(&arguments.project)?;
    let mut notices = Vec::new();
    let mut runs = Vec::new();
    if let Some(opened) = existing(session, &root)? {
        notices.extend(opened.notices.iter().map(ToString::to_string));
        let selection = &arguments.selection;
        let listing = opened.store.newest(&filter(selection), Order::Newest, selection.limit)?;
        runs = listing.runs;
    }
    let exported = trace::export(runs.iter().rev().map(|run| &run.record))
        .map_err(|error| HistoryCommandError::Environment(error.to_string()))?;
    for (omission, count) in &exported.omitted {
        notices.push(format!("{count} {omission}"));
    }
    let what = format!(
        "{} of {}",
        counted(exported.traces as u64, "trace", "traces"),
        counted(runs.len() as u64, "run", "runs")
    );
    let output = write_or_print(exported.lines, arguments.output.as_deref(), &what)?;
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}
