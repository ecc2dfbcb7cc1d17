//! The machine: it executes a kernel exactly, with one dispatch for 32 lanes, with checks and counters.
//!
//! A warp is data (registers, positions of its lanes, frames), so that it can be suspended at any instruction. The
//! default order of blocks is fixed. Faults are values; the first fault of each kind at each instruction is kept.

mod access;
mod atomic;
mod atomic_counts;
mod atomic_vector;
mod barrier;
mod block_order;
mod byte_init_mask;
mod call;
mod cluster;
mod cluster_barrier;
mod compute;
mod cooperative;
mod copies;
mod fast_memory_32;
mod fast_memory_8_16;
mod fast_registers;
mod fault;
mod grid;
mod grid_index;
mod lane_offsets;
mod lanes;
mod launch;
mod launch_size;
mod layout;
mod limit;
mod load;
mod local;
mod mbarrier;
mod memory;
mod parallel;
mod paused;
mod peers;
mod print;
mod race;
mod recording;
mod region_bytes;
mod register_init_mask;
mod register_pool;
mod resident;
mod run;
mod schedule;
mod selection;
mod session;
mod shared;
mod special;
mod stall;
mod step;
mod store;
mod swizzle;
mod sync;
mod tensor;
#[cfg(test)]
mod tests;
mod texture;
mod texture_object;
mod trace;
mod traffic;
mod turn_order;
mod unfinished_warps;
mod variables;
mod warp;
mod watch;

pub use super::lower::Unsupported;
pub use super::semantics::approximate::Approximation;
pub use super::semantics::matrix::Architecture;
pub use block_order::BlockOrder;
pub use fault::{ConflictingAccess, Fault, FaultKind, Suspicion};
pub use launch::{Argument, Checks, LaunchConfig, LaunchError, OnFault, Races, Report};
pub use memory::Access;
pub use paused::{CallSite, LanePlace, LaneState, Paused, RegisterView, Value};
pub use race::Accepted;
pub use recording::{AccessCost, AccessKind, AccessedMemory, Accesses, WarpAccess, WarpId};
pub use schedule::Schedule;
pub use session::{EndedLaunch, PausePoint, Session, SessionState};
pub use tensor::TensorModel;
pub use variables::VariableError;
pub use watch::ThreadId;

use std::collections::VecDeque;

use memory::{Kept, Memory, Region, RegionKind};
use region_bytes::RegionBytes;

/// The number of buffers that were freed last and whose addresses are not used again, so that an access to them is a
/// fault.
const QUARANTINE: usize = 1024;

/// The cost of a read of memory that other threads write, in steps of a warp's turn.
const POLL_COST: i64 = 64;

/// The properties of a device that decide how a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceShape {
    pub multiprocessors: u32,
    /// Resident warps per multiprocessor.
    pub warps_per_multiprocessor: u32,
    /// Resident blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Shared memory of a multiprocessor in bytes.
    pub shared_per_multiprocessor: u32,
    /// Shared memory that a block may have, in bytes.
    pub shared_per_block: u32,
    /// Global memory in bytes.
    pub memory_bytes: u64,
    /// Size of the heap of `malloc` in bytes.
    pub heap_bytes: u64,
}

impl Default for DeviceShape {
    /// Compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability") with
    /// 132 multiprocessors, 4 GiB of global memory, which the host provides, and CUDA's default heap of 8 MiB.
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

/// The initial content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialContent {
    /// Uninitialised: using a value from it is a fault.
    Uninitialised,
    /// These bytes; the bytes after them are uninitialised.
    Bytes(Vec<u8>),
    /// These bytes, repeated until the buffer ends.
    Repeated(Vec<u8>),
}

impl InitialContent {
    /// The initialised bytes of a buffer of this size.
    #[must_use]
    pub fn given(self, bytes: usize) -> Vec<u8> {
        match self {
            Self::Uninitialised => Vec::new(),
            Self::Bytes(given) => given,
            Self::Repeated(part) => part.iter().copied().cycle().take(bytes).collect(),
        }
    }
}

/// Why a buffer cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The device has too little memory.
    #[error("buffer `{name}` needs {bytes} bytes; the device has {left} bytes of free memory")]
    NoMemory {
        name: String,
        bytes: u64,
        /// Free memory in bytes.
        left: u64,
    },
    /// The device has too many buffers.
    #[error("the device has more than {0} buffers")]
    TooMany(usize),
}

/// The content of a buffer after `start` bytes of padding: the initial bytes, followed by uninitialised bytes.
fn content((start, bytes): (usize, usize), access: Access, initial: InitialContent) -> RegionBytes {
    match initial {
        InitialContent::Repeated(part)
            if start == 0
                && access != Access::ReadWrite
                && part.len() >= 4
                && part.len().is_power_of_two() =>
        {
            RegionBytes::repeated(&part, bytes)
        }
        initial @ (InitialContent::Bytes(_) | InitialContent::Repeated(_)) => {
            let mut given = initial.given(bytes);
            let is_whole = given.len() >= bytes;
            given.truncate(bytes);
            if start > 0 {
                given.splice(..0, std::iter::repeat_n(0, start));
            }
            if is_whole {
                return RegionBytes::new(&given);
            }
            let content = RegionBytes::uninitialised(start + bytes);
            content.fill_front(&given);
            content
        }
        InitialContent::Uninitialised => RegionBytes::uninitialised(start + bytes),
    }
}

/// A device with its buffers.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    shape: DeviceShape,
    memory: Memory,
    /// The regions of the variables of launched modules.
    variables: Kept,
    /// The regions of freed buffers, the earliest first.
    freed: VecDeque<usize>,
}

impl Machine {
    /// A device without buffers.
    #[must_use]
    pub fn new(shape: DeviceShape) -> Self {
        Self { shape, ..Self::default() }
    }

    /// Changes how much memory the buffers have together. Those that exist stay.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.shape.memory_bytes = bytes;
    }

    /// Creates a buffer whose address is a multiple of 2^40.
    ///
    /// # Errors
    ///
    /// The device has too little memory, or too many buffers.
    pub fn buffer(
        &mut self,
        name: &str,
        bytes: u64,
        access: Access,
        initial: InitialContent,
    ) -> Result<BufferId, BufferError> {
        self.buffer_behind(0, name, bytes, access, initial)
    }

    /// Creates a buffer whose address is `start` bytes after a multiple of 2^40.
    ///
    /// # Errors
    ///
    /// The device has too little memory, or too many buffers.
    pub fn buffer_behind(
        &mut self,
        start: u64,
        name: &str,
        bytes: u64,
        access: Access,
        initial: InitialContent,
    ) -> Result<BufferId, BufferError> {
        let used: u64 = self.memory.regions.iter().map(|region| region.content.len() as u64).sum();
        let left = self.shape.memory_bytes.saturating_sub(used);
        if start.saturating_add(bytes) > left {
            return Err(BufferError::NoMemory { name: name.to_owned(), bytes, left });
        }
        let (start, bytes) = (start as usize, bytes as usize);
        let content = content((start, bytes), access, initial);
        let mut region = Region::new(name.to_owned(), RegionKind::Buffer, access, content);
        region.start = start;
        if self.freed.len() > QUARANTINE
            && let Some(index) = self.freed.pop_front()
        {
            self.memory.regions[index] = region;
            return Ok(BufferId(index));
        }
        self.memory.add(region).map(BufferId).ok_or(BufferError::TooMany(Memory::MOST_REGIONS))
    }

    /// Replaces the content of a buffer; bytes that `initial` does not give are uninitialised.
    pub fn set(&mut self, buffer: BufferId, initial: InitialContent) {
        if let Some(region) = self.memory.regions.get_mut(buffer.0) {
            region.content = content((region.start, region.bytes()), region.access, initial);
        }
    }

    /// Frees a buffer. Its addresses are not used again before many other buffers are freed, so that a later access is
    /// detected; then its identifier names another buffer.
    pub fn free(&mut self, buffer: BufferId) {
        let region = self.memory.regions.get_mut(buffer.0);
        if let Some(region) = region.filter(|region| region.kind != RegionKind::Freed) {
            region.kind = RegionKind::Freed;
            (region.content, region.start) = (RegionBytes::new(&[]), 0);
            self.freed.push_back(buffer.0);
        }
    }

    /// The bytes of a buffer; uninitialised bytes are zero.
    #[must_use]
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let mut bytes = region.content.to_vec();
        bytes.drain(..region.start.min(bytes.len()));
        bytes
    }

    /// The uninitialised ranges of a buffer, ascending: the complement of [`Machine::initialised`].
    #[must_use]
    pub fn uninitialised(&self, buffer: BufferId) -> Vec<std::ops::Range<usize>> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let (mut ranges, mut end) = (Vec::new(), 0);
        let beyond = region.bytes()..region.bytes();
        for part in self.initialised(buffer).into_iter().chain([beyond]) {
            if end < part.start {
                ranges.push(end..part.start);
            }
            end = part.end;
        }
        ranges
    }

    /// The bytes of a range of a buffer; uninitialised bytes are zero. None if the range exceeds the buffer.
    #[must_use]
    pub fn read_range(&self, buffer: BufferId, range: std::ops::Range<usize>) -> Option<Vec<u8>> {
        let region = self.memory.regions.get(buffer.0)?;
        let range = range.start.checked_add(region.start)?..range.end.checked_add(region.start)?;
        (range.end <= region.content.len())
            .then(|| range.map(|offset| region.content.read(offset, 1) as u8).collect())
    }

    /// The initialised ranges of a buffer, ascending.
    #[must_use]
    pub fn initialised(&self, buffer: BufferId) -> Vec<std::ops::Range<usize>> {
        let Some(region) = self.memory.regions.get(buffer.0) else { return Vec::new() };
        let whole = region.start..region.content.len();
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        region.content.for_each_initialised(whole, |part| {
            let part = part.start - region.start..part.end - region.start;
            match ranges.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                Some(_) | None => ranges.push(part),
            }
        });
        ranges
    }

    /// The address of a buffer in the address space of kernels.
    #[must_use]
    pub fn address(&self, buffer: BufferId) -> u64 {
        self.memory.start_of(buffer.0)
    }
}
