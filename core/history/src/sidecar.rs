//! The files of a history in their folder: the database, its write-ahead log and journal, and the lock.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use lightbench_primitives::no_links;
use lightbench_primitives::no_links::Access;

use super::error::HistoryError;

/// The database.
pub(super) const DATABASE: &str = "history.db";
const LOCK: &str = "history.lock";

/// The suffixes of SQLite's companion files of a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The smallest page of a database, in bytes.
const SMALLEST_PAGE: u64 = 512;

/// The time to wait for another process.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// The last bytes of a rollback journal that names another journal, which SQLite would open and perhaps delete
/// (<https://www.sqlite.org/fileformat2.html>, section 3). Nothing here ever writes one.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// A file of the history that is not a plain file: a link or a pipe that came with the project.
pub(super) fn not_a_plain_file(folder: &Path) -> io::Result<Option<PathBuf>> {
    let companions = COMPANIONS.map(|suffix| format!("{DATABASE}{suffix}"));
    let names = [DATABASE, LOCK].into_iter().chain(companions.iter().map(String::as_str));
    for path in names.map(|name| folder.join(name)) {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() => return Ok(Some(path)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether the folder has a rollback journal that names another file, which Lightbench never writes.
pub(super) fn journal_names_another(folder: &Path) -> io::Result<bool> {
    let path = folder.join(format!("{DATABASE}-journal"));
    let mut journal = match no_links::open(&path, Access::Read) {
        Ok(journal) => journal,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut end = [0; JOURNAL_MAGIC.len()];
    if journal.metadata()?.len() < end.len() as u64 {
        return Ok(false);
    }
    journal.seek(SeekFrom::End(-(end.len() as i64)))?;
    journal.read_exact(&mut end)?;
    Ok(end == JOURNAL_MAGIC)
}

/// Whether the file is so short that SQLite would treat it as an empty database and overwrite it.
pub(super) fn is_too_short(folder: &Path) -> io::Result<bool> {
    match fs::metadata(folder.join(DATABASE)) {
        Ok(metadata) => Ok((1..SMALLEST_PAGE).contains(&metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames the database and its companion files to a free name; returns the new path.
pub(super) fn set_aside(folder: &Path) -> Result<PathBuf, HistoryError> {
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let kept = free_name(folder, &format!("history-aside-{today}"))?;
    for suffix in ["", COMPANIONS[0], COMPANIONS[1], COMPANIONS[2]] {
        let path = folder.join(format!("{DATABASE}{suffix}"));
        let mut target = kept.clone().into_os_string();
        target.push(suffix);
        match fs::rename(&path, target) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(HistoryError::Files { what: "set aside", path, source }),
        }
    }
    Ok(kept)
}

/// Copies the database and the files needed to open it. A journal that names another file is left out.
///
/// If another process writes meanwhile, everything is copied again.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..MOST_COPIES {
        let before = state_of(from)?;
        copy_once(from, to)?;
        if state_of(from)? == before {
            return Ok(());
        }
    }
    Err(io::Error::other("another process changes it again and again"))
}

/// The largest number of copies of files that change while they are copied.
const MOST_COPIES: usize = 8;

/// The log is copied before the database, whose presence marks a complete copy.
fn copy_once(from: &Path, to: &Path) -> io::Result<()> {
    let [log, _shared_memory, journal] = COMPANIONS;
    let beside = match journal_names_another(from)? {
        true => [Some(log), None],
        false => [Some(log), Some(journal)],
    };
    for suffix in beside.into_iter().flatten() {
        copy_file(from, to, &format!("{DATABASE}{suffix}"))?;
    }
    copy_file(from, to, DATABASE)
}

/// Copies a file if it exists, under a temporary name first; otherwise removes the old copy.
fn copy_file(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    let (unfinished, target) = (to.join(format!("{name}.copying")), to.join(name));
    let mut source = match no_links::open(&from.join(name), Access::Read) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match fs::remove_file(&target) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        Err(error) => return Err(error),
    };
    let mut copy = no_links::open(&unfinished, Access::Write)?;
    copy.set_len(0)?;
    io::copy(&mut source, &mut copy)?;
    fs::rename(unfinished, target)
}

/// The sizes and times of the files, which change on a write.
fn state_of(folder: &Path) -> io::Result<Vec<Option<(u64, std::time::SystemTime)>>> {
    let names = ["", COMPANIONS[0], COMPANIONS[2]].map(|suffix| format!("{DATABASE}{suffix}"));
    let state = |name| match fs::symlink_metadata(folder.join(name)) {
        Ok(metadata) => Ok(Some((metadata.len(), metadata.modified()?))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    names.into_iter().map(state).collect()
}

/// Removes a database and its companion files, if they exist.
pub(super) fn remove(database: &Path) -> io::Result<()> {
    for suffix in ["", COMPANIONS[0], COMPANIONS[1], COMPANIONS[2]] {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// The first unused name of `stem-1.db`, `stem-2.db` … The caller holds the lock, so that no other process takes the name.
pub(super) fn free_name(folder: &Path, stem: &str) -> Result<PathBuf, HistoryError> {
    for number in 1_u32.. {
        let path = folder.join(format!("{stem}-{number}.db"));
        match fs::symlink_metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(source) => return Err(HistoryError::Files { what: "look at", path, source }),
        }
    }
    let source = io::Error::other("every name is taken");
    Err(HistoryError::Files { what: "find a name in", path: folder.to_owned(), source })
}

/// The mode of the lock on the files of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// Others may read and append too.
    Shared,
    /// Exclusive: files may be moved and tables changed.
    Alone,
}

/// A lock, released on drop or when the process ends.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

/// Waits until the history can be held like this.
pub(super) fn lock(folder: &Path, hold: LockMode) -> Result<FolderLock, HistoryError> {
    let path = folder.join(LOCK);
    let failed = |source| HistoryError::Files { what: "lock", path: path.clone(), source };
    let file = no_links::open(&path, Access::Write).map_err(failed)?;
    let begin = Instant::now();
    loop {
        let locked = match hold {
            LockMode::Shared => file.try_lock_shared(),
            LockMode::Alone => file.try_lock(),
        };
        match locked {
            Ok(()) => return Ok(FolderLock { _file: file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if begin.elapsed() >= PATIENCE {
            return Err(HistoryError::Busy { path, seconds: PATIENCE.as_secs() });
        }
        thread::sleep(PAUSE);
    }
}
