//! The folder through which outputs pass from the candidate's worker to the reference's.
//!
//! It lies in memory where the system has such a place, so that what a killed program leaves there would stay until the
//! next start of the machine: see [`OwnedFolder`].

use std::io;
use std::path::Path;

use lightbench_primitives::owned_folder::OwnedFolder;

/// Memory where files are never written to a disk, on Linux.
const SHARED_MEMORY: &str = "/dev/shm";

/// How the names of folders begin.
const PREFIX: &str = "lightbench-outputs-";

/// A private folder, removed when it is dropped, or by a later process that finds that its owner is dead.
#[derive(Debug)]
pub(super) struct OutputExchange(OwnedFolder);

impl OutputExchange {
    /// A new folder in memory, or among the temporary files if the system has no folder in memory. Folders of dead
    /// owners are removed first.
    ///
    /// # Errors
    /// Neither place can be written.
    pub(super) fn new() -> io::Result<Self> {
        let temporary = tempfile::env::temp_dir();
        Self::within(Path::new(SHARED_MEMORY)).or_else(|_no_such_place| Self::within(&temporary))
    }

    /// A new folder below `place`.
    ///
    /// # Errors
    /// The place cannot be written.
    pub(super) fn within(place: &Path) -> io::Result<Self> {
        OwnedFolder::within(place, PREFIX).map(Self)
    }

    /// Where it is.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}
