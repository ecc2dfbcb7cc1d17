//! The folder through which outputs go from one station to the other, and what becomes of it when its owner is killed.
//!
//! It lies in memory where the system has such a place, so that what a killed program leaves there stays until the next
//! start of the machine. So each folder has a lock file beside it, which its owner holds for as long as it lives: the
//! system lets go of it however the owner ends. Whoever gets the lock of another's folder knows that the owner is dead,
//! and removes both.
//!
//! A lock that somebody else just took to clean up is no lock of the owner's: it counts only if the file that was locked
//! is still the one of that name. The folder is made after that, and removed before its lock file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Memory where files are never written to a disk, on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// How the names of folders begin; the number of the owner's process and a random word follow.
const PREFIX: &str = "lightbench-outputs-";

/// How the names of their lock files end.
const LOCK: &str = ".lock";

/// A folder that nobody else uses, removed when it is dropped or when somebody finds that its owner is dead.
#[derive(Debug)]
pub(super) struct Handover {
    folder: PathBuf,
    /// Removed after the folder.
    lock: TempPath,
    /// Let go of after that.
    _held: File,
}

impl Handover {
    /// A new folder in memory, or among the temporary files where there is no such place. What dead owners left there is
    /// removed first.
    ///
    /// # Errors
    /// Neither place can be written.
    pub(super) fn new() -> io::Result<Self> {
        let temporary = tempfile::env::temp_dir();
        Self::within(Path::new(SHARED_MEMORY)).or_else(|_no_such_place| Self::within(&temporary))
    }

    /// The same in a place of one's own choice.
    ///
    /// # Errors
    /// The place cannot be written.
    pub(super) fn within(place: &Path) -> io::Result<Self> {
        remove_leftovers(place);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut names = tempfile::Builder::new();
        let (held, lock) = names.prefix(&prefix).suffix(LOCK).make_in(place, claim)?.into_parts();
        let folder = lock.with_extension("");
        make_private(&folder)?;
        Ok(Self { folder, lock, _held: held })
    }

    /// Where it is.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        if !is_gone(&self.folder) {
            // Then the next one who looks removes both.
            self.lock.disable_cleanup(true);
        }
    }
}

/// A new lock file that is locked; an error of the kind that asks for another name if somebody else has it.
fn claim(lock: &Path) -> io::Result<File> {
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    let held = private().create_new(true).open(lock)?;
    match held.try_lock() {
        Ok(()) if is_still_named(&held, lock) => Ok(held),
        // Somebody looked for what the dead left, and took it for that.
        Ok(()) | Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes the folders whose owners are dead. What cannot be removed now is left to the next one.
fn remove_leftovers(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let folder = name.to_str().filter(|name| name.starts_with(PREFIX));
        let Some(folder) = folder.and_then(|name| name.strip_suffix(LOCK)) else { continue };
        let (folder, lock) = (place.join(folder), entry.path());
        // Another user's cannot be opened.
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&lock) else { continue };
        if file.try_lock().is_ok() && is_still_named(&file, &lock) {
            // While the folder is there, so is the sign that it belongs to nobody. Somebody else may have removed both.
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
