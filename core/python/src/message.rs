//! Messages between the parent and the Python code of a worker: a JSON header and blobs of bytes.
//!
//! The layout is described in `assets/python/worker.py`. Python's standard library reads JSON and not MessagePack, and
//! blobs keep tensors out of the JSON. The sender is not trusted: every length is checked before memory is reserved, and
//! memory grows only as bytes arrive.

use std::io::{ErrorKind, Read, Write};

use lightbench_worker::frame::FrameError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exception::Exception;

/// The largest header, in bytes.
pub const HEADER_LIMIT: u64 = 64 << 20;
/// The most blobs of a message.
pub const BLOB_COUNT_LIMIT: usize = 4096;

const MAGIC: [u8; 4] = *b"LBP1";
/// Most bytes reserved before the first byte has arrived.
const FIRST_RESERVE: u64 = 256 << 10;

/// A reply that does not follow the protocol.
#[derive(Debug, thiserror::Error)]
pub enum MalformedReply {
    /// The stream does not hold a reply.
    #[error("expected a reply of the worker, found the bytes {found:02x?}")]
    NotAReply {
        /// The first bytes.
        found: [u8; 4],
    },
    /// The header is larger than [`HEADER_LIMIT`].
    #[error("the header of the reply has {size} bytes, more than the {HEADER_LIMIT} allowed")]
    HeaderTooLarge {
        /// Its size in bytes.
        size: u64,
    },
    /// The header is not the expected JSON.
    #[error("the header of the reply cannot be read: {0}")]
    Header(#[source] serde_json::Error),
    /// The reply belongs to another request.
    #[error("the reply belongs to request {found}, expected {expected}")]
    OtherRequest {
        /// The request's number.
        expected: u64,
        /// The number in the reply.
        found: u64,
    },
    /// The blobs are too many or too large.
    #[error(
        "the reply has {count} blobs of {bytes} bytes in all; allowed: {BLOB_COUNT_LIMIT} blobs of {limit} bytes in all"
    )]
    BlobsTooLarge {
        /// The number of the blobs.
        count: usize,
        /// Their total size in bytes; at most the largest number if it exceeds that.
        bytes: u64,
        /// The largest total size in bytes.
        limit: u64,
    },
}

#[derive(Serialize)]
struct RequestHeader<'request> {
    id: u64,
    service: &'request str,
    request: &'request Value,
    blobs: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyHeader {
    id: u64,
    outcome: Outcome,
    blobs: Vec<u64>,
}

/// What a call ended with.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Value(Value),
    Exception(Box<Exception>),
}

/// A reply: its outcome and its blobs.
pub(crate) type Received = (Outcome, Vec<Vec<u8>>);

/// An encoded request, without its blobs.
pub(crate) struct Request<'request> {
    id: u64,
    header: Vec<u8>,
    blobs: &'request [&'request [u8]],
}

impl<'request> Request<'request> {
    /// Encodes a request; an error is a sentence.
    pub(crate) fn new(
        id: u64,
        service: &'request str,
        request: &'request Value,
        blobs: &'request [&'request [u8]],
    ) -> Result<Self, String> {
        let lengths = blobs.iter().map(|blob| blob.len() as u64).collect();
        let header = RequestHeader { id, service, request, blobs: lengths };
        let header = serde_json::to_vec(&header).map_err(|error| error.to_string())?;
        if header.len() as u64 > HEADER_LIMIT {
            let found = header.len();
            return Err(format!(
                "its header has {found} bytes, more than the {HEADER_LIMIT} allowed"
            ));
        }
        if blobs.len() > BLOB_COUNT_LIMIT {
            let found = blobs.len();
            return Err(format!("it has {found} blobs, more than the {BLOB_COUNT_LIMIT} allowed"));
        }
        Ok(Self { id, header, blobs })
    }

    pub(crate) fn write_to(&self, stream: &mut dyn Write) -> Result<(), FrameError> {
        let write = |stream: &mut dyn Write| {
            stream.write_all(&MAGIC)?;
            // The header is at most `HEADER_LIMIT` long.
            stream.write_all(&(self.header.len() as u32).to_le_bytes())?;
            stream.write_all(&self.header)?;
            self.blobs.iter().try_for_each(|blob| stream.write_all(blob))?;
            stream.flush()
        };
        write(stream).map_err(FrameError::Io)
    }

    /// Reads the reply to this request, with blobs of at most `blob_bytes_limit` bytes in all.
    pub(crate) fn read_reply(
        &self,
        stream: &mut dyn Read,
        blob_bytes_limit: u64,
    ) -> Result<Result<Received, MalformedReply>, FrameError> {
        let [m0, m1, m2, m3, length @ ..] = read_prefix(stream)?;
        let found = [m0, m1, m2, m3];
        if found != MAGIC {
            return Ok(Err(MalformedReply::NotAReply { found }));
        }
        let size = u64::from(u32::from_le_bytes(length));
        if size > HEADER_LIMIT {
            return Ok(Err(MalformedReply::HeaderTooLarge { size }));
        }
        let text = read_bytes(stream, size, "header")?;
        let header = match self.check(&text, blob_bytes_limit) {
            Ok(header) => header,
            Err(malformed) => return Ok(Err(malformed)),
        };
        let lengths = header.blobs.into_iter();
        let blobs = lengths.map(|length| read_bytes(stream, length, "blob"));
        Ok(Ok((header.outcome, blobs.collect::<Result<_, _>>()?)))
    }

    fn check(&self, text: &[u8], blob_bytes_limit: u64) -> Result<ReplyHeader, MalformedReply> {
        let header: ReplyHeader = serde_json::from_slice(text).map_err(MalformedReply::Header)?;
        if header.id != self.id {
            return Err(MalformedReply::OtherRequest { expected: self.id, found: header.id });
        }
        let count = header.blobs.len();
        let bytes = header.blobs.iter().fold(0_u64, |sum, length| sum.saturating_add(*length));
        if count > BLOB_COUNT_LIMIT || bytes > blob_bytes_limit {
            return Err(MalformedReply::BlobsTooLarge { count, bytes, limit: blob_bytes_limit });
        }
        Ok(header)
    }
}

/// The first 8 bytes. A stream that ends before the first byte is [`FrameError::Closed`], not truncated.
fn read_prefix(stream: &mut dyn Read) -> Result<[u8; 8], FrameError> {
    let mut first = [0_u8; 1];
    match stream.read_exact(&mut first) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(FrameError::Closed),
        Err(error) => return Err(FrameError::Io(error)),
    }
    let rest = read_bytes(stream, 7, "prefix")?;
    let mut prefix = [0_u8; 8];
    for (to, from) in prefix.iter_mut().zip(first.into_iter().chain(rest)) {
        *to = from;
    }
    Ok(prefix)
}

/// Exactly `expected` bytes, which must be within a limit.
fn read_bytes(
    stream: &mut dyn Read,
    expected: u64,
    part: &'static str,
) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(expected.min(FIRST_RESERVE) as usize);
    let got = stream.take(expected).read_to_end(&mut bytes).map_err(FrameError::Io)? as u64;
    if got == expected { Ok(bytes) } else { Err(FrameError::Truncated { part, expected, got }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 100;

    fn message(header: &str, blobs: &[u8]) -> Vec<u8> {
        let length = (header.len() as u32).to_le_bytes();
        [&MAGIC[..], &length, header.as_bytes(), blobs].concat()
    }

    fn read(bytes: &[u8]) -> Result<Result<Received, MalformedReply>, FrameError> {
        let request = Request::new(3, "run", &Value::Null, &[]).unwrap();
        request.read_reply(&mut &*bytes, LIMIT)
    }

    #[test]
    fn a_reply_is_a_value_and_its_blobs() {
        let bytes = message(r#"{"id": 3, "outcome": {"value": [1]}, "blobs": [2, 0, 1]}"#, b"abc");
        let (outcome, blobs) = read(&bytes).unwrap().unwrap();
        assert!(matches!(outcome, Outcome::Value(value) if value == serde_json::json!([1])));
        assert_eq!(blobs, [b"ab".to_vec(), Vec::new(), b"c".to_vec()]);
    }

    #[test]
    fn everything_else_is_refused() {
        let check = |bytes: &[u8], part: &str| {
            let found = match read(bytes) {
                Ok(Ok(reply)) => panic!("accepted {reply:?}"),
                Ok(Err(malformed)) => malformed.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(found.contains(part), "{found}");
        };
        let reply = |id: u64, blobs: &str| {
            message(
                &format!(r#"{{"id": {id}, "outcome": {{"value": 0}}, "blobs": {blobs}}}"#),
                b"x",
            )
        };
        check(b"", "closed");
        check(b"LB", "prefix");
        check(b"print out", "expected a reply");
        check(b"LBP1\xff\xff\xff\xff", "4294967295 bytes");
        check(b"LBP1\x05\x00\x00\x00{}", "2 of 5 bytes of its header");
        check(&message("{}", b""), "missing field");
        check(&message(r#"{"id": 3, "outcome": {"value": NaN}, "blobs": []}"#, b""), "header");
        check(&reply(2, "[]"), "belongs to request 2, expected 3");
        check(&reply(3, "[2]"), "1 of 2 bytes of its blob");
        check(&reply(3, "[101]"), "1 blobs of 101 bytes");
        check(&reply(3, "[18446744073709551615, 2]"), "18446744073709551615 bytes");
        check(&reply(3, "[-1]"), "header");
        check(&reply(3, &format!("[0{}]", ", 0".repeat(BLOB_COUNT_LIMIT))), "4097 blobs");
    }
}
