//! Launch blocks that fail for a held-out workload alone: one problem, the same whatever fails and by whatever numbers.

use super::fixture::{KERNEL, MANIFEST, files, problems};
use crate::Problem;
use crate::launch::coverage::HELD_OUT;

/// A held-out workload with numbers that stand nowhere else.
const HIDDEN: &str =
    r#"(name: "quietly", purpose: held_out, axes: {"rows": 104729, "cols": 7736}),"#;

/// What is written in the launch block, and what instead: it is sound for every workload but the held-out one.
const FAILURES: &[(&str, &str)] = &[
    // Conditions and flags.
    ("BLOCK * 2 <= cols\"", "BLOCK * 2 <= cols\", \"rows != 104729\""),
    ("BLOCK * 2 <= cols\"", "BLOCK * 2 <= cols\", \"1 // (rows - 104729) < 9\""),
    ("maxrregcount(\"BLOCK // 4\")", "maxrregcount(\"64 + 1000 * (rows // 104729)\")"),
    // Numbers out of range.
    ("grid: [\"rows\"]", "grid: [\"104729 - rows\"]"),
    ("grid: [\"rows\"]", "grid: [\"rows\", \"1 + 70000 * (rows // 104729)\"]"),
    ("block: [\"BLOCK\"]", "block: [\"1 + 2000 * (rows // 104729)\"]"),
    ("shared: \"4 * BLOCK / 32\"", "shared: \"1 - 2 * (rows // 104729)\""),
    ("shape: [\"rows\", \"4\"]", "shape: [\"104729 - rows\", \"4\"]"),
    (
        "\"4 * BLOCK / 32\"),",
        "\"4 * BLOCK / 32\"), repeat(count: \"1 - 2 * (rows // 104729)\", steps: [fill(buffer: \"y\", value: 0)]),",
    ),
    (
        "\"4 * BLOCK / 32\"),",
        "\"4 * BLOCK / 32\"), repeat(count: \"1 + 2000000 * (rows // 104729)\", steps: [fill(buffer: \"y\", value: 0)]),",
    ),
    (
        "flags: [",
        "tensor_maps: [(name: \"t\", tensor: \"x\", box: [8, \"64 + 1000 * (rows // 104729)\"])], flags: [",
    ),
    // Every reason for an expression to have no value that depends on sizes.
    ("grid: [\"rows\"]", "grid: [\"max(1, rows // (rows - 104729))\"]"),
    ("grid: [\"rows\"]", "grid: [\"max(1, rows % (rows - 104729))\"]"),
    ("grid: [\"rows\"]", "grid: [\"(2 * rows + rows // 104729) / 2\"]"),
    ("grid: [\"rows\"]", "grid: [\"1 + 0 * (2 ** 120 * 2 ** (120 * (rows // 104729)))\"]"),
    ("grid: [\"rows\"]", "grid: [\"1 + 0 * 2 ** (200 * (rows // 104729))\"]"),
    ("grid: [\"rows\"]", "grid: [\"1 + log2_floor(1 - rows // 104729)\"]"),
];

fn with_hidden(old: &str, new: &str) -> Vec<(String, String)> {
    let mut files = files();
    for (name, text) in &mut files {
        if name == "project.ron" {
            *text = MANIFEST
                .replace("    workloads: [\n", &format!("    workloads: [\n        {HIDDEN}\n"));
        } else if name == "kernels/naive.cu" {
            assert_eq!(KERNEL.matches(old).count(), 1, "{old}");
            *text = KERNEL.replace(old, new);
        }
    }
    files
}

/// The problems of a launch block that has no other fault.
fn told(old: &str, new: &str) -> Vec<Problem> {
    problems(&with_hidden(old, new))
}

#[test]
fn a_launch_block_that_is_sound_for_all_workloads_has_no_problem() {
    assert_eq!(told("One block per row", "One block per row"), []);
}

#[test]
fn what_fails_for_a_held_out_workload_is_one_problem_without_numbers() {
    for (old, new) in FAILURES {
        let problems = told(old, new);
        let [problem] = problems.as_slice() else { panic!("{new}: {problems:?}") };
        assert_eq!((problem.found.as_str(), problem.expected.as_str()), HELD_OUT, "{new}");
        assert_eq!(problem.help, None, "{new}");
    }
}
