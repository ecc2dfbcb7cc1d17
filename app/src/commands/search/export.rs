//! `lightbench search --export`: writes a search as lines of JSON.

use std::path::Path;

use lightbench_core::display_text::visible;
use lightbench_core::search::trajectory;
use lightbench_core::search::{Entry, Journal};
use lightbench_core::whole_file;
use serde_json::json;

use super::journals;
use crate::args;
use crate::commands::check::target;
use crate::outcome::{Outcome, document};
use crate::report;
use crate::session::Session;

/// Reads the journal and writes its trajectory to a new file; accepts journals of other machines.
pub(super) fn exported(
    session: &Session,
    arguments: &args::Searching,
    file: &Path,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let broken = |error: &dyn std::fmt::Display| report::environment(&error, as_json);
    let lacks = "no searches";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
    let folder = journals::folder(session, &project.root).map_err(|error| broken(&error))?;
    let machine = journals::machine(session).map_err(|error| broken(&error))?;
    let name = arguments.resume.as_deref().unwrap_or("last");
    let path = journals::journal(&folder, name).map_err(|error| refuse(&error))?;
    let read = Journal::read(&path, &machine).map_err(|error| refuse(&error))?;
    let entries: Vec<Entry> = read.entries.into_iter().map(|(_, entry)| entry).collect();
    let mut text = Vec::new();
    let lines = trajectory::export(&entries, &mut text)
        .and_then(|lines| whole_file::create(file, &text).map(|()| lines))
        .map_err(|error| report::unwritten(file, &error, as_json))?;
    let shown = visible(&file.display().to_string()).into_owned();
    let search = &read.story.header.id;
    Ok(Outcome::passed(match as_json {
        true => document(&json!({
            "schema": "lightbench.export/1", "search": search, "file": shown, "actions": lines,
        })),
        false => format!("wrote {shown}: {lines} actions of search {search}\n"),
    }))
}
