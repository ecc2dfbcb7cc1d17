//! An advisory file lock that admits one process at a time and can be cancelled while waiting.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between attempts while waiting.
const PAUSE: Duration = Duration::from_millis(50);

/// Why the lock was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The lock file cannot be made or locked.
    #[error("cannot lock {}: {source}", path.display())]
    Unavailable {
        /// The lock file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Another process held it all the time.
    #[error("another process has held {} for {} s", path.display(), limit.as_secs())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The waiting time.
        limit: Duration,
    },
    #[error("cancelled")]
    Cancelled,
}

/// Held until dropped; the system releases it when the process dies.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// The empty lock file as the standard input of a child, which then shares the lock (on Unix): if this process is
    /// killed, no other process starts before the orphan has ended too.
    pub(super) fn shared_as_input(&self) -> std::io::Result<Stdio> {
        Ok(Stdio::from(self.file.try_clone()?))
    }

    /// Acquires the lock on `path`; calls `on_wait` once if another process holds it.
    pub(super) fn acquire(
        path: &Path,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        on_wait: &mut dyn FnMut(),
    ) -> Result<Self, LockError> {
        let unavailable = |source| LockError::Unavailable { path: path.to_path_buf(), source };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(unavailable)?;
        let begin = Instant::now();
        let mut said = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(unavailable(source)),
            }
            if cancelled() {
                return Err(LockError::Cancelled);
            }
            if begin.elapsed() >= limit {
                return Err(LockError::Held { path: path.to_path_buf(), limit });
            }
            if !said {
                on_wait();
                said = true;
            }
            thread::sleep(PAUSE);
        }
    }
}
