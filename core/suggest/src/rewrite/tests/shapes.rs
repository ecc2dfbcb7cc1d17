//! Two kernels as one: the launch block that chooses between them, and kernels that have too little in common.

use lightbench_project::Project;

use super::{kernel, sample, vectors};
use crate::rewrite::by_shape;

const PLAIN: &str = "add(const float* a, const float* b, float* c, long long n)";
const ONE: &str = "    c[0] = a[0];\n";
const TWO: &str = "    c[0] = b[0];\n";

/// A launch block with these fields before its only step.
fn block(fields: &str, grid: &str, rest: &str) -> String {
    format!(
        "{fields}\n    steps: [launch(kernel: \"add\", grid: [\"{grid}\"], block: [\"BLOCK\"]{rest})],"
    )
}

fn joined(project: &Project, first: &str, second: &str) -> Result<String, String> {
    let (first, second) = (kernel(project, first), kernel(project, second));
    by_shape(project, &first, &second, "n <= 1000").map_err(|why| why.to_string())
}

/// The lines of the launch block of the joined kernel contain these texts, and the whole is a kernel.
#[track_caller]
fn check(first: &str, second: &str, expected: &[&str]) {
    let project = sample("vector-add");
    let text = joined(&project, first, second).unwrap();
    for part in expected {
        assert!(text.contains(part), "{part}\n{text}");
    }
    kernel(&project, &text);
}

#[track_caller]
fn check_refusal(first: &str, second: &str, expected: &str) {
    let why = joined(&sample("vector-add"), first, second).unwrap_err();
    assert!(why.contains(expected), "{why}");
}

#[test]
fn a_parameter_chooses_the_code_and_the_sizes() {
    let first = vectors(&block("params: { \"BLOCK\": [128, 64] },", "n", ""), PLAIN, ONE);
    let second = vectors(
        &block("params: { \"BLOCK\": [128, 64], \"ITEMS\": [4, 2] },", "ceil_div(n, ITEMS)", ""),
        PLAIN,
        TWO,
    );
    check(
        &first,
        &second,
        &[
            "params: { \"SHAPE\": [0, 1], \"BLOCK\": [128, 64], \"ITEMS\": [4, 2] }",
            "require: [\"SHAPE == 1 or n <= 1000\", \"SHAPE == 0 or not (n <= 1000)\", \"SHAPE == 1 or ITEMS == 4\"]",
            "grid: [\"(1 - SHAPE) * (n) + SHAPE * (ceil_div(n, ITEMS))\"], block: [\"BLOCK\"]",
            "#if PARAM_SHAPE == 0\n\n__global__",
            "c[0] = a[0];\n}\n\n#else\n\n__global__",
            "c[0] = b[0];\n}\n\n#endif\n",
        ],
    );
}

#[test]
fn each_kernel_keeps_its_order_of_values() {
    let of = |values: &str, require: &str, body: &str| {
        let fields = format!("params: {{ \"BLOCK\": [{values}] }},{require}");
        vectors(&block(&fields, "n", ""), PLAIN, body)
    };
    // One list continues the other.
    check(
        &of("128, 64", "", ONE),
        &of("128, 256", "", TWO),
        &[
            "\"BLOCK\": [128, 64, 256]",
            "\"SHAPE == 1 or BLOCK != 256\", \"SHAPE == 0 or BLOCK != 64\"",
        ],
    );
    // The orders differ, so that the first kernel keeps its first value.
    check(
        &of("64, 128", "", ONE),
        &of("128, 64", "", TWO),
        &["\"BLOCK\": [128, 64]", "\"SHAPE == 1 or BLOCK != 128\"]"],
    );
    let conditions = " require: [\"BLOCK == 64 or n > 9\"],";
    check(
        &of("64, 128", conditions, ONE),
        &of("128, 64", "", TWO),
        &[
            "\"BLOCK\": [64, 128]",
            "\"SHAPE == 1 or (BLOCK == 64 or n > 9)\", \"SHAPE == 0 or BLOCK != 64\"]",
        ],
    );
    check_refusal(
        &of("64, 128", conditions, ONE),
        &of("128, 64", conditions, TWO),
        "found `BLOCK`; expected values of a parameter in the same order in both kernels",
    );
    // The same code needs no choice.
    let text = joined(&sample("vector-add"), &of("64, 128", "", ONE), &of("128, 64", "", ONE));
    assert!(!text.unwrap().contains("#if"));
}

#[test]
fn flags_and_constants_are_those_of_both() {
    let of = |fields: &str, body: &str| {
        let fields = format!("params: {{ \"BLOCK\": [64] }}, {fields}");
        vectors(&block(&fields, "n", ""), PLAIN, body)
    };
    check(
        &of("flags: [fast_math, maxrregcount(\"64\")],", ONE),
        &of("constants: [\"n\"], flags: [maxrregcount(\"64\"), ftz(true)],", TWO),
        &["constants: [\"n\"]", "flags: [fast_math, maxrregcount(\"64\"), ftz(true)]"],
    );
    check_refusal(
        &of("flags: [maxrregcount(\"64\")],", ONE),
        &of("flags: [maxrregcount(\"32\")],", TWO),
        "found `maxrregcount(\"32\")`; expected the same flag in both kernels",
    );
}

#[test]
fn kernels_with_other_launches_stay_apart() {
    let of = |rest: &str, body: &str| {
        vectors(&block("params: { \"BLOCK\": [64] },", "n", rest), PLAIN, body)
    };
    let same = "found `steps`; expected the same steps in both kernels";
    check_refusal(&of("", ONE), &of(", args: [\"b\", \"a\", \"c\", \"n\"]", TWO), same);
    check_refusal(&of("", ONE), &of(", cooperative: true", TWO), same);
    check_refusal(&of("", ONE), &of(", cluster: [1]", TWO), same);
    check(
        &of("", ONE),
        &of(", shared: \"1024\"", TWO),
        &["shared: \"(1 - SHAPE) * (0) + SHAPE * (1024)\""],
    );
}
