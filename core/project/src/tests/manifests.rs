//! Each rule of `project.ron`: what is written instead of what, where the problem is, and its words.

use super::fixture::{bent, check_all, files, load, problems};
use crate::KernelUnavailable;

#[test]
fn a_sound_project_loads() {
    let project = load(&files()).unwrap_or_else(|error| panic!("{error}"));
    let workload = project.workload("llama-8b").unwrap();
    assert_eq!(workload.axes, [16384, 8192]);
    assert_eq!(workload.extents[0].bytes, 16384 * 8192 * 2);
    assert_eq!(workload.work.operations[0].1, 4.0 * 16384.0 * 8192.0);
    assert_eq!(workload.work.bytes, f64::from(2 * (2 * 16384 * 8192 + 8192)));
    match project.kernel("naiv").unwrap_err() {
        KernelUnavailable::Unknown(unknown) => {
            assert_eq!(unknown.nearest.as_deref(), Some("naive"));
        }
        KernelUnavailable::Broken(broken) => panic!("{broken:?}"),
    }
}

/// What is written, what instead, where the problem begins, and some of its words.
const RULES: &[(&str, &str, &str, &str)] = &[
    ("schema: 1,", "schema: 2,", "2", "schema 2"),
    ("title: \"RMS normalisation\",", "titel: \"x\",", "titel", "write `title`"),
    ("title: \"RMS normalisation\",", "", "", "the field `title` is missing"),
    ("name: \"rmsnorm\",", "name: rmsnorm,", "rmsnorm", "put double quotes around it"),
    ("dtype: f32, value", "dtype: float32, value", "float32", "unknown choice `float32`"),
    ("min: 1, max: 4294967296", "min: 0, max: 4294967296", "0", "from 1 to"),
    ("min: 1, max: 4294967296", "min: 9, max: 8", "8", "max 8 is below min 9"),
    ("name: \"eps\"", "name: \"rows\"", "\"rows\"", "a second axis, scalar or tensor `rows`"),
    ("name: \"eps\"", "name: \"for\"", "\"for\"", "reserved word"),
    ("name: \"eps\"", "name: \"1e\"", "\"1e\"", "not an identifier"),
    ("value: 1e-5", "value: true", "true", "a number that fits f32"),
    ("dtype: f32, value: 1e-5", "dtype: i8, value: 300", "300", "an integer that fits i8"),
    ("shape: [\"cols\"]", "shape: [\"2 * colz\"]", "colz", "write `cols`"),
    ("shape: [\"cols\"]", "shape: [\"cols - 264\"]", "\"cols", "is 0 in workload `odd-rows`"),
    ("shape: [\"cols\"]", "shape: [\"cols // (cols - 264)\"]", "cols //", "division by zero"),
    ("shape: [\"cols\"]", "shape: [\"cols / 7\"]", "cols", "264 / 7 is not an integer"),
    ("shape: [\"cols\"]", "shape: [\"cols ** 60\"]", "cols", "overflows"),
    ("shape: [\"cols\"]", "shape: [\"cols * 2 ** 38\"]", "\"cols", "a size from 1 to 2^40"),
    ("shape: [\"cols\"]", "shape: [\"device.sms\"]", "device", "is a device fact"),
    (
        "uniform(low: 0.5, high: 1.5)",
        "uniform(low: 2, high: 1.5)",
        "uniform",
        "limits that describe no values",
    ),
    (
        "uniform(low: 0.5, high: 1.5)",
        "labels(below: \"cols\")",
        "labels",
        "does not make values of bf16",
    ),
    ("uniform(low: 0.5, high: 1.5)", "uniform(low: 0.5, hihg: 1.5)", "hihg", "write `high`"),
    ("high: 1.5)", "high: 1.5), domain: unit_interval", "", "leaves the domain"),
    ("high: 1.5)", "high: 1.5), domain: between(low: 0, high: 1)", "", "leaves the domain"),
    ("high: 1.5)", "high: 1.5), domain: between(low: 2, high: 1)", "", "no bf16 between 2 and 1"),
    ("role: output,", "role: output, align: 3,", "3", "a power of two from 2"),
    ("role: output,", "role: output, init: zero", "zero", "unknown choice `zero`"),
    ("role: output,", "role: output, fill: ones,", "ones", "`fill` is for inputs"),
    ("role: output,", "role: output, alias: [\"z\"],", "\"z\"", "unknown tensor `z`"),
    (
        "role: output,",
        "role: output, layout: strides([\"cols\"]),",
        "[\"cols\"]",
        "1 strides for 2 dimensions",
    ),
    (
        "role: output,",
        "role: output, layout: strides([\"8\", \"1\"]),",
        "strides",
        "share an address",
    ),
    (
        "role: output,",
        "role: output, layout: leading_dimension(\"8\"),",
        "\"8\"",
        "at least the last dimension",
    ),
    ("compare: elementwise(terms: \"cols\", factor: 4)", "", "", "add `compare: elementwise()`"),
    (
        "elementwise(terms: \"cols\", factor: 4)",
        "integer_exact",
        "integer_exact",
        "does not judge bf16",
    ),
    ("factor: 4", "factor: -1", "-1", "a finite factor above 0"),
    ("terms: \"cols\"", "terms: \"rows -\"", "\",", "ends too early"),
    ("\"eps: f32\"", "\"eps: f16\"", "\"eps", "write `eps: f32`"),
    ("\"eps: f32\"", "\"eps: float\"", "\"eps", "unknown C type `float`"),
    ("\"eps: f32\"", "\"ep: f32\"", "ep", "write `eps`"),
    ("\"eps: f32\"", "\"eps\"", "\"eps\"", "write `eps: f32`"),
    ("\"rows: i64\"", "\"rows: u8\"", "\"rows", "a value that fits u8"),
    ("[\"x\", \"w\", \"y\", ", "[\"x\", \"w\", ", "[\"x\"", "the tensor `y` is not an argument"),
    (
        "[\"x\", \"w\", \"y\", ",
        "[\"x\", \"w\", \"y\", \"x\", ",
        "\"x\", \"rows",
        "a second argument `x`",
    ),
    ("count: \"rows\"", "count: \"0 - sqrt(rows)\"", "\"0", "a finite number of at least 0"),
    ("count: \"rows\"", "count: \"log2(0.0 * eps)\"", "log2", "`log2` of 0"),
    ("{\"rows\": 7, \"cols\": 264", "{\"rows\": 7", "{", "no value for the axis `cols`"),
    ("\"rows\": 7, \"cols\": 264", "\"rows\": 7, \"cols\": 260", "260", "a multiple of 8"),
    ("\"rows\": 7, \"cols\": 264", "\"rows\": 7, \"cols\": 70000", "70000", "from 8 to 65536"),
    (
        "\"rows\": 7, \"cols\": 264",
        "\"rows\": 7, \"cols\": 8, \"k\": 1",
        "\"k\"",
        "unknown axis `k`",
    ),
    (
        "\"rows\": 7, \"cols\": 264",
        "\"rows\": 7, \"cols\": 8, \"rows\": 1",
        "\"rows\": 1",
        "a second value for axis",
    ),
    ("purpose: verify", "purpose: measure", "", "at least one `verify` workload"),
    ("name: \"llama-8b\"", "name: \"odd-rows\"", "\"odd-rows\"", "a second workload"),
    ("kernel(\"naive\")", "kernel(\"naiv\")", "\"naiv\"", "write `naive`"),
    ("kernel(\"naive\")", "library(cub)", "cub", "`cublas_gemm`"),
    ("kernel(\"naive\")", "pytorch(\"torch.py\")", "\"torch.py\"", "does not exist"),
    ("kernel(\"naive\")", "pytorch(\"../torch.py\")", "\"../torch.py\"", "cannot be a name"),
    (
        "kernel(\"naive\")",
        "library(cublas_gemm(a: \"x\", b: \"x\", c: \"z\"))",
        "\"z\"",
        "unknown tensor `z`",
    ),
    (
        "kernel(\"naive\")",
        "library(cublas_gemm(a: \"x\", b: \"w\", c: \"y\"))",
        "\"w\"",
        "`w`, whose dimensions are 1",
    ),
    (
        "kernel(\"naive\")",
        "library(cublas_gemm(a: \"x\", b: \"x\", c: \"y\", transposed: [\"w\"]))",
        "\"w\"",
        "unknown factor `w`",
    ),
    (
        "kernel(\"naive\")",
        "library(cublas_gemm(a: \"x\", b: \"x\", c: \"y\"))",
        "cublas_gemm",
        "shapes that make no product",
    ),
    ("accuracy: f32,", "policy: (refuse: [clock]),", "clock", "write `clocks`"),
    ("accuracy: f32,", "limits: (device_bytes: 1000000),", "", "raise `limits"),
    ("accuracy: f32,", "limits: (compile_secs: 601),", "601", "from 1 to 600"),
    ("accuracy: f32,", "accuracy: f32 limits: (),", "limits", "comma"),
    (
        "llama-8b\", purpose: measure, axes",
        "llama-8b\", purpose: measure, scalars: {\"eps\": \"x\"}, axes",
        "\"x\"",
        "a number or a boolean",
    ),
    (
        "llama-8b\", purpose: measure, axes",
        "llama-8b\", purpose: measure, fills: {\"y\": ones}, axes",
        "\"y\"",
        "unknown input `y`",
    ),
];

#[test]
fn every_rule_of_the_manifest_has_its_problem() {
    check_all("project.ron", RULES);
}

#[test]
fn three_billion_rows_do_not_fit_an_i32() {
    let mut files = bent("project.ron", "\"rows: i64\"", "\"rows: i32\"");
    files[0].1 =
        files[0].1.replace("\"rows\": 16384, \"cols\": 8192", "\"rows\": 3000000000, \"cols\": 8");
    let problems = problems(&files);
    assert!(
        problems[0].found.contains("`rows` is 3000000000 in workload `llama-8b`"),
        "{}",
        problems[0]
    );
}

#[test]
fn all_problems_are_reported_at_once_and_in_order() {
    let mut files = bent("project.ron", "value: 1e-5", "value: true");
    files[0].1 = files[0]
        .1
        .replace("schema: 1", "schema: 3")
        .replace("shape: [\"cols\"]", "shape: [\"colz\"]");
    files[2].1 = files[2].1.replace("fast_math,", "fast_maths,");
    let problems = problems(&files);
    let lines: Vec<(String, usize)> =
        problems.iter().map(|problem| (problem.file.display().to_string(), problem.line)).collect();
    let expected =
        [("kernels/naive.cu", 11), ("project.ron", 2), ("project.ron", 9), ("project.ron", 12)];
    assert_eq!(lines, expected.map(|(file, line)| (file.to_owned(), line)));
    assert_eq!(problems[3].field, "tensors[1].shape[0]");
}
