//! One process at a time: an advisory lock on a file, waited for without becoming deaf.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// How often a waiting process looks again.
const PAUSE: Duration = Duration::from_millis(50);

/// Why the lock was not taken.
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
        /// How long was waited.
        limit: Duration,
    },
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
}

/// Held until dropped; the system releases it when the process dies.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// The empty lock file as the input of a child, which then shares the lock (on Unix): should
    /// this process be killed, nobody else starts before the orphan has ended too.
    pub(super) fn shared_as_input(&self) -> std::io::Result<Stdio> {
        Ok(Stdio::from(self.file.try_clone()?))
    }

    /// Takes the lock on `path`, calling `on_wait` once if somebody else holds it.
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
