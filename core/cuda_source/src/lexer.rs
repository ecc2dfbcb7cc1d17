//! Tokens of C++ for readers that edit the text itself and need no tree: whole comments, literals, words and numbers.
//!
//! Every text is a sequence of tokens; what is unterminated ends with its line or with the text. A reader that must refuse
//! what a compiler may read otherwise needs the lexer of `includes` in `lightbench-project`.

use std::ops::Range;

/// A token with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes.
    pub range: Range<usize>,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A preprocessing number: `1e-5f`, `1'000`, `.5`.
    Number,
    /// A string or a character with its quotes, raw strings included.
    Literal,
    /// A comment with its delimiters; a line comment without its line feed.
    Comment,
    /// Spaces and line ends.
    Space,
    /// Any other character.
    Other,
}

/// The tokens of a text, in order.
#[derive(Debug, Clone)]
pub struct Tokens<'text> {
    text: &'text str,
    at: usize,
}

/// The tokens of a text, in order and without gaps.
#[must_use]
pub const fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

impl Tokens<'_> {
    /// Goes on with the token at a byte, which begins a character.
    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let rest = self.text.get(start..)?;
        let (kind, length) = first(rest)?;
        self.at = start + length;
        Some(Token { kind, range: start..self.at })
    }
}

/// Kind and length of the first token.
fn first(rest: &str) -> Option<(TokenKind, usize)> {
    let letter = rest.chars().next()?;
    let bytes = rest.as_bytes();
    Some(match letter {
        '/' if rest.starts_with("//") => (TokenKind::Comment, logical_line(bytes)),
        '/' if rest.starts_with("/*") => {
            (TokenKind::Comment, rest[2..].find("*/").map_or(rest.len(), |close| close + 4))
        }
        '"' | '\'' => (TokenKind::Literal, literal(bytes)),
        '.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => (TokenKind::Number, number(bytes)),
        '0'..='9' => (TokenKind::Number, number(bytes)),
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = bytes.iter().take_while(|byte| is_word(**byte)).count();
            let is_prefix = RAW_PREFIXES.contains(&&rest[..length]);
            match is_prefix.then(|| raw_string(&rest[length..])).flatten() {
                Some(string) => (TokenKind::Literal, length + string),
                None => (TokenKind::Word, length),
            }
        }
        _ if letter.is_ascii_whitespace() => {
            (TokenKind::Space, bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count())
        }
        _ => (TokenKind::Other, letter.len_utf8()),
    })
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// The length of the first logical line without its line feed: a backslash joins the next line to it.
pub(super) fn logical_line(bytes: &[u8]) -> usize {
    let is_spliced = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\");
    let ends = |at: &usize| bytes[*at] == b'\n' && !is_spliced(&bytes[..*at]);
    (0..bytes.len()).find(ends).unwrap_or(bytes.len())
}

/// The length of a literal, at most to the end of its line: an apostrophe may be no quote at all.
fn literal(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            // What is escaped is no quote; its line end, too.
            b'\\' => at += 1 + usize::from(bytes[at..].starts_with(b"\\\r\n")),
            byte if byte == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

fn number(bytes: &[u8]) -> usize {
    let mut before = 0;
    let belongs = |byte: &&u8| {
        let is_sign = matches!(**byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
        before = **byte;
        is_word(**byte) || matches!(**byte, b'.' | b'\'') || is_sign
    };
    bytes.iter().take_while(belongs).count()
}

/// Prefixes of raw strings.
const RAW_PREFIXES: [&str; 5] = ["R", "LR", "uR", "UR", "u8R"];

/// The longest delimiter of a raw string.
const LONGEST_DELIMITER: usize = 16;

/// The length of `"delimiter(…)delimiter"`, that of the whole text without an end; `None` if the text begins otherwise.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('"')?;
    let open = rest.bytes().take(LONGEST_DELIMITER + 1).position(|byte| byte == b'(')?;
    let (delimiter, content) = rest.split_at(open);
    let closing = format!("){delimiter}\"");
    let end = content.find(&closing).map(|at| 1 + open + at + closing.len());
    Some(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens without spaces, separated by `|`.
    fn check(text: &str, expected: &str) {
        let shown: Vec<&str> = tokens(text)
            .filter(|token| token.kind != TokenKind::Space)
            .map(|token| &text[token.range])
            .collect();
        assert_eq!(shown.join("|"), expected, "{text}");
        let length: usize = tokens(text).map(|token| token.range.len()).sum();
        assert_eq!(length, text.len(), "{text}");
    }

    #[test]
    fn literals_and_comments_are_whole() {
        check("a/*b*/c//d\\\ne\nf", "a|/*b*/|c|//d\\\ne|f");
        check("//d\\\r\ne\r\nf", "//d\\\r\ne\r|f");
        check("\"/*\" '\"' x", "\"/*\"|'\"'|x");
        check("\"a\\\"b\" \"open\nx", "\"a\\\"b\"|\"open|x");
        check("R\"(\")\" uR\"x(\n)\")x\" R", "R\"(\")\"|uR\"x(\n)\")x\"|R");
        check("R\"(open /* ", "R\"(open /* ");
        check("/* open", "/* open");
        check("größe '\\é", "gr|ö|ß|e|'\\é");
    }

    #[test]
    fn numbers_have_their_signs_points_and_separators() {
        check("1e-5f+0x1p-3 1'000.5 .5 a.b x-1", "1e-5f|+|0x1p-3|1'000.5|.5|a|.|b|x|-|1");
    }
}
