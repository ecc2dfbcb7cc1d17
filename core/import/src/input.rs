//! Reads the files of an import within limits, without following links.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::ImportError;

/// Maximum size of a file, in bytes.
pub(crate) const MAX_FILE: u64 = 64 << 20;
/// Maximum size of a compressed file after unpacking, in bytes.
const MAX_UNPACKED: u64 = 256 << 20;
/// Maximum length of a line, in bytes.
pub(crate) const MAX_LINE: usize = 16 << 20;
/// Maximum number of files of a folder.
const MAX_FILES: usize = 1024;

/// The files that an import may use.
#[derive(Debug)]
pub struct Input {
    /// The path that the user named.
    pub path: PathBuf,
    /// Whether it is a folder or one file.
    pub kind: InputKind,
    /// The file itself, or the files of the folder (not of folders in it), sorted by name.
    pub files: Vec<InputFile>,
}

/// What the user named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// One file.
    File,
    /// A folder.
    Folder,
}

/// One file of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path for messages: that of the user, with the name added for files of a folder.
    pub path: PathBuf,
    /// The last part of the path.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Extensions of files that a format may read; other files of a folder are not opened.
const EXTENSIONS: [&str; 9] = ["json", "jsonl", "ndjson", "py", "cu", "cuh", "cpp", "yml", "yaml"];

impl Input {
    /// Reads a file, or the files of a folder.
    ///
    /// # Errors
    ///
    /// The path cannot be read, a file is no regular file of UTF-8 text, or a limit is exceeded.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if !metadata.is_dir() {
            let file = read_file(path)?;
            return Ok(Self { path: path.to_owned(), kind: InputKind::File, files: vec![file] });
        }
        let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let mut paths = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(path, &error))?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && has_known_extension(&entry.path()) {
                paths.push(entry.path());
            }
        }
        if paths.len() > MAX_FILES {
            let found = format!("{} files", paths.len());
            return Err(ImportError::new(path, "", found, format!("at most {MAX_FILES}")));
        }
        paths.sort();
        let files = paths.iter().map(|path| read_file(path)).collect::<Result<_, _>>()?;
        Ok(Self { path: path.to_owned(), kind: InputKind::Folder, files })
    }
}

fn has_known_extension(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

fn unreadable(path: &Path, error: &io::Error) -> ImportError {
    ImportError::new(path, "", format!("cannot read it: {error}"), "a readable file or folder")
}

/// Reads one regular file.
pub(crate) fn read_file(path: &Path) -> Result<InputFile, ImportError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(ImportError::new(path, "", "not a regular file", "a regular file"));
    }
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    let bytes = if is_compressed {
        read_at_most(path, MultiGzDecoder::new(file), MAX_UNPACKED)?
    } else {
        read_at_most(path, file, MAX_FILE)?
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ImportError::new(path, format!("byte {at}"), "not UTF-8", "a text file in UTF-8")
    })?;
    check_lines(path, &text)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(InputFile { path: path.to_owned(), name, text })
}

/// The bytes of a source that has at most `limit` of them.
pub(crate) fn read_at_most(
    path: &Path,
    source: impl Read,
    limit: u64,
) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    // One byte more than allowed distinguishes a text that is too large from one that just fits.
    source.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > limit {
        let found = format!("at least {} bytes", bytes.len());
        return Err(ImportError::new(path, "", found, format!("at most {limit} bytes")));
    }
    Ok(bytes)
}

fn check_lines(path: &Path, text: &str) -> Result<(), ImportError> {
    match text.split('\n').enumerate().find(|(_, line)| line.len() > MAX_LINE) {
        None => Ok(()),
        Some((index, line)) => Err(ImportError::new(
            path,
            format!("line {}", index + 1),
            format!("{} bytes", line.len()),
            format!("at most {MAX_LINE} bytes on a line"),
        )),
    }
}
