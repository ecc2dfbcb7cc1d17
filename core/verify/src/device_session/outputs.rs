//! The outputs of a candidate, passed from its worker to the reference's through a folder.
//!
//! `head.json` names the tensors and the bytes of them that nothing wrote; each tensor's bytes are a file named after
//! its index. If both workers use the same GPU, the outputs pass through device memory, which `head.json` names. The
//! first exchange offers both ways to find out whether that works on this machine; `direct` records the result.

use std::fs::{self, File};
use std::io::{ErrorKind, Seek as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use lightbench_device::{BufferId, Content, Device};
use serde::{Deserialize, Serialize};

use super::SessionFailure;
use super::bound::failure_from_device_error;

const HEAD: &str = "head.json";
const DIRECT: &str = "direct";

#[derive(Serialize, Deserialize)]
struct Entry {
    tensor: usize,
    bytes: u64,
    unwritten: Vec<Range<usize>>,
    /// What names it on the device.
    offered: Option<Vec<u8>>,
    place: Place,
}

/// Where the bytes of an output are, beside the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    /// In a file.
    File,
    /// Nowhere else.
    Nowhere,
}

/// Whether outputs pass directly from one worker to the other on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Way {
    Untried,
    Works,
    Fails,
}

impl Way {
    fn read(folder: &Path) -> Result<Self, SessionFailure> {
        match fs::read(folder.join(DIRECT)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(failure),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::Untried),
            Err(error) => Err(failure(error)),
        }
    }

    fn remember(self, folder: &Path) -> Result<(), SessionFailure> {
        let bytes = serde_json::to_vec(&self).map_err(failure)?;
        fs::write(folder.join(DIRECT), bytes).map_err(failure)
    }
}

/// Writes the contents of outputs, each with its tensor's index.
pub(crate) fn write(folder: &Path, outputs: &[(usize, Content)]) -> Result<(), SessionFailure> {
    let mut head = Vec::new();
    for (tensor, content) in outputs {
        fs::write(folder.join(tensor.to_string()), &content.bytes).map_err(failure)?;
        let (bytes, unwritten) = (content.bytes.len() as u64, content.unwritten.clone());
        let (offered, place) = (None, Place::File);
        head.push(Entry { tensor: *tensor, bytes, unwritten, offered, place });
    }
    write_head(folder, &head)
}

/// The same from a device; each with its bytes.
pub(super) fn write_from(
    folder: &Path,
    device: &mut dyn Device,
    outputs: &[(usize, BufferId, u64)],
) -> Result<(), SessionFailure> {
    let mut head = Vec::new();
    let way = Way::read(folder)?;
    for (slot, (tensor, buffer, bytes)) in outputs.iter().enumerate() {
        let (tensor, bytes) = (*tensor, *bytes);
        let offered = match (way, device.direct()) {
            // If the machine does not permit it, outputs pass through files.
            (Way::Untried | Way::Works, Some(direct)) => direct.offer(*buffer, slot).ok(),
            (Way::Fails, _) | (_, None) => None,
        };
        if way == Way::Works && offered.is_some() {
            let (unwritten, place) = (Vec::new(), Place::Nowhere);
            head.push(Entry { tensor, bytes, unwritten, offered, place });
            continue;
        }
        // The files of the previous run are overwritten, because their pages are already allocated.
        let options = File::options().write(true).create(true).truncate(false).to_owned();
        let mut file = options.open(folder.join(tensor.to_string())).map_err(failure)?;
        let unwritten = device
            .read_to(*buffer, &mut file)
            .map_err(|error| failure_from_device_error(&error))?;
        let bytes = file.stream_position().map_err(failure)?;
        file.set_len(bytes).map_err(failure)?;
        head.push(Entry { tensor, bytes, unwritten, offered, place: Place::File });
    }
    write_head(folder, &head)
}

fn write_head(folder: &Path, head: &[Entry]) -> Result<(), SessionFailure> {
    let head = serde_json::to_vec(head).map_err(failure)?;
    fs::write(folder.join(HEAD), head).map_err(failure)
}

/// One output in the folder.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) tensor: usize,
    pub(super) bytes: u64,
    /// Ranges of bytes that nothing wrote, ascending.
    pub(super) unwritten: Vec<Range<usize>>,
    offered: Option<Vec<u8>>,
    place: Place,
    folder: PathBuf,
}

impl Handed {
    /// What [`write`] or [`write_from`] wrote.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>, SessionFailure> {
        let head = fs::read(folder.join(HEAD)).map_err(failure)?;
        let head: Vec<Entry> = serde_json::from_slice(&head).map_err(failure)?;
        let handed = head.into_iter().map(|Entry { tensor, bytes, unwritten, offered, place }| {
            Self { tensor, bytes, unwritten, offered, place, folder: folder.to_owned() }
        });
        Ok(handed.collect())
    }

    /// Its bytes.
    pub(super) fn content(&self) -> Result<Content, SessionFailure> {
        let bytes = fs::read(self.file()).map_err(failure)?;
        if bytes.len() as u64 != self.bytes {
            let (output, found, expected) = (self.tensor, bytes.len(), self.bytes);
            let message = format!("output {output} has {found} bytes, not {expected}");
            return Err(SessionFailure::Outputs(message));
        }
        Ok(Content { bytes, unwritten: self.unwritten.clone() })
    }

    /// Fills a buffer of as many bytes with it.
    pub(super) fn place(
        &self,
        device: &mut dyn Device,
        buffer: BufferId,
    ) -> Result<(), SessionFailure> {
        if let (Some(offered), Some(direct)) = (&self.offered, device.direct()) {
            match (direct.take(buffer, offered), self.place) {
                (Ok(()), Place::File) => return Way::Works.remember(&self.folder),
                (Ok(()), Place::Nowhere) => return Ok(()),
                (Err(_not_permitted), Place::File) => Way::Fails.remember(&self.folder)?,
                (Err(error), Place::Nowhere) => return Err(failure(error)),
            }
        }
        let mut file = File::open(self.file()).map_err(failure)?;
        device.set_from(buffer, &mut file).map_err(|error| failure_from_device_error(&error))
    }

    fn file(&self) -> PathBuf {
        self.folder.join(self.tensor.to_string())
    }
}

fn failure(error: impl std::fmt::Display) -> SessionFailure {
    SessionFailure::Outputs(error.to_string())
}
