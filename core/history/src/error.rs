//! Errors of opening, reading and writing a history.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::damage::DamagedRow;
use super::sidecar::PATIENCE;
use super::store::RunNumber;
use super::text::TextHash;
use super::timing::NoTime;

/// An error of a history. Its earlier content is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder or a file in it cannot be made, read or moved.
    #[error("cannot {what} {}: {source}", path.display())]
    Files {
        /// The attempted action.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A newer version of Lightbench wrote the file.
    #[error(
        "{} has schema {found}, and this version of Lightbench knows schemas up to {known}: use the newer version, or move the file away",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// The content of the file is not a readable database.
    #[error(
        "{} is damaged: {reason}; `lightbench history` copies the runs that can be read to a new file",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The message of the database.
        reason: String,
    },
    /// The disk is full.
    #[error("no space is left for {}; its earlier content is unchanged", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file system or its permissions forbid writing.
    #[error(
        "{} cannot be written, and nothing was changed: make the project's folder writable, or work on a copy of it",
        path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the lock.
    #[error("another process has held {} for {seconds} s", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// The time waited.
        seconds: u64,
    },
    /// The database refuses for another reason.
    #[error("cannot {what} in {}: {source}", path.display())]
    Database {
        /// The attempted action.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
    /// A record refers to a missing text.
    #[error("the record refers to the text {hash}, which is missing")]
    MissingText {
        /// The name of the text.
        hash: TextHash,
    },
    /// A record has no written form.
    #[error("the record cannot be written: {0}")]
    Unwritable(serde_json::Error),
    /// A time is not positive and finite.
    #[error(transparent)]
    NoTime(#[from] NoTime),
    /// No run has that number.
    #[error("no run has the number {0}")]
    NoSuchRun(RunNumber),
    /// A recorded run cannot be a baseline.
    #[error("run {0} is recorded: this machine did not run it, so it cannot be a baseline")]
    OnlyRecorded(RunNumber),
    /// A value of the run is damaged.
    #[error("{0}; the run cannot be used")]
    DamagedRun(DamagedRow),
    /// A run that did not pass cannot be a baseline.
    #[error("run {0} did not pass all checks, so it cannot be a baseline")]
    NotPassed(RunNumber),
    /// The operating system gave no random numbers.
    #[error("the operating system returned no random numbers: {0}")]
    NoRandomness(getrandom::Error),
}

impl HistoryError {
    /// Converts an error of SQLite for an action on the history at `path`.
    pub(super) fn from_sqlite(what: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let is = |codes: &[ErrorCode]| {
            source.sqlite_error_code().is_some_and(|code| codes.contains(&code))
        };
        if is(&[ErrorCode::DiskFull]) {
            Self::Full { path }
        } else if is(&[ErrorCode::ReadOnly]) {
            Self::ReadOnly { path }
        } else if is(&[ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked]) {
            Self::Busy { path, seconds: PATIENCE.as_secs() }
        } else if is(&[ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase]) {
            Self::Damaged { path, reason: source.to_string() }
        } else {
            Self::Database { what, path, source }
        }
    }
}
