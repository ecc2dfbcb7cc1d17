//! `lightbench eval`: a stream of candidates comes in, a stream of verdicts goes out. `lightbench rejudge` uses the same
//! stream for published solutions.
//!
//! ```text
//!  JSON lines ──► CandidateLine ──► Prepared ──► Dispatcher ──► engine ──► EvalReport ──► JSON lines
//!  (a thread)      LoadedProjects                one candidate a device,
//!                                                the next ones compiled ahead
//! ```

mod bounded_lines;
mod candidate_line;
mod dispatcher;
mod projects;
mod rejudge_text;
mod source;
mod stream;
mod verdict_file;

use std::io::{self, Write as _};
use std::path::Path;

use lightbench_core::report::document::EvalReport;
use lightbench_core::report::document::eval::EvalWord;
use lightbench_core::units::counted;

use self::source::{CandidateSource, JsonLines, KernelFiles};
use self::stream::{Summary, evaluate_stream};
use self::verdict_file::{KnownVerdicts, VerdictFile};
use crate::args;
use crate::outcome::{Outcome, Status};
use crate::report;
use crate::session::Session;

/// Evaluates a stream of candidates.
pub fn run(session: &Session, arguments: &args::Eval) -> Outcome {
    evaluated(session, arguments).unwrap_or_else(|refused| refused)
}

fn evaluated(session: &Session, arguments: &args::Eval) -> Result<Outcome, Outcome> {
    let evaluating = &arguments.evaluating;
    let mut source = json_lines(&arguments.jsonl, &evaluating.project)?;
    let summary = match &arguments.resume {
        None => evaluate_stream(
            session,
            evaluating,
            &mut source,
            &KnownVerdicts::default(),
            &mut |report| print(&line(report)),
        )?,
        Some(path) => {
            let file = VerdictFile::open(path);
            let mut file = file.map_err(|error| report::request(&error, false))?;
            let known = std::mem::take(&mut file.known);
            evaluate_stream(session, evaluating, &mut source, &known, &mut |report| {
                file.write(&line(report))
            })?
        }
    };
    let mut notices = vec![sentence(&summary)];
    notices.extend(summary.notices);
    Ok(Outcome { output: String::new(), errors: report::notices(&notices), status: summary.status })
}

/// Judges published solutions again.
pub fn rejudge(session: &Session, arguments: &args::Rejudge) -> Outcome {
    rejudged(session, arguments).unwrap_or_else(|refused| refused)
}

fn rejudged(session: &Session, arguments: &args::Rejudge) -> Result<Outcome, Outcome> {
    let (evaluating, path) = (&arguments.evaluating, &arguments.solutions);
    let mut source: Box<dyn CandidateSource> = if path.is_dir() {
        let files = KernelFiles::list(path, &evaluating.project);
        Box::new(files.map_err(|error| {
            report::request(&format!("{} cannot be listed: {error}", path.display()), false)
        })?)
    } else {
        Box::new(json_lines(path, &evaluating.project)?)
    };
    let mut reports: Vec<EvalReport> = Vec::new();
    let mut keep = |report: &EvalReport| {
        if arguments.json {
            return print(&line(report));
        }
        reports.push(report.clone());
        Ok(())
    };
    let known = KnownVerdicts::default();
    let summary = evaluate_stream(session, evaluating, source.as_mut(), &known, &mut keep)?;
    let output = if arguments.json { String::new() } else { rejudge_text::text(&summary, reports) };
    let mut notices = Vec::new();
    if summary.counts.is_empty() && summary.status == Status::Passed {
        notices.push(format!("{} has no kernel file", path.display()));
    }
    notices.extend(summary.notices);
    Ok(Outcome { output, errors: report::notices(&notices), status: summary.status })
}

fn json_lines(path: &Path, project: &Path) -> Result<JsonLines, Outcome> {
    JsonLines::open(path, project).map_err(|error| {
        report::request(&format!("cannot open {}: {error}", path.display()), false)
    })
}

/// A report as one line, with its keys in alphabetical order.
fn line(report: &EvalReport) -> String {
    // A JSON value keeps its keys sorted.
    match serde_json::to_value(report) {
        Ok(value) => format!("{value}\n"),
        Err(error) => format!("{{\"error\": \"this result has no JSON form: {error}\"}}\n"),
    }
}

fn print(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line.as_bytes())?;
    output.flush()
}

/// What became of the stream.
fn sentence(summary: &Summary) -> String {
    let count = |word| summary.counts.get(&word).copied().unwrap_or_default();
    let (passed, failed) = (count(EvalWord::Passed), count(EvalWord::Failed));
    let verdicts = passed + failed;
    let seconds = summary.elapsed.as_secs_f64();
    let mut parts = vec![format!("{passed} passed"), format!("{failed} failed")];
    for (word, name) in [(EvalWord::NotJudged, "not judged"), (EvalWord::Error, "not evaluated")] {
        parts.extend((count(word) > 0).then(|| format!("{} {name}", count(word))));
    }
    if summary.skipped > 0 {
        parts.push(format!("{} skipped", summary.skipped));
    }
    let devices = summary.devices.join(", ");
    let rate = if verdicts > 0 && seconds > 0.0 {
        format!(", {:.1} verdicts a minute", verdicts as f64 / seconds * 60.0)
    } else {
        String::new()
    };
    let total = counted(verdicts, "verdict", "verdicts");
    format!("{total} in {seconds:.1} s on {devices}: {}{rate}", parts.join(", "))
}
