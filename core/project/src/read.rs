//! Reads files of a project: bounded in size, inside the project folder, and without blocking.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use super::problem::ReadError;

/// The largest `project.ron`, kernel or include that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of a file of a project; `root` is the project folder, `relative` the path below it.
///
/// Links that stay inside the folder are followed. A file that is not regular is opened without blocking and closed at
/// once, so that a pipe cannot block the caller.
pub fn read_project_file(root: &Path, relative: &Path) -> Result<String, ReadError> {
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(ReadError::OutsideProject);
    }
    let root = root.canonicalize().map_err(failed)?;
    let path = root.join(relative).canonicalize().map_err(failed)?;
    if !path.starts_with(&root) {
        return Err(ReadError::OutsideProject);
    }
    read_file(&path)
}

/// The text of a file at any path, chosen by the user.
pub fn read_file(path: &Path) -> Result<String, ReadError> {
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(ReadError::NotAFile);
    }
    let file = open_without_waiting(path).map_err(failed)?;
    // The path may name something else by now; the open handle does not change.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { bytes: metadata.len(), limit: MAX_FILE_BYTES });
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { bytes: bytes.len() as u64, limit: MAX_FILE_BYTES });
    }
    text(bytes)
}

/// Files with one of the extensions directly in a folder of the project, sorted; empty if there is no such folder.
pub fn list(root: &Path, folder: &str, extensions: &[&str]) -> Result<Vec<PathBuf>, io::Error> {
    let entries = match root.join(folder).read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = PathBuf::from(entry?.file_name());
        let extension =
            name.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let hidden = name.to_string_lossy().starts_with('.');
        if !hidden && extensions.iter().any(|known| extension.eq_ignore_ascii_case(known)) {
            files.push(Path::new(folder).join(name));
        }
    }
    files.sort();
    Ok(files)
}

/// A byte order mark, which some editors write, is no part of the text.
fn text(mut bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..'\u{feff}'.len_utf8());
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let newlines = error.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count();
        ReadError::NotUtf8 { offset, line: newlines + 1 }
    })
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

fn failed(error: io::Error) -> ReadError {
    if error.kind() == io::ErrorKind::NotFound {
        ReadError::Missing
    } else {
        ReadError::Failed(error)
    }
}
