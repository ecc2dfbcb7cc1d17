//! What every device can do: load a module, hold buffers, launch a kernel, give back what came of it.
//!
//! A launch is data. The same value runs on the virtual GPU and on a real one; what a device looks for while it runs is
//! decided when the device is opened.

use std::fmt;
use std::io;
use std::ops::Range;

use lightbench_measure::{Energy, EnergyError};
use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::machine::Accepted;
use lightbench_virtual_gpu::{Access, BlockSelection, Fault, FaultKind, InitialContent};
use serde::{Deserialize, Serialize};

use super::attributes::DriverAttributes;
use super::error::DeviceError;
use super::library::{LibraryError, LibraryOutcome, LibraryRun};
use super::timing::{Sampling, Timed, Timekeeping, Work};
use super::virtual_device::Watch;

/// Something that loads, holds and runs.
pub trait Device: fmt::Debug {
    /// What it is.
    fn description(&self) -> &Description;

    /// Loads a module.
    ///
    /// # Errors
    ///
    /// The device does not take it.
    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError>;

    /// Makes a buffer. Bytes without an initial value are uninitialised; a device that does not watch accesses fills them
    /// with [`POISON`](lightbench_primitives::element::POISON).
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError>;

    /// Replaces what a buffer holds; what is not initial was never written.
    ///
    /// # Errors
    ///
    /// The buffer is another device's, or the device was lost.
    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError>;

    /// Gives a buffer back.
    ///
    /// # Errors
    ///
    /// The buffer is another device's, or the device was lost.
    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError>;

    /// What to look for from the next launch on. A device that cannot look says in each outcome what nobody looked for.
    fn watch(&mut self, watch: Watch);

    /// Replaces the first bytes of a global or constant variable of a module, as `cudaMemcpyToSymbol` does.
    ///
    /// # Errors
    ///
    /// The module has no such variable, or it is smaller.
    fn fill_variable(
        &mut self,
        module: ModuleId,
        symbol: &str,
        bytes: &[u8],
    ) -> Result<(), DeviceError>;

    /// Runs a kernel to its end.
    ///
    /// # Errors
    ///
    /// The launch is impossible. What a kernel does wrong is no error: it is in the outcome.
    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError>;

    /// Calls a vendor's library and waits for it.
    ///
    /// # Errors
    ///
    /// It is not there, or refuses the call.
    fn library(&mut self, _run: &LibraryRun) -> Result<LibraryOutcome, DeviceError> {
        Err(LibraryError::NoGpu.into())
    }

    /// Times work: runs it for each sample, or models it on a device that has no time of its own. Nothing is looked for
    /// meanwhile but what ends a kernel.
    ///
    /// # Errors
    ///
    /// A launch is impossible, or the device was lost.
    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError>;

    /// What a buffer holds now.
    ///
    /// # Errors
    ///
    /// The buffer is another device's, or the device was lost.
    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError>;

    /// Writes what a buffer holds now to a file or the like, and says which ranges of bytes nothing wrote.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], and what `sink` says.
    fn read_to(
        &mut self,
        buffer: BufferId,
        sink: &mut dyn io::Write,
    ) -> Result<Vec<Range<usize>>, DeviceError> {
        let Content { bytes, unwritten } = self.read(buffer)?;
        sink.write_all(&bytes).map_err(|error| DeviceError::Passing(error.to_string()))?;
        Ok(unwritten)
    }

    /// Replaces what a buffer holds by as many bytes from a file or the like.
    ///
    /// # Errors
    ///
    /// As [`Self::set`], and what `source` says: that it ends before the buffer does, too.
    fn set_from(&mut self, buffer: BufferId, source: &mut dyn io::Read) -> Result<(), DeviceError> {
        let mut bytes = self.read(buffer)?.bytes;
        source.read_exact(&mut bytes).map_err(|error| DeviceError::Passing(error.to_string()))?;
        self.set(buffer, InitialContent::Bytes(bytes))
    }

    /// Takes the code of the harness kernels: its launches may write to every buffer and are not checked. None where that
    /// work is the host's.
    ///
    /// # Errors
    ///
    /// The device does not take it.
    fn equip(&mut self, _image: Image<'_>) -> Result<Option<ModuleId>, DeviceError> {
        Ok(None)
    }

    /// A way for contents to another process with the same device that does not lead through the host; none where there
    /// is no such way.
    fn direct(&mut self) -> Option<&mut dyn MemoryExchange> {
        None
    }

    /// Runs of a part of a grid; none on a device that runs whole grids only.
    fn partial_launch(&mut self) -> Option<&mut dyn PartialLaunch> {
        None
    }

    /// What a device that runs in real time has besides; none of one that models its time.
    fn instruments(&mut self) -> Option<&mut dyn Instruments> {
        None
    }
}

/// Runs of a part of a grid, and a look at what the part wrote.
pub trait PartialLaunch {
    /// Runs only these blocks of a launch: afterwards buffers hold a part of its result.
    ///
    /// # Errors
    ///
    /// The launch is impossible, or blocks of the kernel may wait for each other.
    fn launch_part(
        &mut self,
        launch: &Launch,
        blocks: BlockSelection,
    ) -> Result<Outcome, DeviceError>;

    /// How what a block writes may depend on other blocks of the same launch: atomics, fences, strong accesses. None where
    /// it cannot.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or the device does not execute it.
    fn block_coupling(&self, launch: &Launch) -> Result<Option<&'static str>, DeviceError>;

    /// The ranges of bytes of a buffer that were written, ascending.
    ///
    /// # Errors
    ///
    /// The buffer is another device's.
    fn written(&self, buffer: BufferId) -> Result<Vec<Range<usize>>, DeviceError>;

    /// The bytes of a range of a buffer.
    ///
    /// # Errors
    ///
    /// The buffer is another device's, or smaller.
    fn read_range(&self, buffer: BufferId, range: Range<usize>) -> Result<Vec<u8>, DeviceError>;
}

/// What a device that runs in real time has besides what all devices have.
pub trait Instruments {
    /// Has this tell the time from now on, where it can.
    fn keep_time(&mut self, by: &Timekeeping);

    /// What empty kernels of the same grids and blocks as those of the work take, by the clock that tells cold times; none
    /// where nobody can say.
    ///
    /// # Errors
    ///
    /// A launch is impossible, or the device was lost.
    fn launch_floor(&mut self, work: &Work) -> Result<Option<Seconds>, DeviceError>;

    /// What an execution costs in energy: seconds of nothing else. What is read and written is not put right meanwhile.
    ///
    /// # Errors
    ///
    /// A launch is impossible, a kernel faulted, or the device was lost.
    fn energy(&mut self, work: &Work) -> Result<Result<Energy, EnergyError>, DeviceError>;
}

/// A way for contents from one process to another with the same device.
pub trait MemoryExchange {
    /// Offers a copy of what a buffer holds, and says what names it. It stays until something else is offered in the same
    /// slot, or code that is not trusted runs.
    ///
    /// # Errors
    ///
    /// As [`Device::read`], and where the machine does not permit it.
    fn offer(&mut self, buffer: BufferId, slot: usize) -> Result<Vec<u8>, DeviceError>;

    /// Replaces what a buffer holds by what another process offers, which has as many bytes.
    ///
    /// # Errors
    ///
    /// As [`Device::set`], and where the machine does not permit it.
    fn take(&mut self, buffer: BufferId, offered: &[u8]) -> Result<(), DeviceError>;
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The name that people type: `virtual:h200`, `cuda:0`.
    pub name: String,
    /// The name that people read.
    pub title: String,
    /// What code must be compiled for.
    pub capability: ComputeCapability,
    /// Bytes that all buffers together may have.
    pub memory_bytes: u64,
    /// How it runs kernels.
    pub kind: DeviceKind,
}

/// How a device runs kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceKind {
    /// On the host, instruction by instruction, checked and counted.
    Virtual,
    /// On a GPU.
    Cuda {
        /// The GPU's own identity, as 32 hexadecimal digits.
        uuid: String,
        /// The newest CUDA version that the driver knows, such as (13, 0).
        driver: (u32, u32),
        /// What it is described by.
        attributes: Box<DriverAttributes>,
    },
}

/// A compiled module, in both of its forms.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// What the virtual GPU reads.
    pub ptx: &'a str,
    /// What a GPU runs; where there is none, its driver assembles the PTX.
    pub cubin: Option<&'a [u8]>,
}

/// A module that a device has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(pub(super) usize);

/// A buffer that a device has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferId(pub(super) usize);

/// A buffer to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferRequest {
    /// What faults call it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its address is a multiple of this, a power of two.
    pub align: u64,
    /// Who may write to it.
    pub access: Access,
    /// What it holds at first.
    pub initial: InitialContent,
    /// Which of its ends lies at the edge of what is mapped.
    pub placement: Placement,
}

/// Which end of a buffer lies at the edge of what is mapped, on a device whose memory is mapped in pages: an access beyond
/// that end faults, however near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// The first byte.
    Left,
    /// The last byte, as nearly as the alignment permits.
    Right,
    /// Neither: its address is a multiple of what was promised, and of nothing more, so that code which takes more for
    /// granted faults.
    OddMultiple,
}

impl BufferRequest {
    /// A buffer that starts on 256 bytes, as allocations do, at the left edge.
    #[must_use]
    pub fn new(name: &str, bytes: u64, access: Access, initial: InitialContent) -> Self {
        let name = name.to_owned();
        Self { name, bytes, align: 256, access, initial, placement: Placement::Left }
    }
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Where the kernel is.
    pub module: ModuleId,
    /// Its symbol.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// Whether all blocks are on the device at once, so that they may wait for each other.
    pub cooperative: bool,
    /// Blocks of a cluster, unless the kernel says so itself.
    pub cluster: Option<[u32; 3]>,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// Threads of each block of [`Self::linear`].
    const LINEAR_THREADS: u32 = 256;

    /// Blocks of [`Self::linear`] at most.
    const LINEAR_BLOCKS: u64 = 8192;

    /// A one-dimensional launch with a thread for each item, up to 8192 blocks of 256 threads: a kernel with more items
    /// loops over them.
    #[must_use]
    pub fn linear(module: ModuleId, kernel: &str, items: u64, arguments: Vec<Argument>) -> Self {
        let blocks = items.div_ceil(u64::from(Self::LINEAR_THREADS)).clamp(1, Self::LINEAR_BLOCKS);
        Self {
            module,
            kernel: kernel.to_owned(),
            grid: [blocks as u32, 1, 1],
            block: [Self::LINEAR_THREADS, 1, 1],
            dynamic_shared: 0,
            cooperative: false,
            cluster: None,
            arguments,
        }
    }
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of a buffer.
    Buffer(BufferId),
    /// The bytes of a value, as many as the parameter has.
    Bytes(Vec<u8>),
}

/// What came of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What the kernel did wrong.
    pub faults: Vec<LaunchFault>,
    /// What the virtual GPU counted, if it was asked to.
    pub counters: Option<Counters>,
    /// What the kernel printed, where the device catches it; a GPU's driver writes it to standard output.
    pub printed: String,
    /// What the idiom of CUDA accepts and the memory model does not, by the rules of `docs/races.md`.
    pub accepted: Vec<Accepted>,
    /// Instructions of strong reads to which the memory model permits an older value than the newest.
    pub stale_reads: usize,
    /// What nobody looked for, so that finding nothing says nothing about it.
    pub not_checked: Vec<&'static str>,
}

/// What a kernel did wrong, as exactly as the device knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchFault {
    /// The virtual GPU saw it happen.
    Seen(Box<Fault>),
    /// A GPU only says that it happened.
    Reported {
        /// Which rule.
        kind: FaultKind,
        /// The kernel.
        kernel: String,
        /// The buffer, where it is known.
        buffer: Option<String>,
        /// What is known, in a sentence.
        details: String,
    },
}

impl LaunchFault {
    /// An input is not what it was before a launch, as the device or trusted code on it found.
    #[must_use]
    pub fn input_changed(kernel: &str, buffer: &str, offset: u64) -> Self {
        Self::Reported {
            kind: FaultKind::ReadOnlyWrite,
            kernel: kernel.to_owned(),
            buffer: Some(buffer.to_owned()),
            details: format!(
                "the input `{buffer}` is not what it was before the launch, from byte {offset} on"
            ),
        }
    }

    /// Which rule the kernel broke.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::Seen(fault) => fault.kind,
            Self::Reported { kind, .. } => *kind,
        }
    }
}

/// What a buffer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Ranges of bytes that nothing wrote, ascending; none on a device that cannot tell.
    pub unwritten: Vec<std::ops::Range<usize>>,
}

impl Content {
    /// Whether all bytes of a range were written, as far as the device knows.
    #[must_use]
    pub fn is_written(&self, range: &std::ops::Range<usize>) -> bool {
        let after = self.unwritten.partition_point(|hole| hole.end <= range.start);
        self.unwritten.get(after).is_none_or(|hole| hole.start >= range.end)
    }
}
