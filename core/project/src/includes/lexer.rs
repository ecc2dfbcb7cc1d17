//! Preprocessing tokens of C++ as NVRTC reads them, only for finding directives.
//!
//! The lexer works on bytes, because all relevant characters are ASCII. Line splices are removed, except in raw
//! strings, where a splice is refused (NVRTC removes some of them there).

use std::borrow::Cow;

use super::Reason;

/// One token, with the byte range that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'text> {
    pub(super) kind: Kind<'text>,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind<'text> {
    /// Name or keyword, splices removed.
    Identifier(Cow<'text, str>),
    Number,
    /// With its quotes.
    Text,
    /// `#`, or `%:` as a digraph.
    Hash {
        digraph: bool,
    },
    Comment,
    Newline,
    Other(u8),
    End,
}

/// Why the rest of the text cannot be read with certainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) at: usize,
    pub(super) reason: Reason,
}

pub(super) struct Lexer<'text> {
    text: &'text str,
    bytes: &'text [u8],
    at: usize,
    /// Line splices passed so far.
    pub(super) splices: usize,
    /// The preceding token may absorb the word: a literal as its suffix, or a character that other compilers permit in
    /// identifiers.
    glued: bool,
}

impl<'text> Lexer<'text> {
    /// A byte order mark at the start is passed over.
    pub(super) fn new(text: &'text str) -> Self {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self { text, bytes: text.as_bytes(), at, splices: 0, glued: false }
    }

    /// The next token; blanks are skipped.
    pub(super) fn next(&mut self) -> Result<Token<'text>, Doubt> {
        self.skip_blanks();
        let start = self.at;
        let glued = std::mem::take(&mut self.glued);
        let Some(byte) = self.peek() else { return Ok(self.token(Kind::End, start)) };
        let kind = match byte {
            b'\n' | b'\r' => {
                self.at = after_line_end(self.bytes, self.at).unwrap_or(self.at + 1);
                Kind::Newline
            }
            b'/' if self.second() == Some(b'/') => self.line_comment(),
            b'/' if self.second() == Some(b'*') => self.block_comment(start)?,
            b'#' => {
                self.bump();
                Kind::Hash { digraph: false }
            }
            b'%' if self.second() == Some(b':') => {
                self.bump();
                self.bump();
                Kind::Hash { digraph: true }
            }
            b'?' if self.trigraph().is_some() => return Err(self.trigraph_doubt()),
            b'"' | b'\'' => {
                let literal = self.quoted(byte)?;
                self.glued = true;
                literal
            }
            b'0'..=b'9' => self.number(start)?,
            b'.' if self.second().is_some_and(|next| next.is_ascii_digit()) => {
                self.number(start)?
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.identifier(start, glued),
            other => {
                self.bump();
                self.glued = matches!(other, b'$' | b'\\' | b'@' | b'`') || !other.is_ascii();
                Kind::Other(other)
            }
        };
        Ok(self.token(kind, start))
    }

    /// The operand of an include, if a quoted or angled name follows: the literal text between the delimiters.
    pub(super) fn header_name(&mut self) -> Option<Result<&'text str, Reason>> {
        self.skip_blanks();
        let close = match self.peek()? {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let start = self.at + 1;
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&each| each == close || each == b'\n');
        Some(match length {
            Some(length) if rest[length] == close => {
                self.at = start + length + 1;
                Ok(&self.text[start..start + length])
            }
            _ => Err(Reason::UnterminatedName),
        })
    }

    /// The first byte of the next token, after blanks.
    pub(super) fn upcoming(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.peek()
    }

    /// The text between two places, as written.
    pub(super) fn text_between(&self, start: usize, end: usize) -> &'text str {
        &self.text[start..end]
    }

    fn token(&self, kind: Kind<'text>, start: usize) -> Token<'text> {
        Token { kind, start, end: self.at }
    }

    /// The next byte, after any splices.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at) == Some(&b'\\') {
            let Some(after) = after_line_end(self.bytes, self.at + 1) else { break };
            self.at = after;
            self.splices += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// The byte after the next one, after any splices.
    fn second(&self) -> Option<u8> {
        let mut at = self.at + 1;
        while self.bytes.get(at) == Some(&b'\\') {
            match after_line_end(self.bytes, at + 1) {
                Some(after) => at = after,
                None => break,
            }
        }
        self.bytes.get(at).copied()
    }

    fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | 0x0b | 0x0c) = self.peek() {
            self.at += 1;
            self.glued = false;
        }
    }

    fn line_comment(&mut self) -> Kind<'text> {
        while let Some(byte) = self.peek() {
            if byte == b'\n' {
                break;
            }
            self.at += 1;
        }
        Kind::Comment
    }

    fn block_comment(&mut self, start: usize) -> Result<Kind<'text>, Doubt> {
        self.bump();
        self.bump();
        while let Some(byte) = self.bump() {
            if byte == b'*' && self.peek() == Some(b'/') {
                self.at += 1;
                return Ok(Kind::Comment);
            }
        }
        Err(Doubt { at: start, reason: Reason::UnterminatedComment })
    }

    /// A literal ends at its quote, or unterminated at the end of the line, as with NVRTC.
    fn quoted(&mut self, quote: u8) -> Result<Kind<'text>, Doubt> {
        self.bump();
        while let Some(byte) = self.peek() {
            if byte == b'\n' {
                break;
            }
            if quote == b'\'' && self.trigraph().is_some() {
                return Err(self.trigraph_doubt());
            }
            self.at += 1;
            if byte == quote {
                break;
            }
            if byte == b'\\' && self.peek().is_some_and(|next| next != b'\n') {
                self.at += 1;
            }
        }
        Ok(Kind::Text)
    }

    /// A trigraph at this position that changes a directive or a literal. (`??/` is searched for in the whole text.)
    fn trigraph(&self) -> Option<&'static str> {
        ["??=", "??'"].into_iter().find(|each| self.bytes[self.at..].starts_with(each.as_bytes()))
    }

    fn trigraph_doubt(&self) -> Doubt {
        let trigraph = self.trigraph().unwrap_or("??=");
        Doubt { at: self.at, reason: Reason::Trigraph { trigraph } }
    }

    fn number(&mut self, start: usize) -> Result<Kind<'text>, Doubt> {
        let mut previous = 0;
        while let Some(byte) = self.peek() {
            let sign = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E' | b'p' | b'P');
            let separator = byte == b'\'';
            if separator && !self.second().is_some_and(is_word) {
                return Err(Doubt { at: start, reason: Reason::DigitSeparator });
            }
            if !(is_word(byte) || byte == b'.' || sign || separator) {
                break;
            }
            previous = byte;
            self.at += 1;
        }
        Ok(Kind::Number)
    }

    fn identifier(&mut self, start: usize, glued: bool) -> Result<Token<'text>, Doubt> {
        let splices = self.splices;
        let mut end = start;
        let mut spelled = String::new();
        while let Some(byte) = self.peek().filter(|&byte| is_word(byte)) {
            if self.splices > splices {
                spelled.push(char::from(byte));
            } else {
                end = self.at + 1;
            }
            self.at += 1;
        }
        let plain = &self.text[start..end];
        let word = if spelled.is_empty() {
            Cow::Borrowed(plain)
        } else {
            Cow::Owned(format!("{plain}{spelled}"))
        };
        if matches!(&*word, "R" | "LR" | "uR" | "UR" | "u8R") && self.peek() == Some(b'"') {
            let whole = self.splices == splices && !glued;
            if !whole {
                let reason = Reason::RawString { doubt: "its prefix is not a separate word" };
                return Err(Doubt { at: start, reason });
            }
            self.raw_string(start)?;
            self.glued = true;
            return Ok(self.token(Kind::Text, start));
        }
        Ok(self.token(Kind::Identifier(word), start))
    }

    fn raw_string(&mut self, start: usize) -> Result<(), Doubt> {
        let doubtful = |doubt| Doubt { at: start, reason: Reason::RawString { doubt } };
        let open = self.at + 1;
        let rest = &self.bytes[open..];
        let length = rest.iter().take_while(|each| is_word(**each)).count();
        if length > 16 || rest.get(length) != Some(&b'(') {
            return Err(doubtful("its delimiter is not of at most 16 letters and digits"));
        }
        let content = open + length + 1;
        let closing = [")", &self.text[open..open + length], "\""].concat();
        let Some(found) = self.text[content..].find(&closing) else {
            return Err(doubtful("it is not terminated"));
        };
        let end = content + found + closing.len();
        let spliced = self.bytes[content..end].iter().enumerate().any(|(at, &byte)| {
            byte == b'\\' && after_line_end(self.bytes, content + at + 1).is_some()
        });
        if spliced {
            return Err(doubtful("a line of it ends in a backslash"));
        }
        self.at = end;
        Ok(())
    }
}

/// The start of the next line if `at` is at a line end: LF, or carriage returns before one.
fn after_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    let returns = bytes[at.min(bytes.len())..].iter().take_while(|&&byte| byte == b'\r').count();
    (bytes.get(at + returns) == Some(&b'\n')).then_some(at + returns + 1)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
