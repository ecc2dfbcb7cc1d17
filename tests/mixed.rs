//! CUDA files with host and device code, as programs have them: `check`, `launch` and `new --from`.

use std::fs;

use crate::compiler;
use crate::program::Bench;

/// A program with a wrapper, a local header in another folder, macros, a template and a lambda.
const MAIN: &str = r#"#include <cstdio>
#include <cublas_v2.h>
#include <vector>
#include "shapes.h"

#define BLOCK 128
#define CHECK(call) check((call), __FILE__, __LINE__)

static cublasHandle_t handle;

void check(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) printf("%s:%d\n", file, line);
}

namespace ops { namespace detail {
template <typename T, int WIDTH>
__global__ void spread(const T* in, T* out, int n) {
    auto widen = [](T value) { return value * WIDTH; };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = widen(bounded(in[i]));
}
} }

__global__ void shift(const scalar* in, scalar* out, Offset offset, int n) {
    __shared__ scalar row[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) row[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = row[threadIdx.x] + (scalar)(table[0] + offset.by);
}

void run(const scalar* in, scalar* out, int n, int block) {
    ops::detail::spread<scalar, 4><<<(n + block - 1) / block, block>>>(in, out, n);
    ops::detail::spread<float, 2><<<n / 64, dim3(64)>>>(nullptr, nullptr, n);
    shift<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, Offset{1.0f}, n);
    CHECK(cudaGetLastError());
}

int main() {
    std::vector<float> values(100);
    cublasCreate(&handle);
    run(nullptr, nullptr, 0, 32);
}
"#;

const HEADER: &str = r"#pragma once
#include <string>
#include <curand.h>
#ifdef USE_HALF
typedef __half scalar;
#else
typedef float scalar;
#endif
struct Offset { float by; };
__constant__ float table[4];
template <class T> __device__ T bounded(T value) { return value < T(0) ? T(0) : value; }
inline std::string name() { return __DATE__; }
";

fn program(main: &str, header: &str) -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("library")).unwrap();
    fs::write(bench.path().join("main.cu"), main).unwrap();
    fs::write(bench.path().join("library/shapes.h"), header).unwrap();
    bench
}

#[test]
fn the_device_part_of_a_program_compiles_and_the_rest_is_named() {
    if compiler::required().is_none() {
        return;
    }
    let bench = program(MAIN, HEADER);
    let said = bench.run(&["check", "main.cu", "-I", "library"]);
    said.expect(
        0,
        &[
            "shift",
            "left out of main.cu:",
            "3:1  #include <vector> (not a header of the device compiler)",
            "11:1  void check(cudaError_t error, const char* file, int line) (host code)",
            "left out of shapes.h:",
            "12:1  inline std::string name() (host code)",
        ],
    );
    let document = bench.run(&["check", "main.cu", "-I", "library", "--json"]).json();
    let left_out = document["left_out"].as_array().unwrap();
    assert_eq!(left_out[0]["text"], "#include <vector>");
    assert_eq!(left_out[0]["line"], 3);
    assert_eq!(left_out.last().unwrap()["header"], "shapes.h");
    // Without the folder the header is missing; a folder that does not exist is named.
    bench.run(&["check", "main.cu"]).expect(1, &["main.cu:4", "cannot open", "shapes.h"]);
    bench.run(&["check", "main.cu", "-I", "nowhere"]).expect(2, &["`-I nowhere`", "folder"]);
}

#[test]
fn diagnostics_stand_at_the_lines_of_the_files() {
    if compiler::required().is_none() {
        return;
    }
    let check = |main: &str, header: &str, says: &[&str]| {
        program(main, header).run(&["check", "main.cu", "-I", "library"]).expect(1, says);
    };
    let main = MAIN.replace("(table[0] + offset.by)", "(table[0] + offset.bye)");
    check(&main, HEADER, &["main.cu:29:", "offset.bye"]);
    let header = HEADER.replace("struct Offset { float by; }", "struct Offset { missing by; }");
    check(
        MAIN,
        &header,
        &["shapes.h:9:", "\"missing\" is undefined", "struct Offset { missing by; }"],
    );
    // A function of the host that device code calls is named with its place.
    let main = MAIN.replace("row[threadIdx.x] + ", "row[threadIdx.x] + twice(1) + ");
    let header = format!("{HEADER}inline int twice(int a) {{ return 2 * a; }}\n");
    check(&main, &header, &["\"twice\" is undefined", "shapes.h:13:1 is host code", "__device__"]);
}

#[test]
fn a_program_is_launched_by_its_device_part() {
    if compiler::required().is_none() {
        return;
    }
    let bench = program(MAIN, HEADER);
    let arguments = [
        "launch",
        "main.cu",
        "-I",
        "library",
        "--kernel",
        "ops::detail::spread<float, 3>",
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        "in:f32[4]=1,2,3,-4",
        "--arg",
        "buf:f32[4]",
        "--arg",
        "i32:4",
        "--print",
        "1",
    ];
    bench.run(&arguments).expect(0, &["3", "6", "9"]);
}

#[test]
fn a_project_has_the_device_part_with_its_headers() {
    if compiler::required().is_none() {
        return;
    }
    let bench = program(MAIN, HEADER);
    let new = ["new", "made", "--from", "main.cu", "-I", "library", "--kernel", "spread"];
    bench.run(&new).expect(
        0,
        &[
            "include/shapes.h",
            "launches in the source",
            "<scalar, 4><<<(n + block - 1) / block, block>>>",
            "<float, 2><<<n / 64, dim3(64)>>>",
            "shapes.h:12:1  inline std::string name()",
        ],
    );
    let kernel = fs::read_to_string(bench.path().join("made/kernels/spread.cu")).unwrap();
    assert!(kernel.contains("block: [64]") && kernel.contains("spread<float"), "{kernel}");
    assert!(!kernel.contains("cudaSuccess") && kernel.contains("#define BLOCK 128"), "{kernel}");
    bench.run(&["check", "made/kernels/spread.cu"]).expect(0, &["compiles"]);
    let new = ["new", "other", "--from", "main.cu", "-I", "library", "--kernel", "shift"];
    bench.run(&new).expect(0, &["include/shapes.h"]);
    bench.run(&["check", "other/kernels/shift.cu"]).expect(0, &["compiles"]);
}

#[test]
fn half_precision_is_chosen_by_a_macro_of_the_program() {
    if compiler::required().is_none() {
        return;
    }
    let bench = program(&format!("#define USE_HALF\n{MAIN}"), HEADER);
    let new = ["new", "made", "--from", "main.cu", "-I", "library", "--kernel", "shift"];
    bench.run(&new).expect(0, &["wrote"]);
    let project = fs::read_to_string(bench.path().join("made/project.ron")).unwrap();
    assert!(project.contains("name: \"in\", dtype: f16"), "{project}");
    bench.run(&["check", "made/kernels/shift.cu"]).expect(0, &["compiles"]);
}

#[test]
fn files_that_cannot_be_split_end_in_a_message() {
    if compiler::required().is_none() {
        return;
    }
    let check = |main: &str, header: &str, status: i32, says: &[&str]| {
        program(main, header).run(&["check", "main.cu", "-I", "library"]).expect(status, says);
    };
    let kernel = "#include \"shapes.h\"\n__global__ void k(float* x) { *x = 1; }\nint main() {}\n";
    check(kernel, "#pragma once\n#include \"shapes.h\"\n", 0, &["k"]);
    check(kernel, "#include \"shapes.h\"\n", 1, &["shapes.h:1:", "includes itself"]);
    check(&kernel.replace("shapes.h", "../shapes.h"), "", 1, &["main.cu:1:1", "`..`"]);
    check(&kernel.replace("\"shapes.h\"", "SHAPES"), "", 1, &["main.cu:1:1", "not a plain name"]);
    check(&kernel.replace("*x = 1; }", "*x = 1;"), "", 1, &["main.cu:"]);
    let large = format!("{kernel}{}", "// line\n".repeat((1 << 17) - 16));
    check(&large, "", 0, &["k"]);
    check(&format!("{large}{large}"), "", 2, &["1048576"]);
    check("int main() {}\n", "", 1, &["contains no kernel"]);
}
