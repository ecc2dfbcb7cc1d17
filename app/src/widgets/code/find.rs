//! Find and replace in text.

use std::ops::Range;

use super::change::{Change, Edit, Selection};

/// Whether case is significant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    #[default]
    Ignored,
    Matched,
}

/// View state of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text, without wildcards.
    pub needle: String,
    pub case: Case,
}

impl Query {
    /// All matches, without overlaps.
    #[must_use]
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        if self.needle.is_empty() {
            return Vec::new();
        }
        match self.case {
            Case::Matched => {
                let found = text.match_indices(&self.needle);
                found.map(|(at, found)| at..at + found.len()).collect()
            }
            Case::Ignored => self.ignoring_case(text),
        }
    }

    /// Whether a text contains a match.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        !self.matches(text).is_empty()
    }

    fn ignoring_case(&self, text: &str) -> Vec<Range<usize>> {
        let needle: Vec<char> = self.needle.chars().map(folded).collect();
        let Some(first) = needle.first() else { return Vec::new() };
        let mut found = Vec::new();
        let mut from = 0;
        for (at, character) in text.char_indices() {
            if at < from || folded(character) != *first {
                continue;
            }
            let mut rest = text[at..].char_indices();
            let alike = needle.iter().all(|wanted| {
                rest.next().is_some_and(|(_, character)| folded(character) == *wanted)
            });
            if alike {
                from = rest.next().map_or(text.len(), |(length, _)| at + length);
                found.push(at..from);
            }
        }
        found
    }
}

fn folded(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) => single,
        // A character whose lower case has several characters only matches itself.
        _ => character,
    }
}

/// The first match at or after a position, else the first of all.
#[must_use]
pub fn next(matches: &[Range<usize>], from: usize) -> Option<usize> {
    let found = matches.partition_point(|found| found.start < from);
    (!matches.is_empty()).then_some(found % matches.len().max(1))
}

/// The last match that ends at or before a position, else the last of all.
#[must_use]
pub fn previous(matches: &[Range<usize>], from: usize) -> Option<usize> {
    let found = matches.partition_point(|found| found.end <= from);
    (!matches.is_empty()).then(|| (found + matches.len() - 1) % matches.len())
}

/// Replaces all matches that may be changed.
#[must_use]
pub fn replace(text: &str, matches: &[Range<usize>], with: &str, cursor: usize) -> Edit {
    let change = |found: &Range<usize>| Change {
        at: found.start,
        removed: text[found.clone()].to_owned(),
        inserted: with.to_owned(),
    };
    let changes: Vec<Change> = matches.iter().rev().map(change).collect();
    let moved = changes.iter().fold(cursor, |at, change| change.moved(at));
    Edit { changes, selection: Selection::at(moved) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(needle: &str, case: Case) -> Query {
        Query { needle: needle.to_owned(), case }
    }

    #[test]
    fn matches_do_not_overlap() {
        let check = |needle: &str, case: Case, text: &str, expected: &[(usize, usize)]| {
            let found = query(needle, case).matches(text);
            let found: Vec<_> = found.into_iter().map(|found| (found.start, found.end)).collect();
            assert_eq!(found, expected, "{needle} in {text}");
        };
        check("aa", Case::Matched, "aaaa", &[(0, 2), (2, 4)]);
        check("aA", Case::Ignored, "AaaaB", &[(0, 2), (2, 4)]);
        check("aA", Case::Matched, "AaaA", &[(2, 4)]);
        check("Ä", Case::Ignored, "xä", &[(1, 3)]);
        check("", Case::Ignored, "text", &[]);
        check("a.", Case::Matched, "ab a.", &[(3, 5)]);
    }

    #[test]
    fn next_and_previous_go_around() {
        let matches = [2..4, 8..9];
        let check = |from: usize, after: usize, before: usize| {
            assert_eq!(next(&matches, from), Some(after), "after {from}");
            assert_eq!(previous(&matches, from), Some(before), "before {from}");
        };
        check(0, 0, 1);
        check(2, 0, 1);
        check(4, 1, 0);
        check(9, 0, 1);
        assert_eq!(next(&[], 0), None);
        assert_eq!(previous(&[], 0), None);
    }

    proptest! {
        #[test]
        fn replacing_is_what_the_standard_library_does(
            text in "[abA\n]{0,24}", needle in "[abA]{1,3}", with in "[xyé]{0,3}",
        ) {
            let matches = query(&needle, Case::Matched).matches(&text);
            let mut edited = text.clone();
            replace(&text, &matches, &with, 0).apply(&mut edited);
            prop_assert_eq!(edited, text.replace(&needle, &with));
        }

        #[test]
        fn ignoring_case_is_lowering_it(text in "[abAB]{0,24}", needle in "[abAB]{1,3}") {
            let lowered = query(&needle.to_lowercase(), Case::Matched).matches(&text.to_lowercase());
            prop_assert_eq!(query(&needle, Case::Ignored).matches(&text), lowered);
        }
    }
}
