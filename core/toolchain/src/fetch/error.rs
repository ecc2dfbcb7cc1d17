//! Why a fetch failed, and the remedy.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::lock::LockError;
use super::super::program::ProgramError;

/// Why a fetch did not end with the packages in place.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// NVIDIA publishes no packages for this system.
    #[error("no CUDA compiler exists for this system ({system})")]
    Unsupported {
        /// Operating system and processor.
        system: String,
    },
    #[error(
        "no cache folder: neither a home folder nor LIGHTBENCH_CACHE is set; set LIGHTBENCH_CACHE to a folder that you can write to"
    )]
    NoCache,
    /// The cache folder cannot be written.
    #[error(
        "cannot write to {}: {source}; set LIGHTBENCH_CACHE to a folder that you can write to",
        path.display()
    )]
    Storage {
        /// Folder or file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    #[error(
        "{} has {} MiB free, {} MiB are needed; make room, or set LIGHTBENCH_CACHE to a folder on \
         another disk", path.display(), available >> 20, needed >> 20
    )]
    DiskFull {
        /// The folder.
        path: PathBuf,
        /// Bytes that are free.
        available: u64,
        /// Bytes that an install needs.
        needed: u64,
    },
    /// No working pip on `PATH`.
    #[error("no working pip found ({tried}); install it ({advice})")]
    NoPip {
        /// The programs that were tried.
        tried: String,
        /// How to install it on this system.
        advice: &'static str,
    },
    /// pip could not be started or watched.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// pip failed.
    #[error("{program} failed ({status}):\n{tail}")]
    PipFailed {
        /// The program.
        program: String,
        /// Its exit status.
        status: String,
        /// The last lines of its output.
        tail: String,
    },
    /// pip succeeded without installing the requested packages.
    #[error(
        "pip reported success, but {missing} is not in what it installed; is a package index of this machine replacing NVIDIA's packages?"
    )]
    Incomplete {
        /// The file or program that is missing or damaged.
        missing: String,
    },
    /// It took too long.
    #[error("the fetch was stopped after {} s; nothing was kept", limit.as_secs())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    #[error("the fetch was cancelled; nothing was kept")]
    Cancelled,
    /// The lock was not acquired.
    #[error("{0}")]
    Lock(LockError),
}

impl From<ProgramError> for FetchError {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Start { program, source } => Self::Start { program, source },
            ProgramError::TimedOut { limit } => Self::TimedOut { limit },
            ProgramError::Cancelled => Self::Cancelled,
        }
    }
}

impl From<LockError> for FetchError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Cancelled => Self::Cancelled,
            LockError::Unavailable { path, source } => Self::Storage { path, source },
            held @ LockError::Held { .. } => Self::Lock(held),
        }
    }
}

/// Turns a failure of the file system at `path` into the error that names it.
pub(super) fn storage(path: &Path) -> impl FnOnce(io::Error) -> FetchError + '_ {
    move |source| FetchError::Storage { path: path.to_path_buf(), source }
}
