//! Commands of the program that the documentation quotes, by the program's own parser of arguments.

use std::ffi::OsString;

use clap::error::ErrorKind;
use lightbench::args::Arguments;

use crate::program::repository;

use super::page::{is_placeholder, pages, words};

/// How much of a command is quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    /// For a reader to type.
    Whole,
    /// Within a sentence, where required arguments may be left out.
    InSentence,
}

/// Why the program refuses a command, the program's name first.
fn refusal(words: &[String], quoted: Quoted) -> Option<String> {
    let words: Vec<String> = words.iter().filter_map(|word| argument(word)).collect();
    // A placeholder in capitals stands for a name, for a number or for a path.
    let forms = [
        |word: &str| word.to_owned(),
        |_: &str| "1000".to_owned(),
        |word: &str| format!("./{word}"),
    ];
    let filled = forms.map(|fill| {
        words
            .iter()
            .map(|word| if is_placeholder(word) { fill(word) } else { word.clone() })
            .collect()
    });
    let errors: Option<Vec<clap::Error>> = filled.into_iter().map(parse).collect();
    let errors = errors?;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum grows")]
    let is_accepted = |error: &clap::Error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => {
            quoted == Quoted::InSentence
        }
        _ => false,
    };
    if errors.iter().any(is_accepted) { None } else { errors.first().map(ToString::to_string) }
}

fn parse(words: Vec<String>) -> Option<clap::Error> {
    Arguments::read(words.into_iter().map(OsString::from)).err()
}

/// A word as an argument: an optional flag is given, an optional value and an ellipsis are left out.
fn argument(word: &str) -> Option<String> {
    match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
        Some(flag) if flag.starts_with('-') => Some(flag.to_owned()),
        Some(_) => None,
        None if word == "…" => None,
        None => Some(word.to_owned()),
    }
}

/// The arguments of the program in a command, its name first: of `lightbench …` and of `cargo run … -- …`.
fn invocation(line: &str) -> Option<Vec<String>> {
    let words = words(line)?;
    let arguments = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["lightbench", _, ..] => &words[1..],
        ["cargo", "run", ..] => &words[words.iter().position(|word| word == "--")? + 1..],
        _ => return None,
    };
    Some(["lightbench".to_owned()].into_iter().chain(arguments.iter().cloned()).collect())
}

#[test]
fn every_command_in_the_documentation_is_one_of_the_program() {
    let mut refused = Vec::new();
    let mut checked = 0;
    for page in pages(&repository()) {
        let whole = page.commands.iter().map(|line| (line, Quoted::Whole));
        for (line, quoted) in whole.chain(page.spans.iter().map(|span| (span, Quoted::InSentence)))
        {
            let Some(words) =
                words(line).filter(|words| words.len() > 1 && words[0] == "lightbench")
            else {
                continue;
            };
            checked += 1;
            refused
                .extend(refusal(&words, quoted).map(|why| format!("{}: {line}\n{why}", page.file)));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(checked > 80, "only {checked} commands were found");
}

#[track_caller]
fn check(line: &str, quoted: Quoted, expected: bool) {
    let refused = refusal(&invocation(line).unwrap(), quoted);
    assert_eq!(refused.is_none(), expected, "{line}: {refused:?}");
}

#[test]
fn a_command_that_the_program_does_not_have_is_found() {
    for line in [
        "lightbench rum scale",
        "lightbench rum",
        "lightbench run scale --kernell naive",
        "lightbench run scale --seed many",
        "lightbench run scale --device",
        "lightbench compare A B C D E",
        "cargo run --release -- rum scale",
    ] {
        check(line, Quoted::Whole, false);
        check(line, Quoted::InSentence, false);
    }
    for line in [
        "lightbench run scale --kernel naive --seed 5 # a comment",
        "lightbench run PROJECT --seed N",
        "lightbench [PROJECT]",
        "lightbench PROJECT",
        "lightbench doctor [--fetch]",
        "lightbench launch --help",
        "cargo run --release -- check sample-projects/rmsnorm",
        "lightbench run scale > /dev/full",
    ] {
        check(line, Quoted::Whole, true);
        check(line, Quoted::InSentence, true);
    }
    check("lightbench launch FILE …", Quoted::Whole, false);
    check("lightbench launch FILE …", Quoted::InSentence, true);
}
