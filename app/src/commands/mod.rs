//! Headless commands, one file each.

pub mod audit;
pub(crate) mod bench;
pub mod check;
pub mod compare;
mod desk;
pub mod devices;
pub mod doctor;
mod fault;
pub mod history;
pub mod launch;
pub mod new;
pub mod picture;
pub mod run;
pub mod worker;
