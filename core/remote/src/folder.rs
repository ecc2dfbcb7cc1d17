//! A folder on another host that workers there share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::error::WorkerError;
use lightbench_worker::frame::Frame;

use crate::connection::Connection;
use crate::message::{Answer, FileContent, ToHost};

/// A private folder, in memory where the host has such a place. It is removed when the value is dropped or the connection
/// ends.
#[derive(Debug)]
pub struct RemoteFolder {
    connection: Arc<Connection>,
    number: u32,
    path: PathBuf,
}

/// Why files were not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A file on this machine cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The host cannot store the files.
    #[error("{host} cannot store results: {reason}")]
    NotStored {
        /// The host.
        host: String,
        /// The host's message.
        reason: String,
    },
    /// The connection failed, or a file is larger than a message may be.
    #[error(transparent)]
    Connection(#[from] WorkerError),
}

impl RemoteFolder {
    /// A new folder on the host.
    ///
    /// # Errors
    ///
    /// [`CopyError::NotStored`] and [`CopyError::Connection`].
    pub fn new(
        connection: Arc<Connection>,
        cancellation: &Cancellation,
    ) -> Result<Self, CopyError> {
        let number = connection.number();
        let (answer, _) =
            connection.ask(|id| ToHost::MakeFolder { id, folder: number }, &[], cancellation)?;
        match answer {
            Answer::Folder(path) => Ok(Self { connection, number, path }),
            Answer::NotStored(reason) => {
                Err(CopyError::NotStored { host: connection.host().to_owned(), reason })
            }
            Answer::Reply(_) | Answer::Failed(..) | Answer::Stored => {
                Err(connection.unexpected().into())
            }
        }
    }

    /// Where it is on the host.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the files of a folder on this machine into this folder, or into the folder `within` of it, whose files
    /// they replace.
    ///
    /// # Errors
    ///
    /// [`CopyError`].
    pub fn copy(
        &self,
        from: &Path,
        within: Option<&str>,
        cancellation: &Cancellation,
    ) -> Result<(), CopyError> {
        let (mut names, mut contents) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|_name| io::Error::other("a file name is not UTF-8"))?;
            names.push(name);
            let content = FileContent(fs::read(entry.path())?);
            contents.push(Frame::new(&content).map_err(WorkerError::Request)?);
        }
        let (folder, within) = (self.number, within.map(str::to_owned));
        let message = |id| ToHost::StoreFiles { id, folder, within, names };
        match self.connection.ask(message, &contents, cancellation)?.0 {
            Answer::Stored => Ok(()),
            Answer::NotStored(reason) => {
                Err(CopyError::NotStored { host: self.connection.host().to_owned(), reason })
            }
            Answer::Reply(_) | Answer::Failed(..) | Answer::Folder(_) => {
                Err(self.connection.unexpected().into())
            }
        }
    }
}

impl Drop for RemoteFolder {
    fn drop(&mut self) {
        // The end of a connection removes it too.
        let _lost = self.connection.tell(&ToHost::RemoveFolder { folder: self.number }, &[]);
    }
}
