//! Temporary folders, and what becomes of them when their owner is killed.
//!
//! Each folder has a lock file beside it, which its owner holds for as long as it lives: the system lets go of it however
//! the owner ends. A later owner of a folder with the same beginning of its name that gets the lock of another's folder
//! knows that the other is dead, and removes both.
//!
//! A lock that another process just took to clean up is no lock of the owner's: it counts only if the file that was locked
//! is still the one of that name. The folder is made after that, and removed before its lock file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// How the names of their lock files end.
const LOCK: &str = ".lock";

/// A folder of one owner, removed when it is dropped, or by a later process if its owner was killed.
#[derive(Debug)]
pub struct OwnedFolder {
    folder: PathBuf,
    /// Removed after the folder.
    lock: TempPath,
    /// Let go of after that.
    _held: File,
}

impl OwnedFolder {
    /// A new folder in a place, whose name begins with `prefix`, the number of this process and a random word. Folders of
    /// the same prefix whose owners are dead are removed first.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        if !is_gone(&self.folder) {
            // Then the next one who looks removes both.
            self.lock.disable_cleanup(true);
        }
    }
}

/// Removes a folder whose owner is known to be dead, as far as that is permitted: a later owner removes the rest.
pub fn remove_orphan(folder: &Path) {
    if is_gone(folder) {
        let mut lock = folder.as_os_str().to_owned();
        lock.push(LOCK);
        fs::remove_file(lock).ok();
    }
}

/// A new lock file that is locked; `AlreadyExists`, which asks for another name, if another process holds it.
fn claim(lock: &Path) -> io::Result<File> {
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    let held = private().create_new(true).open(lock)?;
    match held.try_lock() {
        Ok(()) if is_still_named(&held, lock) => Ok(held),
        // A process that removes leftovers of killed ones has just taken it for one.
        Ok(()) | Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the folders whose owners are dead. What cannot be removed now is left to the next one.
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

/// Removes a folder with what is in it, and says whether it is not there any more.
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
