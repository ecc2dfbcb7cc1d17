//! `lightbench import` of traces: reads them as recorded runs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use lightbench_core::display_text::visible;
use lightbench_core::history::IntegrityCheck;
use lightbench_core::history::store::Imported;
use lightbench_core::history::text::Texts;
use lightbench_core::history::trace::{self, Import};
use lightbench_core::units::counted;
use serde_json::json;

use super::{HistoryCommandError, open_or_create, project_folder};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Maximum size of an imported file, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Imports a file of traces into a project's history.
pub fn run(session: &Session, arguments: &args::Import) -> Outcome {
    imported(session, arguments).unwrap_or_else(|refused| refused.outcome(arguments.json))
}

fn imported(session: &Session, arguments: &args::Import) -> Result<Outcome, HistoryCommandError> {
    let root = project_folder(arguments.project.as_deref().unwrap_or(Path::new(".")))?;
    let shown = arguments.file.display();
    let text = read(&arguments.file)
        .map_err(|error| HistoryCommandError::Request(format!("cannot read {shown}: {error}")))?;
    let author = match &arguments.author {
        Some(author) => author.clone(),
        None => arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let read = trace::import(&text, &author)
        .map_err(|error| HistoryCommandError::Request(format!("{shown}: {error}")))?;
    let mut opened = open_or_create(session, &root, IntegrityCheck::None)?;
    let stored = opened.store.import(&read.runs, &Texts::default())?;
    let notices: Vec<String> = opened.notices.iter().map(ToString::to_string).collect();
    let output = if arguments.json {
        document(&json!({
            "schema": "lightbench.import/1",
            "added": stored.added,
            "known": stored.known,
            "workloads_only": read.workloads_only,
            "invalid_references": read.invalid_references,
        }))
    } else {
        report(&read, stored, &shown.to_string())
    };
    Ok(Outcome { output, errors: report::notices(&notices), status: Status::Passed })
}

fn report(read: &Import, stored: Imported, file: &str) -> String {
    let (new, file) = (stored.added as u64, visible(file));
    let new = counted(new, "recorded run is new", "recorded runs are new");
    let mut text = format!("{new}, from {file}\n");
    for (count, what) in [
        (stored.known, "were already there"),
        (read.workloads_only, "describe a workload without a solution"),
        (read.invalid_references, "report only a failure of the reference"),
    ] {
        if count > 0 {
            text.push_str(&format!("{count} {what}\n"));
        }
    }
    text
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    // One byte more than allowed distinguishes a file that is too large from one that just fits.
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("the limit is {MOST_BYTES} bytes")));
    }
    Ok(text)
}
