//! Words, strings and single characters of PTX, each with its line.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'text> {
    /// Names, numbers, opcodes with their dots, labels with their colon.
    Word(&'text str),
    /// Between its quotes, escapes as written.
    Text(&'text str),
    Mark(u8),
}

pub(super) struct Tokens<'text> {
    text: &'text str,
    at: usize,
    /// Line of the token last given, from 1.
    pub(super) line: u32,
    next_line: u32,
    ahead: Option<(Token<'text>, u32)>,
}

impl<'text> Tokens<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { text, at: 0, line: 1, next_line: 1, ahead: None }
    }

    pub(super) fn peek(&mut self) -> Option<Token<'text>> {
        if self.ahead.is_none() {
            self.ahead = self.read().map(|token| (token, self.next_line));
        }
        self.ahead.map(|(token, _)| token)
    }

    pub(super) fn next(&mut self) -> Option<Token<'text>> {
        let token = self.peek()?;
        if let Some((_, line)) = self.ahead.take() {
            self.line = line;
        }
        Some(token)
    }

    pub(super) fn word(&mut self) -> Option<&'text str> {
        match self.peek()? {
            Token::Word(word) => {
                self.next();
                Some(word)
            }
            Token::Text(_) | Token::Mark(_) => None,
        }
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        match self.peek()? {
            Token::Word(word) => {
                let number = parse_number(word)?;
                self.next();
                Some(number)
            }
            Token::Text(_) | Token::Mark(_) => None,
        }
    }

    pub(super) fn mark(&mut self, mark: u8) -> bool {
        let there = self.peek() == Some(Token::Mark(mark));
        if there {
            self.next();
        }
        there
    }

    /// Up to three numbers separated by commas; missing numbers are 1.
    pub(super) fn extent(&mut self) -> Option<[u32; 3]> {
        let mut extent = [1; 3];
        for (at, each) in extent.iter_mut().enumerate() {
            if at > 0 && !self.mark(b',') {
                break;
            }
            *each = u32::try_from(self.number()?).ok()?;
        }
        Some(extent)
    }

    fn read(&mut self) -> Option<Token<'text>> {
        let bytes = self.text.as_bytes();
        self.skip_blanks();
        let start = self.at;
        let first = *bytes.get(start)?;
        if first == b'"' {
            return Some(self.text_token());
        }
        let length = bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        if length == 0 {
            self.at += 1;
            return Some(Token::Mark(first));
        }
        self.at += length;
        Some(Token::Word(&self.text[start..self.at]))
    }

    fn text_token(&mut self) -> Token<'text> {
        let start = self.at + 1;
        let mut escaped = false;
        let closes = |byte: u8| {
            let closes = byte == b'\n' || (byte == b'"' && !escaped);
            escaped = byte == b'\\' && !escaped;
            closes
        };
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().copied().position(closes).unwrap_or(rest.len());
        self.at = start + length + usize::from(rest.get(length) == Some(&b'"'));
        Token::Text(&self.text[start..start + length])
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let rest = &bytes[self.at..];
            let skipped = if rest.starts_with(b"//") {
                rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                self.text[self.at..].find("*/").map_or(rest.len(), |end| end + 2)
            } else if byte.is_ascii_whitespace() {
                1
            } else {
                return;
            };
            let lines = rest[..skipped].iter().filter(|&&byte| byte == b'\n').count();
            self.next_line =
                self.next_line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            self.at += skipped;
        }
    }
}

pub(super) fn parse_number(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches('U');
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Non-ASCII bytes are part of words, so that slices end at character boundaries.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'$' | b'%' | b'.' | b':')
        || !byte.is_ascii()
}
