//! A candidate's texts as one file: each `#include` of a project file is replaced by that file's text.

use std::collections::BTreeSet;

use crate::project::Candidate;
use crate::project::includes::scan;

/// The content of the single file.
#[derive(Debug, Default)]
pub(super) struct SingleFile {
    /// The included headers of the toolkit, in order.
    pub(super) headers: Vec<String>,
    /// The remaining code.
    pub(super) text: String,
    /// Whether a header is still in the text, because the preprocessor decides about it.
    pub(super) has_conditional_header: bool,
}

impl SingleFile {
    /// The text that the preprocessor would read. A file with `#pragma once` is inserted once; a file with an include guard
    /// is inserted every time, because its macro takes effect.
    pub(super) fn new(candidate: &Candidate) -> Self {
        let mut file = Self::default();
        file.add(candidate, &candidate.kernel, &candidate.text, &mut BTreeSet::new());
        file.text = without_empty_block(&file.text).trim().to_owned();
        file
    }

    fn add<'a>(
        &mut self,
        candidate: &'a Candidate,
        file: &str,
        text: &'a str,
        seen: &mut BTreeSet<&'a str>,
    ) {
        // The compiled candidate was read by the same function without an error.
        let directives = scan(file, text).unwrap_or_default();
        let mut depth = 0_usize;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            depth = match directive(line) {
                Some(word) if word.starts_with("if") => depth + 1,
                Some("endif") => depth.saturating_sub(1),
                Some(_) | None => depth,
            };
            let Some(found) = directives.iter().find(|found| found.place.line == number) else {
                if !is_once(line) {
                    self.text.push_str(line);
                }
                continue;
            };
            match candidate.includes.iter().find(|known| known.name == found.name) {
                Some(file) if file.text.lines().any(is_once) && !seen.insert(&file.name) => {}
                Some(file) => {
                    self.add(candidate, &file.name, &file.text, seen);
                    if !self.text.ends_with('\n') {
                        self.text.push('\n');
                    }
                }
                None if depth > 0 => {
                    self.has_conditional_header = true;
                    self.text.push_str(line);
                }
                None if self.headers.contains(&found.name) => {}
                None => self.headers.push(found.name.clone()),
            }
        }
    }
}

/// The name of a preprocessor directive.
fn directive(line: &str) -> Option<&str> {
    let word = line.trim_start().strip_prefix('#')?.trim_start();
    word.split(|c: char| !c.is_ascii_alphabetic()).next()
}

/// Removes the empty comment that remains of the launch block.
fn without_empty_block(text: &str) -> String {
    let begin = text.find("/*@");
    let end = begin.and_then(|begin| Some(begin + text.get(begin..)?.find("@*/")? + 3));
    match begin.zip(end) {
        Some((begin, end)) if text[begin + 3..end - 3].trim().is_empty() => {
            format!("{}{}", &text[..begin], text[end..].trim_start())
        }
        Some(_) | None => text.to_owned(),
    }
}

/// In a file that is not included, the directive causes a warning.
fn is_once(line: &str) -> bool {
    directive(line) == Some("pragma") && line.split_whitespace().last() == Some("once")
}
