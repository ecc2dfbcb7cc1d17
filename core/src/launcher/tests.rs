//! Launchers of the sample projects, and their arithmetic compared with that of launch blocks.

mod python_files;

use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::*;
use crate::project::expression::{Expression, Spelling, Values};
use crate::project::{DeviceFacts, Project};

fn project(name: &str) -> Project {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    Project::load(&root).unwrap()
}

/// The launcher of a kernel with the parameters of the first workload.
fn launcher(project: &Project, kernel: &str) -> Result<String, NoLauncher> {
    let kernel = project.kernel(kernel).unwrap();
    let environment = project.environment(&project.workloads[0]);
    let selection =
        kernel.launch.select(&environment, &Default::default(), &DeviceFacts::default()).unwrap();
    let candidate = Candidate::new(project, kernel, selection).unwrap();
    let provenance = ["Nobody verified it.".to_owned()];
    let (definition, launch) = (&project.definition, &kernel.launch);
    LauncherRequest { definition, launch, candidate: &candidate, provenance: &provenance }
        .launcher()
}

#[test]
fn every_kernel_of_the_sample_projects_has_one() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let mut made = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let root = entry.unwrap().path();
        if !root.join("project.ron").is_file() {
            continue;
        }
        let project = Project::load(&root).unwrap();
        for kernel in &project.kernels {
            let text = launcher(&project, &kernel.name).unwrap();
            assert!(text.contains("cudaLaunchKernelExC(&config, kernel, arguments)"), "{text}");
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
            made += 1;
        }
    }
    assert!(made > 50, "{made}");
}

fn check(project: &Project, kernel: &str, words: &[&str]) {
    let text = launcher(project, kernel).unwrap();
    for words in words {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_launch_block_becomes_a_function_of_tensors_and_axes() {
    check(
        &project("sample-projects/jacobi"),
        "two-sweeps",
        &[
            "#define PARAM_TILE_ROWS 32",
            "lightbench::ceil_div(height, PARAM_TILE_ROWS, sound)",
            "for (long long turn_1 = lightbench::floored(sweeps, 2, sound) - 2; turn_1 > 0; --turn_1) {",
            "std::swap(memory[1], memory[2]);",
            "extern \"C\" size_t jacobi_two_sweeps_scratch_bytes(",
        ],
    );
    check(
        &project("sample-projects/histogram"),
        "warp-private",
        &[
            "lightbench::fill<unsigned int>(memory[1], 0u, bytes[1], stream)",
            "std::min<long long>({",
            "lightbench::sms(sound)",
        ],
    );
    check(
        &project("sample-projects/scan"),
        "cooperative",
        &[
            "return (const void *)&scan<PARAM_BLOCK>;",
            "lightbench::resident(scan_cooperative_code::launched_0(), PARAM_BLOCK, 0, sound)",
            "#include <cooperative_groups.h>\n#include <cstdint>",
            "namespace scan_cooperative_code {\n// Against",
            "cudaLaunchAttributeCooperative",
        ],
    );
    check(
        &project("sample-projects/rmsnorm"),
        "registers",
        &["#define AXIS_cols ", "sound = sound && cols == AXIS_cols;", "// Nobody verified it."],
    );
}

const MAPS_PROJECT: &str = r#"(
    schema: 1, name: "maps", title: "Copy",
    axes: [(name: "rows", min: 1, max: 65536), (name: "cols", min: 64, max: 65536, multiple_of: 64)],
    tensors: [
        (name: "x", dtype: bf16, shape: ["rows", "cols"], role: input),
        (name: "y", dtype: bf16, shape: ["rows", "cols"], role: output, compare: elementwise(terms: "1")),
    ],
    arguments: ["x", "y"], accuracy: bf16,
    work: (operations: [(kind: arithmetic, count: "rows * cols")]),
    workloads: [(name: "small", purpose: verify, axes: {"rows": 128, "cols": 256})],
    baselines: [kernel("tma")],
)"#;

const MAPS_KERNEL: &str = r#"#include <cuda.h>
/*@ lightbench(
    title: "TMA",
    params: {"TILE": [64]},
    arch: specific,
    tensor_maps: [
        (name: "a", tensor: "x", box: ["TILE", 64], swizzle: b128, l2_promotion: b256),
        (name: "b", tensor: "y", shape: ["rows", "cols / 64", 64], offset: "cols", strides: ["cols", 64, 1],
         box: [1, 1, 64], data_type: u16),
        (name: "c", tensor: "x", shape: ["rows // 2", 2, "cols"],
         im2col: (lower_corner: [-1], upper_corner: [1], channels: 64, pixels: 32), fill: nan),
    ],
    require: ["rows > 1"],
    steps: [launch(kernel: "tma", args: ["a", "y", "c"], grid: [1], block: [128])],
) @*/
__global__ void tma(const __grid_constant__ CUtensorMap a, __nv_bfloat16 *y, const __grid_constant__ CUtensorMap c) {}
"#;

#[test]
fn tensor_maps_are_encoded_by_the_driver_innermost_dimension_first() {
    let reference =
        "/*@ lightbench(title: \"r\", steps: [launch(kernel: \"r\", grid: [1], block: [1])]) @*/";
    let write = |maps: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("kernels")).unwrap();
        for (name, text) in
            [("project.ron", MAPS_PROJECT), ("reference.cu", reference), ("kernels/tma.cu", maps)]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Project::load(folder.path()).unwrap()
    };
    // The view begins in the second row, so it has a row less.
    let kernel = MAPS_KERNEL
        .replace("shape: [\"rows\", \"cols / 64\"", "shape: [\"rows - 1\", \"cols / 64\"");
    check(
        &write(&kernel),
        "tma",
        &[
            "#include <cuda.h>\n",
            "#include <initializer_list>\n",
            "value_0_modes = {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_INTERLEAVE_NONE, \
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, \
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};",
            "CUtensorMap value_0 = lightbench::tiled(value_0_modes, (char *)memory[0] + 0 * 2, {cols, rows}, \
             {cols * 2}, {64, PARAM_TILE}, {1, 1}, sound);",
            "CUtensorMap value_2 = lightbench::columns(value_2_modes, (char *)memory[0] + 0 * 2, {cols, 2, ",
            "{cols * 2, 2 * cols * 2}, {",
            "{1}, 64, 32, {1, 1, 1}, sound);",
            "void *arguments[] = {&value_0, &memory[1], &value_2};",
            "cuTensorMapEncodeTiled",
        ],
    );
    let kernel = kernel.replace("args: [\"a\", \"y\", \"c\"]", "args: [\"b\", \"y\", \"c\"]");
    check(
        &write(&kernel),
        "tma",
        &[
            "CU_TENSOR_MAP_DATA_TYPE_UINT16",
            "(char *)memory[1] + cols * 2, {64, ",
            "{64 * 2, cols * 2}, {64, 1, 1}, {1, 1, 1}, sound);",
        ],
    );
}

/// Names as C++ has them, and a number for each.
struct Numbers([i64; 2]);

impl Spelling for Numbers {
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }

    fn max_active_blocks(&self, _kernel: &str) -> Option<String> {
        None
    }
}

impl Values for Numbers {
    fn integer(&self, name: &str) -> Option<i128> {
        let index = ["a", "b"].iter().position(|known| *known == name)?;
        Some(i128::from(self.0[index]))
    }

    fn real(&self, _name: &str) -> Option<f64> {
        None
    }

    fn max_active_blocks(&self, _kernel: &str) -> Option<i128> {
        None
    }
}

/// Texts of formulas in which nothing leaves 64 bits.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        (0_i64..40).prop_map(|number| number.to_string()),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let operators = prop::sample::select(vec!["+", "-", "*", "/", "//", "%"]);
        let functions = prop::sample::select(vec!["min", "max", "ceil_div"]);
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), operators)
                .prop_map(|((left, right), operator)| format!("({left}) {operator} ({right})")),
            (pair, functions)
                .prop_map(|((left, right), function)| format!("{function}({left}, {right})")),
            inner.clone().prop_map(|text| format!("-({text})")),
            inner.clone().prop_map(|text| format!("log2_floor({text})")),
            inner.prop_map(|text| format!("({text}) ** 2")),
        ]
    })
}

/// A program that prints each formula's value, or `none`.
fn program(formulas: &[(Expression, [i64; 2])]) -> String {
    let mut text = format!(
        "#include <algorithm>\n#include <climits>\n#include <cstdio>\n{ARITHMETIC}}} // namespace lightbench\n\
         int main() {{\n"
    );
    for (formula, [a, b]) in formulas {
        let cpp = formula.cpp(&Numbers([*a, *b])).unwrap();
        text.push_str(&format!(
            "{{ bool sound = true; const long long a = {a}, b = {b}; (void)a; (void)b; \
             const long long value = {cpp}; \
             if (sound) std::printf(\"%lld\\n\", value); else std::printf(\"none\\n\"); }}\n"
        ));
    }
    text + "}\n"
}

#[test]
fn formulas_have_the_same_values_in_cpp() {
    let Ok(_) = Command::new("c++").arg("--version").output() else {
        println!("skipped: there is no C++ compiler");
        return;
    };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (formula(), [0_i64..50, 0..50]);
    let formulas: Vec<(Expression, [i64; 2])> = (0..400)
        .map(|_| {
            let (text, numbers) = strategy.new_tree(&mut runner).unwrap().current();
            (Expression::parse(&text).unwrap(), numbers)
        })
        .filter(|(formula, numbers)| {
            // A value beyond 64 bits is beyond what a launcher has.
            let value = formula.integer(&Numbers(*numbers));
            value.map_or(true, |value| value.unsigned_abs() < 1 << 40)
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let (source, built) = (folder.path().join("formulas.cpp"), folder.path().join("formulas"));
    std::fs::write(&source, program(&formulas)).unwrap();
    let compiled =
        Command::new("c++").arg("-std=c++17").arg("-o").arg(&built).arg(&source).output();
    let compiled = compiled.unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&built).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let mut values = 0;
    for ((formula, numbers), found) in formulas.iter().zip(printed.lines()) {
        let expected = formula.integer(&Numbers(*numbers));
        values += usize::from(expected.is_ok());
        let expected = expected.map_or_else(|_| "none".to_owned(), |value| value.to_string());
        assert_eq!(found, expected, "{} with {numbers:?}", formula.text());
    }
    assert!(values > 100 && values < formulas.len(), "{values} of {}", formulas.len());
}
