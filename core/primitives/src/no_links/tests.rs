//! Links from `.lightbench` on are refused by name; those above it are the user's.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use super::*;

fn write(path: &Path) -> io::Result<()> {
    open(path, Access::Write)?.write_all(b"text")
}

#[test]
fn files_are_made_read_listed_renamed_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".lightbench/searches");
    create_folder(&folder).unwrap();
    create_folder(&folder).unwrap();
    write(&folder.join("b")).unwrap();
    open(&folder.join("a"), Access::New).unwrap();
    assert!(open(&folder.join("a"), Access::New).is_err());
    assert_eq!(names(&folder).unwrap(), ["a", "b"]);
    let mut text = String::new();
    open(&folder.join("b"), Access::Read).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert!(rename(&folder, OsStr::new("b"), OsStr::new("a")).is_err(), "the name is taken");
    rename(&folder, OsStr::new("b"), OsStr::new("c")).unwrap();
    remove(&folder.join("a")).unwrap();
    assert_eq!(names(&folder).unwrap(), ["c"]);
    let missing = open(&folder.join("a"), Access::Read).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn links_from_our_folder_on_are_refused_by_name() {
    use std::os::unix::fs::symlink;
    let check = |link: &str, to_file: bool| {
        let (root, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = root.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = victim.path().join("victim");
        match to_file {
            true => fs::write(&target, "kept").unwrap(),
            false => fs::create_dir(&target).unwrap(),
        }
        symlink(&target, &link).unwrap();
        let folder = root.path().join(".lightbench/searches");
        let path = folder.join("journal");
        let refusals = match to_file {
            true => vec![open(&path, Access::Write).map(drop), open(&path, Access::Read).map(drop)],
            false => vec![
                create_folder(&folder),
                write(&path),
                names(&folder).map(drop),
                rename(&folder, OsStr::new("a"), OsStr::new("b")),
                remove(&path),
            ],
        };
        for refused in refusals {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(link.to_str().unwrap()), "{refused}");
            assert!(refused.contains("symbolic link") && refused.contains("replace"), "{refused}");
        }
        match to_file {
            true => assert_eq!(fs::read_to_string(target).unwrap(), "kept"),
            false => assert_eq!(fs::read_dir(target).unwrap().count(), 0),
        }
    };
    check(".lightbench", false);
    check(".lightbench/searches", false);
    check(".lightbench/searches/journal", true);
}

#[cfg(unix)]
#[test]
fn links_above_our_folder_are_followed() {
    let (root, real) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = root.path().join("project");
    std::os::unix::fs::symlink(real.path(), &project).unwrap();
    let folder = project.join(".lightbench/searches");
    create_folder(&folder).unwrap();
    write(&folder.join("journal")).unwrap();
    assert!(real.path().join(".lightbench/searches/journal").is_file());
    // The user's own state folder may be a link, or lie below one.
    write(&project.join("state")).unwrap();
    assert!(real.path().join("state").is_file());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_and_does_not_block() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".lightbench");
    create_folder(&folder).unwrap();
    let pipe = folder.join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let refused = open(&pipe, Access::Read).unwrap_err().to_string();
    assert!(refused.contains("not a plain file"), "{refused}");
}
