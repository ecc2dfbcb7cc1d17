//! `lightbench launch` from end to end: results, faults, requests, counters, and every sample kernel.

use std::fs;

use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, Said, repository};

mod faults;
mod projects;
mod requests;
mod results;

/// A kernel that adds, with a guard that can be wrong.
const ADD: &str = "extern \"C\" __global__ void add(const float* x, float* y, int n) {\n\
                   \x20 int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                   \x20 if (i < n) {\n\
                   \x20   y[i] = x[i] + 1.0f;\n\
                   \x20 }\n\
                   }\n";

/// The same as PTX, which needs no compiler.
const COPY_PTX: &str = ".version 9.0\n.target sm_90\n.address_size 64\n\
    .visible .entry copy(.param .u64 x, .param .u64 y) {\n\
    \x20 .reg .b64 %rd<6>;\n\
    \x20 .reg .b32 %r<3>;\n\
    \x20 ld.param.u64 %rd1, [x];\n\
    \x20 ld.param.u64 %rd2, [y];\n\
    \x20 mov.u32 %r1, %tid.x;\n\
    \x20 mul.wide.u32 %rd3, %r1, 4;\n\
    \x20 add.s64 %rd4, %rd1, %rd3;\n\
    \x20 add.s64 %rd5, %rd2, %rd3;\n\
    \x20 ld.global.u32 %r2, [%rd4];\n\
    \x20 st.global.u32 [%rd5], %r2;\n\
    \x20 ret;\n\
    }\n";

/// A bench with the two kernels in it.
fn bench() -> Bench {
    let bench = Bench::new();
    fs::write(bench.path().join("add.cu"), ADD).unwrap();
    fs::write(bench.path().join("copy.ptx"), COPY_PTX).unwrap();
    bench
}

/// `launch` with arguments that are written in one line.
fn launch(bench: &Bench, line: &str) -> Said {
    let arguments: Vec<&str> = ["launch"].into_iter().chain(line.split_whitespace()).collect();
    bench.run(&arguments)
}

/// The values of the first printed buffer.
fn numbers(document: &Value) -> Vec<f64> {
    let values = document["buffers"][0]["values"].as_array().unwrap();
    values.iter().map(|value| value.as_f64().unwrap()).collect()
}
