//! Guesses that `new` and `import` wrote into a project and the user has not confirmed: comments that begin with `guess:`,
//! `confirm NAME:` or `question NAME:`. Deleting the comment confirms the guess.

use std::path::PathBuf;

use super::{MANIFEST, Project};

/// A guess to confirm, or a question to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Relative to the project folder.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// The comment without its sign.
    pub text: String,
}

impl Project {
    /// The guesses in `project.ron`, the reference and the kernels, in the order of files and lines.
    #[must_use]
    pub fn guesses(&self) -> Vec<Guess> {
        let manifest = (PathBuf::from(MANIFEST), self.manifest.as_str());
        let reference = (self.reference.file().to_owned(), self.reference.source());
        let kernels = self.kernels.iter();
        let kernels = kernels.map(|kernel| (kernel.file.clone(), kernel.source.as_str()));
        let texts = [manifest, reference].into_iter().chain(kernels);
        texts.flat_map(|(file, text)| in_text(&file, text)).collect()
    }
}

fn in_text(file: &std::path::Path, text: &str) -> Vec<Guess> {
    let guess = |(line, text): (usize, &str)| {
        let text = guess_in(text)?.to_owned();
        Some(Guess { file: file.to_owned(), line, text })
    };
    (1..).zip(text.lines()).filter_map(guess).collect()
}

/// The text of a comment that marks a guess.
fn guess_in(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?.trim_start();
    let (word, rest) = comment.split_once(' ')?;
    let is_named = |rest: &str| rest.split(' ').next().is_some_and(|name| name.ends_with(':'));
    let is_guess = word == "guess:" || (matches!(word, "confirm" | "question") && is_named(rest));
    is_guess.then_some(comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_comments_with_their_words() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(guess_in(line), expected);
        check(
            "        // guess: every shape has all sizes.",
            Some("guess: every shape has all sizes."),
        );
        check("    // confirm x.domain: 0 to 1.", Some("confirm x.domain: 0 to 1."));
        check("# question scale: not stated.", Some("question scale: not stated."));
        check("// guess", None);
        check("// confirm the order of reads: later", None);
        check("// Every line marked `guess` is for you to check", None);
        check("let guess: f32 = 1.0;", None);
        check("", None);
    }
}
