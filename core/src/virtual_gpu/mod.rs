//! The virtual GPU: PTX executed on the CPU, exactly, checked and counted.

pub mod semantics;
