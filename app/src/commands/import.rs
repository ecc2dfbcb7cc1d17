//! `lightbench import`: a project from a task of a public suite, or recorded runs from traces.

use std::fmt::Write as _;
use std::path::PathBuf;

use lightbench_core::display_text::visible;
use lightbench_core::import::{self, ImportError, Need, Options, PlacedQuestion, Written};
use lightbench_core::units::counted;
use serde_json::json;

use super::history::import as traces;
use crate::args::Import;
use crate::outcome::{Outcome, document};
use crate::report;
use crate::session::Session;
use crate::table::wrapped;

/// Imports a task or a file of traces.
pub fn run(session: &Session, arguments: &Import) -> Outcome {
    let names_a_task = arguments.into.is_some();
    let names_a_project = arguments.project.is_some() || arguments.author.is_some();
    if names_a_project || (!names_a_task && import::holds_traces(&arguments.file)) {
        return traces::run(session, arguments);
    }
    match written(arguments) {
        Ok(written) if arguments.json => Outcome::passed(as_json(&written)),
        Ok(written) => Outcome::passed(as_text(&written)),
        Err(ImportError::Folder(error)) => report::folder_unwritten(&error, arguments.json),
        Err(error @ (ImportError::Content(_) | ImportError::Invalid { .. })) => {
            report::request(&error, arguments.json)
        }
    }
}

fn written(arguments: &Import) -> Result<Written, ImportError> {
    let options = Options {
        reference: arguments.reference.clone(),
        dtype: arguments.dtype,
        kernel: arguments.kernel.clone(),
        answer: arguments.answer.clone(),
    };
    let imported = import::import_with(&arguments.file, &options)?;
    let folder = match &arguments.into {
        Some(folder) => folder.clone(),
        None => PathBuf::from(&imported.draft.manifest.name),
    };
    import::write(&folder, imported)
}

fn as_json(written: &Written) -> String {
    let report = &written.report;
    let left_out = report.left_out.iter();
    let left_out = left_out.map(|part| json!({"what": part.what, "reason": part.reason}));
    let questions = written.questions.iter().map(|placed| {
        json!({
            "name": placed.question.name,
            "text": placed.question.text,
            "needed": placed.question.need == Need::Answer,
            "file": placed.file,
            "line": placed.line,
        })
    });
    document(&json!({
        "schema": "lightbench.imported-project/1",
        "project": written.folder.display().to_string(),
        "format": report.format.key(),
        "files": written.files,
        "carried_over": report.carried,
        "left_out": left_out.collect::<Vec<_>>(),
        "questions": questions.collect::<Vec<_>>(),
        "first_run": report.first_run,
    }))
}

pub(crate) fn as_text(written: &Written) -> String {
    let report = &written.report;
    let folder = written.folder.display().to_string();
    let folder = visible(&folder);
    let mut text = format!("wrote {folder}, from {}\n", report.format.words());
    for file in &written.files {
        writeln!(text, "  {}", visible(file)).ok();
    }
    if !report.carried.is_empty() {
        text.push_str("\ncarried over\n");
        text.extend(report.carried.iter().map(|part| item(part)));
    }
    if !report.left_out.is_empty() {
        text.push_str("\nleft out\n");
        let parts = report.left_out.iter();
        text.extend(parts.map(|part| item(&format!("{}: {}", part.what, part.reason))));
    }
    text.push_str(&questions(&written.questions));
    if !report.first_run.is_empty() {
        text.push_str("\nthe first run\n");
        text.extend(report.first_run.iter().map(|sentence| item(sentence)));
    }
    let waiting = written.questions.iter().any(|placed| placed.question.need == Need::Answer);
    let first = if waiting { "answer the questions, then " } else { "" };
    writeln!(text, "\nnext: {first}lightbench run {folder}").ok();
    text
}

fn questions(placed: &[PlacedQuestion]) -> String {
    let mut text = String::new();
    for (need, words) in [(Need::Answer, "to answer"), (Need::Confirm, "to confirm")] {
        let some: Vec<&PlacedQuestion> =
            placed.iter().filter(|placed| placed.question.need == need).collect();
        if some.is_empty() {
            continue;
        }
        let count = counted(some.len() as u64, "proposal or gap", "proposals and gaps");
        writeln!(text, "\n{words} ({count})").ok();
        for placed in some {
            let (file, line) = (&placed.file, placed.line);
            text.push_str(&item(&format!("{file}:{line}: {}", placed.question.text)));
        }
    }
    text
}

/// The width of entries, without their indent, in a page of 80 columns.
const WIDTH: usize = 76;

/// One entry of a list; further lines are indented.
fn item(words: &str) -> String {
    let lines = wrapped(&visible(words), WIDTH);
    format!("  {}\n", lines.join("\n    "))
}
