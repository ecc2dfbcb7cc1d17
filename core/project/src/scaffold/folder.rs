//! Writes a project atomically: into a temporary folder next to its final path, which is then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_primitives::owned_folder::OwnedFolder;

use super::error::ScaffoldError;
use super::plan::PlannedFile;

/// Maximum number of entries of an occupied folder in a message.
const MOST_NAMED: usize = 5;

/// Writes the files below `folder`, which must be missing or empty; all of them or none.
pub(super) fn write(folder: &Path, files: &[PlannedFile]) -> Result<PathBuf, ScaffoldError> {
    let name =
        folder.file_name().ok_or_else(|| ScaffoldError::NoName { path: folder.to_owned() })?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(ScaffoldError::NoParent { path: parent.to_owned() });
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
    let target = parent.join(name);
    // The target may be an empty folder; renaming onto a folder that was filled meanwhile fails.
    remove_empty(&target)?;
    fs::rename(&draft, &target).map_err(failed("create", &target))?;
    Ok(folder.to_owned())
}

/// A trailing `/` would make the system follow a link, so it is removed before the check.
fn check_free(folder: &Path) -> Result<(), ScaffoldError> {
    let plain: PathBuf = folder.components().collect();
    let kind = match fs::symlink_metadata(&plain) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at", &plain)(error)),
        Ok(metadata) => metadata.file_type(),
    };
    if kind.is_symlink() {
        return Err(ScaffoldError::Occupied { path: plain, what: "a link" });
    }
    if !kind.is_dir() {
        return Err(ScaffoldError::Occupied { path: plain, what: "a file" });
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
    Err(ScaffoldError::NotEmpty { path: plain, entries: names })
}

/// Unix renames onto an empty folder, Windows does not.
fn remove_empty(target: &Path) -> Result<(), ScaffoldError> {
    match fs::remove_dir(target) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("replace", target)(error)),
    }
}

fn write_file(folder: &Path, file: &PlannedFile) -> Result<(), ScaffoldError> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
    }
    fs::write(&path, &file.text).map_err(failed("write", &path))
}

fn failed<'path>(
    action: &'static str,
    path: &'path Path,
) -> impl Fn(io::Error) -> ScaffoldError + use<'path> {
    move |source| ScaffoldError::Io { action, path: path.to_owned(), source }
}
