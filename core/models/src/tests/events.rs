//! Server-sent events and UTF-8, cut anywhere.

use proptest::prelude::*;

use crate::events::{Event, EventReader};
use crate::text::Decoder;

fn read(pieces: &[&[u8]]) -> Vec<Event> {
    let mut reader = EventReader::default();
    pieces.iter().flat_map(|piece| reader.push(piece).unwrap()).collect()
}

fn event(kind: &str, data: &str) -> Event {
    Event { kind: kind.to_owned(), data: data.to_owned() }
}

#[test]
fn events_as_the_standard_has_them() {
    let check = |text: &str, expected: &[Event]| {
        assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expected, "{text:?} byte by byte");
    };
    check("data: a\n\n", &[event("", "a")]);
    check("data:a\r\n\r\n", &[event("", "a")]);
    check("data: a\r\rdata: b\r\r", &[event("", "a"), event("", "b")]);
    check("event: e\ndata: a\ndata: b\n\n", &[event("e", "a\nb")]);
    check("\u{feff}data: a\n\n", &[event("", "a")]);
    check(": ping\n\ndata: a\n\n", &[event("", "a")]);
    check("id: 1\nretry: 10\ndata\n\n", &[event("", "")]);
    check("data: never ends", &[]);
    check("data:  two spaces\n\n", &[event("", " two spaces")]);
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_does_not_matter(texts in prop::collection::vec("[^\r\n]{0,20}", 1..5), size in 1_usize..9) {
        let stream: String = texts.iter().map(|text| format!("data: {text}\n\n")).collect();
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
        let expected: Vec<Event> = texts.iter().map(|text| event("", text)).collect();
        prop_assert_eq!(read(&pieces), expected);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
        let mut reader = EventReader::default();
        for piece in bytes.chunks(size) {
            drop(reader.push(piece));
        }
    }

    #[test]
    fn characters_may_be_cut(text in ".{0,40}", size in 1_usize..5) {
        let mut decoder = Decoder::default();
        let mut decoded: String = text.as_bytes().chunks(size).map(|piece| decoder.push(piece)).collect();
        decoded += &decoder.finish();
        prop_assert_eq!(decoded, text);
    }

    #[test]
    fn what_is_no_text_is_decoded_as_the_standard_library_does(bytes in prop::collection::vec(any::<u8>(), 0..60), size in 1_usize..5) {
        let mut decoder = Decoder::default();
        let mut decoded: String = bytes.chunks(size).map(|piece| decoder.push(piece)).collect();
        decoded += &decoder.finish();
        prop_assert_eq!(decoded, String::from_utf8_lossy(&bytes).into_owned());
    }
}
