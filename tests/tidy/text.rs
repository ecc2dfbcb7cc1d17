//! Rules on the text and the names of files: headers, sizes, names, nothing left to do.

use std::fs;
use std::path::Path;

use crate::sources::{files, root};

/// Names that hide a missing noun.
const JUNK_DRAWERS: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "base", "manager", "misc", "types"];

const MAX_LINES: usize = 600;

/// Files above `MAX_LINES`; this list may only shrink.
const LONG_FILES: &[&str] = &[];

#[test]
fn every_file_opens_with_what_it_is() {
    check(|_path, text| {
        let opens = text.lines().next().is_some_and(|line| line.starts_with("//!"));
        (!opens).then(|| "the first line must start with `//!`".to_owned())
    });
}

#[test]
fn files_stay_short() {
    check(|path, text| {
        let lines = text.lines().count();
        let listed = LONG_FILES.contains(&path);
        match (lines > MAX_LINES, listed) {
            (true, false) => Some(format!("{lines} lines; at most {MAX_LINES}: split by meaning")),
            (false, true) => Some("no longer too long: remove it from LONG_FILES".to_owned()),
            (true, true) | (false, false) => None,
        }
    });
}

#[test]
fn no_junk_drawers() {
    check(|path, _text| {
        let path = Path::new(path);
        let parts = path.components().filter_map(|part| part.as_os_str().to_str());
        let named = parts
            .map(|part| part.trim_end_matches(".rs"))
            .find(|part| JUNK_DRAWERS.contains(part))?;
        Some(format!("`{named}` is not a noun of this program"))
    });
}

#[test]
fn nothing_is_left_to_do() {
    check(|_path, text| {
        // Spelled apart so that this file does not find itself.
        let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
        let word = words.into_iter().find(|word| text.contains(word))?;
        Some(format!("`{word}`: finish it or write it down as an open issue"))
    });
}

#[test]
fn the_front_pages_stay_short() {
    for (page, most_lines, most_words) in [("README.md", 120, 1500), ("ARCHITECTURE.md", 250, 2500)]
    {
        let text = fs::read_to_string(root().join(page)).expect("the front page is there");
        let lines = text.lines().count();
        assert!(lines <= most_lines, "{page} has {lines} lines; at most {most_lines}");
        // Rules of tables are no words.
        let is_word = |word: &&str| word.contains(char::is_alphanumeric);
        let words = text.split_whitespace().filter(is_word).count();
        assert!(words <= most_words, "{page} has {words} words; at most {most_words}");
    }
}

/// Runs one rule over every Rust file and prints every problem at once.
fn check(rule: impl Fn(&str, &str) -> Option<String>) {
    let found =
        files().iter().filter_map(|(path, text)| Some(format!("{path}: {}", rule(path, text)?)));
    let problems: Vec<String> = found.collect();
    assert!(problems.is_empty(), "{} problem(s)\n{}", problems.len(), problems.join("\n"));
}
