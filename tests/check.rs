//! `lightbench check` from end to end: facts, diagnostics, listings, requests.

use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, Said};

mod diagnostics;
mod files;
mod listings;
mod requests;
mod samples;
mod tensor_maps;

/// The one kernel of a document with this name.
fn kernel<'a>(document: &'a Value, name: &str) -> &'a Value {
    let kernels = document["kernels"].as_array().unwrap();
    kernels.iter().find(|kernel| kernel["name"] == name).unwrap()
}

/// The fixture project's `check` with more arguments.
fn check_scale(bench: &Bench, arguments: &[&str]) -> Said {
    bench.run(&[&["check", "scale"], arguments].concat())
}
