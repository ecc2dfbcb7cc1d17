//! Lists folders while the user types the path of a project, and opens the path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_core::project::MANIFEST;

use super::TaskRunner;
use crate::workbench::background_task::TaskResult;
use crate::workbench::path_browser::{Entry, FolderListing, Kind, RefusedPath};

/// Maximum number of listed subfolders.
const MOST_LISTED: usize = 500;

impl TaskRunner {
    /// Lists the subfolders of a typed folder.
    pub(super) fn list_folders(&self, folder: String) {
        let found = listed(&self.meant(&folder)).map_err(|error| said(&folder, &error));
        self.results.send(TaskResult::Folders(FolderListing { folder, found }));
    }

    /// Opens the project at a typed path, or reports why it cannot.
    pub(super) fn open_typed(&self, typed: String) {
        let path = self.meant(&typed);
        self.results.send(match project(&path) {
            Ok(folder) => TaskResult::Folder(folder),
            Err(why) => {
                TaskResult::PathRefused(RefusedPath { why: format!("{typed} {why}"), typed })
            }
        });
    }

    /// The path for typed text; a leading `~` is the user's home folder.
    pub(super) fn meant(&self, typed: &str) -> PathBuf {
        let home = self.session.host.home.as_deref();
        match (typed.strip_prefix('~'), home) {
            (Some(""), Some(home)) => home.to_owned(),
            (Some(rest), Some(home)) if rest.starts_with(std::path::is_separator) => {
                home.join(rest.trim_start_matches(std::path::is_separator))
            }
            (Some(_) | None, _) if typed.is_empty() => PathBuf::from("."),
            (Some(_) | None, _) => PathBuf::from(typed),
        }
    }
}

fn listed(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Follows links to folders.
        if !path.is_dir() {
            continue;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let is_project = path.join(MANIFEST).is_file();
        let kind = if is_project { Kind::Project } else { Kind::Folder };
        entries.push(Entry { name: name.to_owned(), kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries.truncate(MOST_LISTED);
    Ok(entries)
}

fn said(folder: &str, error: &io::Error) -> String {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        format!("There is no folder {folder}")
    } else if kind == io::ErrorKind::NotADirectory {
        format!("{folder} is a file, not a folder")
    } else if kind == io::ErrorKind::PermissionDenied {
        format!("No permission to list {folder}")
    } else {
        format!("{folder} cannot be listed: {error}")
    }
}

/// The project folder for a path; a kernel file lies two folders below it.
fn project(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            "does not exist".to_owned()
        } else {
            format!("cannot be opened: {error}")
        }
    })?;
    if path.is_file() {
        let mut above = path.ancestors().skip(1).take(2);
        let found = above.find(|folder| folder.join(MANIFEST).is_file());
        return found.map(Path::to_owned).ok_or_else(|| "belongs to no project: neither the folder above it nor the one above that has a project.ron".to_owned());
    }
    if path.join(MANIFEST).is_file() {
        return Ok(path);
    }
    Err(format!("is not a project: it has no {MANIFEST}"))
}
