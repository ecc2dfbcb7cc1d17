//! Messages survive the round trip, and the reader rejects everything that is not a frame.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Message {
    Text(String),
    Values { floats: Vec<f64>, bytes: Option<Vec<u8>> },
}

fn header(length: u64) -> Vec<u8> {
    let mut bytes = b"LBF\x02".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes
}

fn written(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::new(message).unwrap().write_to(&mut bytes).unwrap();
    bytes
}

/// Reads `bytes` and checks that the message of the error contains `expected`.
fn check(bytes: &[u8], expected: &str) {
    let read = Frame::read_from(&mut &*bytes).and_then(|frame| frame.parse::<Message>());
    let message = read.unwrap_err().to_string();
    assert!(message.contains(expected), "expected `{expected}` in `{message}`");
}

#[test]
fn streams_without_a_frame_are_rejected() {
    check(b"", "the stream is closed");
    check(b"Segmentation fault", "expected a frame, found");
    check(b"LBF\x01\0\0\0\0\0\0\0\0", "expected version 2 of the frame encoding, found 1");
    check(b"LBF\x02\0", "after 5 of 12 bytes of its header");
    check(&header(10), "after 0 of 10 bytes of its value");
}

#[test]
fn large_claims_are_rejected_before_they_are_read() {
    check(&header(VALUE_LIMIT + 1), "holds 268435457 bytes, more than the 268435456 allowed");
    check(&header(u64::MAX), "holds 18446744073709551615 bytes");
    // Within the bound, and nothing behind it: the reader allocates only what arrives.
    check(&header(VALUE_LIMIT), "after 0 of 268435456 bytes of its value");
}

#[test]
fn claims_inside_a_value_allocate_nothing() {
    let mut bytes = header(6);
    // A text of 4 GiB that is not there.
    bytes.extend_from_slice(&[0xdb, 0xff, 0xff, 0xff, 0xff, b'x']);
    check(&bytes, "unexpected message");
}

#[test]
fn other_messages_are_rejected() {
    let mut bytes = Vec::new();
    Frame::new("Everything is fine").unwrap().write_to(&mut bytes).unwrap();
    check(&bytes, "unexpected message");
}

#[test]
fn bytes_after_the_message_are_rejected() {
    let message = Message::Text("all".to_owned());
    let mut frame = Frame::new(&message).unwrap();
    frame.value.push(0xc0);
    assert!(matches!(frame.parse::<Message>(), Err(FrameError::Trailing(1))));
}

#[test]
fn a_large_message_is_not_encoded() {
    let text = "x".repeat(VALUE_LIMIT as usize);
    assert!(matches!(Frame::new(&text), Err(FrameError::TooLarge { .. })));
}

#[test]
fn floats_that_are_not_finite_survive() {
    let floats =
        vec![f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::from_bits(0x7ff8_0000_0000_0123)];
    let frame = Frame::new(&floats).unwrap();
    let again: Vec<f64> = frame.parse().unwrap();
    let bits = |floats: &[f64]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(&floats));
}

fn messages() -> impl Strategy<Value = Message> {
    let floats = proptest::collection::vec(any::<f64>(), 0..9);
    let bytes = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300));
    prop_oneof![
        any::<String>().prop_map(Message::Text),
        (floats, bytes).prop_map(|(floats, bytes)| Message::Values { floats, bytes }),
    ]
}

proptest! {
    #[test]
    fn messages_survive_the_round_trip(
        message in messages(),
        tail in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut bytes = written(&message);
        bytes.extend_from_slice(&tail);
        let mut stream = bytes.as_slice();
        let frame = Frame::read_from(&mut stream).unwrap();
        prop_assert_eq!(frame.parse::<Message>().unwrap(), message);
        prop_assert_eq!(stream, tail);
    }

    #[test]
    fn every_proper_prefix_is_an_error(message in messages(), cut in any::<prop::sample::Index>()) {
        let bytes = written(&message);
        let prefix = &bytes[..cut.index(bytes.len())];
        prop_assert!(Frame::read_from(&mut &*prefix).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ignored = Frame::read_from(&mut bytes.as_slice());
        let mut framed = header(bytes.len() as u64);
        framed.extend_from_slice(&bytes);
        let _ignored = Frame::read_from(&mut framed.as_slice()).unwrap().parse::<Message>();
    }
}
