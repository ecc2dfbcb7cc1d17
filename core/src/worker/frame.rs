//! Frames: a JSON head and a list of binary blobs, with every length stated up front.
//!
//! One encoding serves pipes to workers and files of the cache. Lengths are checked against fixed
//! bounds before anything is allocated, and memory grows only as bytes arrive, so that neither a
//! broken worker nor a damaged file can make the reader allocate what it merely claims.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..4 | `LBF` and the version of the encoding |
//! | 4..8 | length of the head, little endian |
//! | 8..12 | number of blobs, little endian |
//! | then 8 each | length of each blob, little endian |
//! | then | the head, then the blobs, without gaps |

use std::io::{ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest head that is read or written: 16 MiB.
pub const HEAD_LIMIT: usize = 16 << 20;
/// The most that all blobs of a frame may hold together: 256 MiB.
pub const BULK_LIMIT: u64 = 256 << 20;
/// The largest number of blobs in one frame.
pub const BLOBS_LIMIT: usize = 4096;

const MAGIC: [u8; 3] = *b"LBF";
const VERSION: u8 = 1;
const FIXED: usize = 12;
/// What is reserved before the first byte of a part has arrived.
const FIRST_RESERVE: u64 = 256 << 10;

/// A message: what it says (JSON) and what it carries (bytes).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// A JSON document.
    pub head: Vec<u8>,
    /// Binary parts; the head says what each one is.
    pub blobs: Vec<Vec<u8>>,
}

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended cleanly, before the first byte of a frame.
    #[error("the stream is closed")]
    Closed,
    /// The stream ended inside a frame.
    #[error("the frame ends after {got} of {expected} bytes of its {part}")]
    Truncated {
        /// The part that is incomplete.
        part: FramePart,
        /// How long it should be.
        expected: u64,
        /// How much of it arrived.
        got: u64,
    },
    /// The stream holds something else than frames.
    #[error("expected a frame, found the bytes {found:02x?}")]
    NotAFrame {
        /// The first bytes.
        found: [u8; 4],
    },
    /// A frame of another version of the encoding.
    #[error("expected version {VERSION} of the frame encoding, found {found}")]
    Version {
        /// The version that it states.
        found: u8,
    },
    /// A part is larger than its bound.
    #[error("the frame's {part} is {size}, more than the {limit} allowed")]
    TooLarge {
        /// The part in question.
        part: FramePart,
        /// The size stated: bytes, or blobs for the table.
        size: u64,
        /// The bound, in the same unit.
        limit: u64,
    },
    /// The head is not the JSON that was expected.
    #[error("unexpected head of a frame: {0}")]
    Head(#[source] serde_json::Error),
    /// The head and the number of blobs disagree.
    #[error("expected {expected} blobs in the frame, found {found}")]
    Blobs {
        /// How many the head speaks of.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The stream failed.
    #[error("cannot read or write a frame: {0}")]
    Io(#[source] std::io::Error),
}

/// The parts of a frame, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramePart {
    /// The fixed part and the table of lengths.
    Table,
    /// The JSON document.
    Head,
    /// The blobs.
    Bulk,
}

impl std::fmt::Display for FramePart {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Table => "table of lengths",
            Self::Head => "head",
            Self::Bulk => "bulk",
        })
    }
}

impl Frame {
    /// A frame whose head is `head` as JSON.
    ///
    /// # Errors
    ///
    /// [`FrameError::Head`] if `head` cannot be written as JSON (a path that is not UTF-8).
    pub fn new<Head: Serialize>(head: &Head, blobs: Vec<Vec<u8>>) -> Result<Self, FrameError> {
        Ok(Self { head: serde_json::to_vec(head).map_err(FrameError::Head)?, blobs })
    }

    /// The head, read as JSON.
    ///
    /// # Errors
    ///
    /// [`FrameError::Head`] if it is something else.
    pub fn parse<Head: DeserializeOwned>(&self) -> Result<Head, FrameError> {
        serde_json::from_slice(&self.head).map_err(FrameError::Head)
    }

    /// The blobs, if there are exactly as many as the head speaks of.
    ///
    /// # Errors
    ///
    /// [`FrameError::Blobs`] if there are more or fewer.
    pub fn into_blobs<const COUNT: usize>(self) -> Result<[Vec<u8>; COUNT], FrameError> {
        let found = self.blobs.len();
        self.blobs
            .try_into()
            .map_err(|_blobs: Vec<Vec<u8>>| FrameError::Blobs { expected: COUNT, found })
    }

    /// Checks the bounds that [`Frame::write_to`] checks.
    ///
    /// # Errors
    ///
    /// [`FrameError::TooLarge`].
    pub fn check(&self) -> Result<(), FrameError> {
        check_bounds(self.head.len() as u64, &self.lengths())
    }

    fn lengths(&self) -> Vec<u64> {
        self.blobs.iter().map(|blob| blob.len() as u64).collect()
    }

    /// Writes the frame and flushes.
    ///
    /// # Errors
    ///
    /// [`FrameError::TooLarge`] before the first byte is written, or [`FrameError::Io`].
    pub fn write_to(&self, stream: &mut impl Write) -> Result<(), FrameError> {
        self.check()?;
        let lengths = self.lengths();
        let mut opening = Vec::with_capacity(FIXED + 8 * lengths.len() + self.head.len());
        opening.extend_from_slice(&MAGIC);
        opening.push(VERSION);
        // Both fit: the bounds have just been checked.
        opening.extend_from_slice(&(self.head.len() as u32).to_le_bytes());
        opening.extend_from_slice(&(lengths.len() as u32).to_le_bytes());
        for length in &lengths {
            opening.extend_from_slice(&length.to_le_bytes());
        }
        opening.extend_from_slice(&self.head);
        stream.write_all(&opening).map_err(FrameError::Io)?;
        for blob in &self.blobs {
            stream.write_all(blob).map_err(FrameError::Io)?;
        }
        stream.flush().map_err(FrameError::Io)
    }

    /// Reads one frame; what follows it stays in the stream.
    ///
    /// # Errors
    ///
    /// Every [`FrameError`] except [`FrameError::Head`] and [`FrameError::Blobs`].
    pub fn read_from(stream: &mut impl Read) -> Result<Self, FrameError> {
        let fixed = read_opening(stream)?;
        let [a, b, c, version, rest @ ..] = fixed;
        if [a, b, c] != MAGIC {
            return Err(FrameError::NotAFrame { found: [a, b, c, version] });
        }
        if version != VERSION {
            return Err(FrameError::Version { found: version });
        }
        let [h0, h1, h2, h3, n0, n1, n2, n3] = rest;
        let head_length = u64::from(u32::from_le_bytes([h0, h1, h2, h3]));
        let count = u64::from(u32::from_le_bytes([n0, n1, n2, n3]));
        check_count(count)?;
        let table = read_part(stream, 8 * count, FramePart::Table)?;
        let (words, _) = table.as_chunks::<8>();
        let lengths: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        check_bounds(head_length, &lengths)?;
        let head = read_part(stream, head_length, FramePart::Head)?;
        let blobs = lengths
            .iter()
            .map(|length| read_part(stream, *length, FramePart::Bulk))
            .collect::<Result<_, _>>()?;
        Ok(Self { head, blobs })
    }
}

fn check_count(count: u64) -> Result<(), FrameError> {
    let limit = BLOBS_LIMIT as u64;
    if count <= limit {
        Ok(())
    } else {
        Err(FrameError::TooLarge { part: FramePart::Table, size: count, limit })
    }
}

fn check_bounds(head: u64, blobs: &[u64]) -> Result<(), FrameError> {
    check_count(blobs.len() as u64)?;
    let limit = HEAD_LIMIT as u64;
    if head > limit {
        return Err(FrameError::TooLarge { part: FramePart::Head, size: head, limit });
    }
    let bulk = blobs.iter().fold(0_u64, |sum, length| sum.saturating_add(*length));
    if bulk > BULK_LIMIT {
        return Err(FrameError::TooLarge { part: FramePart::Bulk, size: bulk, limit: BULK_LIMIT });
    }
    Ok(())
}

/// The fixed part; a stream that ends before its first byte is closed, not broken.
fn read_opening(stream: &mut impl Read) -> Result<[u8; FIXED], FrameError> {
    let mut fixed = [0_u8; FIXED];
    let mut got = 0;
    while let Some(rest @ [_, ..]) = fixed.get_mut(got..) {
        match stream.read(rest) {
            Ok(0) if got == 0 => return Err(FrameError::Closed),
            Ok(0) => {
                let (expected, got) = (FIXED as u64, got as u64);
                return Err(FrameError::Truncated { part: FramePart::Table, expected, got });
            }
            Ok(more) => got += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Io(error)),
        }
    }
    Ok(fixed)
}

fn read_part(stream: &mut impl Read, length: u64, part: FramePart) -> Result<Vec<u8>, FrameError> {
    let mut bytes = Vec::with_capacity(length.min(FIRST_RESERVE) as usize);
    let got = stream.take(length).read_to_end(&mut bytes).map_err(FrameError::Io)? as u64;
    if got == length {
        Ok(bytes)
    } else {
        Err(FrameError::Truncated { part, expected: length, got })
    }
}

#[cfg(test)]
mod tests;
