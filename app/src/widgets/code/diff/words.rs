//! Word differences within a line.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::widgets::code::word_boundaries::is_word;

/// Removed and inserted byte ranges. Empty if the lines have little in common.
pub(super) fn changed(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old_words, new_words) = (split(old), split(new));
    let texts = |line: &str, words: &[Range<usize>]| {
        words.iter().map(|word| line[word.clone()].to_owned()).collect::<Vec<String>>()
    };
    let (old_texts, new_texts) = (texts(old, &old_words), texts(new, &new_words));
    let mut gone = Vec::new();
    let mut came = Vec::new();
    let mut kept = 0;
    for operation in capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts) {
        if let DiffOp::Equal { old_index, len, .. } = operation {
            let words = &old_texts[old_index..old_index + len];
            kept += words.iter().map(|word| word.trim().len()).sum::<usize>();
        } else {
            push(&mut gone, &old_words[operation.old_range()]);
            push(&mut came, &new_words[operation.new_range()]);
        }
    }
    let length = old.trim().len().max(new.trim().len());
    if kept * 4 < length {
        return (Vec::new(), Vec::new());
    }
    let trimmed = |line: &str, parts: Vec<Range<usize>>| {
        let trim = |part: Range<usize>| {
            let text = &line[part.clone()];
            let blank = text.trim().is_empty();
            let start = part.start + text.len() - text.trim_start().len();
            // A change of white space alone is kept; around words it is trimmed.
            if blank { part } else { start..start + text.trim().len() }
        };
        parts.into_iter().map(trim).collect()
    };
    (trimmed(old, gone), trimmed(new, came))
}

fn push(parts: &mut Vec<Range<usize>>, words: &[Range<usize>]) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    match parts.last_mut() {
        Some(part) if part.end == first.start => part.end = last.end,
        Some(_) | None => parts.push(first.start..last.end),
    }
}

/// Splits a line into names, runs of white space, and single characters.
fn split(line: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut kind = None;
    for (at, character) in line.char_indices() {
        let end = at + character.len_utf8();
        let here = match (is_word(character), character.is_whitespace()) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        match words.last_mut() {
            Some(word) if here.is_some() && here == kind => word.end = end,
            Some(_) | None => words.push(at..end),
        }
        kind = here;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_not_letters() {
        let check = |old: &str, new: &str, gone: &[&str], came: &[&str]| {
            let (found_gone, found_came) = changed(old, new);
            let parts = |line: &'static str, parts: Vec<Range<usize>>| {
                parts.into_iter().map(|part| line[part].to_owned()).collect::<Vec<_>>()
            };
            let (old, new) = (old.to_owned().leak(), new.to_owned().leak());
            assert_eq!(parts(old, found_gone), gone, "{old} -> {new}");
            assert_eq!(parts(new, found_came), came, "{old} -> {new}");
        };
        check("x = row_max;", "x = row_min;", &["row_max"], &["row_min"]);
        check("f(a, b)", "f(a, b, c)", &[], &[", c"]);
        check("  one two", "  three", &[], &[]);
        check("größe = 1", "größe = 2", &["1"], &["2"]);
        check("[8, 64]", "[8, 32, 64]", &[], &["32,"]);
        check("a b", "a  b", &[" "], &["  "]);
    }
}
