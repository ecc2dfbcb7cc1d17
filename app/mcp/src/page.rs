//! Divides documents into pages, so that a result has at most 32 KiB.

use serde_json::Value;

/// Maximum bytes of a result.
pub const MAX_RESULT_BYTES: usize = 32 << 10;

/// Room for the envelope of a result and the framing of its message.
const ENVELOPE_BYTES: usize = 2 << 10;

/// Bytes of a result for a document or a part of one.
const DOCUMENT_BYTES: usize = MAX_RESULT_BYTES - ENVELOPE_BYTES;

/// A document, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Paged {
    /// The document.
    Whole(Value),
    /// A part of its text.
    Part {
        /// The text.
        part: String,
        /// The number of the part, from 1.
        page: usize,
        /// The number of parts.
        pages: usize,
    },
}

/// The document if it fits, else the requested part of its text; the last one if there is no such part.
#[must_use]
pub fn paged(document: Value, page: usize) -> Paged {
    let text = document.to_string();
    // The text form of a result is a JSON string.
    let quoted = Value::from(text.as_str()).to_string();
    if text.len() + quoted.len() <= DOCUMENT_BYTES {
        return Paged::Whole(document);
    }
    let parts = parts(&text);
    let page = page.clamp(1, parts.len());
    let part = parts.get(page - 1).copied().unwrap_or_default().to_owned();
    Paged::Part { part, page, pages: parts.len() }
}

/// A text of JSON in parts that end between characters.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, character) in text.char_indices() {
        let added = bytes_in_result(character);
        if bytes + added > DOCUMENT_BYTES {
            parts.push(&text[start..index]);
            (start, bytes) = (index, 0);
        }
        bytes += added;
    }
    parts.push(&text[start..]);
    parts
}

/// Bytes of a character of a part in a result. The result contains the part as a string of a structured value, and this
/// value once more as text, where what is escaped in the first form is escaped again.
const fn bytes_in_result(character: char) -> usize {
    match character {
        '"' | '\\' => 2 + 4,
        other => 2 * other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::answer::Answer;

    fn all_parts(document: &Value) -> String {
        let mut text = String::new();
        for number in 1.. {
            match paged(document.clone(), number) {
                Paged::Whole(document) => return document.to_string(),
                Paged::Part { part, page, pages } => {
                    assert_eq!(page, number);
                    text.push_str(&part);
                    if page == pages {
                        return text;
                    }
                }
            }
        }
        text
    }

    #[test]
    fn small_documents_are_whole() {
        let document = json!({ "schema": "lightbench.run/1", "seed": 7 });
        assert_eq!(paged(document.clone(), 1), Paged::Whole(document.clone()));
        assert_eq!(paged(document.clone(), 99), Paged::Whole(document));
    }

    #[test]
    fn a_page_after_the_last_is_the_last() {
        let document = json!({ "text": "x".repeat(100_000) });
        let Paged::Part { page, pages, .. } = paged(document, 1000) else { panic!("one part") };
        assert_eq!(page, pages);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn parts_form_the_document_and_no_result_is_too_large(
            text in proptest::collection::vec(any::<char>(), 0..20_000),
            hostile in 0_usize..40_000,
            page in 0_usize..40,
        ) {
            let text: String = text.into_iter().chain("\"\\".chars().cycle().take(hostile)).collect();
            let document = json!({ "untrusted_text": text });
            prop_assert_eq!(all_parts(&document), document.to_string());
            let result = Answer { page, ..Answer::finished(document) }.render();
            let bytes = serde_json::to_string(&result).unwrap().len();
            prop_assert!(bytes <= MAX_RESULT_BYTES, "{}", bytes);
        }
    }
}
