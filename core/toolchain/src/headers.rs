//! The cache folder of the headers that the compiler carries.
//!
//! NVRTC writes 2,377 files with `--use-bundled-headers=DIR`. The extraction goes to a temporary folder, which is
//! renamed when it is complete: a killed process leaves nothing that looks complete, and two processes do not write
//! into each other's folder.
//!
//! Compilations pass the extracted folders with `-I`: with `--use-bundled-headers`, NVRTC 13.5 opens a lock file in
//! `DIR` for writing at every compilation, so that a read-only cache fails, and does not detect missing files. Both
//! options give the same cubin.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::Nvrtc;
use super::fetch::{PARTIAL_PREFIX, remove_leftovers};
use super::lock::{Lock, LockError};

const RECEIPT: &str = "receipt.json";
const SCHEMA: &str = "lightbench.headers/1";

/// The headers of one compiler version in the user's cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderFolder {
    /// The folder of the headers.
    pub path: PathBuf,
    /// Whether it can be used.
    pub state: HeaderState,
    /// The folder that is renamed as a whole: `include` and the receipt.
    whole: PathBuf,
}

/// Whether the headers are extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderState {
    /// All files are present.
    Complete {
        /// Number of files.
        files: u64,
        /// Bytes of all files together.
        bytes: u64,
    },
    /// The headers must be extracted.
    Absent,
}

/// The result of requesting an extraction.
#[derive(Debug)]
pub enum HeaderExtraction {
    /// It is this process's turn.
    Extract(HeaderStaging),
    /// Another process has done it in the meantime.
    Ready(HeaderFolder),
}

/// An empty folder to extract into; vanishes unless [`HeaderStaging::finish`] is called.
#[derive(Debug)]
pub struct HeaderStaging {
    target: HeaderFolder,
    folder: TempDir,
    include: PathBuf,
    _lock: Lock,
}

/// Why headers cannot be put into the cache.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// The folder cannot be written.
    #[error(
        "cannot keep the compiler's headers in {}: {source}; set LIGHTBENCH_CACHE to a folder \
         that you can write to",
        path.display()
    )]
    Storage {
        /// Folder or file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    #[error("the compiler extracted no headers to {} (`cuda_fp16.h` is missing)", path.display())]
    NothingExtracted {
        /// The folder that it was given.
        path: PathBuf,
    },
    /// Another process is extracting and does not finish.
    #[error("{0}")]
    Lock(#[from] LockError),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderReceipt {
    schema: String,
    compiler: String,
    files: u64,
    bytes: u64,
}

impl HeaderFolder {
    /// The folder for `nvrtc` below `cache`, and whether it is complete.
    #[must_use]
    pub fn locate(cache: &Path, nvrtc: &Nvrtc) -> Self {
        let whole = cache.join("headers").join(key(nvrtc));
        let state = match read_receipt(&whole) {
            Some(receipt) => HeaderState::Complete { files: receipt.files, bytes: receipt.bytes },
            None => HeaderState::Absent,
        };
        Self { path: whole.join("include"), state, whole }
    }

    /// The folders for `-I`, in order, once the headers are complete.
    #[must_use]
    pub fn include_folders(&self) -> [PathBuf; 2] {
        [self.path.clone(), self.path.join("cccl")]
    }

    /// Counts files and bytes again, which reads every folder: has anything gone since?
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match self.state {
            HeaderState::Complete { files, bytes } => {
                count(&self.path).is_ok_and(|found| found == (files, bytes))
            }
            HeaderState::Absent => false,
        }
    }

    /// Waits for the lock (at most `limit`) and creates an empty folder to extract into.
    ///
    /// # Errors
    /// The cache cannot be written, or another process holds the lock.
    pub fn begin(
        self,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<HeaderExtraction, HeaderError> {
        let parent = self.parent();
        fs::create_dir_all(&parent).map_err(at(&parent))?;
        let lock = Lock::acquire(&parent.join(".lock"), limit, cancelled, &mut || {})?;
        if let Some(HeaderReceipt { files, bytes, .. }) = read_receipt(&self.whole) {
            let state = HeaderState::Complete { files, bytes };
            return Ok(HeaderExtraction::Ready(Self { state, ..self }));
        }
        remove_leftovers(&parent, &mut |_| {});
        let folder = tempfile::Builder::new()
            .prefix(PARTIAL_PREFIX)
            .tempdir_in(&parent)
            .map_err(at(&parent))?;
        let include = folder.path().join("include");
        fs::create_dir(&include).map_err(at(&include))?;
        Ok(HeaderExtraction::Extract(HeaderStaging { target: self, folder, include, _lock: lock }))
    }

    fn parent(&self) -> PathBuf {
        self.whole.parent().unwrap_or(&self.whole).to_path_buf()
    }
}

impl HeaderStaging {
    /// The folder to name in `--use-bundled-headers=`.
    #[must_use]
    pub fn include(&self) -> &Path {
        &self.include
    }

    /// Puts extracted headers into place.
    ///
    /// # Errors
    /// Nothing was extracted, or the cache cannot be written.
    pub fn finish(self, nvrtc: &Nvrtc) -> Result<HeaderFolder, HeaderError> {
        if !self.include.join("cuda_fp16.h").is_file() {
            return Err(HeaderError::NothingExtracted { path: self.include });
        }
        let (files, bytes) = count(&self.include).map_err(at(&self.include))?;
        let schema = SCHEMA.to_owned();
        let receipt = HeaderReceipt { schema, compiler: nvrtc.version.to_string(), files, bytes };
        let place = self.folder.path().join(RECEIPT);
        write_receipt(&place, &receipt).map_err(at(&place))?;
        if self.target.whole.exists() {
            // The folder has no valid receipt, or `begin` would have returned it.
            fs::remove_dir_all(&self.target.whole).map_err(at(&self.target.whole))?;
        }
        let Self { folder, target, _lock, .. } = self;
        fs::rename(folder.path(), &target.whole).map_err(at(&target.whole))?;
        // The folder has its final name, so there is nothing to remove.
        let _renamed = folder.keep();
        Ok(HeaderFolder { state: HeaderState::Complete { files, bytes }, ..target })
    }
}

/// The full version; if its last number is unknown, the library's length replaces it.
fn key(nvrtc: &Nvrtc) -> String {
    match nvrtc.version.patch {
        Some(_) => nvrtc.version.to_string(),
        None => {
            let bytes = fs::metadata(&nvrtc.library).map_or(0, |metadata| metadata.len());
            format!("{}-{bytes}", nvrtc.version)
        }
    }
}

fn read_receipt(whole: &Path) -> Option<HeaderReceipt> {
    let text = fs::read(whole.join(RECEIPT)).ok()?;
    let receipt: HeaderReceipt = serde_json::from_slice(&text).ok()?;
    let is_ours = receipt.schema == SCHEMA && whole.join("include/cuda_fp16.h").is_file();
    is_ours.then_some(receipt)
}

fn write_receipt(path: &Path, receipt: &HeaderReceipt) -> io::Result<()> {
    let file = File::create(path)?;
    serde_json::to_writer(&file, receipt)?;
    file.sync_all()
}

/// Number and total length of the files below `folder`.
fn count(folder: &Path) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let below = count(&entry.path())?;
            files += below.0;
            bytes += below.1;
        } else {
            files += 1;
            bytes += entry.metadata()?.len();
        }
    }
    Ok((files, bytes))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> HeaderError + '_ {
    move |source| HeaderError::Storage { path: path.to_path_buf(), source }
}
