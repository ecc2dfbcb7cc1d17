//! The virtual GPU: PTX as a program that can be executed, checked and counted.
//!
//! ```text
//!  text ──► ptx (tokens, tree) ──► module (names, types, layout) ──► Module
//!                                     │
//!              isa (every instruction, declared once)
//!              semantics (what each of them does, as pure functions on bits)
//! ```
//!
//! It depends on nothing else in this crate.

pub mod error;
pub mod isa;
pub mod module;
mod ptx;
pub mod semantics;
#[cfg(test)]
mod tests;

pub use error::{LoadError, Place, Problem};
pub use module::Module;
