//! Decoding of text that arrives in pieces, and excerpts for messages.

/// Decodes UTF-8 whose characters may be split between pieces; invalid bytes become `U+FFFD`.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The first bytes of an incomplete character.
    held: Vec<u8>,
}

impl Decoder {
    /// The text of all bytes so far that were not yet given as text.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        let mut used = 0;
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            used += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = used + invalid.len() == self.held.len();
            if is_last && may_continue(invalid) {
                break;
            }
            if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
                used += invalid.len();
            }
        }
        self.held.drain(..used);
        text
    }

    /// The remainder at the end of the text.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

/// Whether these bytes are the beginning of a character.
fn may_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Characters of an external text in a message.
const EXCERPT_CHARACTERS: usize = 300;

/// The beginning of a text in one line, without control characters.
pub(crate) fn excerpt(text: &str) -> String {
    let mut short = String::new();
    let mut characters = text.trim().chars();
    for character in characters.by_ref().take(EXCERPT_CHARACTERS) {
        short.push(if character.is_control() { ' ' } else { character });
    }
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
