//! Tests of the machine: files with their launch and results in comments, and real modules against the host.

mod files;
mod harness;
mod limits;
mod random;
mod real;
mod schedules;
