//! Hardware counters of one launch, measured with Nsight Compute where it is installed and permitted.
//!
//! ```text
//!  Order (modules, one run) ──file──┐
//!                                   ▼
//!  ncu --metrics … ── starts ──► this program, hidden command `launch-once` ──► the device, once
//!   └─► a table in a file of ours ──► table::read ──► Profile
//!
//!  ncu --section SourceCounters --export … ── the same once more ──► a report
//!  ncu --import … --page source ──► stalls::read ──► Stalls, line by line
//! ```
//!
//! The profiled process has no sandbox, because the profiler injects a library that does not run in a confined worker. The
//! process launches kernels with the same code as every device worker. The table goes to a file whose path only the profiler
//! receives, so output of a kernel cannot be mistaken for it.

mod command;
mod hardware;
mod launch_request;
pub mod metric;
mod profile;
pub mod profiler_message;
pub mod quantity;
pub mod stalls;
pub mod table;
#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use command::MOST_LAUNCHES;
pub use hardware::{Hardware, hardware};
pub use launch_request::{LaunchOnceError, ProfiledLaunchRequest, launch_once};
pub use profile::{
    Measured, Profile, ProfileError, ProfiledLaunch, Profiler, profile, sampled, write_report,
};
