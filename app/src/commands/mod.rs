//! Headless commands, one file each.

pub mod audit;
mod bench;
pub mod check;
pub mod compare;
pub mod devices;
pub mod doctor;
pub mod launch;
pub mod new;
pub mod run;
pub mod worker;
