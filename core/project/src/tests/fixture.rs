//! A project in a temporary folder, sound unless a test bends it.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::{Problem, Project, ProjectError};

pub(super) const MANIFEST: &str = r#"(
    schema: 1,
    name: "rmsnorm",
    title: "RMS normalisation",
    axes: [
        (name: "rows", min: 1, max: 4294967296),
        (name: "cols", min: 8, max: 65536, multiple_of: 8),
    ],
    scalars: [(name: "eps", dtype: f32, value: 1e-5)],
    tensors: [
        (name: "x", dtype: bf16, shape: ["rows", "cols"], role: input, fill: normal(mean: 0, std: 1)),
        (name: "w", dtype: bf16, shape: ["cols"], role: input, fill: uniform(low: 0.5, high: 1.5)),
        (name: "y", dtype: bf16, shape: ["rows", "cols"], role: output,
         compare: elementwise(terms: "cols", factor: 4)),
    ],
    arguments: ["x", "w", "y", "rows: i64", "cols: i64", "eps: f32"],
    accuracy: f32,
    work: (operations: [
        (kind: arithmetic, count: "4 * rows * cols"),
        (kind: special, count: "rows"),
    ]),
    workloads: [
        (name: "odd-rows", purpose: verify, axes: {"rows": 7, "cols": 264}),
        (name: "llama-8b", purpose: measure, axes: {"rows": 16384, "cols": 8192}),
    ],
    baselines: [kernel("naive")],
)"#;

pub(super) const REFERENCE: &str = r#"/*@ lightbench(
    title: "One thread per row",
    steps: [launch(kernel: "reference", grid: ["ceil_div(rows, 128)"], block: [128])],
) @*/
"#;

pub(super) const KERNEL: &str = r#"#include "x.cuh"
/*@ lightbench(
    title: "One block per row",
    params: { "BLOCK": [128, 256, 512] },
    require: ["BLOCK * 2 <= cols"],
    constants: ["cols"],
    scratch: [(name: "partial", dtype: f32, shape: ["rows", "4"])],
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"], shared: "4 * BLOCK / 32"),
    ],
    flags: [fast_math, maxrregcount("BLOCK // 4")],
) @*/
"#;

/// The files of a sound project.
pub(super) fn files() -> Vec<(String, String)> {
    [("project.ron", MANIFEST), ("reference.cu", REFERENCE), ("kernels/naive.cu", KERNEL)]
        .map(|(file, text)| (file.to_owned(), text.to_owned()))
        .to_vec()
}

/// The same with one piece of one file replaced.
pub(super) fn bent(file: &str, old: &str, new: &str) -> Vec<(String, String)> {
    let mut files = files();
    let text = &mut files.iter_mut().find(|(name, _)| name == file).unwrap().1;
    assert_eq!(text.matches(old).count(), 1, "{old} in {file}");
    *text = text.replace(old, new);
    files
}

pub(super) fn folder(files: &[(String, String)]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let root = folder.path().to_path_buf();
    (folder, root)
}

pub(super) fn load(files: &[(String, String)]) -> Result<Project, ProjectError> {
    let (_keep, root) = folder(files);
    Project::load(&root)
}

/// All problems, those of files that stop no others too.
pub(super) fn problems(files: &[(String, String)]) -> Vec<Problem> {
    match load(files) {
        Ok(project) => project.broken.into_iter().flat_map(|broken| broken.problems).collect(),
        Err(ProjectError::Problems { problems }) => problems,
        Err(other) => panic!("{other}"),
    }
}

/// Checks many of them and tells all that fail.
pub(super) fn check_all(file: &str, rules: &[(&str, &str, &str, &str)]) {
    let outcomes =
        rules.iter().map(|(old, new, marked, found)| check(file, (old, new), marked, found));
    let failures: Vec<String> = outcomes.filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The problem begins where `marked` begins in the bent file, and its words contain `found`.
pub(super) fn check(
    file: &str,
    (old, new): (&str, &str),
    marked: &str,
    found: &str,
) -> Result<(), String> {
    let files = bent(file, old, new);
    let problems = problems(&files);
    let text = &files.iter().find(|(name, _)| name == file).unwrap().1;
    let original = self::files();
    let original = &original.iter().find(|(name, _)| name == file).unwrap().1;
    let base = original.find(old).unwrap();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    // An empty mark means that the place is the reader's own; only the words are compared.
    if marked.is_empty() {
        let hit = shown.iter().any(|line| line.contains(found));
        return if hit { Ok(()) } else { Err(format!("{new}: {found}: {}", shown.join("\n"))) };
    }
    let at = base + text[base..].find(marked).unwrap_or_else(|| panic!("{marked} in {new}"));
    let line = text[..at].matches('\n').count() + 1;
    let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
    let hit = problems.iter().any(|problem| {
        let words = format!(
            "{}; {}; {}",
            problem.found,
            problem.expected,
            problem.help.clone().unwrap_or_default()
        );
        problem.file.to_str() == Some(file)
            && (problem.line, problem.column) == (line, column)
            && words.contains(found)
    });
    let expected = format!("{file}:{line}:{column}: {found}");
    if hit {
        Ok(())
    } else {
        Err(format!(
            "{new}:
  expected {expected}
  got {}",
            shown.join(
                "
      "
            )
        ))
    }
}
