//! Frames: one MessagePack value each, with its length in front.
//!
//! One encoding serves the pipes to workers and the files that other processes of the program read. The length is checked
//! against a bound before anything is allocated, and memory grows only as bytes arrive: neither a broken worker nor a
//! damaged file can make the reader allocate more than about the bytes that it sends.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..4 | `LBF` and the version of the encoding |
//! | 4..12 | length of the value in bytes, little endian |
//! | then | the value, as MessagePack with named fields |

use std::io::{ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest value of a frame: 256 MiB.
pub const VALUE_LIMIT: u64 = 256 << 20;

const MAGIC: [u8; 3] = *b"LBF";
const VERSION: u8 = 2;
const HEADER_BYTES: usize = 12;
/// Most bytes reserved before the first byte of a value has arrived.
const FIRST_RESERVE: u64 = 256 << 10;

/// An encoded message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    value: Vec<u8>,
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended before the first byte of a frame.
    #[error("the stream is closed")]
    Closed,
    /// The stream ended inside a frame.
    #[error("the frame ends after {got} of {expected} bytes of its {part}")]
    Truncated {
        /// `header` or `value`.
        part: &'static str,
        /// Bytes expected.
        expected: u64,
        /// Bytes received.
        got: u64,
    },
    /// The stream does not hold a frame.
    #[error("expected a frame, found the bytes {found:02x?}")]
    NotAFrame {
        /// The first bytes.
        found: [u8; 4],
    },
    /// The frame has another version of the encoding.
    #[error("expected version {VERSION} of the frame encoding, found {found}")]
    Version {
        /// The version in the header.
        found: u8,
    },
    /// The value exceeds [`VALUE_LIMIT`].
    #[error("the frame holds {size} bytes, more than the {VALUE_LIMIT} allowed")]
    TooLarge {
        /// The size in bytes.
        size: u64,
    },
    /// The value cannot be encoded, such as a path that is not UTF-8.
    #[error("cannot encode the message: {0}")]
    Encode(#[source] rmp_serde::encode::Error),
    /// The value is not the expected message.
    #[error("unexpected message: {0}")]
    Decode(#[source] rmp_serde::decode::Error),
    /// Bytes follow the value inside the frame.
    #[error("{0} bytes follow the message")]
    Trailing(usize),
    /// The stream failed.
    #[error("cannot read or write a frame: {0}")]
    Io(#[source] std::io::Error),
}

impl Frame {
    /// Encodes a message.
    ///
    /// # Errors
    ///
    /// [`FrameError::Encode`] and [`FrameError::TooLarge`].
    pub fn new<Message: Serialize + ?Sized>(message: &Message) -> Result<Self, FrameError> {
        let value = rmp_serde::to_vec_named(message).map_err(FrameError::Encode)?;
        check_size(value.len() as u64)?;
        Ok(Self { value })
    }

    /// Decodes the message.
    ///
    /// # Errors
    ///
    /// [`FrameError::Decode`] if the value is not a `Message`, [`FrameError::Trailing`] if bytes follow it.
    pub fn parse<Message: DeserializeOwned>(&self) -> Result<Message, FrameError> {
        let mut rest = self.value.as_slice();
        let mut decoder = rmp_serde::Deserializer::new(&mut rest);
        let message = Message::deserialize(&mut decoder).map_err(FrameError::Decode)?;
        if rest.is_empty() { Ok(message) } else { Err(FrameError::Trailing(rest.len())) }
    }

    /// Writes the frame and flushes.
    ///
    /// # Errors
    ///
    /// [`FrameError::Io`].
    pub fn write_to(&self, stream: &mut impl Write) -> Result<(), FrameError> {
        let [m0, m1, m2] = MAGIC;
        let write = |stream: &mut dyn Write| {
            stream.write_all(&[m0, m1, m2, VERSION])?;
            stream.write_all(&(self.value.len() as u64).to_le_bytes())?;
            stream.write_all(&self.value)?;
            stream.flush()
        };
        write(stream).map_err(FrameError::Io)
    }

    /// Reads one frame; bytes after it stay in the stream.
    ///
    /// # Errors
    ///
    /// Every [`FrameError`] except those of encoding and decoding.
    pub fn read_from(stream: &mut impl Read) -> Result<Self, FrameError> {
        let [a, b, c, version, length @ ..] = read_header(stream)?;
        if [a, b, c] != MAGIC {
            return Err(FrameError::NotAFrame { found: [a, b, c, version] });
        }
        if version != VERSION {
            return Err(FrameError::Version { found: version });
        }
        let expected = u64::from_le_bytes(length);
        check_size(expected)?;
        let mut value = Vec::with_capacity(expected.min(FIRST_RESERVE) as usize);
        let got = stream.take(expected).read_to_end(&mut value).map_err(FrameError::Io)? as u64;
        if got == expected {
            Ok(Self { value })
        } else {
            Err(FrameError::Truncated { part: "value", expected, got })
        }
    }
}

fn check_size(size: u64) -> Result<(), FrameError> {
    if size <= VALUE_LIMIT { Ok(()) } else { Err(FrameError::TooLarge { size }) }
}

/// Reads the header. A stream that ends before the first byte is [`FrameError::Closed`], not truncated.
fn read_header(stream: &mut impl Read) -> Result<[u8; HEADER_BYTES], FrameError> {
    let mut header = [0_u8; HEADER_BYTES];
    let mut got = 0;
    while let Some(rest @ [_, ..]) = header.get_mut(got..) {
        match stream.read(rest) {
            Ok(0) if got == 0 => return Err(FrameError::Closed),
            Ok(0) => {
                let (expected, got) = (HEADER_BYTES as u64, got as u64);
                return Err(FrameError::Truncated { part: "header", expected, got });
            }
            Ok(more) => got += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Io(error)),
        }
    }
    Ok(header)
}

#[cfg(test)]
mod tests;
