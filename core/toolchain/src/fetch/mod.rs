//! Installs the vendor's pinned packages with the machine's own pip, completely or not at all.
//!
//! pip writes into a temporary folder next to the final one; a receipt is added last and the folder is renamed into
//! place. A lock admits one process at a time. Only folders with a matching receipt are used.

mod error;
mod pip;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use tempfile::TempDir;

pub use self::error::FetchError;
use self::error::storage;
pub(super) use self::pip::Pip;
use super::lock::Lock;
use super::pins::PinnedSet;
use super::program::Limits;
use super::receipt::Receipt;
use super::rejected_file::Part;
use super::{HostEnvironment, naming};

/// Default time limit of a fetch.
pub const DEFAULT_FETCH_LIMIT: Duration = Duration::from_mins(10);

/// Name prefix of unfinished folders.
pub(super) const PARTIAL_PREFIX: &str = ".partial-";

/// The packages to fetch, and the limits of the fetch.
#[derive(Debug, Clone, Copy)]
pub struct FetchRequest {
    /// Which packages.
    pub set: PinnedSet,
    /// The longest time for waiting and installing together.
    pub limit: Duration,
}

/// Progress of a fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FetchEvent {
    /// Another process is fetching into the same cache; this one waits for it.
    WaitingForAnother,
    /// The remains of an interrupted fetch were removed.
    LeftoverRemoved {
        /// The folder that is gone.
        folder: PathBuf,
    },
    /// pip is starting.
    Starting {
        /// Requirements, `name==version`.
        packages: Vec<String>,
        /// The folder of the packages.
        folder: PathBuf,
    },
    /// A line that pip wrote, without control characters.
    Line {
        /// The text.
        text: String,
    },
    /// The packages are in place.
    Installed {
        /// The folder of the packages.
        folder: PathBuf,
        /// Bytes of all files together.
        bytes: u64,
    },
    /// Nothing was to be done.
    AlreadyThere {
        /// The folder of the packages.
        folder: PathBuf,
    },
}

/// Installs a set of packages into the cache, unless it is installed already; returns its folder.
///
/// `cancelled` is called twenty times a second. pip's whole process group is killed on cancellation, at the limit, and
/// when this function returns for any other reason.
///
/// # Errors
/// Every error leaves the cache unchanged.
pub fn fetch(
    surroundings: &HostEnvironment,
    request: FetchRequest,
    cancelled: &dyn Fn() -> bool,
    report: &mut dyn FnMut(FetchEvent),
) -> Result<PathBuf, FetchError> {
    if naming::native().is_none() {
        return Err(FetchError::Unsupported { system: super::discover::system_name() });
    }
    let begin = Instant::now();
    let parent = surroundings.cache.as_ref().ok_or(FetchError::NoCache)?.join("toolchain");
    let folder = parent.join(request.set.folder_name());
    if Receipt::trusted(&folder).is_ok() {
        report(FetchEvent::AlreadyThere { folder: folder.clone() });
        return Ok(folder);
    }
    fs::create_dir_all(&parent).map_err(storage(&parent))?;
    let lock_file = parent.join(".lock");
    let mut on_wait = || report(FetchEvent::WaitingForAnother);
    let lock = Lock::acquire(&lock_file, request.limit, cancelled, &mut on_wait)?;
    if Receipt::trusted(&folder).is_ok() {
        report(FetchEvent::AlreadyThere { folder: folder.clone() });
        return Ok(folder);
    }
    remove_leftovers(&parent, &mut |folder| report(FetchEvent::LeftoverRemoved { folder }));
    ensure_space(&parent, request.set)?;
    let limits = Limits { begin, limit: request.limit, cancelled };
    let install = Installation {
        surroundings,
        set: request.set,
        parent: &parent,
        folder: &folder,
        lock: &lock,
    };
    let bytes = install.run(&limits, report)?;
    report(FetchEvent::Installed { folder: folder.clone(), bytes });
    Ok(folder)
}

/// One install, under the lock.
struct Installation<'a> {
    surroundings: &'a HostEnvironment,
    set: PinnedSet,
    parent: &'a Path,
    folder: &'a Path,
    lock: &'a Lock,
}

impl Installation<'_> {
    fn run(
        &self,
        limits: &Limits<'_>,
        report: &mut dyn FnMut(FetchEvent),
    ) -> Result<u64, FetchError> {
        let staging = tempfile::Builder::new()
            .prefix(PARTIAL_PREFIX)
            .tempdir_in(self.parent)
            .map_err(storage(self.parent))?;
        let packages = staging.path().join("packages");
        fs::create_dir(&packages).map_err(storage(&packages))?;
        let pip = Pip::find(self.surroundings, staging.path(), limits)?;
        let (requirements, folder) = (self.set.requirements(), self.folder.to_path_buf());
        report(FetchEvent::Starting { packages: requirements.clone(), folder });
        let mut on_line = |text: &str| report(FetchEvent::Line { text: text.to_owned() });
        pip.install(&requirements, staging.path(), self.lock, limits, &mut on_line).map_err(
            |error| {
                // pip reports it in prose only; the file system reports it in numbers.
                ensure_space(self.parent, self.set).err().unwrap_or(error)
            },
        )?;
        check_installed(&packages, self.set)?;
        let versions = self.set.pins().iter();
        let versions: BTreeMap<String, String> =
            versions.map(|pin| (pin.package.to_owned(), pin.version.to_owned())).collect();
        let receipt = Receipt::from_folder(&packages, versions).map_err(storage(&packages))?;
        receipt.write(&packages).map_err(storage(&packages))?;
        limits.check()?;
        self.move_into_place(&staging, &packages)?;
        Ok(receipt.bytes())
    }

    /// Replaces an untrusted folder of the same name; the rename is the moment of truth.
    fn move_into_place(&self, staging: &TempDir, packages: &Path) -> Result<(), FetchError> {
        if fs::symlink_metadata(self.folder).is_ok() {
            let aside = staging.path().join("replaced");
            fs::rename(self.folder, aside).map_err(storage(self.folder))?;
        }
        fs::rename(packages, self.folder).map_err(storage(self.folder))
    }
}

/// Removes the remains of interrupted installs in `parent`; the caller holds the lock.
///
/// Remains that cannot be removed only occupy space, so that failure is ignored.
pub(super) fn remove_leftovers(parent: &Path, removed: &mut dyn FnMut(PathBuf)) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_partial = entry.file_name().to_string_lossy().starts_with(PARTIAL_PREFIX);
        if is_partial && fs::remove_dir_all(entry.path()).is_ok() {
            removed(entry.path());
        }
    }
}

/// Checks that every package of the set is in a freshly installed folder.
fn check_installed(packages: &Path, set: PinnedSet) -> Result<(), FetchError> {
    let surroundings = HostEnvironment {
        explicit: Some(packages.to_path_buf()),
        system: packages.to_path_buf(),
        ..HostEnvironment::default()
    };
    let found = super::discover(&surroundings);
    for pin in set.pins() {
        let is_there = match pin.part {
            Part::Compiler => found
                .compiler
                .as_ref()
                .is_some_and(|(nvrtc, _)| nvrtc.version.to_string() == pin.version),
            // A compiler without the headers that it needs is not found.
            Part::Headers => found.compiler.is_some(),
            Part::Nvdisasm => found.nvdisasm.is_some(),
            Part::Cuobjdump => found.cuobjdump.is_some(),
            Part::Ptxas => found.ptxas.is_some(),
        };
        if !is_there {
            let missing = format!("a whole {} {}", pin.package, pin.version);
            return Err(FetchError::Incomplete { missing });
        }
    }
    Ok(())
}

#[cfg(unix)]
fn ensure_space(folder: &Path, set: PinnedSet) -> Result<(), FetchError> {
    let space = rustix::fs::statvfs(folder).map_err(|error| storage(folder)(error.into()))?;
    let available = space.f_bavail.saturating_mul(space.f_frsize);
    let needed = set.space_bytes();
    if available < needed {
        return Err(FetchError::DiskFull { path: folder.to_path_buf(), available, needed });
    }
    Ok(())
}

/// On other systems pip's output reports a full disk.
#[cfg(not(unix))]
fn ensure_space(_folder: &Path, _set: PinnedSet) -> Result<(), FetchError> {
    Ok(())
}
