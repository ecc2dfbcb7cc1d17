//! What the playbook advises for real kernels, from counters of real runs: the sample projects, whose better kernels do
//! what the naive ones are told, and specimens that need one technique each.

use std::collections::BTreeSet;

use lightbench_core::speed_of_light::advice::suggestions;
use lightbench_core::speed_of_light::limiter::limiter;
use lightbench_core::speed_of_light::playbook::{Technique, playbook};

mod counted;

use counted::Sample;

/// A workload of a project, and its kernels.
struct Case {
    project: &'static str,
    device: &'static str,
    workload: &'static str,
    kernels: &'static [Kernel],
}

/// What is said of a kernel.
struct Kernel {
    name: &'static str,
    /// One of these comes first; empty where the order is of no interest.
    first: &'static [&'static str],
    /// These apply.
    applies: &'static [&'static str],
    /// These do not: they are in use, or nothing speaks for them.
    not: &'static [&'static str],
}

/// Each case is a test of its own, so that they run side by side.
macro_rules! cases {
    ($($test:ident: $project:literal on $device:literal, $workload:literal, {
        $($name:literal: first $first:expr, applies $applies:expr, not $not:expr;)*
    })*) => {
        $(#[test]
        fn $test() {
            check(&CASES[CASES.iter().position(|case| {
                (case.project, case.device, case.workload) == ($project, $device, $workload)
            }).unwrap()]);
        })*

        const CASES: &[Case] = &[$(Case {
            project: $project,
            device: $device,
            workload: $workload,
            kernels: &[$(Kernel { name: $name, first: &$first, applies: &$applies, not: &$not },)*],
        }),*];
    };
}

cases! {
    rows_of_bf16: "rmsnorm" on "h200", r#"axes: {"rows": 1056, "cols": 2048}"#, {
        "naive": first ["coalesce-loads"], applies ["coalesce-stores", "fill-the-device"], not ["vector-loads", "warp-shuffles"];
        "shared-tree": first [], applies ["warp-shuffles", "vector-loads", "keep-in-registers"], not ["coalesce-loads"];
        "warp-shuffle": first [], applies ["vector-loads", "keep-in-registers"], not ["warp-shuffles", "coalesce-loads"];
        "vector16": first ["keep-in-registers"], applies [], not ["vector-loads", "vector-stores", "warp-shuffles"];
        "registers": first [], applies [], not ["keep-in-registers", "vector-loads", "warp-shuffles", "coalesce-loads", "coalesce-stores"];
    }
    columns_into_rows: "transpose" on "h200", r#"axes: {"rows": 1024, "cols": 1024}"#, {
        "naive": first ["coalesce-stores"], applies ["less-overhead"], not ["coalesce-loads", "pad-shared-memory"];
        "tile": first ["pad-shared-memory"], applies ["vector-loads"], not ["coalesce-loads", "coalesce-stores"];
        "padded": first ["vector-loads"], applies [], not ["pad-shared-memory", "coalesce-stores"];
        "vector16": first [], applies [], not ["vector-loads", "pad-shared-memory", "coalesce-stores"];
    }
    counts_of_many_values: "histogram" on "h200", r#"axes: {"n": 2097152}"#, {
        "naive": first ["private-counts"], applies [], not ["more-private-copies"];
        "shared": first ["more-private-copies", "more-work-per-thread", "vector-loads"], applies ["more-private-copies", "vector-loads"], not ["private-counts"];
        "warp-private": first [], applies [], not ["private-counts", "vector-loads"];
        "thread-private": first [], applies [], not ["private-counts", "more-private-copies"];
    }
    counts_of_few_values: "histogram" on "h200", r#"axes: {"n": 1048576}, fills: {"x": integers(low: 0, high: 3)}"#, {
        "naive": first ["private-counts"], applies [], not [];
        "shared": first ["more-private-copies"], applies [], not ["private-counts"];
    }
    products_of_matrices: "sgemm" on "h200", r#"axes: {"m": 2048, "n": 1024, "k": 32}"#, {
        "naive": first ["tile-in-shared-memory"], applies [], not ["register-tile", "tensor-cores", "split-the-sum", "keep-in-registers", "warp-group-tiles"];
        "shared-tile": first ["register-tile"], applies [], not ["tile-in-shared-memory", "double-buffer"];
        "register-tile": first [], applies ["double-buffer", "tensor-cores", "vector-loads"], not ["register-tile", "tile-in-shared-memory", "less-overhead"];
        "double-buffer": first [], applies ["tensor-cores"], not ["double-buffer", "register-tile", "vector-loads", "warp-group-products"];
        "tensor-three-products": first [], applies ["warp-group-products"], not ["tensor-cores", "register-tile", "tile-in-shared-memory"];
    }
    products_of_short_numbers: "hgemm" on "h200", r#"axes: {"m": 512, "n": 512, "k": 64}"#, {
        "naive": first ["coalesce-loads"], applies ["warp-group-tiles"], not ["warp-group-products"];
        "asynchronous": first [], applies [], not ["warp-group-tiles", "tensor-cores"];
    }
    products_of_small_matrices: "sgemm" on "h200", r#"axes: {"m": 256, "n": 256, "k": 128}"#, {
        "register-tile": first ["fill-the-device"], applies ["split-the-sum"], not [];
    }
    streams: "vector-add" on "h200", r#"axes: {"n": 1048576}"#, {
        "naive": first ["more-work-per-thread", "vector-loads"], applies ["more-work-per-thread", "vector-loads"], not ["coalesce-loads", "coalesce-stores", "fill-the-device", "balance-lanes", "two-steps-a-pass", "reciprocals", "running-maximum", "fast-functions"];
        "grid-stride": first ["vector-loads"], applies [], not ["more-work-per-thread"];
        "vector16": first [], applies [], not ["vector-loads", "more-work-per-thread"];
    }
    streams_beyond_l2: "vector-add" on "t4", r#"axes: {"n": 1048576}"#, {
        "vector16": first ["stream-past-the-caches"], applies [], not ["vector-loads"];
        "streaming": first [], applies [], not ["stream-past-the-caches"];
    }
    one_sum: "vector-sum" on "h200", r#"axes: {"n": 1048576}"#, {
        "naive": first ["more-work-per-thread", "warp-shuffles"], applies ["more-work-per-thread", "warp-shuffles", "vector-loads"], not [];
        "warp-shuffle": first [], applies [], not ["warp-shuffles", "vector-loads", "more-work-per-thread"];
    }
    softmax_of_f32: "softmax" on "h200", r#"axes: {"rows": 2112, "cols": 512}"#, {
        "naive": first ["coalesce-loads"], applies [], not ["vector-loads"];
        "warp-per-row": first ["keep-in-registers"], applies ["running-maximum", "fewer-functions", "fast-functions", "vector-loads"], not ["coalesce-loads"];
        "online": first [], applies ["vector-loads"], not ["running-maximum", "coalesce-loads"];
        "registers": first [], applies [], not ["keep-in-registers", "running-maximum", "vector-loads", "coalesce-loads"];
    }
    softmax_of_bf16: "softmax-bf16" on "h200", r#"axes: {"rows": 1056, "cols": 1024}"#, {
        "naive": first ["coalesce-loads"], applies ["coalesce-stores"], not [];
        "block-per-row": first [], applies ["vector-loads", "keep-in-registers"], not ["coalesce-loads"];
        "online-vector16": first [], applies ["keep-in-registers"], not ["vector-loads", "running-maximum"];
        "registers": first [], applies [], not ["keep-in-registers", "vector-loads", "running-maximum"];
    }
    rows_of_f32: "layernorm" on "h200", r#"axes: {"rows": 2112, "cols": 512}"#, {
        "naive": first ["coalesce-loads"], applies [], not ["fewer-functions"];
        "warp-per-row": first ["keep-in-registers"], applies ["vector-loads"], not ["coalesce-loads", "warp-shuffles"];
        "welford": first [], applies ["reciprocals"], not ["coalesce-loads"];
        "registers": first [], applies [], not ["keep-in-registers", "vector-loads", "coalesce-loads"];
    }
    losses: "cross-entropy" on "h200", r#"axes: {"rows": 1056, "classes": 1000}"#, {
        "naive": first ["coalesce-loads"], applies [], not [];
        "online": first [], applies ["vector-loads"], not ["coalesce-loads"];
        "vector16": first [], applies [], not ["coalesce-loads", "vector-loads"];
    }
    pairs_that_turn: "rotary" on "h200", r#"axes: {"tokens": 200, "heads": 8, "half": 64, "positions": 300}"#, {
        "naive": first ["no-integer-division", "keep-in-registers"], applies ["no-integer-division", "vector-loads"], not [];
        "vector8": first [], applies ["vector-stores"], not ["vector-loads"];
        "vector16": first [], applies [], not ["no-integer-division", "vector-loads", "vector-stores"];
    }
    running_sums: "scan" on "h200", r#"axes: {"n": 131072}"#, {
        "naive": first ["fill-the-device"], applies [], not ["fewer-launches"];
        "three-launches": first [], applies ["less-scratch", "fewer-launches"], not [];
        "look-back": first [], applies [], not ["less-scratch", "fewer-launches"];
    }
    uneven_rows: "spmv-csr" on "h200", r#"axes: {"rows": 20000, "cols": 16384, "nnz": 262144}"#, {
        "naive": first ["balance-lanes", "coalesce-loads"], applies ["balance-lanes"], not ["fewer-launches"];
        "merge-path": first [], applies ["fewer-launches"], not ["balance-lanes"];
    }
    neighbours: "jacobi" on "h200", r#"axes: {"height": 512, "width": 512, "sweeps": 8}"#, {
        "naive": first ["keep-in-registers", "two-steps-a-pass"], applies ["keep-in-registers", "two-steps-a-pass"], not ["less-scratch"];
    }
    specimens: "specimens" on "h200", r#"axes: {"n": 2162688}"#, {
        "plain": first [], applies [], not ["no-double", "no-own-memory", "uniform-constants", "larger-blocks", "fewer-registers", "no-spills", "less-shared-memory", "even-out-the-tail", "persistent-blocks", "bulk-copies", "stream-past-the-caches"];
        "double-literal": first [], applies ["no-double"], not [];
        "own-array": first [], applies ["no-own-memory"], not ["no-spills"];
        "constants": first [], applies ["uniform-constants"], not [];
        "small-blocks": first [], applies ["larger-blocks"], not [];
        "registers": first [], applies ["fewer-registers"], not ["no-spills"];
        "spills": first [], applies ["no-spills"], not ["fewer-registers", "no-own-memory"];
        "shared-hog": first [], applies ["less-shared-memory"], not [];
        "tail": first [], applies ["even-out-the-tail"], not [];
        "short-blocks": first [], applies ["persistent-blocks"], not [];
        "async-copies": first [], applies ["bulk-copies"], not [];
    }
}

/// Runs the kernels of a case and reports all that is not as expected.
fn check(case: &Case) {
    let Some(mut sample) = Sample::new(case.project, case.device, case.workload) else { return };
    let mut problems = Vec::new();
    for kernel in case.kernels {
        sample.look(kernel.name, |situation| {
            let limiter = limiter(situation);
            let all = suggestions(situation, limiter.bottleneck);
            let sentences: Vec<String> = all.iter().map(|each| each.sentence()).collect();
            let said = format!("{}: limited by {}: {sentences:#?}", kernel.name, limiter.words());
            let first = all.first().map_or("", |first| first.technique.id.as_str());
            if !kernel.first.is_empty() && !kernel.first.contains(&first) {
                problems.push(format!("`{first}` is first in {said}"));
            }
            let applies = |id: &&&str| technique(id).applies(situation);
            for id in kernel.applies.iter().filter(|id| !applies(id)) {
                problems.push(format!("`{id}` does not apply to {said}"));
            }
            for id in kernel.not.iter().filter(applies) {
                problems.push(format!("`{id}` applies to {said}"));
            }
        });
    }
    assert!(problems.is_empty(), "{}\n{}", case.project, problems.join("\n"));
}

#[track_caller]
fn technique(id: &str) -> &'static Technique {
    let found = playbook().techniques.iter().find(|technique| technique.id == id);
    found.unwrap_or_else(|| panic!("no technique `{id}`"))
}

/// Every condition is seen to hold and seen not to hold on counters of a real run.
#[test]
fn every_technique_has_a_kernel_that_needs_it_and_one_that_does_not() {
    let kernels = || CASES.iter().flat_map(|case| case.kernels);
    let needed: BTreeSet<&str> = kernels()
        .flat_map(|kernel| kernel.applies.iter().chain(needed_first(kernel)))
        .copied()
        .collect();
    let not: BTreeSet<&str> = kernels().flat_map(|kernel| kernel.not).copied().collect();
    let all: BTreeSet<&str> =
        playbook().techniques.iter().map(|technique| technique.id.as_str()).collect();
    assert_eq!(needed, all);
    assert_eq!(not, all);
}

/// What has to come first applies, too, if it is the only one that may.
fn needed_first(kernel: &'static Kernel) -> &'static [&'static str] {
    match kernel.first {
        [only] => std::slice::from_ref(only),
        [] | [_, _, ..] => &[],
    }
}
