//! `--replay-model`: a model that gives recorded replies, from a file of replies or the journal of a search.

use std::fs;
use std::path::Path;

use lightbench_core::models::RecordedModel;
use lightbench_core::search::Journal;
use lightbench_core::search::model::{RECORDED, from_entries};

use super::journals;
use crate::session::Session;

pub(super) fn read(session: &Session, path: &Path) -> Result<RecordedModel, String> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    if !is_journal(&text) {
        return RecordedModel::read(RECORDED, &text).map_err(|error| format!("{name}: {error}"));
    }
    let machine = journals::machine(session).map_err(|error| error.to_string())?;
    let read = Journal::read(path, &machine).map_err(|error| error.to_string())?;
    Ok(from_entries(read.entries.iter().map(|(_, entry)| entry)))
}

/// Whether the first line is that of a journal.
fn is_journal(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let line = serde_json::from_str::<serde_json::Value>(first);
    line.is_ok_and(|line| line.get("entry").is_some())
}
