//! Tasks of KernelBench.

use std::fs;

use lightbench_project::Project;

use super::example;
use crate::{Format, Written, import, write};

fn imported(name: &str) -> (tempfile::TempDir, Written, Project) {
    let base = tempfile::tempdir().unwrap();
    let imported = import(&example(name)).unwrap();
    let written = write(&base.path().join("new"), imported).unwrap();
    let project = Project::load(&written.folder).unwrap();
    (base, written, project)
}

#[test]
fn a_model_becomes_a_project() {
    let (_base, written, project) = imported("gated_dense.py");
    assert_eq!(written.report.format, Format::KernelBench);
    let manifest = &project.manifest;
    for expected in [
        "title: \"gated dense\"",
        "summary: \"A dense layer whose results are gated by a learned scale.\"",
        "(name: \"x\", dtype: f32, shape: [\"rows\", \"features\"], role: input, fill: uniform(low: -1.0, high: 1.0))",
        "(name: \"dense_weight\", dtype: f32, shape: [\"units\", \"features\"], role: input, fill: uniform(low: -0.0313, high: 0.0313))",
        "(name: \"scale\", dtype: f32, shape: [\"units\"], role: input, fill: normal(mean: 0.0, std: 0.5))",
        "compare: elementwise(terms: \"features\", factor: 4.0)",
        "(kind: contraction, count: \"2 * features * rows * units\")",
        "(name: \"task\", purpose: measure, axes: {\"features\": 1024, \"rows\": 2048, \"units\": 1024})",
    ] {
        assert!(manifest.contains(expected), "{expected}\n{manifest}");
    }
    let reference = fs::read_to_string(written.folder.join("reference.py")).unwrap();
    assert!(reference.ends_with(&fs::read_to_string(example("gated_dense.py")).unwrap()));
}

#[test]
fn conditions_of_operations_limit_the_axes() {
    let (_base, _written, project) = imported("convolved_pool.py");
    let manifest = &project.manifest;
    for expected in [
        "(name: \"filters\", min: 8, multiple_of: 8)",
        "shape: [\"filters\", \"channels\", 3, 3]",
        "shape: [\"batch\", \"filters\", \"(height // 2)\", \"(width // 2)\"], role: output",
    ] {
        assert!(manifest.contains(expected), "{expected}\n{manifest}");
    }
}

fn check_refused(text: &str, expected: &str) {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("task.py");
    fs::write(&file, text).unwrap();
    let error = import(&file).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}\n{text}");
}

#[test]
fn refusals_name_the_line() {
    let task = |body: &str, inputs: &str| {
        format!(
            "import torch\nimport torch.nn as nn\nn = 4\nclass Model(nn.Module):\n    def forward(self, x):\n        \
             {body}\ndef get_inputs():\n    return {inputs}\n"
        )
    };
    check_refused(
        &task("return torch.fft.rfft(x)", "[torch.rand(n)]"),
        "task.py: line 6: the operation `rfft`",
    );
    check_refused(&task("return x", "torch.rand(n)"), "`get_inputs` returns no list");
    check_refused("class Model(\n", "line 1: syntax error");
    check_refused("x = 1\n", "expected");
    let reserved =
        task("return x", "[torch.rand(n)]").replace("n = 4", "short = 4").replace("(n)", "(short)");
    check_refused(&reserved, "the name `short` is reserved");
}
