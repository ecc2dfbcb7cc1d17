//! Temporary folders that are cleaned up after their owner was killed.
//!
//! Each folder has a lock file next to it, which its owner holds while it runs; the operating system releases the lock
//! however the owner ends. A process that creates a folder with the same prefix and acquires the lock of another folder
//! concludes that its owner is dead, and removes both.
//!
//! A process that cleans up may itself hold the lock for a moment. A lock therefore counts only if the locked file is
//! still the one of that name. The folder is created after its lock file and removed before it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Memory where files are never written to a disk, on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// Suffix of the lock files.
const LOCK: &str = ".lock";

/// A folder of one owner, removed when it is dropped, or by a later process if its owner was killed.
#[derive(Debug)]
pub struct OwnedFolder {
    folder: PathBuf,
    /// Removed after the folder.
    lock: TempPath,
    /// Released after the folder is removed.
    _held: File,
}

impl OwnedFolder {
    /// Creates a folder whose name begins with `prefix`, the number of this process and a random word. Folders of the
    /// same prefix whose owners are dead are removed first.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn within(place: &Path, prefix: &str) -> io::Result<Self> {
        remove_leftovers(place, prefix);
        let prefix = format!("{prefix}{}-", std::process::id());
        let mut names = tempfile::Builder::new();
        let made = names.prefix(&prefix).suffix(LOCK).make_in(place, claim);
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", place.display()))
        };
        let (held, lock) = made.map_err(named)?.into_parts();
        let folder = lock.with_extension("");
        make_private(&folder)?;
        Ok(Self { folder, lock, _held: held })
    }

    /// As [`OwnedFolder::within`], in memory where the system has a place for files there, else among the temporary files.
    ///
    /// # Errors
    /// Neither place can be written.
    pub fn in_memory(prefix: &str) -> io::Result<Self> {
        let temporary = tempfile::env::temp_dir();
        Self::within(Path::new(SHARED_MEMORY), prefix)
            .or_else(|_no_such_place| Self::within(&temporary, prefix))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        if !is_gone(&self.folder) {
            // A later process removes both.
            self.lock.disable_cleanup(true);
        }
    }
}

/// Removes the folder of an owner that is known to be dead, as far as permitted; a later owner removes the rest.
pub fn remove_orphan(folder: &Path) {
    if is_gone(folder) {
        let mut lock = folder.as_os_str().to_owned();
        lock.push(LOCK);
        fs::remove_file(lock).ok();
    }
}

/// Creates and locks a lock file; `AlreadyExists` if another process holds it, and the caller then tries another name.
fn claim(lock: &Path) -> io::Result<File> {
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    let held = private().create_new(true).open(lock)?;
    match held.try_lock() {
        Ok(()) if is_still_named(&held, lock) => Ok(held),
        // Another process that removes leftovers has just locked it.
        Ok(()) | Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the folders of dead owners. A later call retries the ones that cannot be removed now.
fn remove_leftovers(place: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let folder = name.to_str().filter(|name| name.starts_with(prefix));
        let Some(folder) = folder.and_then(|name| name.strip_suffix(LOCK)) else { continue };
        let (folder, lock) = (place.join(folder), entry.path());
        // Another user's cannot be opened.
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&lock) else { continue };
        if file.try_lock().is_ok() && is_still_named(&file, &lock) {
            // The lock file stays as long as the folder does. Another process may have removed both.
            let _removed = is_gone(&folder).then(|| fs::remove_file(&lock));
        }
    }
}

/// Removes a folder with its content; returns whether it no longer exists.
fn is_gone(folder: &Path) -> bool {
    match fs::remove_dir_all(folder) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(()) => true,
    }
}

/// Whether the file that is open has that name, and not another one made since.
#[cfg(unix)]
fn is_still_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    identity(open) == identity(named)
}

/// Elsewhere a file that is open keeps its name.
#[cfg(not(unix))]
fn is_still_named(_file: &File, path: &Path) -> bool {
    path.exists()
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
