//! Folders on the way to a project whose path somebody types.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Worker;
use crate::workbench::browsing::{Entry, Kind, Listed, Refused};
use crate::workbench::errand::Finding;

/// Folders of one folder that are told: more are not looked through by anybody.
const MOST_LISTED: usize = 500;

/// What makes a folder a project.
const MANIFEST: &str = "project.ron";

impl Worker {
    /// The folders in a folder that somebody typed.
    pub(super) fn list_folders(&self, folder: String) {
        let found = listed(&self.meant(&folder)).map_err(|error| said(&folder, &error));
        self.said.say(Finding::Folders(Listed { folder, found }));
    }

    /// Opens the project at a path that somebody typed, or says why not.
    pub(super) fn open_typed(&self, typed: String) {
        let path = self.meant(&typed);
        self.said.say(match project(&path) {
            Ok(folder) => Finding::Folder(folder),
            Err(why) => Finding::PathRefused(Refused { why: format!("{typed} {why}"), typed }),
        });
    }

    /// A path as a shell would take it: `~` is the user's own folder.
    fn meant(&self, typed: &str) -> PathBuf {
        let home = self.session.surroundings.home.as_deref();
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
        // A link to a folder is one.
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
        format!("You may not look into {folder}")
    } else {
        format!("{folder} cannot be listed: {error}")
    }
}

/// The folder of the project at a path; that of a kernel is two folders above it.
fn project(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            "is not there".to_owned()
        } else {
            format!("cannot be opened: {error}")
        }
    })?;
    if path.is_file() {
        let mut above = path.ancestors().skip(1).take(2);
        let found = above.find(|folder| folder.join(MANIFEST).is_file());
        return found.map(Path::to_owned).ok_or_else(|| "is a file of no project".to_owned());
    }
    if path.join(MANIFEST).is_file() {
        return Ok(path);
    }
    Err(format!("is no project: it has no {MANIFEST}"))
}
