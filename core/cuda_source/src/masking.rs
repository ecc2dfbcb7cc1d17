//! The macros of one source, and a copy of the source that the grammar can parse.
//!
//! The grammar does not expand macros: it parses `const float* RESTRICT x` as a pointer called `RESTRICT`. Names that
//! only decorate a declaration are therefore blanked before parsing, byte for byte, so that every position in the tree
//! is a position in the source.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::{Token, TokenKind, logical_line, tokens};

/// Object-like macros: name to replacement text.
pub(super) type Defines = BTreeMap<String, String>;

/// Words without effect on the type of the following declaration.
const DECORATION: [&str; 13] = [
    "__restrict__",
    "__restrict",
    "restrict",
    "inline",
    "__inline__",
    "__inline",
    "__forceinline__",
    "__forceinline",
    "__noinline__",
    "static",
    "__host__",
    "__device__",
    "volatile",
];

/// The same, with an argument in parentheses.
const WITH_PARENTHESES: [&str; 5] =
    ["__align__", "alignas", "__block_size__", "__cluster_dims__", "__maxnreg__"];

/// More than any alignment needs; the limit keeps the scan linear for unclosed parentheses.
const LONGEST_PARENTHESIS: usize = 256;

/// The longest replacement text of a macro that is kept, in bytes. A type, a constant or a decoration is shorter.
const LONGEST_VALUE: usize = 256;

/// Reads the macros of `text`, completes them by those of other files, and blanks decorations.
pub(super) fn mask(text: &str, outer: &Defines) -> (Defines, String) {
    // A byte order mark is no token of the grammar.
    match text.strip_prefix('\u{feff}') {
        Some(rest) => mask_tokens(&format!("{}{rest}", " ".repeat('\u{feff}'.len_utf8())), outer),
        None => mask_tokens(text, outer),
    }
}

fn mask_tokens(text: &str, outer: &Defines) -> (Defines, String) {
    let mut defines = defines(text);
    for (name, value) in outer {
        defines.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let decorations: BTreeSet<&str> = defines
        .iter()
        .filter(|(_, value)| value.split_whitespace().all(|part| DECORATION.contains(&part)))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut masked = text.as_bytes().to_vec();
    let mut previous = "";
    let mut tokens = tokens(text);
    while let Some(Token { kind, range }) = tokens.next() {
        let end = range.end;
        match kind {
            TokenKind::Word => {
                let word = &text[range.clone()];
                let attribute = previous == "void" && is_attribute(word, &text[end..]);
                let decorates = decorations.contains(word)
                    || (word.ends_with("RESTRICT") && !defines.contains_key(word));
                if WITH_PARENTHESES.contains(&word) {
                    let end = parenthesis_end(text.as_bytes(), end);
                    blank(&mut masked[range.start..end]);
                    tokens.go_to(end);
                } else if attribute || decorates {
                    blank(&mut masked[range]);
                } else {
                    previous = word;
                }
            }
            TokenKind::Space => {}
            TokenKind::Other if is_directive(text, range.start) => {
                tokens.go_to(range.start + logical_line(&text.as_bytes()[range.start..]));
                previous = "";
            }
            TokenKind::Number | TokenKind::Literal | TokenKind::Comment | TokenKind::Other => {
                previous = "";
            }
        }
    }
    // Blanking replaces whole tokens by spaces, so the copy is as valid as the text was.
    (defines, String::from_utf8(masked).unwrap_or_else(|_broken| text.to_owned()))
}

/// In `void ATTRIBUTE k(…)`, the word between type and name is an attribute.
fn is_attribute(word: &str, rest: &str) -> bool {
    let named =
        rest.trim_start().starts_with(|letter: char| letter == '_' || letter.is_alphabetic());
    named && word.len() > 1 && !word.contains(|letter: char| letter.is_ascii_lowercase())
}

/// The object-like macros of a text; the last definition of a name counts.
pub(super) fn defines(text: &str) -> Defines {
    let mut found = Defines::new();
    let mut tokens = tokens(text);
    while let Some(Token { range, .. }) = tokens.next() {
        if is_directive(text, range.start) {
            let end = range.start + logical_line(&text.as_bytes()[range.start..]);
            found.extend(define(&text[range.start..end]));
            tokens.go_to(end);
        }
    }
    found
}

/// Whether a directive begins at a byte.
pub(super) fn is_directive(text: &str, at: usize) -> bool {
    let mut before = text.as_bytes()[..at].iter().rev().take_while(|byte| **byte != b'\n');
    text[at..].starts_with('#') && before.all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Reads `#define NAME value`; macros with parameters are ignored.
fn define(directive: &str) -> Option<(String, String)> {
    let rest = directive.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
    let (name, value) = rest.split_at(end);
    if name.is_empty() || value.starts_with('(') {
        return None;
    }
    let value = value.split("//").next().unwrap_or_default();
    let value = value.replace("\\\r\n", " ").replace("\\\n", " ");
    let value = value.split("/*").next().unwrap_or_default().trim();
    (value.len() <= LONGEST_VALUE).then(|| (name.to_owned(), value.to_owned()))
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

/// The end of a short parenthesis after `at`, or `at` without one.
fn parenthesis_end(text: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in text[at..].iter().take(LONGEST_PARENTHESIS).enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth <= 1 => return at + offset + 1,
            b')' => depth -= 1,
            b' ' | b'\t' => {}
            _ if depth == 0 => return at,
            _ => {}
        }
    }
    at
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}
