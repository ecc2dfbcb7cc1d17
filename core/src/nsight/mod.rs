//! Nsight Compute around one launch of a kernel of ours: hardware counters by name, where it is installed and permitted.
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
//! The process that is profiled has no sandbox, because the profiler puts a library of its own into it, which a confined
//! worker does not survive. It is code of ours that launches there, as in every station. The table goes to a file that only
//! the profiler is told of: what a kernel prints cannot be taken for it.

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
