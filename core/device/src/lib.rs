//! Devices that run kernels, and the sheets that describe GPUs.
//!
//! [`Device`] is the interface; the virtual GPU, a CUDA GPU and a scripted device for tests implement it. A sheet
//! states the units and rates of a GPU, each with the document it comes from. Limits that depend only on the compute
//! capability are in one table that all sheets share.

pub mod cuda;
pub mod error;
pub mod execution;
pub mod name;
pub mod virtual_device;

pub mod attributes;
pub mod capability;
pub mod cards;
pub mod clock_lock;
pub mod derived;
pub mod described_gpu;
pub mod facts;
pub mod identity;
pub mod library;
pub mod memory_check;
pub mod peaks;
pub mod sheet;
pub mod sm_limits;
pub mod sourced;
pub mod tensor_map;
pub mod timing;

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "for tests only")]
pub mod fake_gpu;
mod first_change;
mod modelled_launch;
mod rates;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, reason = "for tests only")]
pub mod scripted;
mod sheet_check;
#[cfg(test)]
mod tests;
mod written;

pub use attributes::{BoardReadings, DriverAttributes, LimitAttributes, MemoryPlace};
pub use capability::Capability;
pub use cards::{Card, CardOrigin};
pub use described_gpu::{DescribedGpu, Disagreement};
pub use error::{DeviceError, DriverError, OpenError};
pub use execution::{
    Argument, BufferId, BufferRequest, Content, Description, Device, DeviceKind, Image,
    Instruments, Launch, LaunchFault, MemoryExchange, MemoryLimit, ModuleId, Outcome,
    PartialLaunch, Placement,
};
pub use facts::{Evidence, Fact};
pub use identity::Identity;
pub use library::{LibraryOutcome, LibraryRun, LibraryUsed};
pub use lightbench_primitives::compute_capability::ComputeCapability;
pub use name::{DeviceName, LocalDevice};
pub use peaks::{Peaks, Pipe};
pub use rates::MODELLED_LAUNCH;
pub use sheet::{DescribedBy, DeviceSheet, SheetError};
pub use sheet_check::Problem;
pub use sm_limits::SmLimits;
pub use sourced::Sourced;
pub use tensor_map::TensorMapError;
pub use timing::{ModelledOperation, Operation, Residence, Sampling, Timed, Timekeeping, Work};
pub use virtual_device::{VirtualDevice, Watch};
