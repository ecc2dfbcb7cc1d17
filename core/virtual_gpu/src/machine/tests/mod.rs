//! Tests of the machine: files with their launch and results in comments, and real modules against the host.

mod clusters;
mod counting;
mod described;
mod files;
mod harness;
mod limits;
mod memory;
mod modelled;
mod mutants;
mod opcodes;
mod real;
mod schedules;
mod session;
mod sparse;
mod stalls;
mod tensor;
mod tensor_copies;
mod textures;
