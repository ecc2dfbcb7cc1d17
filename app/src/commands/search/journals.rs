//! The journals of searches, and the knowledge learnt from them.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use lightbench_core::history::HistoryError;
use lightbench_core::history::location::HistoryLocation;
use lightbench_core::history::machine::Machine;
use lightbench_core::no_links::{self, Access};
use lightbench_core::search::{Entry, Header};
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::whole_file;

use crate::session::Session;

/// The folder of journals, beside the history.
const FOLDER: &str = "searches";

/// Maximum length of a journal's first line, in bytes.
const MOST_OF_HEADER: u64 = 1 << 20;

/// The file of learnt knowledge in the state folder.
const KNOWLEDGE: &str = "knowledge.ron";

/// The folder of a project's journals.
pub(crate) fn folder(session: &Session, root: &Path) -> Result<PathBuf, HistoryError> {
    Ok(HistoryLocation::for_writing(root, session.state.as_deref())?.folder.join(FOLDER))
}

/// The folder of a project's journals, if it exists; creates nothing.
pub(crate) fn known_folder(
    session: &Session,
    root: &Path,
) -> Result<Option<PathBuf>, HistoryError> {
    if let Some(place) = HistoryLocation::for_reading(root, session.state.as_deref())? {
        return Ok(Some(place.folder.join(FOLDER)));
    }
    // A search killed before its first run was appended has no history beside it.
    let own = root.join(no_links::FOLDER).join(FOLDER);
    Ok(own.is_dir().then_some(own))
}

/// This machine's key.
pub(crate) fn machine(session: &Session) -> Result<Machine, HistoryError> {
    session.state.as_deref().map_or_else(|| Ok(Machine::without_key()), Machine::open)
}

/// The journal with this name, or the newest.
pub(crate) fn journal(folder: &Path, name: &str) -> io::Result<PathBuf> {
    if name != "last" {
        let is_name = name.chars().all(|each| each.is_ascii_alphanumeric() || each == '-');
        let path = folder.join(format!("{name}.jsonl"));
        return match is_name && path.is_file() {
            true => Ok(path),
            false => Err(io::Error::other(format!(
                "there is no search `{name}` in {}",
                folder.display()
            ))),
        };
    }
    let names = match no_links::names(folder) {
        Ok(names) => names,
        // Before the first search the folder does not exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    // Names begin with the time. A file without a header is skipped: earlier versions left such files on a full disk.
    let paths = names.into_iter().rev().map(|name| folder.join(name));
    let newest = paths.into_iter().find(|path| is_journal(path) && header(path).is_some());
    newest.ok_or_else(|| io::Error::other(format!("there is no search in {}", folder.display())))
}

fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// The journal with this name, the newest, or any file.
pub(super) fn any_journal(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let path = Path::new(name);
    if path.extension().is_some() && path.is_file() {
        // The user named this path, so links in it are followed.
        return path.canonicalize();
    }
    journal(folder, name)
}

/// The headers of a folder's journals, the newest first; other files, and a folder that is a link, are skipped.
pub(crate) fn listed(folder: &Path) -> Vec<Header> {
    let Ok(names) = no_links::names(folder) else { return Vec::new() };
    let mut headers: Vec<Header> =
        names.into_iter().filter_map(|name| header(&folder.join(name))).collect();
    headers.sort_by_key(|header| std::cmp::Reverse(header.began_at));
    headers
}

/// The header of a journal.
fn header(path: &Path) -> Option<Header> {
    /// The needed fields of a line.
    #[derive(serde::Deserialize)]
    struct Line {
        entry: Entry,
    }
    let mut first = String::new();
    let file = no_links::open(path, Access::Read).ok()?;
    BufReader::new(file.take(MOST_OF_HEADER)).read_line(&mut first).ok()?;
    match serde_json::from_str::<Line>(&first).ok()?.entry {
        // A journal is found by its file name.
        Entry::Began(header) if path.file_stem()?.to_str()? == header.id => Some(*header),
        Entry::Began(_)
        | Entry::Proposed(_)
        | Entry::Nothing { .. }
        | Entry::Tried { .. }
        | Entry::Looked { .. }
        | Entry::Judged { .. }
        | Entry::Decided { .. }
        | Entry::TurnedDown { .. }
        | Entry::Ended { .. } => None,
    }
}

/// The built-in and the learnt knowledge.
pub(crate) fn knowledge(session: &Session) -> Knowledge {
    let mut knowledge = Knowledge::seed();
    if let Some(learnt) = read_learnt(session) {
        knowledge.merge(&learnt);
    }
    knowledge
}

fn read_learnt(session: &Session) -> Option<Knowledge> {
    let text = fs::read_to_string(session.state.as_ref()?.join(KNOWLEDGE)).ok()?;
    Knowledge::parse(&text).ok()
}

/// Stores new knowledge with the existing one; a file that cannot be read is moved aside.
pub(crate) fn save_learnt(session: &Session, new: &Knowledge) -> io::Result<()> {
    let Some(state) = session.state.as_ref().filter(|_| !new.seen.is_empty()) else {
        return Ok(());
    };
    fs::create_dir_all(state)?;
    let path = state.join(KNOWLEDGE);
    let before = read_learnt(session);
    if path.exists() && before.is_none() {
        fs::rename(&path, state.join("knowledge.unreadable.ron"))?;
    }
    let mut all = before.unwrap_or_default();
    all.merge(new);
    whole_file::replace(&path, all.text().as_bytes())
}
