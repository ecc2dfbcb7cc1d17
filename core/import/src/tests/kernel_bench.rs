//! Tasks of KernelBench.

use std::fs;

use lightbench_project::Project;

use super::example;
use crate::{Format, Options, Written, import, import_with, write};

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

/// The answer of the example after a change, as an error or as the launch block.
fn answered(from: &str, to: &str) -> Result<String, String> {
    let base = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(example("gated_dense_answer.py")).unwrap();
    assert!(text.contains(from), "{from}");
    let answer = base.path().join("answer.py");
    fs::write(&answer, text.replace(from, to)).unwrap();
    let options = Options { answer: Some(answer), ..Options::default() };
    let imported = import_with(&example("gated_dense.py"), &options);
    let imported = imported.map_err(|error| error.to_string())?;
    let written = write(&base.path().join("new"), imported).unwrap();
    Project::load(&written.folder).unwrap();
    Ok(fs::read_to_string(written.folder.join("kernels/answer.cu")).unwrap())
}

#[test]
fn an_answer_becomes_a_kernel_of_the_task() {
    let check = |from: &str, to: &str| {
        let kernel = answered(from, to).unwrap();
        for expected in [
            "args: [\"x\", \"dense_weight\", \"dense_bias\", \"scale\", \"y\", \"rows: i32\", \"features: i32\", \"units: i32\"]",
            "grid: [\"ceil_div(units, 128)\", \"rows\"], block: [\"128\"]",
        ] {
            assert!(kernel.contains(expected), "{expected}\n{kernel}");
        }
    };
    check("self.scale)", "self.scale)");
    check("        x = x.contiguous()\n", "        weight = self.dense.weight.data\n");
    check("self.extension.gated_dense(x,", "extension.gated_dense(x.cuda(),");
}

#[test]
fn an_answer_in_triton_becomes_a_kernel_of_the_task() {
    let base = tempfile::tempdir().unwrap();
    let answer = base.path().join("answer.py");
    let text = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n\
        def k(x, w, b, s, y, features, units, BLOCK: tl.constexpr):\n    at = tl.arange(0, BLOCK)\n    row = tl.program_id(0)\n\
        \x20   left, right = tl.load(x + row * features + at), tl.load(w + at)\n\
        \x20   tl.store(y + row * units + at, left * right + tl.load(b + at) * tl.load(s + at))\n\n\n\
        def gated(x, weight, bias, scale):\n    assert x.is_cuda\n    y = torch.empty((x.shape[0], weight.shape[0]), device=x.device)\n\
        \x20   k[(x.shape[0],)](x, weight, bias, scale, y, x.shape[1], weight.shape[0], BLOCK=64)\n    return y\n\n\n\
        class ModelNew(nn.Module):\n    def __init__(self, features, units, scale_shape):\n        super().__init__()\n\
        \x20       self.dense = nn.Linear(features, units)\n        self.scale = nn.Parameter(torch.randn(scale_shape) * 0.5)\n\n\
        \x20   def forward(self, x):\n        return gated(x, self.dense.weight, self.dense.bias, self.scale)\n";
    fs::write(&answer, text).unwrap();
    let options = Options { answer: Some(answer), ..Options::default() };
    let imported = import_with(&example("gated_dense.py"), &options).unwrap();
    let written = write(&base.path().join("new"), imported).unwrap();
    Project::load(&written.folder).unwrap();
    let kernel = fs::read_to_string(written.folder.join("kernels/answer.py")).unwrap();
    let expected = "triton(kernel: \"k\", args: [\"x\", \"dense_weight\", \"dense_bias\", \"scale\", \"y\", \"features\", \"units\"],\n               grid: [\"rows\"]";
    assert!(kernel.contains(expected), "{kernel}");
}

#[test]
fn answers_that_a_launch_block_cannot_express_are_refused_at_their_line() {
    let check = |from: &str, to: &str, expected: &str| {
        let error = answered(from, to).unwrap_err();
        assert!(error.contains(expected), "{expected}\n{error}");
    };
    let class = "class ModelNew(nn.Module)";
    check(class, "class Other(nn.Module)", "no class `ModelNew`");
    check(
        "x = x.contiguous()",
        "x = torch.relu(x)",
        "line 47: an operator of PyTorch, `torch.relu`",
    );
    check("self.scale)", "self.bias)", "line 48: `self.bias` is no weight");
    check(
        "self.scale)",
        "self.scale, 4)",
        "line 48: `forward` passes 5 arguments; `gated_dense` takes 4",
    );
    check("self.dense.bias, self", "0.5, self", "an argument of another kind than `bias` has");
    check("self.extension.gated_dense", "self.extension.other", "`other` is no function");
    check(
        "forward(self, x)",
        "forward(self, x, y)",
        "`forward` takes 2 inputs; that of the task takes 1",
    );
    check("return self.extension", "return x + self.extension", "line 48");
    // The weights would have other values than those of the task.
    check(
        "* 0.5",
        "* 2.0",
        "line 48: `self.scale`, which the answer does not make as the task does",
    );
    let transposed = "self.extension = extension\n        self.dense.weight.data.mul_(2)";
    check("self.extension = extension", transposed, "`self.dense`, which the answer does not make");
    let options = Options { answer: Some(example("gated_dense_answer.py")), ..Options::default() };
    let error = import_with(&example("triton/add.py"), &options).unwrap_err().to_string();
    assert!(error.contains("no task of KernelBench"), "{error}");
}
