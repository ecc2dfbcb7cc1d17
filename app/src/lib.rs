//! The program around the core: the command line today, the window later.

pub mod args;
pub mod commands;
pub mod diagnostics;
pub mod outcome;
pub mod report;
pub mod session;
pub mod style;
pub mod table;
