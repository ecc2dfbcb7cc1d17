//! Placement of a buffer in its block, and the guard regions around it.
//!
//! Beyond the edge of the mapping every access faults. On the buffer's other side the block extends to the end of its
//! granule; with normal allocations it extends on both sides. These guard regions hold a pattern, and a write to them
//! is detected after the launch. A read of them is not.
//!
//! Inputs are not mapped read-only, although the interface has a flag for it: a write would then fault the whole
//! context without an address, whereas comparing after the launch names the buffer and the byte.

use std::fmt;
use std::ops::Range;

use cudarc::driver::sys::{CUdevice_attribute, CUdeviceptr};

use super::block::{Allocation, Block, Mapping, granularity};
use super::driver::Gpu;
use super::stream::BorrowedMemory;
use crate::error::DriverError;
use crate::execution::{BufferRequest, Placement};

/// Content of the guard regions: as f32, f16, bf16 and integers a number that test data do not contain.
pub(super) const GUARD: u8 = 0xb5;

/// Bytes that are guarded on each side of a plain allocation, at least.
const BAND: usize = 1 << 20;

/// The allocator of a GPU.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Mapped at chosen addresses, in granules of this many bytes.
    Mapped { gpu: Gpu, granule: usize },
    /// Where the driver puts it.
    Plain,
}

impl Source {
    /// The way of that GPU. Needs a current context.
    pub(super) fn new(gpu: Gpu) -> Result<Self, DriverError> {
        let which = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
        if gpu.attribute(which)? == 0 {
            return Ok(Self::Plain);
        }
        Ok(Self::Mapped { gpu, granule: granularity(gpu)? })
    }

    /// Allocates a block for the buffer, and returns the buffer's range in it.
    fn block(self, layout: &Layout) -> Result<Block, DriverError> {
        match self {
            Self::Mapped { gpu, granule } => {
                let length = layout.granules(granule);
                Ok(Block::Mapped(Mapping::new(gpu, length, granule)?))
            }
            Self::Plain => Ok(Block::Plain(Allocation::new(layout.room(BAND))?)),
        }
    }
}

/// The memory of a buffer.
#[derive(Debug)]
pub(super) struct Memory {
    block: Block,
    /// Range of the buffer within the block.
    inside: Range<usize>,
}

/// A side of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Before => "before",
            Self::Behind => "behind",
        })
    }
}

/// A write to a guard region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GuardViolation {
    pub(super) side: Side,
    /// Bytes between the buffer and the nearest byte that was written.
    pub(super) distance: usize,
}

impl Memory {
    /// Allocates a buffer with guard regions; its content is uninitialised.
    pub(super) fn new(source: Source, request: &BufferRequest) -> Result<Self, DriverError> {
        let layout = Layout::from_request(request);
        let block = source.block(&layout)?;
        let margin = match source {
            Source::Mapped { .. } => 0,
            Source::Plain => BAND,
        };
        let inside = layout.inside(block.start(), block.length(), margin);
        let mut memory = Self { block, inside };
        memory.guard(Side::Before)?;
        memory.guard(Side::Behind)?;
        Ok(memory)
    }

    /// The address of the buffer's first byte.
    pub(super) fn address(&self) -> CUdeviceptr {
        self.block.start() + self.inside.start as u64
    }

    /// The bytes of the buffer.
    pub(super) fn length(&self) -> usize {
        self.inside.len()
    }

    /// Where the buffer is.
    pub(super) fn room(&self) -> BorrowedMemory {
        BorrowedMemory { start: self.address(), bytes: self.length() }
    }

    pub(super) fn fill(&mut self, byte: u8) -> Result<(), DriverError> {
        self.block.fill(self.inside.clone(), byte)
    }

    /// Address and length of the two guard regions.
    pub(super) fn around(&self) -> [(CUdeviceptr, usize); 2] {
        [Side::Before, Side::Behind].map(|side| {
            let surroundings = self.surroundings(side);
            (self.block.start() + surroundings.start as u64, surroundings.len())
        })
    }

    /// Writes to the guard regions since the last call; the regions are restored.
    pub(super) fn guard_violations(&mut self) -> Result<Vec<GuardViolation>, DriverError> {
        let mut found = Vec::new();
        for side in [Side::Before, Side::Behind] {
            let bytes = self.block.read(self.surroundings(side))?;
            let is_changed = |byte: &u8| *byte != GUARD;
            let distance = match side {
                Side::Before => bytes.iter().rev().position(is_changed),
                Side::Behind => bytes.iter().position(is_changed),
            };
            if let Some(distance) = distance {
                found.push(GuardViolation { side, distance });
                self.guard(side)?;
            }
        }
        Ok(found)
    }

    fn guard(&mut self, side: Side) -> Result<(), DriverError> {
        let surroundings = self.surroundings(side);
        self.block.fill(surroundings, GUARD)
    }

    fn surroundings(&self, side: Side) -> Range<usize> {
        match side {
            Side::Before => 0..self.inside.start,
            Side::Behind => self.inside.end..self.block.length(),
        }
    }
}

/// Size and alignment of a buffer.
#[derive(Clone, Copy, Debug)]
struct Layout {
    bytes: usize,
    align: usize,
    placement: Placement,
}

impl Layout {
    fn from_request(request: &BufferRequest) -> Self {
        let bytes = usize::try_from(request.bytes).unwrap_or(usize::MAX);
        let align = usize::try_from(request.align).unwrap_or(1).max(1);
        Self { bytes, align, placement: request.placement }
    }

    /// The block size that fits the buffer at any start address, with a margin on each side.
    fn room(&self, margin: usize) -> usize {
        let aligned = self.bytes.max(1).saturating_add(self.align - 1);
        aligned.saturating_add(self.beyond()).saturating_add(2 * margin)
    }

    /// Maximum displacement of the buffer that makes its address a multiple of its alignment and of nothing larger.
    fn beyond(&self) -> usize {
        match self.placement {
            Placement::Left | Placement::Right => 0,
            Placement::OddMultiple => self.align,
        }
    }

    /// The block size in granules for a block that begins on a granule: no larger than needed, because only unmapped
    /// addresses fault.
    fn granules(&self, granule: usize) -> usize {
        let needed = if self.align <= granule {
            let moved = self.bytes.max(1).checked_add(self.beyond());
            moved.and_then(|moved| moved.checked_next_multiple_of(self.align))
        } else {
            Some(self.room(0))
        };
        let whole = needed.and_then(|needed| needed.checked_next_multiple_of(granule));
        whole.unwrap_or(usize::MAX)
    }

    /// The buffer's range in a block of [`Self::room`]: at one end, as close as alignment permits.
    fn inside(&self, start: CUdeviceptr, length: usize, margin: usize) -> Range<usize> {
        let align = self.align as u64;
        let offset = match self.placement {
            Placement::Left => {
                let first = start + margin as u64;
                first.next_multiple_of(align) - start
            }
            Placement::Right => {
                let last = start + length.saturating_sub(margin + self.bytes) as u64;
                (last - last % align).saturating_sub(start)
            }
            Placement::OddMultiple => {
                let first = (start + margin as u64).next_multiple_of(align);
                let odd = if (first / align).is_multiple_of(2) { first + align } else { first };
                odd - start
            }
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(length);
        offset..offset.saturating_add(self.bytes).min(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_lies_at_its_edge_as_nearly_as_alignment_permits() {
        use Placement::{Left, OddMultiple, Right};
        let check = |bytes, align, placement, margin, expected: Range<usize>| {
            let layout = Layout { bytes, align, placement };
            let inside = layout.inside(0x20_0000, 0x1000, margin);
            assert_eq!(inside, expected, "{layout:?} with a margin of {margin}");
            assert!(layout.room(margin) <= 0x1000, "{layout:?}");
        };
        check(100, 4, Left, 0, 0..100);
        check(100, 4, Right, 0, 0xf9c..0x1000);
        check(100, 256, Right, 0, 0xf00..0xf64);
        check(101, 4, Right, 0, 0xf98..0xffd);
        check(0, 256, Left, 0, 0..0);
        check(0, 256, Right, 0, 0x1000..0x1000);
        check(4096, 1, Right, 0, 0..0x1000);
        check(100, 4, Left, 16, 16..116);
        check(100, 256, Left, 16, 0x100..0x164);
        check(100, 4, Right, 16, 0xf8c..0xff0);
        check(100, 4, OddMultiple, 0, 4..104);
        check(100, 256, OddMultiple, 0, 0x100..0x164);
        check(100, 4, OddMultiple, 4, 4..104);
        check(100, 4, OddMultiple, 16, 20..120);
    }

    #[test]
    fn no_granule_is_mapped_without_need() {
        let of = |bytes, align, placement| Layout { bytes, align, placement }.granules(0x1000);
        let check = |bytes, align, expected| {
            assert_eq!(of(bytes, align, Placement::Right), expected, "{bytes} on {align}");
        };
        assert_eq!(of(0xf00, 256, Placement::OddMultiple), 0x1000);
        assert_eq!(of(0xf01, 256, Placement::OddMultiple), 0x2000);
        assert_eq!(of(1, 0x1000, Placement::OddMultiple), 0x2000);
        check(0, 256, 0x1000);
        check(1, 256, 0x1000);
        check(0x1000, 256, 0x1000);
        check(0x1001, 256, 0x2000);
        check(0xfff, 0x1000, 0x1000);
        check(0x1000, 0x2000, 0x3000);
        check(usize::MAX, 256, usize::MAX);
    }

    #[test]
    fn there_is_room_wherever_a_block_begins() {
        for (bytes, align, margin) in [(100, 4, 0), (1, 256, 64), (4096, 1024, 1), (0, 1 << 20, 0)]
        {
            for start in [0x7000_0000_u64, 0x7000_0100, 0x7000_0200] {
                for placement in [Placement::Left, Placement::Right, Placement::OddMultiple] {
                    let layout = Layout { bytes, align, placement };
                    let length = layout.room(margin);
                    let inside = layout.inside(start, length, margin);
                    assert_eq!(inside.len(), bytes, "{layout:?} at {start:x}");
                    assert_eq!((start + inside.start as u64) % align as u64, 0, "{layout:?}");
                    assert!(inside.start >= margin && inside.end <= length - margin, "{layout:?}");
                }
            }
        }
    }
}
