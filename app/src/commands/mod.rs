//! Headless commands, one file each.

pub mod access;
pub mod audit;
pub(crate) mod bench;
pub mod calibrate;
pub mod check;
pub mod compare;
mod desk;
pub mod devices;
pub mod doctor;
pub mod explain;
mod fault;
pub mod history;
pub mod hold_clocks;
pub mod launch;
pub mod launch_once;
pub mod launcher;
pub mod lesson;
pub mod models;
pub mod new;
pub mod picture;
pub mod profile;
mod progress;
pub mod run;
pub mod search;
pub mod suggest;
pub mod tour;
pub mod worker;
