//! Where a project may be written, and that nothing half-made is left behind.

use std::fs;
use std::path::Path;

use crate::new_folder::FolderError;
use crate::scaffold::{KernelSource, ScaffoldError, plan_default, write_default, write_from};

/// What is in a folder, hidden entries too.
fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_missing_or_empty_folder_is_filled() {
    let base = tempfile::tempdir().unwrap();
    fs::create_dir(base.path().join("empty")).unwrap();
    for name in ["new", "empty", "trailing/"] {
        let folder = base.path().join(name);
        let written = write_default(&folder).unwrap();
        for file in plan_default().files {
            assert_eq!(fs::read_to_string(written.folder.join(&file.path)).unwrap(), file.text);
        }
    }
    assert_eq!(entries(base.path()), ["empty", "new", "trailing"]);
}

#[test]
fn a_full_folder_a_file_and_a_missing_parent_are_refused() {
    let base = tempfile::tempdir().unwrap();
    fs::create_dir(base.path().join("full")).unwrap();
    fs::write(base.path().join("full/notes.txt"), "mine").unwrap();
    fs::write(base.path().join("file"), "mine").unwrap();
    for (path, expected) in [
        ("full", "it holds notes.txt"),
        ("file", "is a file"),
        ("none/new", "there is no folder"),
        ("none/..", "does not name a new folder"),
    ] {
        let error = write_default(&base.path().join(path)).unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
    }
    assert_eq!(entries(base.path()), ["file", "full"]);
    assert_eq!(entries(&base.path().join("full")), ["notes.txt"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_never_followed() {
    let base = tempfile::tempdir().unwrap();
    fs::create_dir(base.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", base.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", base.path().join("dangling")).unwrap();
    for name in ["link", "link/", "dangling"] {
        let error = write_default(&base.path().join(name)).unwrap_err();
        assert!(
            matches!(error, ScaffoldError::Folder(FolderError::Occupied { what: "a link", .. })),
            "{name}: {error}"
        );
    }
    assert!(entries(&base.path().join("elsewhere")).is_empty());
}

#[test]
fn a_refused_source_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let source =
        KernelSource { display_name: "k.cu", text: "int main() {}", kernel: None, headers: &[] };
    assert!(write_from(&base.path().join("new"), &source).is_err());
    assert!(entries(base.path()).is_empty());
}
