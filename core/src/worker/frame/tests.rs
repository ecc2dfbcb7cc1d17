//! Frames survive the round trip, and nothing that is not a frame gets past the reader.

use proptest::prelude::*;

use super::*;

fn opening(head: u32, count: u32, lengths: &[u64]) -> Vec<u8> {
    let mut bytes = b"LBF\x01".to_vec();
    bytes.extend_from_slice(&head.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    for length in lengths {
        bytes.extend_from_slice(&length.to_le_bytes());
    }
    bytes
}

/// Reads `bytes` and checks that the error is the one whose message contains `expected`.
fn check(bytes: &[u8], expected: &str) {
    let message = Frame::read_from(&mut &*bytes).unwrap_err().to_string();
    assert!(message.contains(expected), "expected `{expected}` in `{message}`");
}

#[test]
fn an_empty_stream_is_closed() {
    check(b"", "the stream is closed");
}

#[test]
fn something_else_is_not_a_frame() {
    check(b"Segmentation fault", "expected a frame, found");
}

#[test]
fn another_version_is_refused() {
    check(b"LBF\x02\0\0\0\0\0\0\0\0", "found 2");
}

#[test]
fn a_short_opening_is_truncated() {
    check(b"LBF\x01\0", "after 5 of 12 bytes of its table of lengths");
}

#[test]
fn a_short_head_is_truncated() {
    check(&opening(10, 0, &[]), "after 0 of 10 bytes of its head");
}

#[test]
fn a_large_head_is_refused_before_it_is_read() {
    check(&opening(u32::MAX, 0, &[]), "head is 4294967295, more than the 16777216 allowed");
}

#[test]
fn large_bulk_is_refused_before_it_is_read() {
    check(&opening(0, 1, &[BULK_LIMIT + 1]), "bulk is 268435457, more than");
}

#[test]
fn lengths_that_overflow_are_refused() {
    check(&opening(0, 2, &[u64::MAX, u64::MAX]), "bulk is 18446744073709551615, more than");
}

#[test]
fn too_many_blobs_are_refused() {
    check(&opening(0, u32::MAX, &[]), "table of lengths is 4294967295, more than the 4096 allowed");
}

#[test]
fn large_claims_allocate_nothing() {
    // Just within the bound, and nothing behind it: the reader must not believe the claim.
    check(&opening(2, 1, &[BULK_LIMIT]), "after 0 of 2 bytes of its head");
}

#[test]
fn a_large_frame_is_not_written() {
    let frame = Frame { head: vec![b' '; HEAD_LIMIT + 1], blobs: Vec::new() };
    let mut written = Vec::new();
    assert!(matches!(frame.write_to(&mut written), Err(FrameError::TooLarge { .. })));
    assert!(written.is_empty());
}

#[test]
fn a_wrong_number_of_blobs_is_an_error() {
    let frame = Frame { head: Vec::new(), blobs: vec![Vec::new()] };
    assert!(matches!(frame.into_blobs::<2>(), Err(FrameError::Blobs { expected: 2, found: 1 })));
}

proptest! {
    #[test]
    fn frames_survive_the_round_trip(
        head in proptest::collection::vec(any::<u8>(), 0..300),
        blobs in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..9),
        tail in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let frame = Frame { head, blobs };
        let mut bytes = Vec::new();
        frame.write_to(&mut bytes).unwrap();
        bytes.extend_from_slice(&tail);
        let mut stream = bytes.as_slice();
        prop_assert_eq!(Frame::read_from(&mut stream).unwrap(), frame);
        prop_assert_eq!(stream, tail);
    }

    #[test]
    fn every_proper_prefix_is_an_error(
        head in proptest::collection::vec(any::<u8>(), 0..30),
        blobs in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        Frame { head, blobs }.write_to(&mut bytes).unwrap();
        let prefix = &bytes[..cut.index(bytes.len())];
        prop_assert!(Frame::read_from(&mut &*prefix).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ignored = Frame::read_from(&mut bytes.as_slice());
        let mut framed = b"LBF\x01".to_vec();
        framed.extend_from_slice(&bytes);
        let _ignored = Frame::read_from(&mut framed.as_slice());
    }
}
