//! PyTorch extensions: what their projects have, and what is refused.

use std::fs;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::Project;

use super::example;
use crate::{Format, Options, Written, import, import_with, write};

/// Imports an example with options, and loads the project.
fn imported(name: &str, options: &Options) -> (tempfile::TempDir, Written, Project) {
    let base = tempfile::tempdir().unwrap();
    let imported = import_with(&example(name), options).unwrap();
    let written = write(&base.path().join("new"), imported).unwrap();
    let project = Project::load(&written.folder).unwrap();
    (base, written, project)
}

/// A file of the new project contains these texts.
fn check(written: &Written, file: &str, expected: &[&str]) {
    let text = fs::read_to_string(written.folder.join(file)).unwrap();
    for part in expected {
        assert!(text.contains(part), "no {part} in {file}:\n{text}");
    }
}

#[test]
fn load_inline_becomes_a_launch_block() {
    let reference = Some(example("extension/softmax_reference.py"));
    for (dtype, name) in [(None, "float"), (Some(Dtype::F16), "__half")] {
        let options = Options { reference: reference.clone(), dtype, ..Options::default() };
        let (_base, written, project) = imported("extension/softmax.py", &options);
        assert_eq!(written.report.format, Format::TorchExtension);
        assert_eq!(project.definition.name, "softmax");
        let launch = format!("kernel: \"softmax_kernel<{name}, 256>\"");
        let arguments = "args: [\"x\", \"y\", \"cols: i32\"]";
        let sizes = "grid: [\"rows\"], block: [\"256\"]";
        check(&written, "kernels/softmax.cu", &[&launch, arguments, sizes]);
        check(&written, "reference.py", &["torch.softmax(x.float(), dim=-1)"]);
        assert!(
            written.questions.iter().all(|placed| placed.question.need == crate::Need::Confirm)
        );
    }
}

#[test]
fn scratch_fills_and_computed_numbers_are_carried_over() {
    let (_base, written, _project) = imported("extension/mean.cu", &Options::default());
    check(
        &written,
        "kernels/mean.cu",
        &[
            "scratch: [\n        (name: \"part\", dtype: f32, shape: [\"min(ceil_div(n, 256), 64)\"]",
            "fill(buffer: \"y\", value: 0.0)",
            "args: [\"part\", \"y\", \"min(ceil_div(n, 256), 64): i32\", \"scale: f32\"]",
        ],
    );
    check(&written, "reference.py", &["def reference(x):", "raise NotImplementedError"]);
    let asked = written.questions.iter().filter(|each| each.question.need == crate::Need::Answer);
    assert_eq!(asked.count(), 1);
}

#[test]
fn a_refusal_has_the_line_of_the_imported_file() {
    let cuda = "__global__ void k(float* x, int n) { x[n] = 0; }\n\
        torch::Tensor f(torch::Tensor x) {\n    auto y = torch::relu(x);\n    k<<<1, 32>>>(y.data_ptr<float>(), 3);\n    return y;\n}\n";
    let inline = format!(
        "import torch\n\nsource = '''\n{cuda}'''\nm = load_inline('m', '', source, ['f'])\n"
    );
    for (name, text, line) in [("a.cu", cuda, "line 3"), ("a.py", &inline, "line 6")] {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join(name);
        fs::write(&file, text).unwrap();
        let error = import(&file).unwrap_err().to_string();
        let expected = format!("{line}: in `f`: an operator of PyTorch");
        assert!(error.contains(&expected), "{error}");
    }
}
