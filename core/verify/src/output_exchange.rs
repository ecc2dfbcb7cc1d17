//! The folder through which outputs pass from the candidate's worker to the reference's.
//!
//! It lies in memory where the system has such a place, so that what a killed program leaves there would stay until the
//! next start of the machine: see [`OwnedFolder`].

use std::io;
use std::path::Path;
use std::sync::Arc;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::owned_folder::OwnedFolder;
use lightbench_remote::folder::{CopyError, RemoteFolder};

use crate::device_worker::WorkerPlace;

/// How the names of folders begin.
const PREFIX: &str = "lightbench-outputs-";

/// A private folder, removed when it is dropped, or by a later process that finds that its owner is dead. If device workers
/// run on another host, a folder there receives copies of its files.
#[derive(Debug)]
pub(super) struct OutputExchange {
    here: OwnedFolder,
    there: Option<RemoteFolder>,
}

impl OutputExchange {
    /// A new folder in memory, or among the temporary files if the system has no folder in memory. Folders of dead
    /// owners are removed first.
    ///
    /// # Errors
    /// Neither place can be written, or the host has no place.
    pub(super) fn new(place: &WorkerPlace<'_>) -> io::Result<Self> {
        let here = OwnedFolder::in_memory(PREFIX)?;
        let there = match place {
            WorkerPlace::Here(_) => None,
            WorkerPlace::There(connection) => {
                let made = RemoteFolder::new(Arc::clone(connection), &Cancellation::new());
                Some(made.map_err(io::Error::other)?)
            }
        };
        Ok(Self { here, there })
    }

    /// Where device workers find it.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        self.there.as_ref().map_or(self.here.path(), RemoteFolder::path)
    }

    /// Where this process writes.
    #[must_use]
    pub(super) fn here(&self) -> &Path {
        self.here.path()
    }

    /// Copies the files that this process wrote, or those in the folder `within`, to the host of the device workers.
    ///
    /// # Errors
    /// [`CopyError`].
    pub(super) fn publish(
        &self,
        within: Option<&str>,
        cancellation: &Cancellation,
    ) -> Result<(), CopyError> {
        let Some(there) = &self.there else { return Ok(()) };
        let here = self.here.path();
        let from = within.map_or_else(|| here.to_owned(), |within| here.join(within));
        there.copy(&from, within, cancellation)
    }
}
