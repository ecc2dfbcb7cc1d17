//! Solutions of FlashInfer-Bench and SOL-ExecBench: which become kernels, and why others are left out.

use std::fs;

use lightbench_project::Project;
use serde_json::{Value, json};

use super::example;
use crate::{Written, import, write};

/// Imports the definition of an example with one solution, which `change` alters.
fn imported(solution: &str, change: impl FnOnce(&mut Value)) -> (tempfile::TempDir, Written) {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("task");
    fs::create_dir(&folder).unwrap();
    for name in ["definition.json", "workload.jsonl"] {
        fs::copy(example(&format!("scale_rows/{name}")), folder.join(name)).unwrap();
    }
    let text = fs::read_to_string(example(&format!("scale_rows/{solution}.json"))).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    change(&mut value);
    fs::write(folder.join("solution.json"), value.to_string()).unwrap();
    let written = write(&base.path().join("new"), import(&folder).unwrap()).unwrap();
    let project = Project::load(&written.folder).unwrap();
    assert_eq!(project.broken, []);
    (base, written)
}

#[test]
fn solutions_become_kernels() {
    let check = |solution: &str, file: &str, expected: &[&str]| {
        let (_base, written) = imported(solution, |_| {});
        let text = fs::read_to_string(written.folder.join("kernels").join(file));
        let text = text.unwrap_or_else(|error| panic!("{error}: {:?}", written.report.left_out));
        for part in expected {
            assert!(text.contains(part), "no {part}:\n{text}");
        }
    };
    check(
        "scale_rows_torch",
        "scale_rows_torch.cu",
        &[
            "args: [\"x\", \"scale\", \"bias: f32\", \"y\", \"heads * (hidden // heads): i32\"]",
            "grid: [\"rows\"]",
            "fast_math",
        ],
    );
    check(
        "scale_rows_tvm",
        "scale_rows_tvm.cu",
        &["block: [\"32\"]", "__global__ void scale_rows"],
    );
    check(
        "scale_rows_triton",
        "scale_rows_triton.py",
        &["triton(kernel: \"scale_rows\"", "num_warps: 1"],
    );
}

#[test]
fn what_is_no_kernel_is_left_out_with_its_reason() {
    let check = |solution: &str, change: &dyn Fn(&mut Value), reason: &str| {
        let (_base, written) = imported(solution, change);
        let left_out = &written.report.left_out;
        let own = left_out.iter().find(|part| part.what.starts_with("solution `"));
        let own = own.unwrap_or_else(|| panic!("{reason}: {:?}", written.report.carried));
        assert!(own.reason.contains(reason), "{reason}\n{}", own.reason);
    };
    let replace = |old: &'static str, new: &'static str| {
        move |value: &mut Value| {
            let source = &mut value["sources"][0]["content"];
            let text = source.as_str().unwrap();
            assert!(text.contains(old), "{old}");
            *source = json!(text.replace(old, new));
        }
    };
    let entry = |written: &'static str| {
        move |value: &mut Value| value["spec"]["entry_point"] = json!(written)
    };
    let language = |written: &'static str| {
        move |value: &mut Value| {
            value["spec"] = json!({ "language": written, "entry_point": "main.cu::run" });
        }
    };
    check("scale_rows_torch", &entry("main.cu"), "not of the form");
    check("scale_rows_torch", &entry("other.cu::run"), "names `other.cu`, which is no source");
    check("scale_rows_torch", &entry("main.cu::go"), "no function of this name");
    check("scale_rows_torch", &language("python"), "no CUDA or Triton kernel");
    check(
        "scale_rows_torch",
        &replace("auto y = torch::empty_like(x);", "auto y = torch::relu(x);"),
        "main.cu, line 15: an operator of PyTorch",
    );
    check(
        "scale_rows_torch",
        &replace("double bias)", "double bias, double more, double most)"),
        "takes 5 values",
    );
    check("scale_rows_torch", &replace("torch::Tensor scale", "double scale"), "main.cu, line");
    check("scale_rows_triton", &entry("main.py::go"), "no function `go`");
    check(
        "scale_rows_triton",
        &replace("y = torch.empty_like(x)", "y = x * 2"),
        "line 17: an operator of PyTorch",
    );
}
