//! Files that the documentation names.

use std::path::Path;

use crate::program::repository;

use super::page::{Page, pages};

/// Folders at the top that a path in backticks begins with.
const FOLDERS: &[&str] =
    &[".cargo/", ".ci/", "app/", "assets/", "core/", "docs/", "sample-projects/", "tests/"];

/// The paths of a page in backticks that begin with a folder of the repository.
fn paths(page: &Page) -> Vec<&str> {
    let spans = page.spans.iter().map(String::as_str);
    let is_path = |span: &&str| {
        let begins = FOLDERS.iter().any(|folder| span.starts_with(folder));
        begins && !span.contains([' ', '*', '<', '…'])
    };
    spans.filter(is_path).collect()
}

/// Links to files, without what follows `#`.
fn linked(page: &Page) -> Vec<&str> {
    let files = page.links.iter().map(|link| link.split('#').next().unwrap_or_default());
    files
        .filter(|file| !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:"))
        .collect()
}

/// Paths and links of a page that lead nowhere.
fn missing(page: &Page, root: &Path) -> Vec<String> {
    let folder = root.join(&page.file).parent().expect("a page is in a folder").to_owned();
    let absent = paths(page).into_iter().filter(|path| !root.join(path).exists());
    let dead = linked(page).into_iter().filter(|link| !folder.join(link).exists());
    absent.chain(dead).map(str::to_owned).collect()
}

#[test]
fn every_path_in_the_documentation_exists() {
    let pages = pages(&repository());
    for page in &pages {
        assert_eq!(missing(page, &repository()), Vec::<String>::new(), "{}", page.file);
    }
    let checked: usize = pages.iter().map(|page| paths(page).len() + linked(page).len()).sum();
    assert!(checked > 50, "only {checked} paths were found");
}

#[test]
fn a_path_that_does_not_exist_is_found() {
    let text = "See `core/src/nowhere.rs`, `cargo test`, `core/src/lib.rs`, `core/*/x`, [one](../README.md#top), \
                [two](nowhere.md), [three](https://example.org/nowhere.md) and [four](#here).";
    let page = Page::new("docs/page.md", text);
    assert_eq!(missing(&page, &repository()), ["core/src/nowhere.rs", "nowhere.md"]);
}
