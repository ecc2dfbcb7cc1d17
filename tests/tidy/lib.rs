//! The repository's own rules, those that the compiler does not check.
//!
//! A package of its own, outside the workspace: it needs none of the program, builds in seconds, and its parser does not take
//! part in the program's dependencies. `cargo tidy` runs it, and so does a test of `tests/main.rs`.

#![cfg(test)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test is the error report")]

mod cargo_commands;
mod cycles;
mod layers;
#[path = "../docs/page.rs"]
mod page;
mod places;
mod sources;
mod text;
