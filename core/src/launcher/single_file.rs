//! A candidate's texts as one file: each directive that names a file of the project is replaced by that file.

use std::collections::BTreeSet;

use crate::compile::includes::scan;
use crate::project::Candidate;

/// The text that the preprocessor would have read. A file that says `#pragma once` is in it once; so is every other one
/// that guards itself, whose macro is defined the second time.
pub(super) fn of(candidate: &Candidate) -> String {
    let mut seen = BTreeSet::new();
    let text = inlined(candidate, &candidate.kernel, &candidate.text, &mut seen);
    without_empty_block(&text).trim().to_owned()
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

fn inlined<'a>(
    candidate: &'a Candidate,
    file: &str,
    text: &'a str,
    seen: &mut BTreeSet<&'a str>,
) -> String {
    // What was compiled was read by the same function without a refusal.
    let directives = scan(file, text).unwrap_or_default();
    let mut whole = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let included = directives.iter().find(|found| found.place.line == number);
        let included = included
            .and_then(|found| candidate.includes.iter().find(|known| known.name == found.name));
        match included {
            None if is_once(line) => {}
            None => whole.push_str(line),
            Some(file) if file.text.lines().any(is_once) && !seen.insert(&file.name) => {}
            Some(file) => {
                whole.push_str(&inlined(candidate, &file.name, &file.text, seen));
                if !whole.ends_with('\n') {
                    whole.push('\n');
                }
            }
        }
    }
    whole
}

/// In a file that nobody includes, the directive would be a warning.
fn is_once(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words.as_slice(), ["#pragma", "once"] | ["#", "pragma", "once"])
}
