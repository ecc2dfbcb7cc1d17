//! The documentation names files of this repository only where they are.

use std::fs;
use std::path::Path;

use crate::program::repository;

/// Folders at the top that a path in backticks begins with.
const FOLDERS: &[&str] = &["app/", "assets/", "core/", "docs/", "sample-projects/", "tests/"];

/// Paths between backticks that begin with a folder of the repository.
fn paths(text: &str) -> Vec<&str> {
    let spans = text.split('`').skip(1).step_by(2);
    let is_path = |span: &&str| {
        let begins = FOLDERS.iter().any(|folder| span.starts_with(folder));
        begins && !span.contains([' ', '*', '<', '…'])
    };
    spans.filter(is_path).collect()
}

fn missing(text: &str, root: &Path) -> Vec<String> {
    let absent = paths(text).into_iter().filter(|path| !root.join(path).exists());
    absent.map(str::to_owned).collect()
}

#[test]
fn every_path_in_the_documentation_exists() {
    let root = repository();
    let mut files = vec![root.join("ARCHITECTURE.md")];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        files.push(entry.unwrap().path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    let mut checked = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        checked += paths(&text).len();
        assert_eq!(missing(&text, &root), Vec::<String>::new(), "{}", file.display());
    }
    assert!(checked > 10, "only {checked} paths were found");
}

#[test]
fn a_path_that_does_not_exist_is_found() {
    let text = "See `core/src/nowhere.rs`, `cargo test`, `core/src/lib.rs` and `core/*/x`.";
    assert_eq!(missing(text, &repository()), ["core/src/nowhere.rs"]);
}
