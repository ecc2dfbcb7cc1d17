//! Definitions that become projects, those that are refused, and that no text makes an import panic.

mod extensions;
mod kernel_bench;
mod projects;
mod python;
mod refusals;
mod solutions;
mod triton;
mod triton_parse;
mod undefined;

use std::path::{Path, PathBuf};

/// A definition of the examples.
fn example(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import");
    folder.join(name)
}
