//! Initial bytes of a buffer: equal for equal seeds on every machine and device.

use lightbench_primitives::dtype::{CType, Family};
use lightbench_primitives::element::nearest;
use lightbench_primitives::random::{Stream, whole};

use super::{Buffer, Content};
use crate::virtual_gpu::InitialContent;

/// Why a buffer has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The file has another size.
    #[error("`{file}` has {found} bytes; the buffer has {expected}")]
    FileSize {
        /// The file.
        file: String,
        /// Its size.
        found: u64,
        /// That of the buffer.
        expected: u64,
    },
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
}

impl Buffer {
    /// The initial content of the buffer. Random numbers are Philox4x32-10 with the seed as its key, the element's index
    /// and the argument's position as its counter; normal ones are sums of twelve even ones, within six deviations.
    ///
    /// `read` returns the first bytes of a file, at most as many as its second argument.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or has another size.
    pub fn initial(
        &self,
        seed: u64,
        position: u32,
        read: impl FnOnce(&str, u64) -> Result<Vec<u8>, String>,
    ) -> Result<InitialContent, ContentError> {
        let stream = Stream::new(seed, position);
        let c_type = self.c_type;
        Ok(InitialContent::Bytes(match &self.content {
            Content::Uninitialised => return Ok(InitialContent::Uninitialised),
            Content::Zeros => self.each(|_| 0),
            Content::Ones => self.each(|_| nearest(c_type.dtype(), 1.0)),
            Content::Iota => self.each(|index| iota(c_type, index)),
            Content::Constant(bytes) => bytes.repeat(usize::try_from(self.count).unwrap_or(0)),
            Content::Values(bytes) => bytes.clone(),
            Content::Normal { mean, std } => {
                self.each(|index| nearest(c_type.dtype(), mean + std * stream.normal(index)))
            }
            Content::Uniform { low, high } if c_type.dtype().is_float() => {
                self.each(|index| nearest(c_type.dtype(), low + (high - low) * stream.unit(index)))
            }
            Content::Uniform { low, high } => {
                let (low, high) = (*low as i128, *high as i128);
                self.each(|index| whole(low, high, stream.bits(index)))
            }
            Content::File(file) => {
                let expected = self.size();
                let bytes = read(file, expected.saturating_add(1))
                    .map_err(|reason| ContentError::Unreadable { file: file.clone(), reason })?;
                let found = bytes.len() as u64;
                if found != expected {
                    return Err(ContentError::FileSize { file: file.clone(), found, expected });
                }
                bytes
            }
        }))
    }

    fn each(&self, bits: impl Fn(u64) -> u64) -> Vec<u8> {
        let length = usize::try_from(self.c_type.bytes()).unwrap_or(8);
        let mut bytes = Vec::with_capacity(usize::try_from(self.size()).unwrap_or(0));
        for index in 0..self.count {
            bytes.extend_from_slice(&bits(index).to_le_bytes()[..length]);
        }
        bytes
    }
}

/// 0, 1, 2 …; integers wrap around, booleans alternate.
fn iota(c_type: CType, index: u64) -> u64 {
    match c_type.dtype().family() {
        Family::Boolean => index & 1,
        Family::Signed | Family::Unsigned => index,
        Family::Float => nearest(c_type.dtype(), index as f64),
    }
}
