//! Devices: the sheets that describe GPUs.
//!
//! A sheet says what a GPU is: how many of everything, how fast, and which document says so. What
//! depends on the compute capability alone stands in one table that the sheets share.

pub mod capability;
pub mod facts;
pub mod peaks;
pub mod sheet;
pub mod sm_limits;
pub mod sourced;

mod check;
mod rates;
mod written;

pub use capability::{Capability, ComputeCapability};
pub use check::Problem;
pub use facts::{Evidence, Fact};
pub use peaks::{Peaks, Pipe};
pub use sheet::{DeviceSheet, SheetError};
pub use sm_limits::SmLimits;
pub use sourced::Sourced;
