//! The interface of all devices: load a module, hold buffers, launch a kernel, return its outcome.
//!
//! A launch is data. The same value runs on the virtual GPU and on a real one; the checks during a launch are chosen
//! when the device is opened.

use std::fmt;
use std::io;
use std::ops::Range;

use lightbench_measure::{Energy, EnergyError};
use lightbench_primitives::compute_capability::ComputeCapability;
use lightbench_primitives::tensor_map::TensorMap;
use lightbench_primitives::texture::TextureObject;
use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::machine::{Accepted, Suspicion};
use lightbench_virtual_gpu::{Access, BlockSelection, Fault, FaultKind, InitialContent};
use serde::{Deserialize, Serialize};

use super::attributes::DriverAttributes;
use super::error::DeviceError;
use super::library::{LibraryError, LibraryOutcome, LibraryRun};
use super::timing::{Sampling, Timed, Timekeeping, Work};
use super::virtual_device::Watch;

/// Something that loads, holds and runs.
pub trait Device: fmt::Debug {
    fn description(&self) -> &Description;

    /// Loads a module.
    ///
    /// # Errors
    ///
    /// The device rejects it.
    fn load(&mut self, image: Image<'_>) -> Result<ModuleId, DeviceError>;

    /// Makes a buffer. Bytes without an initial value are uninitialised; a device that does not watch accesses fills them
    /// with [`POISON`](lightbench_primitives::element::POISON).
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    fn allocate(&mut self, request: BufferRequest) -> Result<BufferId, DeviceError>;

    /// Replaces the content of a buffer; bytes without initial content are uninitialised.
    ///
    /// # Errors
    ///
    /// The buffer belongs to another device, or the device was lost.
    fn set(&mut self, buffer: BufferId, initial: InitialContent) -> Result<(), DeviceError>;

    /// Frees a buffer.
    ///
    /// # Errors
    ///
    /// The buffer belongs to another device, or the device was lost.
    fn free(&mut self, buffer: BufferId) -> Result<(), DeviceError>;

    /// Sets the checks of the following launches. Each outcome lists the checks that the device cannot perform.
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
    /// The launch is invalid. Faults of the kernel are not errors; the outcome contains them.
    fn launch(&mut self, launch: &Launch) -> Result<Outcome, DeviceError>;

    /// Calls a vendor library and waits for it.
    ///
    /// # Errors
    ///
    /// The library is missing, or rejects the call.
    fn library(&mut self, _run: &LibraryRun) -> Result<LibraryOutcome, DeviceError> {
        Err(LibraryError::NoGpu.into())
    }

    /// Times work: runs it for each sample, or models it on a virtual device. The only check during timing is for
    /// faults that end a kernel.
    ///
    /// # Errors
    ///
    /// A launch is invalid, or the device was lost.
    fn time(&mut self, work: &Work, sampling: Sampling) -> Result<Timed, DeviceError>;

    /// The current content of a buffer.
    ///
    /// # Errors
    ///
    /// The buffer belongs to another device, or the device was lost.
    fn read(&mut self, buffer: BufferId) -> Result<Content, DeviceError>;

    /// Writes the content of a buffer to `sink`; returns the uninitialised ranges of bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], and errors of `sink`.
    fn read_to(
        &mut self,
        buffer: BufferId,
        sink: &mut dyn io::Write,
    ) -> Result<Vec<Range<usize>>, DeviceError> {
        let Content { bytes, unwritten } = self.read(buffer)?;
        sink.write_all(&bytes).map_err(|error| DeviceError::Passing(error.to_string()))?;
        Ok(unwritten)
    }

    /// Replaces the content of a buffer by as many bytes from `source`.
    ///
    /// # Errors
    ///
    /// As [`Self::set`], and errors of `source`, including an early end.
    fn set_from(&mut self, buffer: BufferId, source: &mut dyn io::Read) -> Result<(), DeviceError> {
        let mut bytes = self.read(buffer)?.bytes;
        source.read_exact(&mut bytes).map_err(|error| DeviceError::Passing(error.to_string()))?;
        self.set(buffer, InitialContent::Bytes(bytes))
    }

    /// Loads the harness kernels: their launches may write to every buffer and are not checked. `None` on a device
    /// whose harness runs on the host.
    ///
    /// # Errors
    ///
    /// The device rejects the module.
    fn equip(&mut self, _image: Image<'_>) -> Result<Option<ModuleId>, DeviceError> {
        Ok(None)
    }

    /// Passes buffer contents to another process with the same device without a copy through the host; `None` if the
    /// device does not support it.
    fn direct(&mut self) -> Option<&mut dyn MemoryExchange> {
        None
    }

    /// Runs parts of a grid; `None` on a device that runs whole grids only.
    fn partial_launch(&mut self) -> Option<&mut dyn PartialLaunch> {
        None
    }

    /// Measurements of a device that runs in real time; `None` on a device that models its time.
    fn instruments(&mut self) -> Option<&mut dyn Instruments> {
        None
    }
}

/// Runs parts of a grid, and reads the bytes that the part wrote.
pub trait PartialLaunch {
    /// Selects how much memory buffers that are allocated from now on may have.
    fn limit_memory(&mut self, limit: MemoryLimit);

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

    /// The sizes of the groups of blocks whose writes do not depend on other blocks of the same launch: of its clusters.
    /// None, with the reason, if clusters may depend on each other: by atomics, fences or strong accesses.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, or the device does not support it or its launch.
    fn independent_blocks(
        &self,
        launch: &Launch,
    ) -> Result<Result<[u32; 3], &'static str>, DeviceError>;

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

/// How much memory the buffers of a simulated device may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLimit {
    /// Little enough for this machine if every byte is accessed.
    Host,
    /// More than any GPU has: sampled blocks access few bytes.
    Sampled,
}

/// Measurements that only devices running in real time support.
pub trait Instruments {
    /// Selects the clock of the following timings, if it is available.
    fn keep_time(&mut self, by: &Timekeeping);

    /// Time of empty kernels with the grids and blocks of the work, by the clock of cold times; `None` if it cannot be
    /// measured.
    ///
    /// # Errors
    ///
    /// A launch is invalid, or the device was lost.
    fn launch_floor(&mut self, work: &Work) -> Result<Option<Seconds>, DeviceError>;

    /// Energy of an execution, measured over seconds of repeated executions. Changed inputs are not restored in
    /// between.
    ///
    /// # Errors
    ///
    /// A launch is invalid, a kernel faulted, or the device was lost.
    fn energy(&mut self, work: &Work) -> Result<Result<Energy, EnergyError>, DeviceError>;
}

/// Exchange of buffer contents between processes with the same device.
pub trait MemoryExchange {
    /// Offers a copy of a buffer's content and returns its handle. The copy stays until another one is offered in the
    /// same slot, or untrusted code runs.
    ///
    /// # Errors
    ///
    /// As [`Device::read`], or the machine does not permit it.
    fn offer(&mut self, buffer: BufferId, slot: usize) -> Result<Vec<u8>, DeviceError>;

    /// Replaces the content of a buffer by an offered copy of the same size.
    ///
    /// # Errors
    ///
    /// As [`Device::set`], or the machine does not permit it.
    fn take(&mut self, buffer: BufferId, offered: &[u8]) -> Result<(), DeviceError>;
}

/// Properties of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The name that people type: `virtual:h200`, `cuda:0`.
    pub name: String,
    /// The name that people read.
    pub title: String,
    /// The compute capability to compile for.
    pub capability: ComputeCapability,
    /// Bytes that all buffers together may have.
    pub memory_bytes: u64,
    pub kind: DeviceKind,
}

/// The kind of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceKind {
    /// On the host, instruction by instruction, checked and counted.
    Virtual,
    /// On a GPU.
    Cuda {
        /// The GPU's UUID, as 32 hexadecimal digits.
        uuid: String,
        /// The newest CUDA version that the driver supports, such as (13, 0).
        driver: (u32, u32),
        /// Attributes as the driver reports them.
        attributes: Box<DriverAttributes>,
    },
}

/// A compiled module, in both of its forms.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Form for the virtual GPU.
    pub ptx: &'a str,
    /// Form for a GPU; without it, the driver assembles the PTX.
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
    /// Name in fault reports.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its address is a multiple of this, a power of two.
    pub align: u64,
    /// Permitted accesses.
    pub access: Access,
    /// Initial content.
    pub initial: InitialContent,
    /// The end at the edge of the mapping.
    pub placement: Placement,
}

/// The end of a buffer at the edge of the mapping, on a device whose memory is mapped in pages: every access beyond
/// that end faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// The first byte.
    Left,
    /// The last byte, as nearly as the alignment permits.
    Right,
    /// Neither: its address is a multiple of the promised alignment and of nothing larger, so that code that assumes a
    /// larger alignment faults.
    OddMultiple,
}

impl BufferRequest {
    /// A buffer aligned to 256 bytes, as allocations are, at the left edge.
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
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Whether all blocks are on the device at once, so that they may wait for each other.
    pub cooperative: bool,
    /// Blocks of a cluster, unless the kernel declares its cluster.
    pub cluster: Option<[u32; 3]>,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// Threads of each block of [`Self::linear`].
    const LINEAR_THREADS: u32 = 256;

    /// Maximum blocks of [`Self::linear`].
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
    /// The bytes of a value, in the size of the parameter.
    Bytes(Vec<u8>),
    /// A descriptor of a buffer for the Tensor Memory Accelerator, encoded with the buffer's address when the kernel is
    /// launched.
    TensorMap { buffer: BufferId, map: TensorMap },
    /// A texture or surface object of a buffer.
    Texture { buffer: BufferId, object: TextureObject },
}

/// The outcome of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Faults of the kernel.
    pub faults: Vec<LaunchFault>,
    /// Counters of the virtual GPU, if enabled.
    pub counters: Option<Counters>,
    /// Steps of the virtual GPU: warp instructions, of which products weigh more.
    pub steps: Option<u64>,
    /// Warp instructions, where the device counts them.
    pub warp_instructions: Option<u64>,
    /// Output of `printf`, if the device captures it; a GPU's driver writes it to standard output.
    pub printed: String,
    /// Accesses that CUDA idioms rely on and the memory model does not permit, by the rules of `docs/races.md`.
    pub accepted: Vec<Accepted>,
    /// Instructions of strong reads to which the memory model permits an older value than the newest.
    pub stale_reads: usize,
    /// What may be wrong without being a fault.
    pub suspicions: Vec<Suspicion>,
    /// Checks that were not performed.
    pub not_checked: Vec<&'static str>,
}

/// A fault of a kernel, as precisely as the device reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchFault {
    /// The virtual GPU saw it happen.
    Seen(Box<Fault>),
    /// Reported by a GPU, without details.
    Reported {
        /// Which rule.
        kind: FaultKind,
        /// The kernel.
        kernel: String,
        /// The buffer, if known.
        buffer: Option<String>,
        /// Details, as a sentence.
        details: String,
    },
}

impl LaunchFault {
    /// An input changed during a launch, as detected by the device or by the harness kernels.
    #[must_use]
    pub fn input_changed(kernel: &str, buffer: &str, offset: u64) -> Self {
        Self::Reported {
            kind: FaultKind::ReadOnlyWrite,
            kernel: kernel.to_owned(),
            buffer: Some(buffer.to_owned()),
            details: format!(
                "the input `{buffer}` changed during the launch, from byte {offset} on"
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

/// The content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Uninitialised ranges of bytes, ascending; empty on a device that does not track initialisation.
    pub unwritten: Vec<std::ops::Range<usize>>,
}

impl Content {
    /// Whether all bytes of a range are initialised, as far as the device tracks it.
    #[must_use]
    pub fn is_written(&self, range: &std::ops::Range<usize>) -> bool {
        let after = self.unwritten.partition_point(|hole| hole.end <= range.start);
        self.unwritten.get(after).is_none_or(|hole| hole.start >= range.end)
    }
}
