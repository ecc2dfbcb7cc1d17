//! Journal of a search: a file of lines, each synchronised to disk before listeners receive its entry.
//!
//! A kill loses at most the line that was being written, which no listener has received; an incomplete last line is cut off
//! when the search is resumed. Each line is sealed together with the seal before it, by the key that seals runs. Only a
//! journal of this machine can be resumed; one from another machine can be read and replayed.
//!
//! A journal file is renamed to its name after its first line is on disk, so that every journal has a header.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use lightbench_primitives::no_links;
use lightbench_primitives::no_links::Access;
use serde::{Deserialize, Serialize};

use super::entry::{Entry, SCHEMA};
use super::state::SearchState;
use crate::history::machine::Machine;

/// Largest journal that is read, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// A file that entries are appended to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// None before the first line.
    file: Option<File>,
    machine: Machine,
    /// The seal of the last line.
    chain: String,
}

/// A journal as it was read.
#[derive(Debug)]
pub struct Read {
    /// State of the search after all entries.
    pub story: SearchState,
    /// All entries, each with the elapsed seconds of the search.
    pub entries: Vec<(f64, Entry)>,
    /// Whether this machine wrote all of it.
    pub is_own: bool,
    /// Bytes up to the end of the last whole line.
    whole: u64,
    chain: String,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system reports an error.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Files {
        /// The operation, as a verb.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file is not a journal, or is damaged.
    #[error("`{}`, line {line}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line of the problem, from 1.
        line: usize,
        /// The problem.
        reason: String,
    },
    /// Another machine wrote the journal, or it was edited.
    #[error("`{}` was not written by this machine, so it cannot be resumed; `--replay` can use it", .0.display())]
    Foreign(PathBuf),
}

/// One line.
#[derive(Serialize, Deserialize)]
struct Line<Entry> {
    /// Seconds that the search had run.
    at: f64,
    entry: Entry,
    /// Seal of this line and of the seal before it.
    seal: String,
}

impl Journal {
    /// Begins a journal. The file must not exist; it is created with its first line.
    ///
    /// # Errors
    /// The file exists, its folder cannot be made, or the path contains a symbolic link.
    pub fn create(path: &Path, machine: Machine) -> Result<Self, JournalError> {
        if let Some(folder) = path.parent() {
            no_links::create_folder(folder).map_err(failed("create", folder))?;
        }
        if no_links::identity(path).map_err(failed("create", path))?.is_some() {
            return Err(failed("create", path)(io::ErrorKind::AlreadyExists.into()));
        }
        Ok(Self { path: path.to_owned(), file: None, machine, chain: String::new() })
    }

    /// Continues a journal of this machine.
    ///
    /// # Errors
    /// The journal cannot be read, is damaged, or is from another machine.
    pub fn resume(path: &Path, machine: Machine) -> Result<(Self, Read), JournalError> {
        let read = Self::read(path, &machine)?;
        if !read.is_own {
            return Err(JournalError::Foreign(path.to_owned()));
        }
        let mut file = no_links::open(path, Access::Write).map_err(failed("open", path))?;
        file.set_len(read.whole).map_err(failed("write", path))?;
        file.seek(SeekFrom::End(0)).map_err(failed("write", path))?;
        let chain = read.chain.clone();
        Ok((Self { path: path.to_owned(), file: Some(file), machine, chain }, read))
    }

    /// Reads a journal of any machine, without an incomplete last line.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(path: &Path, machine: &Machine) -> Result<Read, JournalError> {
        let file = no_links::open(path, Access::Read).map_err(failed("read", path))?;
        let mut text = String::new();
        let read = file.take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(failed("read", path))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let damaged = |line: usize, reason: String| JournalError::Damaged {
            path: path.to_owned(),
            line: line + 1,
            reason,
        };
        let (mut entries, mut is_own, mut chain) = (Vec::new(), true, String::new());
        for (number, text) in text[..whole].lines().enumerate() {
            let line: Line<Entry> =
                serde_json::from_str(text).map_err(|error| damaged(number, error.to_string()))?;
            let said = sealed_text(&chain, line.at, &line.entry);
            let said = said.map_err(|error| damaged(number, error.to_string()))?;
            is_own &= from_hex(&line.seal)
                .is_some_and(|seal| machine.has_sealed(&said, Some(seal.as_slice())));
            chain = line.seal;
            if let Entry::Began(header) = &line.entry
                && header.schema != SCHEMA
            {
                let reason = format!("the format is `{}`; expected `{SCHEMA}`", header.schema);
                return Err(damaged(number, reason));
            }
            entries.push((line.at, line.entry));
        }
        let all = entries.iter().map(|(_, entry)| entry.clone());
        let story = SearchState::from_entries(all)
            .map_err(|error| damaged(entries.len(), error.to_string()))?;
        let mut story = story.ok_or_else(|| damaged(0, "it is empty".to_owned()))?;
        story.spent.seconds = entries.last().map_or(0.0, |(at, _)| *at);
        Ok(Read { story, entries, is_own, whole: whole as u64, chain })
    }

    /// Appends an entry and waits until it is on disk.
    ///
    /// # Errors
    /// The file system reports an error.
    pub fn append(&mut self, at: f64, entry: &Entry) -> Result<(), JournalError> {
        let unwritable = |source: io::Error| JournalError::Files {
            what: "write",
            path: self.path.clone(),
            source,
        };
        let said = sealed_text(&self.chain, at, entry)
            .map_err(|error| unwritable(io::Error::other(error)))?;
        // Without a key no journal belongs to this machine; the chain still links each line to those before it.
        let seal = match self.machine.seal(&said) {
            Some(seal) => blake3::Hash::from_bytes(seal),
            None => blake3::hash(said.as_bytes()),
        };
        let line = Line { at, entry, seal: seal.to_hex().to_string() };
        let mut text =
            serde_json::to_string(&line).map_err(|error| unwritable(io::Error::other(error)))?;
        text.push('\n');
        match &mut self.file {
            Some(file) => append_whole(file, text.as_bytes()).map_err(unwritable)?,
            None => self.file = Some(begun(&self.path, text.as_bytes()).map_err(unwritable)?),
        }
        self.chain = line.seal;
        Ok(())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a file with its first line, under a temporary name that is then changed.
fn begun(path: &Path, line: &[u8]) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut unfinished = name.to_owned();
    unfinished.push(format!(".{}.new", std::process::id()));
    let begin = || {
        let mut file = no_links::open(&folder.join(&unfinished), Access::New)?;
        file.write_all(line)?;
        file.sync_data()?;
        no_links::rename(folder, OsStr::new(&unfinished), name)?;
        Ok(file)
    };
    begin().inspect_err(|_error| {
        // The temporary file may not exist.
        no_links::remove(&folder.join(&unfinished)).ok();
    })
}

/// Appends a line; after an error, cuts off the part that was written.
fn append_whole(file: &mut File, line: &[u8]) -> io::Result<()> {
    let before = file.stream_position()?;
    file.write_all(line).and_then(|()| file.sync_data()).inspect_err(|_error| {
        // If this fails too, the incomplete line is cut off when the search is resumed.
        file.set_len(before).and_then(|()| file.seek(SeekFrom::Start(before))).ok();
    })
}

fn sealed_text(chain: &str, at: f64, entry: &Entry) -> Result<String, serde_json::Error> {
    Ok(format!("{chain}\n{at}\n{}", serde_json::to_string(entry)?))
}

fn from_hex(seal: &str) -> Option<[u8; blake3::OUT_LEN]> {
    blake3::Hash::from_hex(seal).ok().map(|hash| *hash.as_bytes())
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Files { what, path, source }
}
