//! The machine: executes a kernel exactly, one dispatch for 32 lanes, with checks and counters.
//!
//! A warp is data (registers, places of its lanes, frames), so that any warp can be suspended at any instruction.
//! Blocks run in one order, which is always the same; faults are values, and the first of each kind at each
//! instruction is kept.

mod access;
mod atomic;
mod atomic_vector;
mod barrier;
mod block_order;
mod call;
mod changes;
mod cluster;
mod compute;
mod content;
mod cooperative;
mod copies;
mod fault;
mod grid;
mod lanes;
mod launch;
mod layout;
mod limit;
mod load;
mod local;
mod mbarrier;
mod memory;
mod narrow;
mod order;
mod parallel;
mod partial;
mod parts;
mod paused;
mod places;
mod print;
mod quick;
mod race;
mod recording;
mod run;
mod schedule;
mod session;
mod shared;
mod special;
mod stall;
mod standing;
mod step;
mod store;
mod straight;
mod sync;
mod tensor;
#[cfg(test)]
mod tests;
mod trace;
mod traffic;
mod variables;
mod warp;
mod watch;

pub use super::lower::Unsupported;
pub use super::semantics::approximate::Approximation;
pub use super::semantics::matrix::Architecture;
pub use block_order::BlockOrder;
pub use fault::{Fault, FaultKind, OtherSide};
pub use launch::{Argument, Checks, LaunchConfig, LaunchError, OnFault, Races, Report};
pub use memory::Access;
pub use paused::{CallSite, LanePlace, LaneState, Paused, RegisterView, Value};
pub use race::Accepted;
pub use recording::{AccessCost, AccessKind, AccessedMemory, Accesses, WarpAccess, WarpId};
pub use schedule::Schedule;
pub use session::{Ended, Session, State, Until};
pub use tensor::TensorModel;
pub use variables::VariableError;
pub use watch::Thread;

use content::Content;
use memory::{Kept, Memory, Region, RegionKind};

/// What looking at another's write costs of a warp's turn, in steps.
const POLL_COST: i64 = 64;

/// What a device has, as far as it decides how a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceShape {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Warps that one multiprocessor holds.
    pub warps_per_multiprocessor: u32,
    /// Blocks that one multiprocessor holds.
    pub blocks_per_multiprocessor: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_per_block: u32,
    /// Bytes of global memory.
    pub memory_bytes: u64,
    /// Bytes that `malloc` gives at most.
    pub heap_bytes: u64,
}

impl Default for DeviceShape {
    /// Compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability") with 132
    /// multiprocessors, 4 GiB of memory on the host's side and CUDA's default heap of 8 MiB.
    fn default() -> Self {
        Self {
            multiprocessors: 132,
            warps_per_multiprocessor: 64,
            blocks_per_multiprocessor: 32,
            shared_per_multiprocessor: 228 << 10,
            shared_per_block: 227 << 10,
            memory_bytes: 4 << 30,
            heap_bytes: 8 << 20,
        }
    }
}

/// A buffer of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(usize);

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Nothing that was written: reading it is a fault.
    Unwritten,
    /// These bytes, and nothing that was written behind them.
    Bytes(Vec<u8>),
    /// These bytes again and again until the buffer ends.
    Repeated(Vec<u8>),
}

impl Initial {
    /// What a buffer of that size is given.
    #[must_use]
    pub fn given(self, bytes: usize) -> Vec<u8> {
        match self {
            Self::Unwritten => Vec::new(),
            Self::Bytes(given) => given,
            Self::Repeated(part) => part.iter().copied().cycle().take(bytes).collect(),
        }
    }
}

/// Why a buffer cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The device has no room for it.
    #[error("buffer `{name}` has {bytes} bytes; the device has {left} left")]
    NoMemory {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// What is left.
        left: u64,
    },
    /// There are too many.
    #[error("more than {0} buffers")]
    TooMany(usize),
}

/// The bytes of a buffer behind so many that are not part of it: the given ones, and behind them what nothing wrote.
fn content(start: usize, bytes: usize, initial: Initial) -> Content {
    match initial {
        Initial::Repeated(part) if start == 0 && part.len().is_multiple_of(4) => {
            Content::repeated(&part, bytes)
        }
        initial @ (Initial::Bytes(_) | Initial::Repeated(_)) => {
            let mut given = initial.given(bytes);
            let is_whole = given.len() >= bytes;
            given.truncate(bytes);
            if start > 0 {
                given.splice(..0, std::iter::repeat_n(0, start));
            }
            if is_whole {
                return Content::new(&given);
            }
            let content = Content::unwritten(start + bytes);
            content.fill_front(&given);
            content
        }
        Initial::Unwritten => Content::unwritten(start + bytes),
    }
}

/// A device with its buffers.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    shape: DeviceShape,
    memory: Memory,
    /// Where the variables of modules lie that were launched.
    variables: Kept,
}

impl Machine {
    /// A device of that shape without buffers.
    #[must_use]
    pub fn new(shape: DeviceShape) -> Self {
        Self { shape, memory: Memory::default(), variables: Kept::default() }
    }

    /// Makes a buffer that begins at a multiple of 2^40.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn buffer(
        &mut self,
        name: &str,
        bytes: u64,
        access: Access,
        initial: Initial,
    ) -> Result<BufferId, BufferError> {
        self.buffer_behind(0, name, bytes, access, initial)
    }

    /// Makes a buffer that begins so many bytes behind a multiple of 2^40.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn buffer_behind(
        &mut self,
        start: u64,
        name: &str,
        bytes: u64,
        access: Access,
        initial: Initial,
    ) -> Result<BufferId, BufferError> {
        let used: u64 = self.memory.regions.iter().map(|region| region.content.len() as u64).sum();
        let left = self.shape.memory_bytes.saturating_sub(used);
        if start.saturating_add(bytes) > left {
            return Err(BufferError::NoMemory { name: name.to_owned(), bytes, left });
        }
        let (start, bytes) = (start as usize, bytes as usize);
        let content = content(start, bytes, initial);
        let mut region = Region::new(name.to_owned(), RegionKind::Buffer, access, content);
        region.start = start;
        self.memory.add(region).map(BufferId).ok_or(BufferError::TooMany(Memory::MOST_REGIONS))
    }

    /// Replaces what a buffer holds; what is not initial was never written.
    pub fn set(&mut self, buffer: BufferId, initial: Initial) {
        if let Some(region) = self.memory.regions.get_mut(buffer.0) {
            region.content = content(region.start, region.bytes(), initial);
        }
    }

    /// Gives the memory of a buffer back. Its addresses are not used again, so that a late access is noticed.
    pub fn free(&mut self, buffer: BufferId) {
        if let Some(region) = self.memory.regions.get_mut(buffer.0) {
            region.kind = RegionKind::Freed;
            (region.content, region.start) = (Content::new(&[]), 0);
        }
    }

    /// The bytes of a buffer; those that nothing wrote are zero.
    #[must_use]
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let mut bytes = region.content.to_vec();
        bytes.drain(..region.start.min(bytes.len()));
        bytes
    }

    /// The first byte of a buffer that nothing wrote.
    #[must_use]
    pub fn first_unwritten(&self, buffer: BufferId) -> Option<usize> {
        self.unwritten(buffer).first().map(|first| first.start)
    }

    /// The ranges of bytes of a buffer that nothing wrote, ascending.
    #[must_use]
    pub fn unwritten(&self, buffer: BufferId) -> Vec<std::ops::Range<usize>> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        let Some(first) = region.content.first_unwritten() else { return ranges };
        for offset in first.max(region.start)..region.content.len() {
            if region.content.written(offset, 1) {
                continue;
            }
            let offset = offset - region.start;
            match ranges.last_mut() {
                Some(last) if last.end == offset => last.end += 1,
                _ => ranges.push(offset..offset + 1),
            }
        }
        ranges
    }

    /// The bytes of a range of a buffer; those that nothing wrote are zero. None where the buffer is smaller.
    #[must_use]
    pub fn read_range(&self, buffer: BufferId, range: std::ops::Range<usize>) -> Option<Vec<u8>> {
        let region = self.memory.regions.get(buffer.0)?;
        let range = range.start.checked_add(region.start)?..range.end.checked_add(region.start)?;
        (range.end <= region.content.len())
            .then(|| range.map(|offset| region.content.read(offset, 1) as u8).collect())
    }

    /// The ranges of bytes of a buffer that were written, ascending.
    #[must_use]
    pub fn written(&self, buffer: BufferId) -> Vec<std::ops::Range<usize>> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let whole = region.start..region.content.len();
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        region.content.for_each_written(whole, |part| {
            let part = part.start - region.start..part.end - region.start;
            match ranges.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                Some(_) | None => ranges.push(part),
            }
        });
        ranges
    }

    /// The address of a buffer as kernels see it.
    #[must_use]
    pub fn address(&self, buffer: BufferId) -> u64 {
        self.memory.start_of(buffer.0)
    }
}
