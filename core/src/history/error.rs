//! Why a history cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::damage::DamagedRow;
use super::sidecar::PATIENCE;
use super::store::RunNumber;
use super::text::TextHash;
use super::timing::NoTime;

/// Why a history cannot be used. What was in it before is still in it.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder or a file in it cannot be made, read or moved.
    #[error("cannot {what} {}: {source}", path.display())]
    Files {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A later version of this program wrote it.
    #[error(
        "{} has schema {found}, and this version of Lightbench knows schemas up to {known}: use the newer version, or move the file away",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// What is in the file cannot be read as a database.
    #[error(
        "{} is damaged: {reason}; `lightbench history` copies the runs that can be read to a new file",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// The disk is full.
    #[error("no space is left for {}; everything that was in it before still is", path.display())]
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
    /// Another process would not let go of it.
    #[error("another process has held {} for {seconds} s", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// The database refuses for another reason.
    #[error("cannot {what} in {}: {source}", path.display())]
    Database {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The database's reason.
        source: rusqlite::Error,
    },
    /// A record refers to a text that came with nobody.
    #[error("the record refers to the text {hash}, which is not there")]
    MissingText {
        /// Its name.
        hash: TextHash,
    },
    /// A record has no written form.
    #[error("the record cannot be written: {0}")]
    Unwritable(serde_json::Error),
    /// A time in it is none.
    #[error(transparent)]
    NoTime(#[from] NoTime),
    /// No run has that number.
    #[error("no run has the number {0}")]
    NoSuchRun(RunNumber),
    /// What this machine did not run is never a baseline.
    #[error("run {0} is recorded: this machine did not run it, so it is no baseline")]
    OnlyRecorded(RunNumber),
    /// A value of the run is damaged.
    #[error("{0}; the run cannot be used")]
    DamagedRun(DamagedRow),
    /// What did not pass is never a baseline.
    #[error("run {0} did not pass everything, so it is no baseline")]
    NotPassed(RunNumber),
    /// The operating system gave no random numbers.
    #[error("the operating system gives no random numbers: {0}")]
    NoRandomness(getrandom::Error),
}

impl HistoryError {
    /// What the database says while something is tried with the history at `path`.
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
