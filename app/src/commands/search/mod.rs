//! `lightbench search` and `lightbench sweep`: a search on the terminal with live output.

mod export;
pub(crate) mod journals;
pub(crate) mod options;
pub(crate) mod prepared;
pub(super) mod proposers;
mod replay;
mod replayed_model;
mod text;

use std::io;
use std::sync::{Arc, OnceLock};

use lightbench_core::engine::EngineRunner;
use lightbench_core::project::{Language, Project};
use lightbench_core::search::entry::End;
use lightbench_core::search::operators::WaitControl;
use lightbench_core::search::{
    Control, Decision, Entry, Explorer, FinishedRun, SearchListeners, SearchState,
};
use lightbench_core::whole_file;

use self::prepared::{JournalState, PreparedSearch};
use super::run::record::{HistoryMode, Recorder, RunScope};
use super::{evaluation_setup, progress};
use crate::args;
use crate::outcome::{Outcome, Status, write_all};
use crate::report;
use crate::session::Session;

/// Runs a search and reports.
pub fn search(session: &Session, arguments: &args::Search) -> Outcome {
    if let Some(file) = &arguments.export {
        return export::exported(session, &arguments.common, file)
            .unwrap_or_else(|outcome| outcome);
    }
    let wanted = SearchArguments::Search(arguments);
    searched(session, &arguments.common, &wanted).unwrap_or_else(|outcome| outcome)
}

/// Runs a sweep of configurations and reports the best.
pub fn sweep(session: &Session, arguments: &args::Sweep) -> Outcome {
    let wanted = SearchArguments::Sweep(arguments);
    searched(session, &arguments.common, &wanted).unwrap_or_else(|outcome| outcome)
}

/// The arguments of either command.
pub(crate) enum SearchArguments<'a> {
    Sweep(&'a args::Sweep),
    Search(&'a args::Search),
}

fn searched(
    session: &Session,
    arguments: &args::Searching,
    wanted: &SearchArguments<'_>,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    if let Some(name) = &arguments.replay {
        return replay::replayed(session, arguments, name, wanted);
    }
    let PreparedSearch { mut order, begun, repeats, conditions, engine, compiler, chosen } =
        prepared::prepare(session, arguments, wanted)?;
    let control = Control::from_cancellation(&session.cancellation);
    let client = engine.client();
    let batch = prepared::batch(&chosen);
    let project = std::sync::Arc::clone(&order.project);
    order.attend(&WaitControl {
        cancellation: session.cancellation.clone(),
        hear: std::sync::Arc::new(|waiting| progress::show(&waiting.to_string())),
    });
    let laboratory =
        EngineRunner::new(client, std::sync::Arc::clone(&project), conditions, control, batch);
    let asked = RunScope {
        parameters: &[],
        workload: arguments.workload.as_deref(),
        history: HistoryMode::Append,
    };
    let mut recorder = Recorder::new(session, &project, &chosen, asked, compiler);
    let live = LiveOutput::default();
    let shown = live.clone();
    let audience = SearchListeners {
        listener: Box::new(move |entry, story| shown.print_entry(entry, story, as_json)),
        keeper: Box::new(|FinishedRun { kernel, run, origin, parent }| {
            recorder.append_derived(&kernel, &run, (origin, parent.as_deref()));
        }),
    };
    let explorer = match begun {
        JournalState::New(journal) => {
            if !as_json {
                live.print(&text::heading(&order, &chosen));
            }
            Explorer::begin(order, laboratory, Some(journal), audience)
                .map_err(|error| report::environment(&error, as_json))?
        }
        JournalState::Resumed(journal, story) => {
            if !as_json {
                live.print(&text::heading_again(&story, &chosen));
            }
            Explorer::resume(order, laboratory, *story, Some(journal), audience)
        }
    };
    let (story, learnt) = explorer.run();
    let mut notices = chosen.notices();
    notices.extend(recorder.notices);
    if let Err(error) = journals::save_learnt(session, &learnt) {
        notices.push(format!("learnt knowledge cannot be stored: {error}"));
    }
    let written = written(arguments, &project, &story);
    notices.extend(repeats);
    notices.extend(story.unanswered_models().iter().map(text::silence));
    let mut status = status(&story);
    let mut output = if as_json { String::new() } else { text::summary(&story) };
    match written {
        Ok(line) if !as_json => output.push_str(&line),
        Ok(_) => {}
        Err(error) => {
            notices.push(format!("the best kernel cannot be written: {error}"));
            status = status.max(Status::Environment);
        }
    }
    if let Some(error) = live.failure.get() {
        notices.push(format!("cannot write the output: {error}; the journal is complete"));
        status = status.max(Status::Environment);
    }
    Ok(Outcome { output, errors: report::notices(&notices), status })
}

/// Standard output while a search runs. A failed write does not stop the search.
#[derive(Clone, Default)]
struct LiveOutput {
    /// The first one.
    failure: Arc<OnceLock<io::Error>>,
}

impl LiveOutput {
    /// Prints an entry as it happens.
    fn print_entry(&self, entry: &Entry, story: &SearchState, as_json: bool) {
        if as_json {
            let line = serde_json::to_string(entry).unwrap_or_default();
            self.print(&format!("{line}\n"));
        } else if let Some(line) = text::line(entry, story) {
            self.print(&line);
        }
    }

    fn print(&self, text: &str) {
        progress::clear();
        if let Err(error) = write_all(&mut anstream::stdout().lock(), text) {
            self.failure.set(error).ok();
        }
    }
}

fn status(story: &SearchState) -> Status {
    // Only these ends are the kernel's fault: a machine problem also ends a search before its first verdict.
    let is_wrong = matches!(
        story.variants.first().and_then(|first| first.decision.as_ref()),
        Some(Decision::Rejected { .. })
    );
    match &story.ended {
        Some(End::Stopped) => Status::Interrupted,
        Some(End::Impossible(_)) if is_wrong => Status::KernelFailed,
        Some(End::Impossible(_)) => Status::Environment,
        // The user named the models: a search without their proposals is not the requested one, even if other operators
        // proposed.
        Some(End::NothingLeft | End::Budget(_)) | None if story.no_model_answered() => {
            Status::Environment
        }
        Some(End::NothingLeft | End::Budget(_)) | None => Status::Passed,
    }
}

/// Writes the best kernel to a file, if requested, and reports it.
fn written(
    arguments: &args::Searching,
    project: &Project,
    story: &SearchState,
) -> io::Result<String> {
    let Some(name) = &arguments.write else { return Ok(String::new()) };
    let Some(best) = story.best.filter(|best| *best > 0) else {
        return Ok("\nnothing better was found, so no file was written\n".to_owned());
    };
    let language =
        project.kernel(&story.header.kernel).map_or(Language::Cuda, |known| known.language);
    let path = project.root.join("kernels").join(format!("{name}.{}", language.extension()));
    whole_file::create(&path, story.variants[best].proposal.source.as_bytes())?;
    Ok(format!("\nwritten to {}\n", path.display()))
}
