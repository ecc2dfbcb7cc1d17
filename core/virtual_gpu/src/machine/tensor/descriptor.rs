//! Matrix descriptors of `wgmma`: the addresses of a matrix in shared memory. PTX ISA, section "Asynchronous
//! Warpgroup Level Matrix Instructions", "Matrix Descriptor Format" and "Strides".
//!
//! A matrix consists of chunks of 16 bytes that are contiguous along one dimension: k, or the outer one (rows of A,
//! columns of B).

use lightbench_primitives::tensor_map::Swizzle;

use super::super::super::lower::product::Major;
pub(super) use super::super::swizzle::CHUNK;
use super::super::swizzle::{span, swizzled};

/// Addresses in a descriptor have 18 bits.
const ADDRESS_MASK: u32 = (1 << 18) - 1;

/// A decoded descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Descriptor {
    /// The first byte, in shared memory.
    pub(super) start: u32,
    /// The leading-dimension byte offset.
    pub(super) leading: u32,
    /// The stride-dimension byte offset.
    pub(super) stride: u32,
    /// The offset of the matrix from a multiple of the period, in units of 128 bytes.
    pub(super) base_offset: u32,
    pub(super) swizzle: Swizzle,
}

impl Descriptor {
    pub(super) fn from_bits(bits: u64) -> Self {
        let bytes = |shift: u32| (bits >> shift) as u32 % (1 << 14) * 16;
        Self {
            start: bytes(0),
            leading: bytes(16),
            stride: bytes(32),
            base_offset: (bits >> 49) as u32 % 8,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Whether the pattern begins where the start address requires it.
    pub(super) const fn is_aligned(&self) -> bool {
        let rows = self.start / 128 % (span(self.swizzle) / CHUNK);
        rows == self.base_offset
    }

    /// The offset in shared memory of a chunk: its index along the contiguous dimension, and its line along the other
    /// one.
    pub(super) const fn chunk(&self, major: Major, index: u32, line: u32) -> u32 {
        let span = span(self.swizzle);
        let chunks = span / CHUNK;
        let Self { leading, stride, .. } = *self;
        let offset = match (major, self.swizzle) {
            (Major::K, Swizzle::None) => line % 8 * CHUNK + line / 8 * stride + index * leading,
            (Major::K, _) => line % 8 * span + line / 8 * stride + index * CHUNK,
            (Major::Outer, Swizzle::None) => line % 8 * CHUNK + line / 8 * leading + index * stride,
            (Major::Outer, _) => {
                let within = index % chunks * CHUNK + line % 8 * span;
                within + index / chunks * leading + line / 8 * stride
            }
        };
        swizzled(self.swizzle, (self.start + offset) & ADDRESS_MASK, self.base_offset)
    }
}
