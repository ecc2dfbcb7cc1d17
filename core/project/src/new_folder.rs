//! Writes a project atomically: into a temporary folder next to its final path, which is then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_primitives::owned_folder::OwnedFolder;

/// One file of a new project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path below the project's folder, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Why a folder was not written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder to write has something in it.
    #[error("{} is not empty, it holds {}; name a folder that does not exist yet", .path.display(), .entries.join(", "))]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// Some of its entries, sorted.
        entries: Vec<String>,
    },
    /// The path is not a folder.
    #[error("{} is {what}; name a folder that does not exist yet", .path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
        /// The kind of file.
        what: &'static str,
    },
    /// The parent folder is missing.
    #[error("there is no folder {} to write into; create it first", .path.display())]
    NoParent {
        /// The missing parent.
        path: PathBuf,
    },
    /// The path has no last part that could name a project.
    #[error("{} does not name a new folder; add a name", .path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        /// The path that it concerned.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Maximum number of entries of an occupied folder in a message.
const MOST_NAMED: usize = 5;

/// Writes the files below `folder`; all of them or none.
///
/// `check` sees the complete folder before it gets its final path; its error leaves nothing behind.
///
/// # Errors
///
/// The target is occupied, its parent is missing, the file system refuses, or `check` does.
pub fn write<Error: From<FolderError>>(
    folder: &Path,
    files: &[PlannedFile],
    check: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let name = folder.file_name().ok_or_else(|| FolderError::NoName { path: folder.to_owned() })?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(FolderError::NoParent { path: parent.to_owned() }.into());
    }
    check_free(folder)?;
    // A later call removes the remains of a killed one.
    let temporary = OwnedFolder::within(parent, ".lightbench-new-")
        .map_err(failed("create a folder in", parent))?;
    // A folder inside the temporary one, created with the user's default permissions: a temporary folder is readable by
    // its owner only, and a project need not be.
    let draft = temporary.path().join("project");
    fs::create_dir(&draft).map_err(failed("create", &draft))?;
    for file in files {
        write_file(&draft, file)?;
    }
    check(&draft)?;
    let target = parent.join(name);
    // The target may be an empty folder; renaming onto a folder that was filled meanwhile fails.
    remove_empty(&target)?;
    fs::rename(&draft, &target).map_err(failed("create", &target))?;
    Ok(folder.to_owned())
}

/// A trailing `/` would make the system follow a link, so it is removed before the check.
fn check_free(folder: &Path) -> Result<(), FolderError> {
    let plain: PathBuf = folder.components().collect();
    let kind = match fs::symlink_metadata(&plain) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at", &plain)(error)),
        Ok(metadata) => metadata.file_type(),
    };
    if kind.is_symlink() {
        return Err(FolderError::Occupied { path: plain, what: "a link" });
    }
    if !kind.is_dir() {
        return Err(FolderError::Occupied { path: plain, what: "a file" });
    }
    let entries = fs::read_dir(&plain).map_err(failed("read", &plain))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().escape_debug().to_string())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    names.sort_unstable();
    names.truncate(MOST_NAMED);
    Err(FolderError::NotEmpty { path: plain, entries: names })
}

/// Unix renames onto an empty folder, Windows does not.
fn remove_empty(target: &Path) -> Result<(), FolderError> {
    match fs::remove_dir(target) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("replace", target)(error)),
    }
}

fn write_file(folder: &Path, file: &PlannedFile) -> Result<(), FolderError> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
    }
    fs::write(&path, &file.text).map_err(failed("write", &path))
}

fn failed<'path>(
    action: &'static str,
    path: &'path Path,
) -> impl Fn(io::Error) -> FolderError + use<'path> {
    move |source| FolderError::Io { action, path: path.to_owned(), source }
}
