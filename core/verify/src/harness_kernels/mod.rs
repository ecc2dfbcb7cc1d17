//! Harness kernels: our own kernels that run on a GPU, generate inputs, detect changed memory and compare outputs, so
//! that large tensors stay on the device.
//!
//! The source is in `assets/bench`; it computes the same bits as [`lightbench_tensors`] on the host. This module has
//! its compile job and its launches. Pure.

pub mod launches;

use lightbench_compile::job::{Build, CompileJob, CudaSource, Source};
use lightbench_compile::target::{Portability, Target};
use lightbench_device::ComputeCapability;
use lightbench_project::prelude;

const MAIN: (&str, &str) = ("bench.cu", include_str!("../../../../assets/bench/bench.cu"));

const HEADERS: [(&str, &str); 5] = [
    ("numbers.cuh", include_str!("../../../../assets/bench/numbers.cuh")),
    ("random.cuh", include_str!("../../../../assets/bench/random.cuh")),
    ("make.cuh", include_str!("../../../../assets/bench/make.cuh")),
    ("compare.cuh", include_str!("../../../../assets/bench/compare.cuh")),
    ("check.cuh", include_str!("../../../../assets/bench/check.cuh")),
];

/// How the code is compiled for a GPU.
#[must_use]
pub fn job(capability: ComputeCapability) -> CompileJob {
    let own = HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let source = CudaSource {
        name: MAIN.0.to_owned(),
        text: MAIN.1.to_owned(),
        headers: prelude::headers(&[], &[], [], &[]).into_iter().chain(own).collect(),
        name_expressions: Vec::new(),
        // A product and a sum are rounded each, as on the host.
        libraries: Vec::new(),
        options: vec!["--fmad=false".to_owned()],
    };
    let target = Target { capability, portability: Portability::Portable };
    CompileJob { source: Source::Cuda(source), target, build: Build::Optimised }
}
