//! Triton kernels in projects: from a Python file to a verdict, compiled by the Triton of `LIGHTBENCH_PYTHON`.
//!
//! Without Triton a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_TRITON` it fails.

use std::fs;

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};
use crate::skip::skip;

/// Runs a kernel of `tests/triton` as a kernel of a copied sample project; none without Triton or a compiler.
fn run(project: &str, kernel: &str, text: &str, arguments: &[&str]) -> Option<Said> {
    compiler::required()?;
    let python = std::env::var_os("LIGHTBENCH_PYTHON");
    let bench = Bench::new();
    let folder = bench.path().join(project);
    copy_folder(&repository().join("sample-projects").join(project), &folder);
    let part = if text.contains("expect:") { "wrong" } else { "kernels" };
    fs::write(folder.join(part).join(format!("{kernel}.py")), text).unwrap();
    let mut command = bench.command(&["run", project, "--kernel", kernel, "--no-times"]);
    command.args(arguments);
    if let Some(python) = &python {
        command.env("LIGHTBENCH_PYTHON", python);
    }
    let said = Said::from(command.output().unwrap());
    let is_missing = said.output.contains("Triton kernels need Python with Triton");
    if is_missing {
        assert_eq!(said.status, 3, "a kernel that nothing here compiles is not judged: {said:#?}");
        let missing = "no Triton (`LIGHTBENCH_PYTHON` names an interpreter that has it)";
        skip(missing, "LIGHTBENCH_REQUIRE_TRITON");
        return None;
    }
    Some(said)
}

fn text(file: &str) -> String {
    fs::read_to_string(repository().join("tests/triton").join(file)).unwrap()
}

#[test]
fn triton_kernels_get_verdicts() {
    // The whole domain of the small ones; of the product, whose tl.dot becomes wgmma, one ragged workload.
    let check = |project: &str, arguments: &[&str]| {
        let text = text(&format!("kernels/{project}.py"));
        let Some(said) = run(project, "triton", &text, arguments) else { return };
        assert_eq!(said.status, 0, "{project}: {said:#?}");
        assert!(said.output.contains("triton is correct"), "{project}: {said:#?}");
        assert!(!said.output.contains("inline assembly"), "{project}: {said:#?}");
    };
    check("softmax", &[]);
    check("layernorm", &[]);
    check("hgemm", &["--workload", "ragged"]);
}

#[test]
fn faults_and_wrong_results_of_triton_kernels_are_found() {
    let check = |old: &str, new: &str, expected: &[&str]| {
        let text = text("kernels/softmax.py");
        assert!(text.contains(old), "{old}");
        let text = text.replace(old, new);
        let arguments = ["--workload", "odd"];
        let Some(said) = run("softmax", "triton", &text, &arguments) else { return };
        assert_eq!(said.status, 1, "{new}: {said:#?}");
        for words in expected {
            let found = said.output.contains(words) || said.errors.contains(words);
            assert!(found, "{new}: {words}: {said:#?}");
        }
    };
    check("mask = at < cols", "mask = at < BLOCK", &["out_of_bounds", "kernels/triton.py:19:"]);
    check("- tl.max(value, axis=0)", "", &["is wrong"]);
    check("tl.exp(", "tl.exq(", &["does not compile", "kernels/triton.py:20:"]);
    check("cols, BLOCK: tl", "cols, more, BLOCK: tl", &["takes 5", "y, x, rows, cols, more"]);
    check("\"softmax\"", "\"softmin\"", &["no function `softmin`", "softmax"]);
    check(
        "    title",
        "    flags: [fmad(false), maxrregcount(300)],\n    title",
        &["300 registers"],
    );
}

#[test]
fn a_file_launches_several_kernels() {
    let text = text("kernels/two-passes.py");
    let Some(said) = run("softmax", "two-passes", &text, &[]) else { return };
    said.expect(0, &["two-passes is correct"]);
    // A fault in the second launch of one function is found at its line.
    let bent = text.replace("(at < cols)\n", "(at < BLOCK)\n");
    assert_ne!(bent, text);
    let Some(said) = run("softmax", "bent", &bent, &["--workload", "odd"]) else { return };
    said.expect(1, &["out_of_bounds", "kernels/bent.py:34:"]);
}

#[test]
fn descriptors_are_made_in_scratch_memory() {
    let text = text("kernels/descriptors.py");
    let check = |device: &str, workload: &str, status: i32, words: &[&str]| {
        let arguments = ["--device", device, "--workload", workload];
        let Some(said) = run("vector-add", "descriptors", &text, &arguments) else { return };
        said.expect(status, words);
    };
    // Triton generates loads and stores before compute capability 9.0.
    check("virtual:a100-40gb", "one", 0, &["descriptors is correct"]);
    // From 9.0 on, the kernel makes tensor maps in shared memory and publishes them.
    check("virtual:h200", "one-block", 0, &["descriptors is correct"]);
    // Tensor copies store units of 16 bytes, also beyond the end of the tensor.
    let beyond = ["out_of_bounds", "16 bytes at offset 0 of `c`, which has 4 bytes"];
    check("virtual:h200", "one", 1, &beyond);
}

#[test]
fn null_is_none_in_python() {
    let text = text("kernels/optional.py");
    let Some(said) = run("vector-add", "optional", &text, &[]) else { return };
    said.expect(0, &["optional is correct"]);
}

#[test]
fn a_wrong_triton_kernel_fails_as_it_declares() {
    let Some(said) = run("softmax", "no-mask", &text("wrong/softmax-no-mask.py"), &[]) else {
        return;
    };
    assert!(said.output.contains("no-mask is faulty"), "{said:#?}");
}

#[test]
fn nothing_of_the_file_but_its_kernels_runs() {
    let text = text("kernels/softmax.py");
    let hostile = [
        "open('/tmp/lightbench-triton-ran', 'w').write('x')",
        "X = open('/tmp/lightbench-triton-ran', 'w')",
        "import subprocess; subprocess.run(['touch', '/tmp/lightbench-triton-ran'])",
        "def f(x=open('/tmp/lightbench-triton-ran', 'w')): pass",
        "class C:\n    open('/tmp/lightbench-triton-ran', 'w')",
        "X = 9 ** 9 ** 9",
        "raise SystemExit",
        "while True: pass",
    ];
    for statement in hostile {
        let text = text.replace("import triton\n", &format!("{statement}\nimport triton\n"));
        let Some(said) = run("softmax", "triton", &text, &["--workload", "odd"]) else { return };
        assert_eq!(said.status, 0, "{statement}: {said:#?}");
        assert!(!fs::exists("/tmp/lightbench-triton-ran").unwrap(), "{statement}");
    }
}
