//! Null pointers as arguments of a launch block, in CUDA C++ and PTX.

use std::fs;

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

/// A sum that adds `bias` where there is one.
const CUDA: &str = r#"/*@ lightbench(
    title: "Optional bias",
    steps: [launch(kernel: "add", args: ["a", "b", "null", "c", "n: i64"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/
__global__ void add(const float* a, const float* b, const float* bias, float* c, long long n) {
    long long i = blockIdx.x * 128LL + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] + (bias != nullptr ? bias[i] : 0.0f);
}
"#;

/// The same in PTX, whose parameters have no types that tell a pointer from an integer.
const PTX: &str = r#"/*@ lightbench(
    title: "Optional bias",
    steps: [launch(kernel: "add", args: ["a", "b", "null", "c", "n: i64"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/
.version 7.8
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 bias, .param .u64 c, .param .u64 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %d<9>;
    .reg .f32 %f<4>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %d1, %r1, 128, 0;
    cvt.u64.u32 %d2, %r2;
    add.s64 %d1, %d1, %d2;
    ld.param.u64 %d3, [n];
    setp.ge.s64 %p1, %d1, %d3;
    @%p1 ret;
    shl.b64 %d1, %d1, 2;
    ld.param.u64 %d4, [a];
    ld.param.u64 %d5, [b];
    ld.param.u64 %d6, [bias];
    ld.param.u64 %d7, [c];
    add.s64 %d4, %d4, %d1;
    add.s64 %d5, %d5, %d1;
    add.s64 %d7, %d7, %d1;
    ld.global.f32 %f1, [%d4];
    ld.global.f32 %f2, [%d5];
    add.f32 %f1, %f1, %f2;
    setp.eq.s64 %p2, %d6, 0;
    @%p2 bra STORE;
    add.s64 %d6, %d6, %d1;
    ld.global.f32 %f3, [%d6];
    add.f32 %f1, %f1, %f3;
STORE:
    st.global.f32 [%d7], %f1;
    ret;
}
"#;

fn check(file: &str, text: &str, status: i32, words: &[&str]) {
    let bench = Bench::new();
    let folder = bench.path().join("vector-add");
    copy_folder(&repository().join("sample-projects/vector-add"), &folder);
    fs::write(folder.join("kernels").join(file), text).unwrap();
    let kernel = file.split('.').next().unwrap();
    bench.run(&["run", "vector-add", "--kernel", kernel, "--no-times"]).expect(status, words);
}

#[test]
fn a_null_argument_is_a_null_pointer() {
    if compiler::required().is_none() {
        return;
    }
    check("bias.cu", CUDA, 0, &["bias is correct"]);
    check("bias.ptx", PTX, 0, &["bias is correct"]);
}

#[test]
fn an_access_through_null_is_a_fault() {
    if compiler::required().is_none() {
        return;
    }
    let bent = CUDA.replace("bias != nullptr ? bias[i] : 0.0f", "bias[i]");
    check("bias.cu", &bent, 1, &["out_of_bounds", "at or near the null pointer", "bias.cu:7:"]);
}

#[test]
fn null_is_no_value_and_no_name() {
    if compiler::required().is_none() {
        return;
    }
    let value = CUDA.replace("\"n: i64\"", "\"null\"");
    check("bias.cu", &value, 1, &["parameter 5 (`null`)", "not a pointer"]);
    let name =
        CUDA.replace("steps:", "scratch: [(name: \"null\", dtype: f32, shape: [4])],\n    steps:");
    check("bias.cu", &name, 1, &["`null`", "reserved"]);
}
