//! The macros of one source, and a copy of the source that the grammar can parse.
//!
//! The grammar does not expand macros: it parses `const float* RESTRICT x` as a pointer called `RESTRICT`. Names that
//! only decorate a declaration are therefore blanked before parsing, byte for byte, so that every position in the tree
//! is a position in the source.

use std::collections::BTreeMap;

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

/// Reads the macros of `text` and blanks decorations.
pub(super) fn mask(text: &str) -> (Defines, String) {
    let defines = defines(text);
    let mut masked = text.as_bytes().to_vec();
    let mut at = 0;
    let mut previous = "";
    while at < masked.len() {
        let token = token(text.as_bytes(), at);
        if token.kind == Kind::Word {
            let word = &text[at..token.end];
            if WITH_PARENTHESES.contains(&word) {
                let end = parenthesis_end(text.as_bytes(), token.end);
                blank(&mut masked[at..end]);
                at = end;
                continue;
            }
            let attribute = previous == "void" && is_attribute(word, &text[token.end..]);
            if attribute || is_decoration(word, &defines) {
                blank(&mut masked[at..token.end]);
            } else {
                previous = word;
            }
        } else if !text.as_bytes()[at].is_ascii_whitespace() {
            previous = "";
        }
        at = token.end;
    }
    // Blanking replaces whole tokens by spaces, so the copy is as valid as the text was.
    (defines, String::from_utf8(masked).unwrap_or_else(|_broken| text.to_owned()))
}

fn is_decoration(word: &str, defines: &Defines) -> bool {
    match defines.get(word) {
        Some(value) => value.split_whitespace().all(|part| DECORATION.contains(&part)),
        None => word.ends_with("RESTRICT"),
    }
}

/// In `void ATTRIBUTE k(…)`, the word between type and name is an attribute.
fn is_attribute(word: &str, rest: &str) -> bool {
    let named =
        rest.trim_start().starts_with(|letter: char| letter == '_' || letter.is_alphabetic());
    named && word.len() > 1 && !word.contains(|letter: char| letter.is_ascii_lowercase())
}

fn defines(text: &str) -> Defines {
    let mut found = Defines::new();
    let mut at = 0;
    while at < text.len() {
        let token = token(text.as_bytes(), at);
        if token.kind == Kind::Directive
            && let Some((name, value)) = define(&text[at..token.end])
        {
            found.insert(name, value);
        }
        at = token.end;
    }
    found
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
    let value = value.split("//").next().unwrap_or_default().replace("\\\n", " ");
    let value = value.split("/*").next().unwrap_or_default().trim().to_owned();
    Some((name.to_owned(), value))
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Directive,
    Other,
}

struct Token {
    kind: Kind,
    end: usize,
}

/// The token that starts at `at`; comments, strings and whole directives are one token each.
fn token(text: &[u8], at: usize) -> Token {
    let rest = &text[at..];
    let other = |end| Token { kind: Kind::Other, end };
    match rest[0] {
        b'/' if rest.starts_with(b"//") => other(line_end(text, at)),
        b'/' if rest.starts_with(b"/*") => {
            let close = rest[2..].windows(2).position(|pair| pair == b"*/");
            other(close.map_or(text.len(), |close| at + close + 4))
        }
        b'"' | b'\'' => other(quote_end(text, at)),
        b'#' if starts_line(text, at) => Token { kind: Kind::Directive, end: line_end(text, at) },
        byte if byte == b'_' || byte.is_ascii_alphanumeric() => {
            let number = byte.is_ascii_digit();
            let inside = |byte: &u8| {
                *byte == b'_' || byte.is_ascii_alphanumeric() || (number && *byte == b'\'')
            };
            let length = rest.iter().take_while(|byte| inside(byte)).count();
            Token { kind: if number { Kind::Other } else { Kind::Word }, end: at + length }
        }
        _ => other(at + 1),
    }
}

fn starts_line(text: &[u8], at: usize) -> bool {
    text[..at]
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The end of the logical line: a backslash joins the next one to it.
fn line_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < text.len() && (text[end] != b'\n' || text[end - 1] == b'\\') {
        end += 1;
    }
    end
}

/// The end of a literal, at the latest the end of its line: an apostrophe may be no quote at all.
fn quote_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text[end] != b'\n' {
        match text[end] {
            b'\\' => end += 1,
            byte if byte == text[at] => return end + 1,
            _ => {}
        }
        end += 1;
    }
    end.min(text.len())
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
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}
