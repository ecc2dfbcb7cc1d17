//! What the compiler on this machine makes of real kernels is what the virtual GPU reads.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::{Build, CompileJob, Compiler};
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::launch::Architecture;
use lightbench_core::project::{Candidate, Kernel, Selection};
use lightbench_core::virtual_gpu::Module;
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{repository, shared_cache};

mod bits;
mod case;
mod execution;
mod fields;
mod functions;
mod language;
mod library;
mod number;
mod pictures;
mod products;
mod quantised;
mod reals;
mod rows;
mod science;
mod shared_objects;
mod sorting;
mod sums;
mod tensor;
mod training;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn kernels_for_the_older_back_end_load() {
    check(ComputeCapability(9, 0));
}

#[test]
fn kernels_for_the_newer_back_end_load() {
    check(ComputeCapability(10, 0));
}

/// Compiles every kernel of `tests/kernels` and reports all that do not load.
fn check(capability: ComputeCapability) {
    let Some(found) = compiler::required() else { return };
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let mut problems = Vec::new();
    for file in kernels() {
        let kernel = Kernel::load_standalone(&file).unwrap();
        let candidate = Candidate::standalone(&kernel, nothing_chosen()).unwrap();
        let job = CompileJob::new(&candidate, capability, Build::Optimised);
        let compiled = compiler.compile(&job, LIMIT, &Cancellation::new());
        let artifact = compiled.unwrap_or_else(|error| panic!("{}: {error}", kernel.name)).artifact;
        match Module::load(&artifact.ptx) {
            Ok(module) => assert!(module.kernels().count() > 0, "{} has a kernel", kernel.name),
            Err(errors) => problems.push(format!("{}: {}", kernel.name, errors[0])),
        }
    }
    assert!(problems.is_empty(), "for {capability}\n{}", problems.join("\n"));
}

pub(crate) fn kernels() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("tests/kernels")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    assert!(files.len() >= 50, "{} kernels", files.len());
    files
}

pub(crate) fn nothing_chosen() -> Selection {
    Selection {
        triton: Vec::new(),
        parameters: Vec::new(),
        constants: Vec::new(),
        options: Vec::new(),
        architecture: Architecture::Portable,
        name_expressions: Vec::new(),
    }
}
