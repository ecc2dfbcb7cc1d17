//! The commands of the command line, one file or folder each.

pub mod access;
pub mod audit;
pub mod calibrate;
pub mod check;
pub mod compare;
pub mod devices;
pub mod doctor;
mod engine_client;
pub(crate) mod evaluation_setup;
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
