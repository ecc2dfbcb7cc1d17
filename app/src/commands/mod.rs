//! Headless commands, one file each.

pub mod check;
pub mod devices;
pub mod doctor;
pub mod launch;
pub mod new;
pub mod worker;
