//! The compiler of CUDA 12 for older drivers: from source to PTX, SASS and a verdict.
//!
//! Without it a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_COMPILER_12` it fails.

use std::path::{Path, PathBuf};

use lightbench_core::project::prelude;
use lightbench_core::toolchain::PinnedSet;

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};
use crate::skip::skip;

/// The folder in which `doctor --fetch compiler-12` installs.
fn required() -> Option<PathBuf> {
    let folder = compiler::fetched(PinnedSet::Compiler12);
    if folder.is_none() {
        let missing = "no NVRTC 12.9 (`lightbench doctor --fetch compiler-12`)";
        skip(missing, "LIGHTBENCH_REQUIRE_COMPILER_12");
    }
    folder
}

/// Runs the program with that compiler and nothing else of the machine.
fn run(bench: &Bench, toolchain: &Path, arguments: &[&str]) -> Said {
    let mut command = bench.command(arguments);
    command.env("LIGHTBENCH_TOOLCHAIN", toolchain).env_remove("PATH");
    Said::from(command.output().unwrap())
}

#[test]
fn facts_and_listings_have_source_lines() {
    let Some(toolchain) = required() else { return };
    let bench = Bench::with_empty_cache();
    run(&bench, &toolchain, &["check", "scale"]).expect(0, &["NVRTC 12.9.86", "naive"]);
    let check = ["check", "scale", "--kernel", "naive", "--json"];
    let document = run(&bench, &toolchain, &[&check[..], &["--sass", "--ptx"]].concat()).json();
    let kernel = &document["kernels"][0];
    let sass = kernel["sass"][0]["instructions"].as_array().unwrap();
    let store = sass.iter().find(|it| it["opcode"].as_str().unwrap().starts_with("STG")).unwrap();
    assert_eq!(store["source"][0]["line"], 10, "{store}");
    let said = run(&bench, &toolchain, &["check", "scale", "--kernel", "naive", "--ptx"]);
    said.expect(0, &[".version 8.8", "kernels/naive.cu:10", "index.cuh:4"]);
}

#[test]
fn kernels_get_verdicts_with_headers_from_folders() {
    let Some(toolchain) = required() else { return };
    let bench = Bench::with_empty_cache();
    for project in ["rmsnorm", "vector-sum"] {
        let folder = bench.path().join(project);
        copy_folder(&repository().join("sample-projects").join(project), &folder);
    }
    // `cuda_bf16.h` and a parameter; cooperative groups or CUB.
    for (project, kernel) in [("rmsnorm", "registers"), ("vector-sum", "naive")] {
        let arguments =
            ["run", project, "--kernel", kernel, "--device", "virtual:h200", "--no-times"];
        let said = run(&bench, &toolchain, &arguments);
        said.expect(0, &[&format!("{kernel} is correct")]);
    }
}

#[test]
fn every_stand_in_for_a_host_header_compiles() {
    let Some(toolchain) = required() else { return };
    let bench = Bench::with_empty_cache();
    let own = ["cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "mma.h", "cooperative_groups.h"];
    let names = prelude::stand_in_names().chain(own);
    let includes: Vec<String> = names.map(|name| format!("#include <{name}>\n")).collect();
    let kernel = "__global__ void largest(float* y, const __grid_constant__ CUtensorMap map) {\n\
         std::tuple<int, float> pair{1, 2.0f};\n\
         y[threadIdx.x] = std::max(std::get<1>(pair), std::numeric_limits<float>::max());\n}\n";
    std::fs::write(bench.path().join("all.cu"), includes.concat() + kernel).unwrap();
    run(&bench, &toolchain, &["check", "all.cu"]).expect(0, &["largest"]);
}
