//! The program around the core: the command line today, the window later.

pub mod args;
pub mod commands;
pub mod outcome;
pub mod session;
pub mod table;
