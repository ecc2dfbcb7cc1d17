//! Headless commands, one file each.

pub mod worker;
