//! The `lightbench` program: its command line and its window.

#![allow(
    missing_docs,
    reason = "internal items of the program, which no other crate documents against"
)]

pub mod args;
mod background_worker;
pub mod commands;
pub mod diagnostics;
pub mod outcome;
pub mod panels;
pub mod report;
pub mod session;
pub mod style;
pub mod table;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod widgets;
pub mod window;
pub mod workbench;
