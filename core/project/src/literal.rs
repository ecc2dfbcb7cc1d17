//! A RON string literal: its decoded text, and the mapping between source bytes and text.

/// A string literal at the start of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    /// All of it, quotes included.
    whole: &'a str,
    /// Bytes before the content.
    prefix: usize,
    /// Bytes after the content.
    suffix: usize,
    raw: bool,
}

impl<'a> Literal<'a> {
    /// The literal at the start of the text, if there is one and it is terminated.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let unprefixed = text.strip_prefix('b').unwrap_or(text);
        let byte = text.len() - unprefixed.len();
        if let Some(after) = unprefixed.strip_prefix('r') {
            let hashes = after.len() - after.trim_start_matches('#').len();
            let content = after[hashes..].strip_prefix('"')?;
            let close = format!("\"{}", "#".repeat(hashes));
            let length = content.find(&close)?;
            let prefix = byte + 2 + hashes;
            let whole = text.get(..prefix + length + close.len())?;
            return Some(Self { whole, prefix, suffix: close.len(), raw: true });
        }
        let content = unprefixed.strip_prefix('"')?;
        let mut escaped = false;
        let length = content.bytes().position(|character| {
            let closes = !escaped && character == b'"';
            escaped = !escaped && character == b'\\';
            closes
        })?;
        let prefix = byte + 1;
        Some(Self { whole: text.get(..prefix + length + 1)?, prefix, suffix: 1, raw: false })
    }

    /// Bytes of the literal in the file.
    pub(super) fn length(&self) -> usize {
        self.whole.len()
    }

    /// The decoded text.
    pub(super) fn decoded(&self) -> String {
        let mut decoded = String::new();
        self.pieces(|_, piece| {
            decoded.push_str(piece);
            true
        });
        decoded
    }

    /// Where in the literal the byte `inner` of the decoded text is written.
    pub(super) fn offset_of(&self, inner: usize) -> usize {
        let mut seen = 0;
        let mut offset = self.whole.len() - self.suffix;
        self.pieces(|at, piece| {
            if inner < seen + piece.len() {
                offset = at;
                return false;
            }
            seen += piece.len();
            true
        });
        offset
    }

    /// Calls `each` with the offset and the meaning of every character, until it returns false.
    fn pieces(&self, mut each: impl FnMut(usize, &str) -> bool) {
        let end = self.whole.len() - self.suffix;
        let mut at = self.prefix;
        let mut buffer = [0; 4];
        while let Some(first) = self.whole.get(at..end).and_then(|rest| rest.chars().next()) {
            let (meaning, length) = if first == '\\' && !self.raw {
                escape(&self.whole[at..end])
            } else {
                (Some(first), first.len_utf8())
            };
            if let Some(meaning) = meaning
                && !each(at, meaning.encode_utf8(&mut buffer))
            {
                return;
            }
            at += length.max(1);
        }
    }
}

/// The character of the escape sequence at the beginning of the text, and its length; a line continuation has no
/// character.
fn escape(text: &str) -> (Option<char>, usize) {
    let Some(kind) = text.chars().nth(1) else { return (None, text.len()) };
    let simple = |meaning| (Some(meaning), 2);
    match kind {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '0' => simple('\0'),
        'x' => bytes_escape(text),
        'u' => {
            let length = text.find('}').map_or(text.len(), |close| close + 1);
            let digits = text.get(2..length).unwrap_or_default().trim_matches(['{', '}']);
            let meaning = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            (meaning, length)
        }
        '\n' | '\r' => {
            let continued = text[1..].trim_start_matches([' ', '\t', '\n', '\r']);
            (None, text.len() - continued.len())
        }
        other => (Some(other), 1 + other.len_utf8()),
    }
}

/// `\x41`, or up to four in a row that make one character of UTF-8.
fn bytes_escape(text: &str) -> (Option<char>, usize) {
    let mut bytes = Vec::new();
    let mut at = 0;
    while bytes.len() < 4 && text[at..].starts_with("\\x") {
        let digits = text.get(at + 2..at + 4).unwrap_or_default();
        let Ok(byte) = u8::from_str_radix(digits, 16) else { break };
        bytes.push(byte);
        at += 4;
        if let Some(character) =
            std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next())
        {
            return (Some(character), at);
        }
    }
    (None, at.max(2))
}
