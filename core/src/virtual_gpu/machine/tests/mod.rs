//! Tests of the machine: files with their launch and results in comments, and real modules against the host.

mod counting;
mod files;
mod harness;
mod limits;
mod opcodes;
mod modelled;
mod real;
mod session;
mod spellings;
