//! Text form of the arguments of one launch: `u32:5`, `buf:f32[1024]=normal`.
//!
//! ```text
//!  VALUE   TYPE ":" number                       u32:5   f32:-1.5   bool:true   f16:inf
//!          "bytes:" hexadecimal digits           bytes:0100000000000000      (a struct by value)
//!  BUFFER  ("buf:" | "in:") TYPE "[" count "]" ( "=" CONTENT )?
//!  CONTENT "zeros" | "ones" | "iota" | "normal" ( "(" mean "," deviation ")" )?
//!          | "uniform" ( "(" low "," high ")" )? | "constant(" number ")"
//!          | number ("," number)* | "@" file
//!  POINTER "null" | "same:" index                same:0   (the buffer of argument 0, counted from 0)
//!  TYPE    i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool
//! ```
//!
//! Parsing reads no files; [`Buffer::initial`] reads a file that a spec names. Fills have the same names as in project
//! files.

mod content;
mod error;
mod matching;
mod parse;
#[cfg(test)]
mod tests;

pub use content::ContentError;
pub use error::{Reason, SpecError};
pub use matching::{ArgumentError, match_specs};

use lightbench_primitives::dtype::CType;

use crate::virtual_gpu::Access;

/// One argument in text form.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The text.
    pub text: String,
    /// Its parsed form.
    pub kind: SpecKind,
}

/// Parsed form of a spec.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecKind {
    /// A number by value.
    Value {
        /// Its type.
        c_type: CType,
        /// Its bits, little-endian.
        bytes: Vec<u8>,
    },
    /// Bytes by value: a struct.
    Bytes(Vec<u8>),
    /// The address of a buffer.
    Buffer(Buffer),
    /// A null pointer.
    Null,
    /// The address of the buffer of an earlier argument, by its index from 0.
    Same(usize),
}

/// The buffer of the argument at an index: its own, or the shared buffer of an earlier argument.
#[must_use]
pub fn buffer_of(specs: &[Spec], index: usize) -> Option<&Buffer> {
    match &specs.get(index)?.kind {
        SpecKind::Buffer(buffer) => Some(buffer),
        SpecKind::Same(earlier) if *earlier < index => buffer_of(specs, *earlier),
        SpecKind::Same(_) | SpecKind::Value { .. } | SpecKind::Bytes(_) | SpecKind::Null => None,
    }
}

/// Description of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The type of its elements.
    pub c_type: CType,
    /// Number of elements.
    pub count: u64,
    /// Whether the kernel may write to it.
    pub access: Access,
    /// Initial content.
    pub content: Content,
}

/// Initial content of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Uninitialised memory.
    Uninitialised,
    /// 0.
    Zeros,
    /// 1.
    Ones,
    /// 0, 1, 2 … in the order of memory, rounded to the type.
    Iota,
    /// The same element again and again, by its bits.
    Constant(Vec<u8>),
    /// Normally distributed, as nearly as the sum of twelve uniform numbers is.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        std: f64,
    },
    /// Evenly distributed; integers include both ends.
    Uniform {
        /// Smallest value.
        low: f64,
        /// Floating-point values lie below this, integers up to it.
        high: f64,
    },
    /// All elements, by their bits.
    Values(Vec<u8>),
    /// The bytes of a file.
    File(String),
}

impl Buffer {
    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.count.saturating_mul(self.c_type.bytes())
    }
}
