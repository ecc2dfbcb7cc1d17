//! Word boundaries.

use std::ops::Range;

/// Whether a character belongs to a name.
#[must_use]
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The name at or before an offset; empty where the text has no name.
#[must_use]
pub fn word_at(text: &str, offset: usize) -> Range<usize> {
    let after = &text[offset..];
    let end = offset + after.find(|each| !is_word(each)).unwrap_or(after.len());
    start_of_word(text, offset)..end
}

/// The start of the name that ends at an offset.
#[must_use]
pub fn start_of_word(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let last = before.char_indices().rev().find(|(_, each)| !is_word(*each));
    last.map_or(0, |(at, each)| at + each.len_utf8())
}

/// The name being typed before the cursor, unless it starts with a digit.
#[must_use]
pub fn typed_word(text: &str, offset: usize) -> Option<Range<usize>> {
    let start = start_of_word(text, offset);
    // A directive includes its `#`.
    let start = if text[..start].ends_with('#') { start - 1 } else { start };
    let first = text[start..offset].chars().next()?;
    (!first.is_numeric()).then_some(start..offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names() {
        let check = |text: &str, offset: usize, expected: &str| {
            assert_eq!(&text[word_at(text, offset)], expected, "{text} at {offset}");
        };
        check("a thread_idx.x", 4, "thread_idx");
        check("a thread_idx.x", 12, "thread_idx");
        check("a thread_idx.x", 13, "x");
        check("( )", 2, "");
        check("größe", 2, "größe");
        check("", 0, "");
    }

    #[test]
    fn what_is_typed_is_a_name_or_a_directive() {
        let check = |text: &str, expected: Option<&str>| {
            let found = typed_word(text, text.len()).map(|range| &text[range]);
            assert_eq!(found, expected, "{text}");
        };
        check("x = __sh", Some("__sh"));
        check("  #pra", Some("#pra"));
        check("x = 12", None);
        check("x + ", None);
        check("0x1f", None);
    }
}
