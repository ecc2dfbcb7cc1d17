//! Tasks of public suites, from their files to verdicts.
//!
//! The verdicts need the compiler and PyTorch; without them, their test prints that it is skipped.

use std::fs;

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};
#[cfg(target_os = "linux")]
use crate::skip::skip;

/// A bench with the examples in `tasks`.
fn bench() -> Bench {
    let bench = Bench::new();
    copy_folder(&repository().join("tests/import"), &bench.path().join("tasks"));
    bench
}

#[test]
fn an_import_says_what_comes_next() {
    let bench = bench();
    let words = ["import", "tasks/paged_sum_d16.json", "--into", "paged"];
    let said = bench.run(&words);
    said.expect(0, &["wrote paged", "carried over", "left out", "to confirm", "the first run"]);
    said.expect(0, &["next: lightbench run paged"]);
    let widest = said.output.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest} columns:\n{}", said.output);
    bench.run(&words).expect(2, &["paged is not empty, it holds README.md"]);
}

#[test]
fn traces_and_tasks_are_told_apart() {
    let bench = bench();
    let trace = repository().join("tests/data/frozen/stored/traces.jsonl");
    fs::copy(trace, bench.path().join("traces.jsonl")).unwrap();
    bench.run(&["import", "traces.jsonl", "scale"]).expect(0, &["recorded runs are new"]);
    bench.run(&["import", "traces.jsonl"]).expect(2, &["is not a project"]);
    bench.run(&["import", "traces.jsonl", "--into", "x"]).expect(2, &["belong to the history"]);
    bench
        .run(&["import", "tasks/scale_rows", "scale", "--into", "x"])
        .expect(2, &["cannot be used"]);
    bench.run(&["import", "scale/reference.cu"]).expect(2, &["text that is not JSON; expected a"]);
}

#[cfg(target_os = "linux")]
fn run(bench: &Bench, project: &str) -> Said {
    run_kernel(bench, project, "naive", "/usr/bin/python3".as_ref())
}

#[cfg(target_os = "linux")]
fn run_kernel(bench: &Bench, project: &str, kernel: &str, python: &std::ffi::OsStr) -> Said {
    // With other inputs an overflow of `expf` can make a result less precise than the definition permits.
    let seeded = ["--device", "virtual:h200", "--no-times", "--seed", "1"];
    let words = [&["run", project, "--kernel", kernel], &seeded[..]].concat();
    let mut command = bench.command(&words);
    command.env("LIGHTBENCH_PYTHON", python);
    Said::from(command.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_starter_is_unwritten_and_a_written_one_passes() {
    let bench = bench();
    if compiler::required().is_none() || crate::python::interpreter_with("torch").is_none() {
        return;
    }
    bench.run(&["import", "tasks/scale_rows"]).expect(0, &["wrote scale_rows_h4_d48"]);
    run(&bench, "scale_rows_h4_d48").expect(1, &["unwritten"]);
    let kernel = bench.path().join("scale_rows_h4_d48/kernels/naive.cu");
    let text = fs::read_to_string(&kernel).unwrap();
    assert!(text.contains("(void)i;"), "{text}");
    let body = "if (i < rows * 48) y[i] = __float2bfloat16(__bfloat162float(x[i]) * scale[i / 48] + bias);";
    fs::write(&kernel, text.replace("(void)i;", body)).unwrap();
    run(&bench, "scale_rows_h4_d48").expect(0, &["naive is correct"]);
    for kernel in ["scale_rows_torch", "scale_rows_tvm"] {
        let said = run_kernel(&bench, "scale_rows_h4_d48", kernel, "/usr/bin/python3".as_ref());
        said.expect(0, &[&format!("{kernel} is correct")]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_completed_reference_is_computed() {
    let bench = bench();
    if compiler::required().is_none() || crate::python::interpreter_with("torch").is_none() {
        return;
    }
    for task in ["residual_norm_h96", "paged_sum_d16"] {
        bench.run(&["import", &format!("tasks/{task}.json")]).expect(0, &["wrote"]);
        run(&bench, task).expect(1, &["are wrong or were never written"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_computes_for_the_sizes_of_every_workload() {
    let bench = bench();
    if compiler::required().is_none() || crate::python::interpreter_with("torch").is_none() {
        return;
    }
    for task in ["gated_dense", "convolved_pool"] {
        bench.run(&["import", &format!("tasks/{task}.py")]).expect(0, &["wrote", "KernelBench"]);
        run(&bench, task).expect(1, &["unwritten"]);
    }
    let answer = ["--answer", "tasks/gated_dense_answer.py", "--into", "answered"];
    bench
        .run(&[&["import", "tasks/gated_dense.py"], answer.as_slice()].concat())
        .expect(0, &["wrote answered"]);
    run_kernel(&bench, "answered", "gated_dense_answer", "/usr/bin/python3".as_ref())
        .expect(0, &["gated_dense_answer is correct"]);
    let kernel = bench.path().join("gated_dense/kernels/naive.cu");
    let text = fs::read_to_string(&kernel).unwrap();
    assert!(text.contains("(void)i;"), "{text}");
    let body = "if (i >= rows * units) return;\n    const long long unit = i % units;\n    float sum = dense_bias[unit];\n    \
                for (long long k = 0; k < features; ++k) sum += x[i / units * features + k] * dense_weight[unit * features + k];\n    \
                y[i] = scale[unit] / (1.0f + expf(-sum));";
    fs::write(&kernel, text.replace("(void)i;", body)).unwrap();
    run(&bench, "gated_dense").expect(0, &["naive is correct"]);
}

#[cfg(target_os = "linux")]
#[test]
fn triton_files_become_verdicts() {
    let bench = bench();
    let Some(python) = std::env::var_os("LIGHTBENCH_PYTHON") else {
        skip(
            "no Triton (`LIGHTBENCH_PYTHON` names an interpreter that has it)",
            "LIGHTBENCH_REQUIRE_TRITON",
        );
        return;
    };
    if compiler::required().is_none() {
        return;
    }
    let run_file = |name: &str| {
        let file = format!("tasks/triton/{name}.py");
        let reference = format!("tasks/triton/{name}_reference.py");
        bench.run(&["import", &file, "--reference", &reference]).expect(0, &["from a Triton file"]);
        run_kernel(&bench, name, name, &python)
    };
    for name in ["add", "matmul", "layernorm"] {
        run_file(name).expect(0, &[&format!("{name} is correct")]);
    }
    // Its grid is the occupancy, which needs the assembler.
    let softmax = run_file("softmax");
    if softmax.status == 3 {
        softmax.expect(3, &["doctor --fetch assembler"]);
    } else {
        softmax.expect(0, &["softmax is correct"]);
    }
    let log = "tasks/triton_parse/product.ndjson";
    let reference = "tasks/triton_parse/product_reference.py";
    bench.run(&["import", log, "--reference", reference]).expect(0, &["from a log of TritonParse"]);
    run_kernel(&bench, "product_kernel", "product_kernel", &python)
        .expect(0, &["product_kernel is correct"]);
    bench.run(&["import", "tasks/scale_rows"]).expect(0, &["kernels/scale_rows_triton.py"]);
    let kernel = "scale_rows_triton";
    run_kernel(&bench, "scale_rows_h4_d48", kernel, &python).expect(0, &["is correct"]);
}
