//! CUDA kernels from source to verdict.
//!
//! ```text
//!  project folder ──► project::load ──► Project, Kernel, Candidate
//!                                           │
//!  toolchain::discover ──► Toolchain ──►  compile (in a worker process) ──► Artifact
//!                                           │
//!  device sheets ──────────────────────►  occupancy
//! ```
//!
//! Modules in reading order.

pub mod project;

pub mod toolchain;

pub mod compile;

pub mod worker;

pub mod device;

pub mod virtual_gpu;

pub mod units;

pub mod cancellation;
pub mod display_text;
