//! Keys, and their removal from all output.

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

/// A key: its debug output is empty, it is never serialised, and its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

/// Shorter texts are not redacted, because they would match everywhere. Placeholder keys ("none", "x") of servers
/// without keys are that short.
const SHORTEST: usize = 8;

/// Replacement of a secret.
const MASK: &str = "[redacted]";

impl Secret {
    /// Takes ownership of a text; surrounding white space is removed.
    #[must_use]
    pub fn new(text: String) -> Self {
        let secret = SecretString::from(text);
        let trimmed = secret.expose_secret().trim();
        if trimmed.len() == secret.expose_secret().len() {
            return Self(secret);
        }
        Self(SecretString::from(trimmed))
    }

    /// The text itself: for the one header that needs it.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }

    /// Whether it is long enough to be distinguished from ordinary text, and is therefore redacted.
    #[must_use]
    pub fn is_redactable(&self) -> bool {
        self.expose().len() >= SHORTEST
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// All known secrets, to be removed from texts. Clones share them.
#[derive(Clone, Default)]
pub struct Redactor(Arc<[Secret]>);

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Redactor of {}", self.0.len())
    }
}

/// The match at the beginning of a text.
enum Found {
    /// A secret of this many bytes.
    Whole(usize),
    /// All of the text, and it may become a secret if more follows.
    Beginning,
    Nothing,
}

impl Redactor {
    /// A redactor of these secrets; secrets too short to be distinguished from text are ignored.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self(secrets.into_iter().filter(Secret::is_redactable).collect())
    }

    /// The text without any secret.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut stream = self.stream();
        let mut redacted = stream.push(text);
        redacted.push_str(&stream.finish());
        redacted
    }

    /// A redactor for a text that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> RedactedStream {
        RedactedStream { redactor: self.clone(), held: String::new() }
    }

    fn find(&self, text: &str) -> Found {
        let mut longest = 0;
        for secret in self.0.iter() {
            let secret = secret.expose();
            if text.starts_with(secret) {
                longest = longest.max(secret.len());
            } else if secret.starts_with(text) {
                return Found::Beginning;
            }
        }
        if longest == 0 { Found::Nothing } else { Found::Whole(longest) }
    }

    /// Number of bytes at the start of the text that are a secret, or a long beginning of one.
    fn known_length(&self, text: &str) -> Option<usize> {
        let matching = |secret: &Secret| match secret.expose() {
            whole if text.starts_with(whole) => whole.len(),
            longer if longer.starts_with(text) => text.len(),
            _ => 0,
        };
        self.0.iter().map(matching).max().filter(|length| *length >= SHORTEST)
    }
}

/// Redacts a text that arrives in pieces, including secrets that are split between pieces.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    /// Text that may be the beginning of a secret.
    held: String,
}

impl RedactedStream {
    /// Takes a piece; returns the text that cannot be part of a secret.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut clean = String::with_capacity(self.held.len());
        let mut rest = self.held.as_str();
        while let Some(character) = rest.chars().next() {
            match self.redactor.find(rest) {
                Found::Whole(length) => {
                    clean.push_str(MASK);
                    rest = rest.get(length..).unwrap_or_default();
                }
                Found::Beginning => break,
                Found::Nothing => {
                    clean.push(character);
                    rest = rest.get(character.len_utf8()..).unwrap_or_default();
                }
            }
        }
        self.held = rest.to_owned();
        clean
    }

    /// The end of the text. A remainder that is a long beginning of a secret is redacted too.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let mut clean = String::new();
        let mut rest = held.as_str();
        while let Some(character) = rest.chars().next() {
            let length = match self.redactor.known_length(rest) {
                Some(length) => {
                    clean.push_str(MASK);
                    length
                }
                None => {
                    clean.push(character);
                    character.len_utf8()
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        clean
    }
}
