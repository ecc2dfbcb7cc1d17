//! Launchers of the sample projects, and their arithmetic compared with that of launch blocks.

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
