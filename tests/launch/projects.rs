//! A kernel of a project is launched with the project's includes, parameters and constants.

use super::*;

const KERNEL: &str = "/*@ lightbench(
    title: \"Something of an include, a parameter and a constant\",
    params: { \"FACTOR\": [2, 3] },
    constants: [\"cols\"],
    steps: [launch(kernel: \"product\", grid: [1], block: [1])],
) @*/

#include \"scale.cuh\"

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    y[rows - 1] = scaled(x[0]) * PARAM_FACTOR + AXIS_cols;
}
";

const ARGUMENTS: &str = "--grid 1 --block 1 --arg in:f32[1]=ones --arg in:f32[1]=ones --arg buf:f32[1] --arg i64:1 \
                         --arg i64:1 --print 2";

/// The project `keepers` with one kernel of its own, beside files that belong to no project.
fn project() -> Bench {
    let bench = bench();
    let keepers = repository().join("tests/keepers");
    for folder in ["kernels", "include"] {
        fs::create_dir(bench.path().join(folder)).unwrap();
    }
    for file in ["project.ron", "reference.cu"] {
        fs::copy(keepers.join(file), bench.path().join(file)).unwrap();
    }
    let header = "#pragma once\n__device__ inline float scaled(float x) { return 10.0f * x; }\n";
    fs::write(bench.path().join("include/scale.cuh"), header).unwrap();
    fs::write(bench.path().join("kernels/mine.cu"), KERNEL).unwrap();
    bench
}

#[test]
fn a_kernel_of_a_project_has_what_its_project_gives() {
    if compiler::required().is_none() {
        return;
    }
    let bench = project();
    let check = |options: &str, expected: f64| {
        let said = launch(&bench, &format!("kernels/mine.cu {ARGUMENTS} {options} --json"));
        assert_eq!(said.status, 0, "{options}: {}", said.everything());
        assert_eq!(numbers(&said.json()), [expected], "{options}");
    };
    check("", 53.0);
    check("--param FACTOR=3", 63.0);
    check("--workload wide", 1020.0);
    check("--workload wide --param FACTOR=3", 1030.0);
}

#[test]
fn a_fault_of_a_project_s_kernel_is_shown_in_its_file() {
    if compiler::required().is_none() {
        return;
    }
    let bench = project();
    let beyond = ARGUMENTS.replace("i64:1", "i64:2");
    let said = launch(&bench, &format!("kernels/mine.cu {beyond}"));
    said.expect(1, &["out_of_bounds", "kernels/mine.cu:11", "y[rows - 1]", "PTX line"]);
}

#[test]
fn options_that_need_a_project_say_so() {
    let bench = project();
    for (line, message) in [
        (
            "copy.ptx --grid 1 --block 4 --param FACTOR=3",
            "`--param FACTOR=…` needs a kernel of a project",
        ),
        ("add.cu --grid 1 --block 4 --workload odd", "`--workload` needs a kernel of a project"),
    ] {
        launch(&bench, line).expect(2, &[message]);
    }
    if compiler::required().is_some() {
        for (options, message) in [
            ("--param FACTOR=9", "FACTOR"),
            ("--param BLOCK=9", "BLOCK"),
            ("--workload nothing", "unknown workload `nothing`"),
        ] {
            launch(&bench, &format!("kernels/mine.cu {ARGUMENTS} {options}")).expect(2, &[message]);
        }
    }
}
