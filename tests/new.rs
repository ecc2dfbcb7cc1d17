//! `lightbench new`: what it writes loads and compiles, and it overwrites nothing.

use std::fs;

use crate::compiler;
use crate::program::Bench;

/// A kernel file of some style, and the arguments after `--from FILE`.
struct Style {
    name: &'static str,
    source: &'static str,
    arguments: &'static [&'static str],
    /// The name of the project's kernel.
    kernel: &'static str,
}

const STYLES: &[Style] = &[
    Style {
        name: "plain C",
        source: "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y) {\n\
                 \x20 int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                 \x20 if (i < n) y[i] = a * x[i] + y[i];\n}\n",
        arguments: &[],
        kernel: "saxpy",
    },
    Style {
        name: "a whole program",
        source: "#include <cuda_runtime.h>\n#include <cstdio>\n\
                 #define CHECK(call) do { cudaError_t error = (call); if (error) printf(\"%d\", error); } while (0)\n\
                 __global__ void scale(float* __restrict__ out, const float* __restrict__ in, size_t n) {\n\
                 \x20 size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;\n\
                 \x20 if (i < n) out[i] = 2.0f * in[i];\n}\n\
                 int main() {\n  float *a, *b;\n  CHECK(cudaMalloc(&a, 400));\n  CHECK(cudaMalloc(&b, 400));\n\
                 \x20 scale<<<(100 + 255) / 256, 256>>>(a, b, 100);\n  return 0;\n}\n",
        arguments: &[],
        kernel: "scale",
    },
    Style {
        name: "a template over the block size",
        source: "#include <cuda_bf16.h>\n\
                 template <int BLOCK>\n__global__ void __launch_bounds__(BLOCK)\n\
                 rows(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {\n\
                 \x20 int row = blockIdx.x;\n\
                 \x20 for (int col = threadIdx.x; col < cols; col += BLOCK)\n\
                 \x20   y[row * cols + col] = x[row * cols + col];\n}\n",
        arguments: &[],
        kernel: "rows",
    },
    Style {
        name: "one of several",
        source: "__global__ void first(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n\
                 __global__ void second(const float* x, float* y, int n) {\n\
                 \x20 if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];\n}\n",
        arguments: &["--kernel", "second"],
        kernel: "second",
    },
    Style {
        name: "half precision with a scalar",
        source: "#include <cuda_fp16.h>\n\
                 __global__ void shift(const half* in, half* out, float by, long long count) {\n\
                 \x20 long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n\
                 \x20 if (i < count) out[i] = __float2half(__half2float(in[i]) + by);\n}\n",
        arguments: &[],
        kernel: "shift",
    },
];

#[test]
fn a_project_around_a_kernel_compiles_but_for_the_reference() {
    for style in STYLES {
        let bench = Bench::new();
        fs::write(bench.path().join("my kernel.cu"), style.source).unwrap();
        let arguments = [&["new", "made", "--from", "my kernel.cu"], style.arguments].concat();
        let said = bench.run(&arguments);
        assert_eq!(said.status, 0, "{}: {}", style.name, said.everything());
        said.expect(
            0,
            &["wrote", "project.ron", "guess", "next: write reference.cu, then lightbench check"],
        );
        let kernel = format!("made/kernels/{}.cu", style.kernel);
        assert!(bench.path().join(&kernel).is_file(), "{}: {kernel}", style.name);
        if compiler::required().is_none() {
            continue;
        }
        let kernel = bench.run(&["check", &kernel]);
        assert_eq!(kernel.status, 0, "{}: {}", style.name, kernel.everything());
        bench.run(&["check", "made"]).expect(
            1,
            &[
                "reference  failed: compile",
                "write the reference",
                "--> made/reference.cu:",
                "1 of 2 failed",
            ],
        );
        bench.run(&["run", "made", "--device", "virtual:h200", "--no-history"]).expect(
            2,
            &["the reference does not compile: ", "reference.cu:", "write the reference"],
        );
    }
}

#[test]
fn a_project_to_start_from_compiles_as_it_is() {
    let bench = Bench::new();
    bench.run(&["new", "made"]).expect(0, &["wrote", "project.ron", "next: lightbench check"]);
    if compiler::required().is_some() {
        bench.run(&["check", "made"]).expect(0, &["all 3 compile"]);
    }
    // An empty folder is as good as none.
    fs::create_dir(bench.path().join("empty")).unwrap();
    bench.run(&["new", "empty"]).expect(0, &["wrote"]);
}

/// Nothing is written, whatever is wrong.
fn check_refused(arguments: &[&str], status: i32, says: &[&str]) {
    let bench = Bench::new();
    for (file, text) in [
        (
            "several.cu",
            "__global__ void a(float* x) { *x = 1; }\n__global__ void b(float* x) { *x = 1; }\n",
        ),
        ("none.cu", "__device__ int f() { return 1; }\n"),
        ("broken.cu", "__global__ void f(float* x, {\n"),
        ("inputs.cu", "__global__ void f(const float* x, int n) {}\n"),
        ("escape.cu", "__global__ void f(\u{1b}[31m* x) {}\n"),
    ] {
        fs::write(bench.path().join(file), text).unwrap();
    }
    fs::write(bench.path().join("latin.cu"), b"// \xff\n__global__ void f(float* x) {}\n").unwrap();
    fs::write(bench.path().join("large.cu"), vec![b' '; 2 << 20]).unwrap();
    let before = names(&bench);
    let said = bench.run(arguments);
    said.expect(status, says);
    assert!(!said.everything().contains('\u{1b}'), "{}", said.everything());
    assert_eq!(names(&bench), before, "{arguments:?}");
}

fn names(bench: &Bench) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(bench.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn what_is_there_is_never_overwritten() {
    check_refused(&["new", "scale"], 2, &["scale", "not empty"]);
    check_refused(&["new", "none.cu"], 2, &["none.cu"]);
    check_refused(&["new", "."], 2, &["does not name a new folder"]);
    check_refused(&["new", "scale", "--from", "several.cu", "--kernel", "a"], 2, &["not empty"]);
    check_refused(&["new", "missing/folder/made"], 2, &["missing/folder"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    check_refused(&["new", "made", "--from", "nowhere.cu"], 2, &["cannot read nowhere.cu"]);
    check_refused(
        &["new", "made", "--from", "scale"],
        2,
        &["cannot read scale", "not a regular file"],
    );
    check_refused(&["new", "made", "--from", "latin.cu"], 2, &["cannot read latin.cu", "UTF-8"]);
    check_refused(&["new", "made", "--from", "large.cu"], 2, &["cannot read large.cu", "1048576"]);
}

#[test]
fn a_kernel_that_cannot_be_chosen_is_explained() {
    check_refused(
        &["new", "made", "--from", "several.cu"],
        2,
        &["several.cu", "`a`", "`b`", "--kernel"],
    );
    check_refused(
        &["new", "made", "--from", "several.cu", "--kernel", "c"],
        2,
        &["several.cu", "c"],
    );
    check_refused(&["new", "made", "--from", "none.cu"], 2, &["none.cu", "__global__"]);
    check_refused(&["new", "made", "--from", "broken.cu"], 2, &["broken.cu"]);
    check_refused(&["new", "made", "--from", "inputs.cu"], 2, &["inputs.cu", "const"]);
    check_refused(&["new", "made", "--from", "escape.cu"], 2, &["escape.cu"]);
    check_refused(&["new", "made", "--kernel", "a"], 2, &["--from"]);
}
