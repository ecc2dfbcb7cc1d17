//! Definitions with gaps: `audit` names what they cannot see.

use std::path::PathBuf;

use lightbench_core::audit::{GapKind, gaps_of_definition};
use lightbench_core::project::Project;

use crate::compiler;
use crate::program::Bench;

use GapKind::{FixedScalar, LargestNotRun, NarrowDomain, NoHeldOut, SharedFactor, SmallestNotRun};

/// `y = s · x + 0 · w`: one axis, one scalar, and one input on which no result depends.
fn definition((axis, domain): (&str, &str), factor: &str, workloads: &str) -> String {
    format!(
        r#"(
    schema: 1, name: "sloppy", title: "Scaled",
    axes: [(name: "n", {axis})],
    scalars: [(name: "s", dtype: f32, value: 3, domain: {domain})],
    tensors: [
        (name: "x", dtype: f32, shape: ["n"], role: input, fill: normal(mean: 0, std: 1)),
        (name: "w", dtype: f32, shape: ["n"], role: input, fill: normal(mean: 0, std: 1)),
        (name: "y", dtype: f32, shape: ["n"], role: output, compare: elementwise(factor: {factor}, rms: false)),
    ],
    arguments: ["x", "w", "y", "n: i64", "s: f32"],
    work: (operations: [(kind: special, count: "n")]),
    workloads: [{workloads}],
)
"#
    )
}

const REFERENCE: &str = r#"/*@ lightbench(
    title: "Reference",
    steps: [launch(kernel: "scaled", args: ["x", "y", "y.magnitude", "n: i64", "s: f32"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/
__global__ void scaled(const float* x, double* y, double* magnitude, long long n, float s) {
    const long long i = blockIdx.x * 128ll + threadIdx.x;
    if (i < n) {
        y[i] = static_cast<double>(s) * x[i];
        magnitude[i] = fabs(y[i]);
    }
}
"#;

fn project(bench: &Bench, definition: &str) -> PathBuf {
    let folder = bench.path().join("sloppy");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("project.ron"), definition).unwrap();
    std::fs::write(folder.join("reference.cu"), REFERENCE).unwrap();
    folder
}

const SEEN: &str = r#"(name: "a", purpose: verify, axes: {"n": 4096}), "#;
const HIDDEN: &str = r#"(name: "h", purpose: held_out, axes: {"n": 8192}), "#;
const ODD: &str = r#"(name: "odd", purpose: held_out, axes: {"n": 1001}, scalars: {"s": 5}), "#;
const ONE: &str = r#"(name: "one", purpose: verify, axes: {"n": 1}, scalars: {"s": -0.5}), "#;

#[test]
fn a_definition_shows_its_gaps() {
    let bench = Bench::new();
    let check = |axis: &str, workloads: &[&str], expected: &[GapKind]| {
        let text = definition((axis, "fixed"), "4", &workloads.concat());
        let gaps = gaps_of_definition(&Project::load(&project(&bench, &text)).unwrap());
        let kinds: Vec<GapKind> = gaps.iter().map(|gap| gap.kind).collect();
        assert_eq!(kinds, expected, "{axis}, {workloads:?}: {gaps:#?}");
    };
    let all = [NoHeldOut, SharedFactor, SmallestNotRun, LargestNotRun, FixedScalar];
    check("min: 1", &[SEEN], &all);
    check("min: 1", &[SEEN, HIDDEN], &all[1..]);
    check("min: 1, max: 8192", &[SEEN, HIDDEN], &[SharedFactor, SmallestNotRun, FixedScalar]);
    check("min: 4096, max: 8192, multiple_of: 4096", &[SEEN, HIDDEN], &[FixedScalar]);
    check("min: 4096, max: 4096", &[SEEN], &[NoHeldOut, FixedScalar]);
    check("min: 1, max: 4096", &[SEEN, ODD], &[SmallestNotRun]);
    check("min: 1, max: 4096", &[SEEN, ODD, ONE], &[]);
    check("min: 1, max: 4096", &[SEEN, ONE], &[NoHeldOut]);
}

#[test]
fn a_scalar_that_varies_is_no_gap_and_a_narrow_domain_is_one() {
    let bench = Bench::new();
    let axis = "min: 4096, max: 8192, multiple_of: 4096";
    let text = definition((axis, "positive"), "4", &[SEEN, HIDDEN].concat());
    let narrow = "fill: uniform(low: 0, high: 1), domain: non_negative)";
    let text = text.replace("fill: normal(mean: 0, std: 1))", narrow);
    let gaps = gaps_of_definition(&Project::load(&project(&bench, &text)).unwrap());
    let kinds: Vec<GapKind> = gaps.iter().map(|gap| gap.kind).collect();
    assert_eq!(kinds, [NarrowDomain, NarrowDomain], "{gaps:#?}");
}

#[test]
fn an_audit_names_inputs_without_effect_and_loose_tolerances() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let check = |factor: &str, expected: &[&str]| {
        let axis = "min: 1, max: 4096";
        let text = definition((axis, "any"), factor, &[SEEN, ODD, ONE].concat());
        let folder = project(&bench, &text);
        let path = folder.to_str().unwrap();
        let audit = |more: &[&str]| {
            bench.run(&[&["audit", path, "--device", "virtual:h200", "--seed", "1"], more].concat())
        };
        let said = audit(&["--json"]);
        let document = said.json();
        let gaps = document["matrix"]["gaps"].as_array().unwrap().iter();
        let kinds: Vec<&str> = gaps.map(|gap| gap["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, expected, "{document:#}");
        let holes = document["holes"].as_u64().unwrap();
        assert_eq!(said.status, i32::from(holes > 0), "{document:#}");
        audit(&["--strict"]).expect(1, &["no output depends on `w`", "write a `fill` of `w`"]);
    };
    check("4", &["ignored_input"]);
    check("65536", &["ignored_input", "loose_tolerance"]);
}
