//! The device part of mixed files: what stays, what is left out, and that every line and column stays.

use crate::{HeaderText, Reason, Source, device_part, included_names, signature_of, structs};

/// A program with a library of the host, a local header, and a wrapper that launches.
const PROGRAM: &str = r#"#include <cudnn.h>
#include <iostream>
#include "shapes.h"
#define WIDTH 32
#define CHECK(call) check((call), __FILE__, __LINE__)

typedef float real;
using pair_t = Pair<real>;
enum Mode { PLAIN, FAST };
constexpr int half(int n) { return n / 2; }
__constant__ real weights[WIDTH];
static cublasHandle_t handle;
int launches = 0;

struct Session {
    cublasHandle_t handle;
};
struct Program { Session* session; int runs; };

void check(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) std::cerr << file << line;
}

namespace outer { namespace inner {
template <typename T, int N>
__device__ T scaled(T x) { return x * weights[N]; }
void helper() { CHECK(cudaDeviceSynchronize()); }
} }

__global__ void apply(const real* in, real* out, Box box, int n) {
    auto twice = [](real x) { return 2 * x; };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = twice(outer::inner::scaled<real, 3>(in[i])) + box.low;
}

#ifdef USE_FAST
__global__ void fast(real* out) { out[0] = 1; }
#else
void slow(real* out) {
#define SLOW 1
    out[0] = 1;
}
#endif

extern "C" void wrapper(const real* in, real* out, int n) {
    apply<<<(n + 127) / 128, 128, WIDTH * sizeof(float)>>>(in, out, Box{}, n);
}

int main(int argc, char** argv) { wrapper(nullptr, nullptr, 7); }
"#;

const HEADER: &str = r"#pragma once
#include <vector>
struct Box { float low; int steps; };
template <class T> struct Pair { T a, b; __device__ T sum() const { return a + b; } void fill() { a = rand(); } };
__device__ inline float clamp(float x) { return x < 0 ? 0 : x; }
inline void print(const std::vector<float>& all) {}
";

fn headers() -> [HeaderText<'static>; 1] {
    [HeaderText { name: "shapes.h", text: HEADER }]
}

#[test]
fn host_code_of_a_program_is_left_out_and_named() {
    let part = device_part(PROGRAM, &headers()).unwrap().unwrap();
    let found: Vec<String> = part
        .left_out
        .iter()
        .map(|item| {
            let file = item.header.as_deref().unwrap_or("main");
            format!("{file}:{} {}", item.place, item.what)
        })
        .collect();
    assert_eq!(
        found,
        [
            "main:1:1 #include <cudnn.h>",
            "main:2:1 #include <iostream>",
            "main:12:1 static cublasHandle_t handle;",
            "main:13:1 int launches = 0;",
            "main:15:1 struct Session",
            "main:18:1 struct Program",
            "main:20:1 void check(cudaError_t error, const char* file, int line)",
            "main:27:1 void helper()",
            "main:39:1 void slow(real* out)",
            "main:45:1 extern \"C\" void wrapper(const real* in, real* out, int n)",
            "main:49:1 int main(int argc, char** argv)",
            "shapes.h:2:1 #include <vector>",
            "shapes.h:4:85 void fill()",
            "shapes.h:6:1 inline void print(const std::vector<float>& all)",
        ]
    );
    assert_eq!(part.left_out[0].why, Reason::Header);
    assert_eq!(part.left_out[2].why, Reason::HostCode);
}

#[test]
fn device_code_keeps_its_lines_and_columns() {
    let part = device_part(PROGRAM, &headers()).unwrap().unwrap();
    for (text, original) in [(&part.text, PROGRAM), (&part.headers[0], HEADER)] {
        assert_eq!(text.len(), original.len());
        for (new, old) in text.lines().zip(original.lines()) {
            assert!(new.trim().is_empty() || new.len() == old.len());
            assert!(new.bytes().zip(old.bytes()).all(|(new, old)| new == old || new == b' '));
        }
    }
    for kept in [
        "#include \"shapes.h\"",
        "#define WIDTH 32",
        "typedef float real;",
        "using pair_t = Pair<real>;",
        "enum Mode { PLAIN, FAST };",
        "constexpr int half(int n) { return n / 2; }",
        "__constant__ real weights[WIDTH];",
        "namespace outer { namespace inner {",
        "#ifdef USE_FAST",
        "#define SLOW 1",
        "    auto twice = [](real x) { return 2 * x; };",
    ] {
        assert!(part.text.lines().any(|line| line == kept), "{kept} in {}", part.text);
    }
    assert!(part.headers[0].contains("__device__ T sum() const { return a + b; }"));
    for gone in ["<<<", "main", "extern", "cublas", "cudnn", "std::"] {
        assert!(!part.text.contains(gone), "{gone} in {}", part.text);
    }
}

#[test]
fn files_with_device_code_only_have_no_other_device_part() {
    let check = |text: &str, mixed: bool| {
        let part = device_part(text, &[]).unwrap();
        assert_eq!(part.is_some(), mixed, "{text}");
    };
    check("", false);
    check("#include <cuda_fp16.h>\n#include \"own.cuh\"\n__global__ void k(float* x) {}", false);
    check("struct S { int a; };\nint unused;\n__device__ int f();\n__global__ void k() {}", false);
    check("constexpr int f(int a) { return a; }\n__global__ void k() {}", false);
    check("#define HD __host__ __device__\nHD int f() { return 1; }", false);
    check("__global__ void k() {}\nint main() {}", true);
    check("#include <vector>\n__global__ void k() {}", true);
    check("template <class T> T f(T a) { return a; }\n__global__ void k() {}", true);
}

#[test]
fn macros_of_a_header_decide_in_every_file() {
    let header = "#pragma once\n#define DEV __device__ __forceinline__\n#define KERNEL(name) __global__ void name(float* x) { x[0] = 1; }\n";
    let headers = [HeaderText { name: "macros.h", text: header }];
    let text = "#include \"macros.h\"\nDEV float f(float a) { return a; }\nKERNEL(one);\nTEST(two);\nint main() {}\n";
    let part = device_part(text, &headers).unwrap().unwrap();
    assert_eq!(
        part.text,
        "#include \"macros.h\"\nDEV float f(float a) { return a; }\nKERNEL(one);\n          \n             \n"
    );
}

#[test]
fn conditionals_choose_the_types_of_all_files() {
    let header = "#ifndef TYPES_H\n#define TYPES_H\n#if defined(USE_BF16)\ntypedef __nv_bfloat16 scalar;\n#elif defined(USE_F16) && LEVEL >= 2\ntypedef half scalar;\n#else\ntypedef float scalar;\n#endif\nstruct Range { scalar low; int count; };\n#endif\n";
    let check = |before: &str, expected: &str| {
        let text = format!("{before}#include \"types.h\"\n__global__ void k(scalar* x) {{}}\n");
        let source = Source::with_headers(&text, &[header]).unwrap();
        let signature = signature_of(&source, None).unwrap();
        assert_eq!(source.resolve_type(&signature.parameters[0].type_name), expected, "{before}");
        let fields = structs::fields(&source, "Range").unwrap();
        assert_eq!(fields.len(), 2, "{before}");
    };
    check("", "float");
    check("#define USE_BF16\n", "__nv_bfloat16");
    check("#define USE_F16\n#define LEVEL 3\n", "half");
    check("#define USE_F16\n#define LEVEL 1\n", "float");
    check("#define USE_F16\n", "float");
    check("#if 0\n#define NEVER\n#endif\n", "float");
}

#[test]
fn only_the_compiled_kernel_of_two_branches_counts() {
    let check = |condition: &str, parameters: usize| {
        let text = format!(
            "#define A 1\n#{condition}\n__global__ void k(int a) {{}}\n#else\n__global__ void k(int a, int b) {{}}\n#endif\n"
        );
        let source = Source::parse(&text).unwrap();
        let found = signature_of(&source, Some("k")).map(|signature| signature.parameters.len());
        assert_eq!(found.ok(), (parameters > 0).then_some(parameters), "{condition}");
    };
    check("ifdef A", 1);
    check("ifndef A", 2);
    check("if A > 1 || !defined(A)", 2);
    check("if (A == 1) && !B", 1);
    // The compiler decides: both count, and the name has two definitions.
    check("if __CUDA_ARCH__ >= 900", 0);
    check("if F(1)", 0);
}

#[test]
fn names_of_included_files_are_read_outside_comments_and_literals() {
    let text = "#include <a.h>\n // #include <no.h>\n/*\n#include \"no.h\"\n*/\n  #  include \"b/c.cuh\" // why\nconst char* s = \"\\\n#include <no.h>\\n\";\n#include MACRO\n#include <a.h>\n#include \"open\n";
    assert_eq!(included_names(text), ["a.h", "b/c.cuh"]);
}

#[test]
fn broken_texts_keep_what_is_not_host_code_for_certain() {
    let text = "#include <vector>\n__global__ void k(float* x) { x[0] = ; \nint main() { k<<<1, 1>>>(nullptr); }\n";
    let part = device_part(text, &[]).unwrap().unwrap();
    assert!(part.text.contains("__global__ void k(float* x) { x[0] = ; "), "{}", part.text);
    assert!(device_part("a\0b", &[]).is_err());
    let large = format!("{}int main() {{}}\n", "// line\n".repeat(1 << 17));
    assert_eq!(device_part(&large, &[]).unwrap().unwrap().text.len(), large.len());
}
