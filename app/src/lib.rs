//! The program around the core: the command line and the window.

pub mod args;
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
