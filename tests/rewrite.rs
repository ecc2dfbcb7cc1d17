//! Rewrites of naive sample kernels, compiled and verified like everybody's kernels.

use std::fs;

use lightbench_core::project::policy::Baseline;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::suggest::rewrite::{KernelSource, by_shape, rewritten, rule, rules};
use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, copy_folder, repository};

/// The projects whose naive kernel is rewritten in every way; each is a test of its own, so that they run side by side.
macro_rules! samples {
    ($($test:ident: $project:literal,)*) => {
        $(#[test]
        fn $test() {
            check($project);
        })*
    };
}

samples! {
    every_rewrite_of_a_sum_of_vectors_is_right: "vector-add",
    every_rewrite_of_a_tree_is_right: "vector-sum",
    every_rewrite_of_counts_is_right: "histogram",
    every_rewrite_of_sums_of_rows_is_right: "spmv-csr",
    every_rewrite_of_turned_points_is_right: "rotary",
    every_rewrite_of_a_product_is_right: "sgemm",
    every_rewrite_of_a_product_of_bf16_is_right: "hgemm",
    every_rewrite_of_a_transposition_is_right: "transpose",
    every_rewrite_of_rows_is_right: "layernorm",
    every_rewrite_of_exponentials_is_right: "softmax",
}

/// A copy of the project in which the kernels are those that the rules make of the naive one, and those that the project
/// compares with.
fn check(name: &str) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.path().join(name);
    copy_folder(&repository().join("sample-projects").join(name), &folder);
    let project = Project::load(&folder).unwrap();
    let naive = project.kernel("naive").unwrap();
    let subject = KernelSource::from_kernel(&project, naive).unwrap();
    let baselines = &project.definition.baselines;
    let is_named = |kernel: &Kernel| baselines.contains(&Baseline::Kernel(kernel.name.clone()));
    let (kept, others): (Vec<&Kernel>, Vec<&Kernel>) =
        project.kernels.iter().partition(|kernel| kernel.name == naive.name || is_named(kernel));
    for kernel in others {
        fs::remove_file(folder.join(&kernel.file)).unwrap();
    }
    let mut count = 0;
    for rule in rules() {
        for (index, rewrite) in rule.rewrites(&subject).unwrap_or_default().iter().enumerate() {
            let kernel = rewritten(&project, naive, rewrite, &format!("{}.{index}", rule.id));
            let kernel = kernel.unwrap_or_else(|problems| panic!("{}: {problems:?}", rule.id));
            fs::write(folder.join(&kernel.file), &kernel.source).unwrap();
            count += 1;
        }
    }
    assert!(count > 6, "{name}: only {count} rewrites");
    // On a busy machine a product takes longer than the default.
    let manifest = folder.join("project.ron");
    let text = fs::read_to_string(&manifest).unwrap();
    let patient =
        text.replacen("    schema: 1,", "    schema: 1,\n    limits: (launch_secs: 120),", 1);
    fs::write(manifest, patient).unwrap();
    let said = bench.run(&[
        "run",
        name,
        "--device",
        "virtual:h200",
        "--seed",
        "1",
        "--no-times",
        "--json",
    ]);
    let document = said.json();
    let runs = document["runs"].as_array().unwrap();
    let failed: Vec<&Value> =
        runs.iter().filter(|run| run["verdict"] != "passed").map(|run| &run["sentence"]).collect();
    assert!(failed.is_empty(), "{name}: {failed:#?}");
    assert_eq!(runs.len(), count + kept.len());
}

#[test]
fn the_command_lists_rules_and_writes_what_one_makes() {
    let bench = Bench::new();
    bench.run(&["suggest", "scale"]).expect(0, &["naive", "✓", "unroll", "–", "writes a rewrite"]);
    let document = bench.run(&["suggest", "scale", "--kernel", "naive", "--json", "--diff"]).json();
    let all = document["rules"].as_array().unwrap();
    assert_eq!(all.len(), rules().len());
    let first = all.iter().find(|rule| rule["applies"] == true).unwrap();
    let (id, what) =
        (first["rule"].as_str().unwrap(), first["places"][0]["what"].as_str().unwrap());
    assert!(first["places"][0]["diff"].as_str().unwrap().contains("\n+"), "{first:#}");
    let write = |rule: &str, name: &str, place: &str| {
        let rest = ["--rule", rule, "--write", name, "--place", place];
        bench.run(&[["suggest", "scale", "--kernel", "naive"].as_slice(), &rest].concat())
    };
    write(id, "rewritten", "1").expect(0, &["rewritten.cu", what]);
    assert!(Project::load(&bench.project()).unwrap().kernel("rewritten").is_ok());
    write(id, "rewritten", "1").expect(2, &["already has a kernel `rewritten`"]);
    write(id, "../outside", "1").expect(2, &["is not a valid kernel name"]);
    write(id, "other", "99").expect(2, &["counted from 1"]);
    write("no-such-rule", "other", "1").expect(2, &["unknown rule `no-such-rule`"]);
    bench.run(&["suggest", "scale", "--kernel", "nobody"]).expect(2, &["unknown kernel"]);
    bench.run(&["suggest", "scale", "--write", "other"]).expect(2, &["--rule"]);
}

#[test]
fn kernels_for_different_shapes_are_one_kernel() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.path().join("spmv-csr");
    copy_folder(&repository().join("sample-projects/spmv-csr"), &folder);
    let project = Project::load(&folder).unwrap();
    let naive = project.kernel("naive").unwrap();
    let subject = KernelSource::from_kernel(&project, naive).unwrap();
    let made = |id: &str| {
        let rewrites = rule(id).unwrap().rewrites(&subject).unwrap();
        rewritten(&project, naive, &rewrites[0], id).unwrap()
    };
    let joined = |first: &Kernel, second: &Kernel, condition: &str| {
        let text = by_shape(&project, first, second, condition).unwrap();
        let draft = project.draft("joined", text.clone());
        draft.unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
    };
    let rows = joined(&made("warp-per-row"), &made("block-per-row"), "nnz <= 100 * rows");
    let all = joined(naive, &rows, "nnz <= 2 * rows");
    fs::write(folder.join(&all.file), &all.source).unwrap();
    let words = ["run", "spmv-csr", "--kernel", "joined", "--device", "virtual:h200"];
    let words = [words.as_slice(), &["--seed", "1", "--no-times", "--json"]].concat();
    let document = bench.run(&words).json();
    assert_eq!(document["verdict"], "passed", "{document:#}\n{}", all.source);
}
