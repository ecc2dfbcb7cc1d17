//! Text to tokens, one at a time, each with its location. No token is stored, so that the memory does not depend on
//! the length of the text.

use std::fmt;

/// A location in a PTX text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxLocation {
    /// Line, counted from one.
    pub line: u32,
    /// Column in bytes, counted from one.
    pub column: u32,
}

impl fmt::Display for PtxLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// The tokens of PTX (PTX ISA, section 4 "Syntax").
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name: `add`, `%r1`, `$L__BB0_1`.
    Word(&'a str),
    /// A directive or modifier without its dot: `global`, `shared::cta`.
    Dotted(&'a str),
    /// An integer of at most 64 bits, in two's complement.
    Integer(u64),
    /// `0f3F800000`: the bits of an f32.
    Single(u32),
    /// `0d3FF0000000000000` or `1.5`: the bits of an f64.
    Double(u64),
    /// A string without its quotes.
    Text(&'a str),
    /// One character of punctuation.
    Mark(char),
    /// An invalid token, with the reason.
    Invalid(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(name) => write!(formatter, "`{}`", excerpt(name)),
            Self::Dotted(name) => write!(formatter, "`.{}`", excerpt(name)),
            Self::Integer(value) => write!(formatter, "`{value}`"),
            Self::Single(bits) => write!(formatter, "`0f{bits:08X}`"),
            Self::Double(bits) => write!(formatter, "`0d{bits:016X}`"),
            Self::Text(text) => write!(formatter, "\"{}\"", excerpt(text)),
            Self::Mark(mark) => write!(formatter, "`{mark}`"),
            Self::Invalid(reason) => formatter.write_str(reason),
            Self::End => formatter.write_str("the end of the text"),
        }
    }
}

/// The beginning of a name, so that messages about very long names stay short.
#[must_use]
pub fn excerpt(name: &str) -> &str {
    const LONGEST: usize = 80;
    let mut end = name.len().min(LONGEST);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// A token and its location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) place: PtxLocation,
    /// Offset of its first byte.
    pub(crate) start: usize,
}

/// Reads tokens from a text.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, line_start: 0 }
    }

    /// The next token; after the end, `End` for ever.
    pub(crate) fn next_token(&mut self) -> Lexeme<'a> {
        let closed = self.skip_blanks();
        let start = self.at;
        let column = (start - self.line_start + 1) as u32;
        let place = PtxLocation { line: self.line, column };
        let token = if closed { self.token() } else { Token::Invalid("an unterminated comment") };
        Lexeme { token, place, start }
    }

    /// The digits and dots that begin at a lexeme.
    pub(crate) fn dotted_number(&self, lexeme: &Lexeme<'a>) -> &'a str {
        let rest = self.text.get(lexeme.start..).unwrap_or_default();
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.');
        &rest[..end.unwrap_or(rest.len())]
    }

    /// The text from the first byte of a lexeme to the present position.
    pub(crate) fn text_from(&self, first: &Lexeme<'a>) -> &'a str {
        self.text.get(first.start..self.at).unwrap_or_default()
    }

    /// Offset of the present position, in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Continues at the first byte of a lexeme.
    pub(crate) fn rewind(&mut self, lexeme: &Lexeme<'a>) {
        self.at = lexeme.start;
        self.line = lexeme.place.line;
        self.line_start = (lexeme.start + 1).saturating_sub(lexeme.place.column as usize);
    }

    /// Skips to the `;` of a statement that begins here, or to the `}` or the end of the text before it. Gives the names
    /// that are neither registers nor have modifiers to `symbol`.
    ///
    /// Braces in a statement enclose operands. A brace after a complete operand that is still open at the `;` opens a
    /// scope, and the statement ends before it.
    pub(crate) fn skip_statement(&mut self, mut symbol: impl FnMut(&'a str)) {
        const DEEPEST: u32 = 4;
        // The first operand follows the opcode, and the guard predicate if there is one.
        let head = if self.peek(0) == Some(b'@') { 2 } else { 1 };
        let mut words = 0_u32;
        let mut depth = 0_u32;
        let mut scope = None;
        let mut previous = b',';
        loop {
            // An unterminated comment extends to the end of the text.
            self.skip_blanks();
            let Some(byte) = self.peek(0) else { break };
            match byte {
                b';' => break,
                b'{' if depth == DEEPEST => break,
                b'{' => {
                    if depth == 0 {
                        let begins_operand = words <= head || previous == b',';
                        scope = (!begins_operand).then_some(*self);
                    }
                    depth += 1;
                    self.at += 1;
                }
                b'}' if depth == 0 => return,
                b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                b'"' => {
                    self.string();
                }
                b'%' | b'.' | b'0'..=b'9' => {
                    words = words.saturating_add(1);
                    self.at += 1;
                    self.skip_while(continues_path);
                }
                byte if starts_name(byte) => {
                    words = words.saturating_add(1);
                    let start = self.at;
                    self.skip_while(continues_name);
                    let name = &self.text[start..self.at];
                    if self.peek(0) == Some(b'.') {
                        self.skip_while(continues_path);
                    } else {
                        symbol(name);
                    }
                }
                _ => self.at += 1,
            }
            previous = byte;
        }
        if let Some(scope) = scope.filter(|_| depth > 0) {
            *self = scope;
        }
    }

    fn token(&mut self) -> Token<'a> {
        let Some(first) = self.peek(0) else { return Token::End };
        match first {
            b'%' if self.peek(1).is_some_and(starts_name) => self.word(),
            b'.' if self.peek(1).is_some_and(continues_name) => self.dotted(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            byte if starts_name(byte) => self.word(),
            byte if byte.is_ascii_punctuation() => {
                self.at += 1;
                Token::Mark(byte as char)
            }
            _ => self.foreign(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips white space and comments; returns false if a comment is not closed.
    fn skip_blanks(&mut self) -> bool {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => self.newline(),
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => self.skip_while(|byte| byte != b'\n'),
                b'/' if self.peek(1) == Some(b'*') => {
                    if !self.skip_block_comment() {
                        return false;
                    }
                }
                _ => break,
            }
        }
        true
    }

    fn skip_block_comment(&mut self) -> bool {
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'*' if self.peek(1) == Some(b'/') => {
                    self.at += 2;
                    return true;
                }
                b'\n' => self.newline(),
                _ => self.at += 1,
            }
        }
        false
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&accept) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        self.at += 1;
        self.skip_while(continues_name);
        Token::Word(&self.text[start..self.at])
    }

    /// `.global`, and also `.shared::cta`, `.L2::128B`.
    fn dotted(&mut self) -> Token<'a> {
        self.at += 1;
        let start = self.at;
        self.skip_while(continues_name);
        while self.peek(0) == Some(b':')
            && self.peek(1) == Some(b':')
            && self.peek(2).is_some_and(continues_name)
        {
            self.at += 2;
            self.skip_while(continues_name);
        }
        Token::Dotted(&self.text[start..self.at])
    }

    fn string(&mut self) -> Token<'a> {
        self.at += 1;
        let start = self.at;
        self.skip_while(|byte| byte != b'"' && byte != b'\n');
        let text = &self.text[start..self.at];
        if self.peek(0) != Some(b'"') {
            return Token::Invalid("an unterminated string");
        }
        self.at += 1;
        Token::Text(text)
    }

    /// A sequence of non-ASCII or control characters.
    fn foreign(&mut self) -> Token<'a> {
        self.skip_while(|byte| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace());
        Token::Invalid("a character that is not valid in PTX")
    }

    /// PTX ISA, section 4.5 "Constants".
    fn number(&mut self) -> Token<'a> {
        let second = self.peek(1).map_or(0, |byte| byte.to_ascii_lowercase());
        let leading_zero = self.peek(0) == Some(b'0');
        match second {
            b'f' if leading_zero => match self.radix(16) {
                Some((bits, 8)) => Token::Single(bits as u32),
                Some(_) | None => Token::Invalid("an f32 constant without exactly 8 hex digits"),
            },
            b'd' if leading_zero => match self.radix(16) {
                Some((bits, 16)) => Token::Double(bits),
                Some(_) | None => Token::Invalid("an f64 constant without exactly 16 hex digits"),
            },
            b'x' if leading_zero => self.integer(16),
            b'b' if leading_zero => self.integer(2),
            _ => self.decimal(),
        }
    }

    fn integer(&mut self, radix: u32) -> Token<'a> {
        match self.radix(radix) {
            Some((value, digits)) if digits > 0 => self.unsigned_suffix(value),
            Some(_) | None => Token::Invalid("an integer constant that does not fit 64 bits"),
        }
    }

    /// The digits after a two-character prefix: value and number of digits; none on overflow.
    fn radix(&mut self, radix: u32) -> Option<(u64, usize)> {
        self.at += 2;
        let start = self.at;
        self.skip_while(|byte| (byte as char).is_digit(radix));
        let digits = &self.text[start..self.at];
        if digits.is_empty() {
            return Some((0, 0));
        }
        u64::from_str_radix(digits, radix).ok().map(|value| (value, digits.len()))
    }

    fn unsigned_suffix(&mut self, value: u64) -> Token<'a> {
        if matches!(self.peek(0), Some(b'U' | b'u')) {
            self.at += 1;
        }
        Token::Integer(value)
    }

    fn decimal(&mut self) -> Token<'a> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_digit());
        let mut fractional = false;
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            fractional = true;
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                fractional = true;
                self.at += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        let digits = &self.text[start..self.at];
        if fractional {
            return digits
                .parse::<f64>()
                .map_or(Token::Invalid("a number"), |value| Token::Double(value.to_bits()));
        }
        let radix = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
        match u64::from_str_radix(digits, radix) {
            Ok(value) => self.unsigned_suffix(value),
            Err(_) => Token::Invalid("an integer constant that does not fit 64 bits"),
        }
    }
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

/// The bytes of `add.s32`, `%tid.x` or `.shared::cta` after the first one.
fn continues_path(byte: u8) -> bool {
    continues_name(byte) || byte == b'.' || byte == b':'
}

fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}
