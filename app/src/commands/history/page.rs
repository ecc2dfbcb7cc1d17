//! `lightbench report`: writes the runs of a project as one page.

use jiff::Timestamp;
use lightbench_core::history::query::{Listing, Order};
use lightbench_core::project::Project;
use lightbench_core::report::{Page, html, markdown};
use lightbench_core::units::counted;

use super::{HistoryCommandError, ListedRuns, existing, project_folder, text, write_or_print};
use crate::args;
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// Writes the page to a file or to standard output.
pub fn run(session: &Session, arguments: &args::Report) -> Outcome {
    written(session, arguments).unwrap_or_else(|refused| refused.outcome(false))
}

/// Writes the page for another command; returns a line with its path, or with the reason why it was not written.
pub(in crate::commands) fn line(
    session: &Session,
    arguments: &args::Report,
) -> Result<String, String> {
    match written(session, arguments) {
        Ok(outcome) => Ok(outcome.output),
        Err(HistoryCommandError::Request(message) | HistoryCommandError::Environment(message)) => {
            Err(message)
        }
    }
}

fn written(session: &Session, arguments: &args::Report) -> Result<Outcome, HistoryCommandError> {
    if !arguments.html && !arguments.markdown {
        let shown = arguments.project.display();
        let text = format!(
            "`--html` or `--markdown` is required: `lightbench report {shown} --html --output report.html` writes a page for browsers, `--markdown` tables for a pull request; `lightbench history {shown}` lists the runs here"
        );
        return Err(HistoryCommandError::Request(text));
    }
    let root = project_folder(&arguments.project)?;
    let project =
        Project::load(&root).map_err(|error| HistoryCommandError::Request(error.to_string()))?;
    let mut notices = Vec::new();
    let mut shown =
        ListedRuns { listing: Listing::default(), count: 0, best: Vec::new(), baseline: None };
    if let Some(opened) = existing(session, &root)? {
        notices.extend(opened.notices.iter().map(ToString::to_string));
        shown = ListedRuns::from_store(&opened.store, &arguments.selection, Order::Newest)?;
    }
    if shown.listing.runs.is_empty() {
        notices.push(format!("the page is empty: {}", text::none(shown.count).trim_end()));
    }
    let page = Page::new(&project, Timestamp::now(), &shown.listing.runs, &shown.best);
    let written = if arguments.html {
        html(&page).map_err(|error| HistoryCommandError::Environment(error.to_string()))?
    } else {
        markdown(&page)
    };
    let what = format!("the report of {}", counted(shown.listing.runs.len() as u64, "run", "runs"));
    let output = write_or_print(written, arguments.output.as_deref(), &what)?;
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}
