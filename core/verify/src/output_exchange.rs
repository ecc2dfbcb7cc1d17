//! The folder through which outputs go from one station to the other.
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

/// A folder that nobody else uses, removed when it is dropped or when a later one finds that its owner is dead.
#[derive(Debug)]
pub(super) struct OutputExchange(OwnedFolder);

impl OutputExchange {
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
        OwnedFolder::within(place, PREFIX).map(Self)
    }

    /// Where it is.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}
