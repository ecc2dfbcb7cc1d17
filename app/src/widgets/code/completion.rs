//! Completion of names: CUDA's from `assets/completions.ron`, and the caller's.

use std::sync::LazyLock;

use serde::Deserialize;

/// A name with its signature and description.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// The completed text.
    pub name: String,
    /// The parameters, or the kind of the name.
    pub signature: String,
    /// A line of the list.
    pub about: String,
}

/// CUDA's names.
#[must_use]
pub fn cuda_words() -> &'static [Word] {
    static WORDS: LazyLock<Vec<Word>> =
        LazyLock::new(|| read(include_str!("../../../../assets/completions.ron")));
    &WORDS
}

#[expect(clippy::panic, reason = "the file is part of the program, and a test reads it")]
fn read(text: &str) -> Vec<Word> {
    match ron::from_str(text) {
        Ok(words) => words,
        Err(error) => panic!("assets/completions.ron: {error}"),
    }
}

/// How a name matches the typed text, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// A prefix.
    Beginning,
    /// A prefix except for case and leading underscores.
    Alike,
    /// The prefix of a part: `shfl` in `__shfl_sync`.
    Part,
}

/// Matching names, the best first and the caller's before CUDA's; empty if the typed name is the only match.
#[must_use]
pub fn matching<'a>(
    typed: &str,
    caller_words: &'a [Word],
    cuda_words: &'a [Word],
) -> Vec<&'a Word> {
    let mut found: Vec<((Fit, usize, usize), &Word)> = Vec::new();
    for (rank, words) in [caller_words, cuda_words].into_iter().enumerate() {
        let fitting = words.iter().filter_map(|word| Some((fit(typed, &word.name)?, word)));
        found.extend(fitting.map(|(fit, word)| ((fit, rank, word.name.len()), word)));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.name.cmp(&other.1.name)));
    match &found[..] {
        [(_, only)] if only.name == typed => Vec::new(),
        _ => found.into_iter().map(|(_, word)| word).collect(),
    }
}

fn fit(typed: &str, name: &str) -> Option<Fit> {
    if name.starts_with(typed) {
        return Some(Fit::Beginning);
    }
    let plain = |text: &str| text.trim_start_matches('_').to_lowercase();
    let (typed, name) = (plain(typed), plain(name));
    if typed.is_empty() {
        return None;
    }
    if name.starts_with(&typed) {
        return Some(Fit::Alike);
    }
    let at_part = |(at, _): (usize, &str)| name[..at].ends_with(['_', '.', '#']);
    name.match_indices(&typed).any(at_part).then_some(Fit::Part)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_says_what_it_does() {
        let words = cuda_words();
        assert!(words.len() >= 150, "{}", words.len());
        let names: BTreeSet<&str> = words.iter().map(|word| word.name.as_str()).collect();
        assert_eq!(names.len(), words.len(), "a name stands there twice");
        for word in words {
            assert!(!word.signature.is_empty(), "{}", word.name);
            assert!(
                word.about.len() > 8 && word.about.len() < 100,
                "{}: {}",
                word.name,
                word.about
            );
            assert!(!word.about.ends_with('.') && !word.about.contains('\n'), "{}", word.name);
        }
    }

    fn word(name: &str) -> Word {
        Word { name: name.to_owned(), signature: "axis".to_owned(), about: String::new() }
    }

    #[test]
    fn the_best_comes_first() {
        let words = ["__shfl_xor_sync", "shfl", "SHFL_WIDTH", "reshfl", "__ballot_sync"].map(word);
        let words_of_cuda = [word("rod")];
        let check = |typed: &str, expected: &[&str]| {
            let found: Vec<&str> =
                matching(typed, &words, &[]).iter().map(|word| word.name.as_str()).collect();
            assert_eq!(found, expected, "{typed}");
        };
        check("shf", &["shfl", "SHFL_WIDTH", "__shfl_xor_sync"]);
        check("__s", &["__shfl_xor_sync", "shfl", "SHFL_WIDTH", "__ballot_sync"]);
        check("sync", &["__ballot_sync", "__shfl_xor_sync"]);
        check("__ballot_sync", &[]);
        check("zz", &[]);
        let names = [word("rows")];
        let found = matching("ro", &names, &words_of_cuda);
        assert_eq!(found.iter().map(|word| &word.name).collect::<Vec<_>>(), ["rows", "rod"]);
    }
}
