//! Headless commands, one file each.

pub mod devices;
pub mod doctor;
pub mod new;
pub mod worker;
