//! What is written for a kernel, checked against the format and against what the source says.

use std::collections::BTreeSet;

use super::format::{
    self, Accuracy, Block, Dtype, Expression, Kind, Manifest, Purpose, Role, Step,
};
use crate::scaffold::{KernelSource, Plan, plan_default, plan_from};

fn text<'plan>(plan: &'plan Plan, path: &str) -> &'plan str {
    &plan.files.iter().find(|file| file.path == path).unwrap().text
}

fn kernel_text(plan: &Plan) -> &str {
    &plan.files.iter().find(|file| file.path.starts_with("kernels/")).unwrap().text
}

/// All that the page says about names, beyond what the types say.
#[track_caller]
fn manifest(plan: &Plan) -> Manifest {
    let manifest = format::manifest(text(plan, "project.ron"));
    assert_eq!(manifest.schema, 1);
    assert!(!manifest.name.is_empty() && !manifest.title.is_empty() && !manifest.axes.is_empty());
    assert!(!manifest.summary.contains('\n'));
    let axes: BTreeSet<&String> = manifest.axes.iter().map(|axis| &axis.name).collect();
    let mut names: Vec<&String> = axes.iter().copied().collect();
    names.extend(manifest.tensors.iter().map(|tensor| &tensor.name));
    names.extend(manifest.scalars.iter().map(|scalar| &scalar.name));
    let distinct: BTreeSet<&&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a name twice in {names:?}");
    assert!(manifest.tensors.iter().any(|tensor| tensor.role != Role::Input));
    check_tensors(&manifest, &axes);
    check_workloads(&manifest);
    check_values(&manifest);
    assert_eq!(manifest.baselines.len(), 1);
    manifest
}

#[track_caller]
fn check_tensors(manifest: &Manifest, axes: &BTreeSet<&String>) {
    for tensor in &manifest.tensors {
        assert_eq!(tensor.compare.is_some(), tensor.role != Role::Input);
        let passed = manifest.arguments.iter().filter(|argument| **argument == tensor.name).count();
        assert_eq!(passed, 1, "{} is an argument once", tensor.name);
        let known = |part: &String| axes.contains(part) || part.parse::<u64>().is_ok();
        assert!(tensor.shape.iter().all(known), "{:?}", tensor.shape);
    }
}

#[track_caller]
fn check_workloads(manifest: &Manifest) {
    assert!(manifest.workloads.iter().any(|workload| workload.purpose == Purpose::Verify));
    for workload in &manifest.workloads {
        assert_eq!(workload.axes.len(), manifest.axes.len(), "{}", workload.name);
        for axis in &manifest.axes {
            let size = workload.axes[&axis.name];
            assert!(size >= axis.min && size <= axis.max.unwrap_or(1 << 40), "{}", axis.name);
        }
    }
}

#[track_caller]
fn check_values(manifest: &Manifest) {
    for operation in &manifest.work.operations {
        let integer = operation.kind == Kind::Integer;
        assert_eq!(integer, manifest.accuracy == Accuracy::Exact);
        assert!(!operation.count.is_empty());
    }
    for scalar in &manifest.scalars {
        let boolean = matches!(scalar.value, ron::Value::Bool(_));
        assert_eq!(boolean, scalar.dtype == Dtype::Bool, "{}", scalar.name);
    }
}

struct Expected {
    source: &'static str,
    arguments: &'static [&'static str],
    /// `name: role dtype [shape]`
    tensors: &'static [&'static str],
    kernel: &'static str,
    grid: &'static [&'static str],
    block: &'static [&'static str],
}

fn shown(expressions: &[Expression]) -> Vec<String> {
    let show = |expression: &Expression| match expression {
        Expression::Number(number) => number.to_string(),
        Expression::Text(text) => text.clone(),
    };
    expressions.iter().map(show).collect()
}

fn plan(source: &str) -> Plan {
    plan_from(&KernelSource {
        display_name: "dir/my kernel.cu",
        text: source,
        kernel: None,
        headers: &[],
    })
    .unwrap()
}

#[track_caller]
fn check(expected: &Expected) -> (Plan, Block) {
    let plan = plan(expected.source);
    let manifest = manifest(&plan);
    assert_eq!(manifest.arguments, expected.arguments, "{}", expected.source);
    let tensors: Vec<String> = manifest
        .tensors
        .iter()
        .map(|tensor| {
            let words = format!("{}: {:?} {:?}", tensor.name, tensor.role, tensor.dtype);
            format!("{} [{}]", words.to_lowercase(), tensor.shape.join(", "))
        })
        .collect();
    assert_eq!(tensors, expected.tensors, "{}", expected.source);
    let block = format::block(kernel_text(&plan));
    let Step::Launch { kernel, grid, block: threads, .. } = &block.steps[0];
    assert_eq!(kernel, expected.kernel);
    assert_eq!(shown(grid), expected.grid, "{}", expected.source);
    assert_eq!(shown(threads), expected.block, "{}", expected.source);
    let reference = text(&plan, "reference.cu");
    let judge = format::block(reference);
    assert!(judge.params.is_empty() && judge.expect.is_none() && judge.require.is_empty());
    assert!(reference.contains("static_assert(false"), "{reference}");
    (plan, block)
}

#[test]
fn a_vector_kernel_with_its_host_program() {
    let (plan, _) = check(&Expected {
        source: "#include <iostream>\n#include <cuda_fp16.h>\n\n// Adds.\n__global__ void add(const float* __restrict__ a, const half* b, float* c, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = a[i] + __half2float(b[i]);\n}\n\n// Checks.\nvoid host(float* x) {}\nint main() {\n  const int threads = 128;\n  add<<<(n + threads - 1) / threads, threads>>>(a, b, c, n);\n}\n",
        arguments: &["a", "b", "c", "n: i32"],
        tensors: &["a: input f32 [n]", "b: input f16 [n]", "c: output f32 [n]"],
        kernel: "add",
        grid: &["ceil_div(n, 128)"],
        block: &["128"],
    });
    let left_out: Vec<&str> = plan.left_out.iter().map(|part| part.what.as_str()).collect();
    assert_eq!(left_out, ["#include <iostream>", "void host(float* x)", "int main()"]);
    let kernel = kernel_text(&plan);
    assert!(kernel.contains("// Adds.\n__global__ void add("), "{kernel}");
    assert!(
        kernel.contains("#include <cuda_fp16.h>\n") && !kernel.contains("// Checks."),
        "{kernel}"
    );
    assert!(!kernel.contains("<<<"), "{kernel}");
}

#[test]
fn a_tiled_template_with_a_two_dimensional_block() {
    check(&Expected {
        source: "#define TILE 16\nnamespace ops {\ntemplate <typename T, int WIDTH = 4, bool FAST = true>\n__global__ void scale(const T* x, T* y, int rows, unsigned long long cols, float s) {\n  int r = blockIdx.y * TILE + threadIdx.y, c = blockIdx.x * TILE + threadIdx.x;\n  y[r * cols + c] = x[r * cols + c] * s;\n}\n}\nvoid run() { dim3 block(TILE, TILE); ops::scale<double, 8, false><<<dim3(1, 1), block>>>(x, y, 1, 2, 3); }",
        arguments: &["x", "y", "rows: i32", "cols: u64", "s: f32"],
        tensors: &["x: input f64 [rows, cols]", "y: output f64 [rows, cols]"],
        kernel: "ops::scale<double, PARAM_WIDTH, false>",
        grid: &["ceil_div(cols, 16)", "ceil_div(rows, 16)"],
        block: &["16", "16"],
    });
}

#[test]
fn one_block_a_row_and_launch_bounds_of_a_template_parameter() {
    let (_, block) = check(&Expected {
        source: "template <int BLOCK> __global__ void __launch_bounds__(BLOCK) norm(const __nv_bfloat16* x, __nv_bfloat16* y, long long rows, int cols) {\n  extern __shared__ float part[];\n  for (int i = threadIdx.x; i < cols; i += BLOCK) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i];\n}",
        arguments: &["x", "y", "rows: i64", "cols: i32"],
        tensors: &["x: input bf16 [rows, cols]", "y: output bf16 [rows, cols]"],
        kernel: "norm<PARAM_BLOCK>",
        grid: &["rows"],
        block: &["BLOCK"],
    });
    assert_eq!(block.params["BLOCK"], [256]);
    let Step::Launch { shared, args, cooperative, .. } = &block.steps[0];
    assert_eq!((shared.as_deref(), args, *cooperative), (Some("8 * BLOCK"), &None, false));
}

#[test]
fn structs_by_value_become_values_and_a_struct() {
    let (_, block) = check(&Expected {
        source: "struct Shape { int n, stride; float alpha; bool flip; static const int k = 1; };\ntypedef Shape S;\n__global__ void k(float4* out, S shape, int n) { out[blockIdx.x] = {}; }",
        arguments: &["out", "n: i32", "stride: i32", "alpha: f32", "flip: bool", "n_2: i32"],
        tensors: &["out: output f32 [n, stride, 4]"],
        kernel: "k",
        grid: &["n"],
        block: &["256"],
    });
    assert_eq!(block.structs[0].name, "shape");
    assert_eq!(block.structs[0].fields, ["n: i32", "stride: i32", "alpha: f32", "flip: bool"]);
    let Step::Launch { args, .. } = &block.steps[0];
    assert_eq!(args.as_deref(), Some(&["out".to_owned(), "shape".into(), "n_2".into()][..]));
}

#[test]
fn reading_makes_a_pointer_inout_and_only_reading_an_input() {
    check(&Expected {
        source: "struct P { float x, y; };\nusing real = float;\n__global__ void k(real* a, int* b, float* c, float* d, P* e, float* f, float* g, float* h) {\n a[0] += 1; atomicAdd(&b[1], 2); c[0] = d[0]; e[3].x = 1; f[0] = f[1] * 2; helper(g); *reinterpret_cast<float4*>(h + 4) = v; }",
        arguments: &["a", "b", "c", "d", "e", "f", "g", "h"],
        tensors: &[
            "a: inout f32 [n]",
            "b: inout i32 [n]",
            "c: output f32 [n]",
            "d: input f32 [n]",
            "e: output f32 [n, 2]",
            "f: inout f32 [n]",
            "g: output f32 [n]",
            "h: output f32 [n]",
        ],
        kernel: "k",
        grid: &["1"],
        block: &["256"],
    });
}

#[test]
fn an_input_that_one_size_indexes_has_that_size() {
    let plan = plan(
        "__global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < rows * cols) y[i] = erff(x[i] + bias[i % cols]);
        }",
    );
    let manifest = manifest(&plan);
    let shapes: Vec<_> = manifest.tensors.iter().map(|tensor| tensor.shape.join(" ")).collect();
    assert_eq!(shapes, ["rows cols", "cols", "rows cols"]);
    assert!(text(&plan, "project.ron").contains("guess: it is indexed by `cols` alone."));
}

#[test]
fn names_that_the_format_reserves_are_changed() {
    check(&Expected {
        source: "__global__ void k(unsigned char* max, int device, size_t, signed char concept) { max[threadIdx.x] = 1; }",
        arguments: &["max_value", "device_value: i32", "argument_2: u64", "concept_value: i8"],
        tensors: &["max_value: output u8 [device_value, argument_2]"],
        kernel: "k",
        grid: &["1"],
        block: &["256"],
    });
}

#[test]
fn types_of_the_host_go_and_types_of_the_device_stay() {
    let plan = plan(
        "#include <cuda/std/array>\n#include \"../x.cuh\"\nusing namespace std;\nnamespace cg = cooperative_groups;\nstruct Timer { cudaEvent_t start; };\nstruct Pair { cuda::std::array<float, 2> v; };\nconst int K = 3;\nstd::vector<int> v;\nint counter;\n__constant__ float c[4];\ntemplate <typename T> T twice(T a) { return a; }\nconstexpr int half_of(int a) { return a / 2; }\nBENCH(a);\n#define HD __host__ __device__\nHD float f(float a) { return a; }\n__global__ void k(float* x) { x[0] = f(c[0]); }\n",
    );
    let left_out: Vec<&str> = plan.left_out.iter().map(|part| part.what.as_str()).collect();
    assert_eq!(
        left_out,
        [
            "#include \"../x.cuh\"",
            "using namespace std;",
            "struct Timer",
            "std::vector<int> v;",
            "int counter;",
            "template <typename T> T twice(T a)",
            "BENCH(a);",
        ]
    );
    let kernel = kernel_text(&plan);
    for kept in
        ["<cuda/std/array>", "cg =", "struct Pair", "K = 3", "c[4]", "half_of", "HD float f"]
    {
        assert!(kernel.contains(kept), "{kept} in {kernel}");
    }
}

#[test]
fn the_default_project_follows_the_format() {
    let plan = plan_default();
    manifest(&plan);
    for file in plan.files.iter().filter(|file| file.path.ends_with(".cu")) {
        let block = format::block(&file.text);
        assert_eq!(block.expect.is_some(), file.path.starts_with("wrong/"), "{}", file.path);
        assert!(!block.title.is_empty());
    }
}
