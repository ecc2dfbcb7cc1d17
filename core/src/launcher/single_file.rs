//! A candidate's texts as one file: each directive that names a file of the project is replaced by that file.

use std::collections::BTreeSet;

use crate::project::Candidate;
use crate::project::includes::scan;

/// What stands in one file.
#[derive(Debug, Default)]
pub(super) struct SingleFile {
    /// Headers of the toolkit that it includes, in order.
    pub(super) headers: Vec<String>,
    /// All the rest.
    pub(super) text: String,
    /// Whether a header is still in the text, because the preprocessor decides about it.
    pub(super) has_conditional_header: bool,
}

impl SingleFile {
    /// What the preprocessor would have read. A file that says `#pragma once` is in it once; so is every other one that
    /// guards itself, whose macro is defined the second time.
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
        // What was compiled was read by the same function without a refusal.
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

/// The word of a preprocessor's directive.
fn directive(line: &str) -> Option<&str> {
    let word = line.trim_start().strip_prefix('#')?.trim_start();
    word.split(|c: char| !c.is_ascii_alphabetic()).next()
}

/// Of the launch block only its comment is left, which says nothing any more.
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

/// In a file that nobody includes, the directive would be a warning.
fn is_once(line: &str) -> bool {
    directive(line) == Some("pragma") && line.split_whitespace().last() == Some("once")
}
