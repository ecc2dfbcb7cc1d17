//! Locations of the values in a RON text: the RON reader reports none, so this scanner finds them afterwards.
//!
//! It expects valid RON. On any other text it returns `None` or an arbitrary tree, and never panics; it does not
//! validate.

use std::ops::Range;

use super::literal::Literal;

/// Deeper than the reader accepts.
const MAX_DEPTH: usize = 200;

/// A value with its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The bytes of the value, including the name of a variant.
    pub span: Range<usize>,
    content: Content,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Plain,
    List(Vec<Located>),
    Fields(Vec<(String, Located)>),
    Entries(Vec<(Located, String, Located)>),
}

impl Located {
    /// A value without parts.
    pub(crate) fn plain(span: Range<usize>) -> Self {
        Self { span, content: Content::Plain }
    }

    /// The field of a struct or struct variant; the value itself if the field is missing.
    pub fn field(&self, name: &str) -> &Self {
        match &self.content {
            Content::Fields(fields) => {
                fields.iter().find(|(field, _)| field == name).map_or(self, |(_, value)| value)
            }
            Content::Plain | Content::List(_) | Content::Entries(_) => self,
        }
    }

    /// Whether the field is written.
    pub fn has_field(&self, name: &str) -> bool {
        matches!(&self.content, Content::Fields(fields) if fields.iter().any(|(field, _)| field == name))
    }

    /// The first value inside this one that is written as the given text or number.
    pub(crate) fn find_text(&self, text: &str, wanted: &str) -> Option<&Self> {
        match &self.content {
            Content::Plain => {
                let written = text.get(self.span.clone()).unwrap_or_default();
                let same = Literal::read(written)
                    .map_or(written == wanted, |literal| literal.decoded() == wanted);
                same.then_some(self)
            }
            Content::List(items) => items.iter().find_map(|item| item.find_text(text, wanted)),
            Content::Fields(fields) => {
                fields.iter().find_map(|(_, value)| value.find_text(text, wanted))
            }
            Content::Entries(entries) => {
                entries.iter().find_map(|(_, _, value)| value.find_text(text, wanted))
            }
        }
    }

    /// The element of a list, or of the payload of a variant.
    pub fn item(&self, index: usize) -> &Self {
        match &self.content {
            Content::List(items) => items.get(index).unwrap_or(self),
            Content::Plain | Content::Fields(_) | Content::Entries(_) => self,
        }
    }

    /// The key of the n-th entry of a map.
    pub fn key(&self, index: usize) -> &Self {
        self.entries().get(index).map_or(self, |(key, _, _)| key)
    }

    /// The value of the n-th entry of a map.
    pub fn value(&self, index: usize) -> &Self {
        self.entries().get(index).map_or(self, |(_, _, value)| value)
    }

    fn entries(&self) -> &[(Self, String, Self)] {
        match &self.content {
            Content::Entries(entries) => entries,
            Content::Plain | Content::List(_) | Content::Fields(_) => &[],
        }
    }

    /// The bytes of a part of a string value, given as bytes of its decoded text.
    pub(crate) fn text_span(&self, text: &str, inner: Range<usize>) -> Range<usize> {
        let literal = text.get(self.span.clone()).and_then(Literal::read);
        match literal {
            None if inner.end <= self.span.len() => {
                self.span.start + inner.start..self.span.start + inner.end
            }
            None => self.span.clone(),
            Some(literal) => {
                let start = self.span.start + literal.offset_of(inner.start);
                let end = self.span.start + literal.offset_of(inner.end);
                start..end.max(start)
            }
        }
    }

    /// The path of the innermost value that contains the span, such as `tensors[2].shape[1]`.
    pub(crate) fn path_of(&self, span: &Range<usize>) -> String {
        let mut path = String::new();
        let mut here = self;
        loop {
            let holds = |value: &Self| value.span.start <= span.start && span.end <= value.span.end;
            let step = match &here.content {
                Content::Plain => None,
                Content::List(items) => {
                    let found = items.iter().enumerate().find(|(_, item)| holds(item));
                    found.map(|(index, item)| (format!("[{index}]"), item))
                }
                Content::Fields(fields) => {
                    let found = fields.iter().find(|(_, value)| holds(value));
                    let dot = if path.is_empty() { "" } else { "." };
                    found.map(|(name, value)| (format!("{dot}{name}"), value))
                }
                Content::Entries(entries) => {
                    let found = entries.iter().find(|(key, _, value)| holds(key) || holds(value));
                    found.map(|(_, name, value)| (format!("[{name:?}]"), value))
                }
            };
            let Some((segment, inner)) = step else { return path };
            path.push_str(&segment);
            here = inner;
        }
    }
}

/// The locations in the value at the bytes `range` of the text; `None` if they are not valid RON.
pub(crate) fn locate(text: &str, range: Range<usize>) -> Option<Located> {
    let mut scanner = Scanner { text: text.get(..range.end)?, at: range.start };
    text.get(range)?;
    scanner.skip();
    while scanner.rest().starts_with("#!") {
        let close = scanner.rest().find(']')?;
        scanner.at += close + 1;
        scanner.skip();
    }
    let value = scanner.value(0)?;
    scanner.skip();
    scanner.rest().is_empty().then_some(value)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, character: char) -> bool {
        let there = self.rest().starts_with(character);
        if there {
            self.at += character.len_utf8();
        }
        there
    }

    /// White space and comments; block comments nest.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(is_space);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.at += block_comment(trimmed);
            } else {
                return;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Located> {
        if depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        if let Some(literal) = Literal::read(self.rest()) {
            self.at += literal.length();
            return Some(Located::plain(start..self.at));
        }
        let content = match self.rest().chars().next()? {
            '[' => self.list('[', ']', depth)?,
            '{' => self.map(depth)?,
            '(' => self.parenthesised(depth)?,
            _ => return self.word(depth),
        };
        Some(Located { span: start..self.at, content })
    }

    /// A number, a character, or a name with or without a payload.
    fn word(&mut self, depth: usize) -> Option<Located> {
        let start = self.at;
        let word = self.name_or_number()?;
        let end = self.at;
        self.skip();
        let numeric = word
            .starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'));
        if numeric || !self.rest().starts_with('(') {
            self.at = end;
            return Some(Located::plain(start..end));
        }
        let content = self.parenthesised(depth)?;
        // `Some(value)` and `value` mean the same, so they have the same places.
        if word == "Some"
            && let Content::List(mut items) = content
        {
            return items.pop();
        }
        Some(Located { span: start..self.at, content })
    }

    fn name_or_number(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let character_literal = rest.strip_prefix("b'").or_else(|| rest.strip_prefix('\''));
        let length = match character_literal {
            Some(inner) => {
                let skipped = if inner.starts_with('\\') { 2 } else { 1 };
                let before: usize = inner.chars().take(skipped).map(char::len_utf8).sum();
                rest.len() - inner.len() + before + inner.get(before..)?.find('\'')? + 1
            }
            None => {
                let prefix = if rest.starts_with("r#") { 2 } else { 0 };
                prefix + rest[prefix..].find(|c| !is_word(c)).unwrap_or(rest.len() - prefix)
            }
        };
        let word = rest.get(..length).filter(|word| !word.is_empty())?;
        self.at += length;
        Some(word)
    }

    /// A tuple, a struct, or a unit.
    fn parenthesised(&mut self, depth: usize) -> Option<Content> {
        let start = self.at;
        self.eat('(');
        self.skip();
        let is_struct = self.name_or_number().is_some() && {
            self.skip();
            self.rest().starts_with(':')
        };
        self.at = start;
        if is_struct { self.fields(depth) } else { self.list('(', ')', depth) }
    }

    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Content> {
        let mut items = Vec::new();
        self.eat(open);
        self.skip();
        while !self.eat(close) {
            items.push(self.value(depth + 1)?);
            self.separator(close)?;
        }
        Some(Content::List(items))
    }

    fn fields(&mut self, depth: usize) -> Option<Content> {
        let mut fields = Vec::new();
        self.eat('(');
        self.skip();
        while !self.eat(')') {
            let name = self.name_or_number()?;
            let name = name.strip_prefix("r#").unwrap_or(name).to_owned();
            self.colon()?;
            fields.push((name, self.value(depth + 1)?));
            self.separator(')')?;
        }
        Some(Content::Fields(fields))
    }

    fn map(&mut self, depth: usize) -> Option<Content> {
        let mut entries = Vec::new();
        self.eat('{');
        self.skip();
        while !self.eat('}') {
            let key = self.value(depth + 1)?;
            let written = self.text.get(key.span.clone())?;
            let name = Literal::read(written)
                .map_or_else(|| written.to_owned(), |literal| literal.decoded());
            self.colon()?;
            entries.push((key, name, self.value(depth + 1)?));
            self.separator('}')?;
        }
        Some(Content::Entries(entries))
    }

    fn colon(&mut self) -> Option<()> {
        self.skip();
        self.eat(':').then_some(())?;
        self.skip();
        Some(())
    }

    /// Expects a comma or the closing bracket.
    fn separator(&mut self, close: char) -> Option<()> {
        self.skip();
        let comma = self.eat(',');
        self.skip();
        (comma || self.rest().starts_with(close)).then_some(())
    }
}

fn block_comment(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut level) = (0, 0_usize);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (level, at) = (level + 1, at + 2),
            Some(b"*/") => (level, at) = (level.saturating_sub(1), at + 2),
            Some(_) | None => at += 1,
        }
        if level == 0 {
            return at;
        }
    }
    bytes.len()
}

/// RON's white space: Unicode's `Pattern_White_Space`.
fn is_space(character: char) -> bool {
    matches!(
        character,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    )
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, '_' | '.' | '+' | '-')
        || (character as u32 > 0x7f && !is_space(character))
}

#[cfg(test)]
mod tests;
