//! What an import writes.

use std::fs;

use lightbench_project::manifest::{Purpose, RoleWritten};
use lightbench_project::{Project, Reference};

use super::example;
use crate::{Format, Written, import, write};

/// Imports an example into a folder that ends with the test.
fn imported(name: &str) -> (tempfile::TempDir, Written, Project) {
    let base = tempfile::tempdir().unwrap();
    let imported = import(&example(name)).unwrap();
    let written = write(&base.path().join("new"), imported).unwrap();
    let project = Project::load(&written.folder).unwrap();
    (base, written, project)
}

fn reference(project: &Project) -> &str {
    match &project.reference {
        Reference::Python(reference) => &reference.source,
        Reference::Kernel(_) => panic!("expected a reference in Python"),
    }
}

#[test]
fn a_folder_becomes_a_project_with_its_workloads() {
    let (_base, written, project) = imported("scale_rows");
    assert_eq!(written.report.format, Format::SolExecBench);
    assert_eq!(project.definition.name, "scale_rows_h4_d48");
    let sizes: Vec<(&str, Purpose)> =
        project.workloads.iter().map(|each| (each.name.as_str(), each.purpose)).collect();
    let expected = [
        ("w1", Purpose::Verify),
        ("w2", Purpose::Measure),
        ("w3", Purpose::Measure),
        ("hidden", Purpose::HeldOut),
    ];
    assert_eq!(sizes, expected);
    let manifest = &project.manifest;
    assert!(manifest.contains("shape: [\"rows\", \"heads\", \"hidden // heads\"]"), "{manifest}");
    assert!(manifest.contains("scalars: {\"bias\": -2.0}"), "{manifest}");
    assert!(!reference(&project).contains("Appended"), "{}", reference(&project));
    let left_out: Vec<&str> =
        written.report.left_out.iter().map(|part| part.what.as_str()).collect();
    assert_eq!(left_out, ["values of `scale`", "solution `scale_rows_threads` (cuda_cpp)"]);
}

#[test]
fn an_output_that_the_reference_does_not_return_is_completed() {
    let (_base, written, project) = imported("residual_norm_h96.json");
    assert_eq!(written.report.format, Format::FlashInferBench);
    assert!(reference(&project).contains("    residual += hidden_states\n"));
    assert!(reference(&project).contains("_outputs = (\"output\",)"));
    assert!(project.manifest.contains(
        "\"residual\", dtype: bf16, shape: [\"batch_size\", \"hidden_size\"], role: inout"
    ));
    let question = |name: &str| written.questions.iter().find(|each| each.question.name == name);
    let asked = question("reference.residual").unwrap();
    assert_eq!((asked.file.as_str(), asked.line), ("reference.py", 1));
}

#[test]
fn index_domains_are_proposed_and_listed() {
    let (_base, written, project) = imported("paged_sum_d16.json");
    let manifest = &project.manifest;
    assert!(manifest.contains("fill: sorted_offsets(total: \"num_kv_indices\")"), "{manifest}");
    assert!(manifest.contains("domain: index_below(\"num_pages\")"), "{manifest}");
    assert!(manifest.contains("shape: [\"batch_size + 1\"]"), "{manifest}");
    assert!(manifest.contains("name: \"sm_scale\", dtype: f32, value: 0.25"), "{manifest}");
    for placed in &written.questions {
        let text = fs::read_to_string(written.folder.join(&placed.file)).unwrap();
        let line = text.lines().nth(placed.line - 1).unwrap();
        assert!(line.contains(&format!("confirm {}: ", placed.question.name)), "{line}");
    }
    let names: Vec<&str> =
        written.questions.iter().map(|each| each.question.name.as_str()).collect();
    for name in ["kv_indptr.dtype", "kv_indptr.domain", "kv_indices.domain", "sm_scale.value"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    let left_out: Vec<&str> =
        written.report.left_out.iter().map(|part| part.what.as_str()).collect();
    assert!(left_out.contains(&"input `layout`"), "{left_out:?}");
    assert!(left_out.contains(&"constraint `width in (16, 32)`"), "{left_out:?}");
}

#[test]
fn the_starter_has_the_signature_of_the_project() {
    let (_base, _written, project) = imported("residual_norm_h96.json");
    let kernel = project.kernel("naive").unwrap();
    assert!(kernel.source.contains("const __nv_bfloat16* hidden_states,"), "{}", kernel.source);
    assert!(kernel.source.contains("__nv_bfloat16* residual,"), "{}", kernel.source);
    assert!(kernel.source.contains("long long batch_size"), "{}", kernel.source);
    let roles = imported_roles("residual_norm_h96.json");
    assert_eq!(
        roles,
        [RoleWritten::Input, RoleWritten::Inout, RoleWritten::Input, RoleWritten::Output]
    );
}

fn imported_roles(name: &str) -> Vec<RoleWritten> {
    let imported = import(&example(name)).unwrap();
    imported.draft.manifest.tensors.iter().map(|tensor| tensor.role).collect()
}

#[test]
fn texts_of_strangers_stay_texts() {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("hostile.json");
    let text = r#"{
        "name": "\"),\n(schema: 9, ../x",
        "description": "a \" b \\ c\n# d\u202e `e` */ @*/ <script>",
        "axes": {"n\"),": {"type": "var", "description": "\"), (\n"}, "in": {"type": "const", "value": 3}},
        "inputs": {"class": {"shape": ["n\"),", "in"], "dtype": "float32"}},
        "outputs": {"@*/": {"shape": ["n\"),", "in"], "dtype": "float32"}},
        "reference": "def run(**rest): return rest['class']"
    }"#;
    fs::write(&file, text).unwrap();
    let written = write(&base.path().join("new"), import(&file).unwrap()).unwrap();
    let project = Project::load(&written.folder).unwrap();
    assert!(project.definition.summary.contains("a \" b \\ c # d `e` */ @*/ <script>"));
    let names: Vec<&str> =
        project.definition.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["class_", "___"]);
}
