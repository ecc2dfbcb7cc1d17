//! The record of a completed fetch, so that an incomplete installation is never used.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

const SCHEMA: &str = "lightbench.toolchain/1";
const FILE_NAME: &str = "lightbench-receipt.json";

/// The list of installed packages and files, written last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    schema: String,
    /// Version of each package.
    pub packages: BTreeMap<String, String>,
    /// Every file, by its path in the folder with `/` between the steps.
    pub files: BTreeMap<String, FileRecord>,
}

/// Length and hash of an installed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Length of the file.
    pub bytes: u64,
    /// BLAKE3 hash in hexadecimal digits, for libraries and programs.
    pub blake3: Option<String>,
}

/// Why a folder is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptProblem {
    /// The install did not finish, or the receipt was removed.
    #[error("the install was never finished (no receipt)")]
    Absent,
    /// The receipt has an unknown form.
    #[error("the receipt cannot be read: {message}")]
    Unreadable {
        /// The parser's error.
        message: String,
    },
    /// A listed file is gone.
    #[error("{file} is missing")]
    FileMissing {
        /// Path in the folder.
        file: String,
    },
    /// A listed file has another length.
    #[error("{file} has {found} bytes, {expected} were installed")]
    FileLength {
        /// Path in the folder.
        file: String,
        /// Length in the receipt.
        expected: u64,
        /// Length on disk.
        found: u64,
    },
    /// A listed file has other contents.
    #[error("{file} is not the file that was installed")]
    FileContents {
        /// Path in the folder.
        file: String,
    },
}

impl Receipt {
    /// The receipt of `folder`, if every listed file exists with its length.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn trusted(folder: &Path) -> Result<Self, ReceiptProblem> {
        let text = match fs::read(folder.join(FILE_NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReceiptProblem::Absent);
            }
            Err(error) => return Err(ReceiptProblem::Unreadable { message: error.to_string() }),
        };
        let receipt: Self = serde_json::from_slice(&text)
            .map_err(|error| ReceiptProblem::Unreadable { message: error.to_string() })?;
        if receipt.schema != SCHEMA {
            let message = format!("schema `{}`, expected `{SCHEMA}`", receipt.schema);
            return Err(ReceiptProblem::Unreadable { message });
        }
        for (file, record) in &receipt.files {
            let Ok(metadata) = fs::metadata(folder.join(file)) else {
                return Err(ReceiptProblem::FileMissing { file: file.clone() });
            };
            if metadata.len() != record.bytes {
                let (expected, found) = (record.bytes, metadata.len());
                return Err(ReceiptProblem::FileLength { file: file.clone(), expected, found });
            }
        }
        Ok(receipt)
    }

    /// Compares the contents of libraries and programs as well, which reads all of them.
    ///
    /// # Errors
    /// Names the first file that differs.
    pub fn check_contents(&self, folder: &Path) -> Result<(), ReceiptProblem> {
        for (file, record) in &self.files {
            let Some(expected) = &record.blake3 else { continue };
            let found = hash(&folder.join(file))
                .map_err(|error| ReceiptProblem::Unreadable { message: error.to_string() })?;
            if found != *expected {
                return Err(ReceiptProblem::FileContents { file: file.clone() });
            }
        }
        Ok(())
    }

    /// Lists the content of `folder`.
    pub(super) fn from_folder(
        folder: &Path,
        packages: BTreeMap<String, String>,
    ) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        list(folder, "", &mut files)?;
        Ok(Self { schema: SCHEMA.to_owned(), packages, files })
    }

    /// Writes the receipt into `folder`, as the last step of an install.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let file = File::create(folder.join(FILE_NAME))?;
        serde_json::to_writer_pretty(&file, self)?;
        file.sync_all()
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|record| record.bytes).sum()
    }
}

fn list(root: &Path, prefix: &str, files: &mut BTreeMap<String, FileRecord>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(prefix))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            let message = format!("a file name in {} is not UTF-8", entry.path().display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        };
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if entry.file_type()?.is_dir() {
            list(root, &path, files)?;
        } else {
            let is_binary =
                ["lib", "bin"].iter().any(|part| path.split('/').any(|step| step == *part));
            let blake3 = is_binary.then(|| hash(&entry.path())).transpose()?;
            files.insert(path, FileRecord { bytes: entry.metadata()?.len(), blake3 });
        }
    }
    Ok(())
}

fn hash(file: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(file)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
