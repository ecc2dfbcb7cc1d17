//! References in Python: the sample projects with `reference.py` in place of `reference.cu`, and what is wrong with one.
//!
//! Without NumPy or PyTorch a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_TORCH` it fails.

use std::fs;
use std::path::Path;

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};
use crate::python::interpreter_with;

const PYTHON: &str = "/usr/bin/python3";

/// One of those in docs/bring-your-own.md.
const SEED: &str = "7919";

/// A sample project whose reference is this text.
fn project(bench: &Bench, name: &str, reference: &str) {
    let folder = bench.path().join(name);
    copy_folder(&repository().join("sample-projects").join(name), &folder);
    fs::remove_file(folder.join("reference.cu")).unwrap();
    fs::write(folder.join("reference.py"), reference).unwrap();
}

fn run(bench: &Bench, arguments: &[&str]) -> Said {
    let mut command = bench.command(arguments);
    command.env("LIGHTBENCH_PYTHON", PYTHON);
    Said::from(command.output().unwrap())
}

/// A bench with such a project, or none without a compiler or the package that the text imports.
fn bench_with(name: &str, reference: &str) -> Option<Bench> {
    compiler::required()?;
    interpreter_with(if reference.contains("torch") { "torch" } else { "numpy" })?;
    let bench = Bench::new();
    project(&bench, name, reference);
    Some(bench)
}

/// Runs kernels of a sample project whose reference is this text.
fn run_with(name: &str, reference: &str, arguments: &[&str]) -> Option<Said> {
    let bench = bench_with(name, reference)?;
    Some(run(&bench, &[&["run", name, "--no-times", "--seed", SEED], arguments].concat()))
}

/// A chain that adds equal terms errs in one direction, and the mean is subtracted; the reference adds pairwise, and its
/// copy in single precision shows no such error.
#[test]
fn a_biased_mean_that_is_subtracted_is_precise_enough() {
    let seed = ["--seed", "14429259570765097934"];
    let arguments = ["run", "layernorm", "--kernel", "registers", "--no-times"];
    let Some(bench) = bench_with("layernorm", &text("layernorm")) else { return };
    run(&bench, &[&arguments[..], &seed].concat()).expect(0, &["registers is correct"]);
}

fn text(name: &str) -> String {
    let folder = repository().join("tests/python_references");
    fs::read_to_string(folder.join(format!("{name}.py"))).unwrap()
}

/// Every kernel of a sample project passes, and a wrong one that only a good reference tells apart fails.
fn check_sample(name: &str, arguments: &[&str], wrong: &str, words: &str) {
    let Some(bench) = bench_with(name, &text(name)) else { return };
    let passed = run(&bench, &[&["run", name, "--no-times", "--seed", SEED], arguments].concat());
    passed.expect(0, &["is correct"]);
    assert!(!passed.output.contains("roundings in reference.py"), "{name}: {}", passed.output);
    run(&bench, &["run", name, "--kernel", wrong, "--no-times", "--seed", SEED])
        .expect(1, &[words]);
}

/// The sample projects; each is a test of its own, so that they run side by side.
macro_rules! samples {
    ($($test:ident: $name:literal, $wrong:literal, $words:literal,)*) => {
        $(#[test]
        fn $test() {
            check_sample($name, &[], $wrong, $words);
        })*
    };
}

samples! {
    cross_entropy_is_judged: "cross-entropy", "bf16-sum", "not precise enough",
    histogram_is_judged: "histogram", "sixteen-bit-counters", "wrong",
    jacobi_is_judged: "jacobi", "half-storage", "not precise enough",
    layernorm_is_judged: "layernorm", "bf16-differences", "not precise enough",
    rmsnorm_is_judged: "rmsnorm", "rounds-twice", "not precise enough",
    rotary_is_judged: "rotary", "bf16-tables", "not precise enough",
    scan_is_judged: "scan", "f32-sums", "wrong",
    sgemm_is_judged: "sgemm", "tf32", "not precise enough",
    softmax_f32_is_judged: "softmax", "bf16-exponentials", "not precise enough",
    softmax_bf16_is_judged: "softmax-bf16", "bf16-sum", "not precise enough",
    spmv_csr_is_judged: "spmv-csr", "bf16-products", "not precise enough",
    transpose_is_judged: "transpose", "tiles-not-turned", "wrong",
    vector_add_is_judged: "vector-add", "bf16-arithmetic", "not precise enough",
    vector_sum_is_judged: "vector-sum", "bf16-accumulate", "not precise enough",
}

#[test]
fn products_are_judged() {
    let ragged = ["--workload", "ragged", "--kernel", "naive"];
    check_sample("hgemm", &ragged, "k-rounded-down", "wrong");
    let Some(said) = run_with("attention", &text("attention"), &ragged) else { return };
    said.expect(0, &["naive is correct"]);
}

/// Every file in the folder is used by a test above.
#[test]
fn every_reference_is_tried() {
    let own = include_str!("python_references.rs");
    for file in fs::read_dir(repository().join("tests/python_references")).unwrap() {
        let name = file.unwrap().path();
        let name = name.file_stem().and_then(std::ffi::OsStr::to_str).unwrap().to_owned();
        assert!(own.contains(&format!("\"{name}\"")), "{name}");
    }
}

const NAIVE: [&str; 4] = ["--kernel", "naive", "--workload", "odd"];

#[test]
fn a_reference_that_fails_is_reported_at_its_line() {
    let check = |body: &str, status: i32, words: &[&str]| {
        let source = format!("import numpy as np\n\n\ndef reference(a, b):\n    {body}\n");
        let Some(said) = run_with("vector-add", &source, &NAIVE) else { return };
        said.expect(status, words);
    };
    check("return a + c", 3, &["reference.py:5", "NameError", "'c'"]);
    check("return a[:-1] + b[:-1]", 3, &["`c`", "1026", "1027"]);
    check("raise SystemExit(0)", 3, &["SystemExit"]);
    check("import os; os._exit(0)", 3, &["ended"]);
    check("raise MemoryError('too large')", 3, &["too large"]);
    check("import cupy", 3, &["reference unavailable", "cupy"]);
}

#[test]
fn intermediate_roundings_must_be_declared() {
    // As in many models: the weight multiplies what was rounded already.
    let source = text("rmsnorm").replace(" * w).to(x.dtype)", ").to(x.dtype) * w");
    assert_ne!(source, text("rmsnorm"));
    let check = |declared: &str, status: i32, words: &[&str]| {
        let Some(bench) = bench_with("rmsnorm", &source) else { return };
        let file = bench.path().join("rmsnorm/project.ron");
        let manifest = fs::read_to_string(&file).unwrap();
        fs::write(&file, manifest.replace("accuracy: f32", declared)).unwrap();
        let arguments = ["run", "rmsnorm", "--no-times", "--kernel", "naive"];
        run(&bench, &arguments).expect(status, words);
    };
    check("accuracy: f32", 3, &["reference.py rounds to bf16 (line 7)", "intermediate_rounding"]);
    check("accuracy: f32, intermediate_rounding: ignored", 0, &["naive is correct"]);
    check("accuracy: bf16", 0, &["naive is correct"]);
}

#[test]
fn a_size_beyond_the_limits_of_python_is_not_checked() {
    let source = text("softmax").replace(
        "        return",
        "        if x.shape[0] > 100000:\n            raise MemoryError\n        return",
    );
    let Some(bench) = bench_with("softmax", &source) else { return };
    let arguments = ["run", "softmax", "--kernel", "warp-per-row"];
    run(&bench, &arguments).expect(0, &["vit-b16-attention (MemoryError"]);
}

#[test]
fn an_audit_without_a_reference_kernel_tries_the_kernels_and_lists_gaps() {
    let Some(bench) = bench_with("vector-add", &text("vector-add")) else { return };
    // It is wrong beyond 2^31 elements, at which reference.py is not computed.
    fs::remove_file(bench.path().join("vector-add/wrong/index-is-int.cu")).unwrap();
    let audited = run(&bench, &["audit", "vector-add", "--seed", "1"]);
    audited
        .expect(0, &["this project has reference.py", "✓ naive", "✓ bf16-arithmetic", "no hole"]);
}

#[test]
fn without_python_no_kernel_is_judged() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    project(&bench, "vector-add", &text("vector-add"));
    let mut command = bench.command(&["run", "vector-add", "--no-times", "--kernel", "naive"]);
    command.env("LIGHTBENCH_PYTHON", Path::new("/nonexistent/python3"));
    Said::from(command.output().unwrap())
        .expect(3, &["not judged", "reference unavailable", "/nonexistent/python3"]);
}

#[test]
fn a_project_has_one_reference() {
    let bench = Bench::new();
    project(&bench, "vector-add", &text("vector-add"));
    fs::write(bench.path().join("vector-add/reference.cu"), "").unwrap();
    run(&bench, &["check", "vector-add"]).expect(2, &["reference.cu", "reference.py"]);
    for file in ["reference.cu", "reference.py"] {
        fs::remove_file(bench.path().join("vector-add").join(file)).unwrap();
    }
    run(&bench, &["check", "vector-add"]).expect(2, &["reference.cu is missing"]);
}
