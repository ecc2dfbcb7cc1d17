//! Counts how often the held-out workloads of a definition judged an agent's candidate.
//!
//! Each verdict reveals one bit about them. An agent chooses the names and the parents of its candidates, so all
//! candidates for one definition are one family. The count is a file in the user's state folder: a new connection or
//! another server changes nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// Attempts within [`PERIOD_SECONDS`].
pub(super) const MAX_ATTEMPTS: usize = 3;

/// A day.
const PERIOD_SECONDS: i64 = 24 * 3600;

/// Why the held-out workloads may not be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum AttemptError {
    /// The family has used its attempts.
    #[error(
        "{MAX_ATTEMPTS} candidates for this definition were tried within a day; each try reveals something about the held-out workloads, so the next one must wait"
    )]
    TooMany,
    /// The file cannot be read or written.
    #[error("the attempts cannot be counted in {file}: {error}")]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The attempts for one definition.
#[derive(Debug)]
pub(super) struct Attempts {
    file: PathBuf,
}

impl Attempts {
    /// The attempts for the definition with this hash.
    pub(super) fn in_state_folder(state: &Path, definition: &str) -> Self {
        Self { file: state.join("agents").join("attempts").join(definition) }
    }

    /// Takes one attempt, if one is left.
    pub(super) fn take(&self, now: Timestamp) -> Result<(), AttemptError> {
        let taken = self.counted(now.as_second());
        let taken = taken.map_err(|error| AttemptError::File { file: self.file.clone(), error })?;
        if taken { Ok(()) } else { Err(AttemptError::TooMany) }
    }

    #[expect(clippy::verbose_file_reads, reason = "the file is locked, read and rewritten")]
    fn counted(&self, now: i64) -> io::Result<bool> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&self.file)?;
        // Released when the file is closed. Another server may count at the same time.
        file.lock()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        // A line that is no time, or in the future, counts: a damaged file permits nothing.
        let is_recent =
            |line: &&str| line.parse().map_or(true, |then: i64| now - then < PERIOD_SECONDS);
        let mut lines: Vec<&str> = text.lines().filter(is_recent).collect();
        if lines.len() >= MAX_ATTEMPTS {
            return Ok(false);
        }
        let own = now.to_string();
        lines.push(&own);
        rewrite(&mut file, &(lines.join("\n") + "\n"))?;
        Ok(true)
    }
}

fn rewrite(file: &mut File, text: &str) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn three_attempts_a_day_whoever_asks() {
        let state = tempfile::tempdir().unwrap();
        let attempts = |definition| Attempts::in_state_folder(state.path(), definition);
        for second in 0..3 {
            attempts("a").take(at(second)).unwrap();
        }
        let refused = attempts("a").take(at(10)).unwrap_err();
        assert!(refused.to_string().starts_with("3 candidates"), "{refused}");
        attempts("b").take(at(10)).unwrap();
        assert!(attempts("a").take(at(PERIOD_SECONDS - 1)).is_err());
        // The first one is a day old.
        attempts("a").take(at(PERIOD_SECONDS)).unwrap();
        assert!(attempts("a").take(at(PERIOD_SECONDS)).is_err());
    }

    #[test]
    fn a_damaged_count_permits_nothing() {
        let state = tempfile::tempdir().unwrap();
        let attempts = Attempts::in_state_folder(state.path(), "a");
        attempts.take(at(0)).unwrap();
        fs::write(&attempts.file, "x\ny\nz\n").unwrap();
        assert!(attempts.take(at(10 * PERIOD_SECONDS)).is_err());
    }

    #[test]
    fn servers_that_count_at_once_share_the_attempts() {
        let state = tempfile::tempdir().unwrap();
        let attempts = Attempts::in_state_folder(state.path(), "a");
        let taken = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..12).map(|_| scope.spawn(|| attempts.take(at(0)).is_ok())).collect();
            threads.into_iter().map(|each| each.join().unwrap()).filter(|ok| *ok).count()
        });
        assert_eq!(taken, MAX_ATTEMPTS);
    }
}
