//! The virtual GPU: PTX as a program that is executed exactly, checked and counted.
//!
//! ```text
//!  text ──► ptx (tokens, tree) ──► module (names, types, layout) ──► lower (passes) ──► machine ──► Report
//!                                     │                                                  │   │
//!              isa (every instruction, declared once)     semantics (what each computes) ┘   └ cost (counters)
//! ```
//!
//! A crate of its own: it needs nothing of what is built around it, and takes longest to compile.

pub mod cost;
pub mod error;
pub mod isa;
mod lower;
pub mod machine;
pub mod module;
pub mod ptx;
pub mod semantics;
#[cfg(test)]
mod tests;

pub use cost::{Blocks, TraceUse};
pub use error::{LoadError, Place, Problem};
pub use machine::{
    Access, Architecture, Argument, BufferId, Checks, DeviceShape, Fault, FaultKind, Initial,
    LaunchConfig, LaunchError, Machine, OtherSide, Paused, Races, Report, Schedule, Session, State,
    TensorModel, Thread, Until,
};
pub use module::Module;
