//! The virtual GPU: it executes PTX exactly, checks every access and counts the work.
//!
//! ```text
//!  lightbench_ptx::Tree ──► module (names, types, layout) ──► lower (passes) ──► machine ──► Report
//!                              │                                                  │   │
//!       isa (every instruction, declared once)     semantics (results on bits)    ┘   └ cost (counters)
//! ```
//!
//! The crate does not depend on `lightbench-core`, because it takes longest to compile.
#![allow(
    missing_docs,
    reason = "the lint applies to the public interface of lightbench-core; a comment that repeats a name says nothing"
)]

pub mod cost;
pub mod error;
pub mod isa;
mod lower;
pub mod machine;
pub mod module;
pub mod semantics;
pub mod tensor_map;
#[cfg(test)]
mod tests;

pub use cost::{BlockSelection, TraceUse};
pub use error::{LoadError, Problem, PtxLocation};
pub use machine::{
    Access, Architecture, Argument, BufferId, Checks, ConflictingAccess, DeviceShape, Fault,
    FaultKind, InitialContent, LaunchConfig, LaunchError, Machine, PausePoint, Paused, Races,
    Report, Schedule, Session, SessionState, TensorModel, ThreadId,
};
pub use module::Module;
