//! The program around the core: command line today, the window later.

pub mod commands;
