//! Parses RON text, and translates the RON reader's first error to a problem.

use std::{ops::Range, path::Path};

use ron::{Options, error::Error as Ron, extensions::Extensions};
use serde::de::DeserializeOwned;

use super::{
    locate::{Located, locate},
    nearest::nearest,
    problem::{Problem, Source, SourceLocation, problem},
};

/// Limit on nesting, more than any valid file needs.
const MAX_DEPTH: usize = 64;

/// Reads the bytes `range` of a file as one value, and finds the places of all its parts.
pub fn read<'a, T: DeserializeOwned>(
    file: &Path,
    text: &'a str,
    range: Range<usize>,
) -> Result<(T, Source<'a>), Box<Problem>> {
    let slice = text.get(range.clone()).unwrap_or_default();
    let options = Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
        .with_recursion_limit(MAX_DEPTH);
    match options.from_str(slice) {
        Ok(value) => {
            let tree = locate(text, range.clone()).unwrap_or_else(|| Located::plain(range));
            Ok((value, Source { file: file.to_path_buf(), text, tree }))
        }
        Err(error) => {
            let words = words(&error.code);
            let start = range.start + offset(slice, error.span.start.line, error.span.start.col);
            let end = range.start + offset(slice, error.span.end.line, error.span.end.col);
            let span = narrow(text, start..end.max(start), words.name);
            let place = SourceLocation { file, text, span, field: String::new() };
            Err(Box::new(problem(place, &words.found, &words.expected, words.help.as_deref())))
        }
    }
}

/// The reader reports the token before or after the faulty one; a faulty name is searched for there.
fn narrow(text: &str, span: Range<usize>, name: Option<&str>) -> Range<usize> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return point(text, span);
    };
    let window = text.get(span.clone()).unwrap_or_default();
    if let Some(at) = window.rfind(name) {
        return span.start + at..span.start + at + name.len();
    }
    match text.get(..span.end).and_then(|before| before.rfind(name)) {
        Some(at) => at..at + name.len(),
        None => point(text, span),
    }
}

/// The reader's position is the end of the span, possibly inside the faulty word.
fn point(text: &str, span: Range<usize>) -> Range<usize> {
    let inside = text.get(span.clone()).unwrap_or_default();
    if !inside.trim().is_empty() {
        let lead = inside.len() - inside.trim_start().len();
        // In a string the position is after the opening quote.
        let quote = usize::from(
            lead == 0 && text.get(..span.start).is_some_and(|before| before.ends_with('"')),
        );
        return span.start + lead - quote..span.start + inside.trim_end().len();
    }
    let is_word =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | '+' | '-');
    let before = text.get(..span.end).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let start = before.trim_end_matches(is_word).len();
    let word = after.len() - after.trim_start_matches(is_word).len();
    let next = after.chars().next().map_or(0, char::len_utf8);
    if start == span.end && word == 0 { start..span.end + next } else { start..span.end + word }
}

/// Byte offset of a line and a column in characters, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum::<usize>()
}

/// An error of the reader, translated.
struct TranslatedError<'a> {
    found: String,
    expected: String,
    help: Option<String>,
    name: Option<&'a str>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the reader's errors are its own and may grow")]
fn words(error: &Ron) -> TranslatedError<'_> {
    match error {
        Ron::NoSuchStructField { expected, found, .. } => unknown("field", found, expected),
        Ron::NoSuchEnumVariant { expected, found, .. } => unknown("choice", found, expected),
        Ron::MissingStructField { field, .. } => say(
            &format!("the field `{field}` is missing"),
            &format!("`{field}: …` among these fields"),
            Some(&format!("add `{field}: …`")),
        ),
        Ron::DuplicateStructField { field, .. } => TranslatedError {
            name: Some(field),
            ..say(
                &format!("the field `{field}` is written twice"),
                "each field once",
                Some("remove one of them"),
            )
        },
        Ron::InvalidValueForType { expected, found } => say(found, expected, None),
        Ron::ExpectedDifferentLength { expected, found } => {
            say(&format!("a sequence of {found} elements"), expected, None)
        }
        Ron::ExceededRecursionLimit => {
            say("values are nested too deeply", &format!("at most {MAX_DEPTH} levels"), None)
        }
        Ron::IntegerOutOfBounds => {
            say("the integer is too large", "an integer of at most 64 bits", None)
        }
        Ron::ExpectedDifferentStructName { expected, found } => TranslatedError {
            name: Some(found),
            ..say(&format!("the name `{found}`"), &format!("`{expected}(`, or `(` alone"), None)
        },
        Ron::NoSuchExtension(name) => {
            say(&format!("unknown extension `{name}`"), "no extensions", None)
        }
        other => syntax(other),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the reader's errors are its own and may grow")]
/// Syntax errors, for which the reader reports no values.
fn syntax(error: &Ron) -> TranslatedError<'_> {
    let (found, expected, help) = match error {
        Ron::Eof => ("the text ends too early", "the closing bracket of what is open", None),
        Ron::ExpectedArray => {
            ("this is not a list", "a list: `[…]`", Some("put `[` and `]` around the values"))
        }
        Ron::ExpectedArrayEnd => ("the list goes on without a comma", "`,` or `]`", None),
        Ron::ExpectedBoolean => ("this is not a boolean", "`true` or `false`", None),
        Ron::ExpectedComma => {
            ("the next value starts without a comma", "`,` or the closing bracket", None)
        }
        Ron::ExpectedFloat => ("this is not a number", "a number", None),
        Ron::ExpectedInteger => ("this is not an integer", "an integer", None),
        Ron::ExpectedMap => ("this is not a map", "a map: `{ \"name\": value }`", None),
        Ron::ExpectedMapColon => ("a name without a value", "`:` and a value", None),
        Ron::ExpectedMapEnd => ("the map goes on without a comma", "`,` or `}`", None),
        Ron::ExpectedStructLike | Ron::ExpectedNamedStructLike(_) => {
            ("the fields are missing", "`(` and fields", None)
        }
        Ron::ExpectedStructLikeEnd | Ron::ExpectedOptionEnd => {
            ("the fields go on without a comma", "`,` or `)`", None)
        }
        Ron::ExpectedString => (
            "this is not a string",
            "a string in double quotes",
            Some("put double quotes around it"),
        ),
        Ron::ExpectedStringEnd => ("the string is not closed", "a closing `\"`", None),
        Ron::ExpectedIdentifier => ("this is not a name", "a name", None),
        Ron::UnclosedBlockComment => ("the comment is not closed", "`*/`", None),
        Ron::TrailingCharacters => {
            ("something follows the closing bracket", "the end of the text", None)
        }
        Ron::UnexpectedChar(_) => ("an unexpected character", "a value", None),
        Ron::InvalidEscape(_) => {
            ("an unknown escape sequence", "one of \\n \\t \\\" \\\\ \\u{…}", None)
        }
        Ron::InvalidIntegerDigit { .. } => {
            ("an invalid digit", "decimal digits, such as 1000000000; sizes have no exponent", None)
        }
        _ => return say(&error.to_string().to_lowercase(), "valid RON", None),
    };
    say(found, expected, help)
}

fn say(found: &str, expected: &str, help: Option<&str>) -> TranslatedError<'static> {
    TranslatedError {
        found: found.to_owned(),
        expected: expected.to_owned(),
        help: help.map(str::to_owned),
        name: None,
    }
}

fn unknown<'a>(what: &str, found: &'a str, known: &[&'static str]) -> TranslatedError<'a> {
    let help = nearest(found, known.iter().copied()).map(|near| format!("write `{near}`"));
    let expected = match known {
        [] => format!("no {what} here"),
        [one] => format!("`{one}`"),
        _ => format!("one of {}", known.join(", ")),
    };
    TranslatedError {
        found: format!("unknown {what} `{found}`"),
        expected,
        help,
        name: Some(found),
    }
}
