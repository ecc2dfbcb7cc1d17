//! What the playbook advises for the kernels of the sample projects, from counters of real runs.

use lightbench_core::speed_of_light::advice::{Suggestion, suggestions};
use lightbench_core::speed_of_light::limiter::limiter;

mod counted;

use counted::Sample;

/// A kernel, what has to come first, and what must not be advised because it is in use.
struct Expected {
    kernel: &'static str,
    first: &'static [&'static str],
    never: &'static [&'static str],
}

#[track_caller]
fn check(project: &str, axes: &str, expected: &[Expected]) {
    let Some(mut sample) = Sample::new(project, axes) else { return };
    for Expected { kernel, first, never } in expected {
        sample.look(kernel, |situation| {
            let limiter = limiter(situation);
            let all = suggestions(situation, limiter.bottleneck);
            let ids: Vec<&str> =
                all.iter().map(|suggestion| suggestion.technique.id.as_str()).collect();
            println!("{project} {kernel}: {} {:?}", limiter.words(), limiter.evidence);
            for suggestion in &all {
                println!("    {}", suggestion.sentence());
            }
            println!("    {ids:?} wanted {first:?} {never:?}");
            for fact in lightbench_core::speed_of_light::fact::Fact::ALL {
                println!("FACT {project} {kernel} {fact:?} {:?}", fact.value(situation));
            }
            println!("UNITS {project} {kernel} {:?} waits {}", situation.units, situation.waits);
            let _ = Suggestion::sentence;
        });
    }
}

const fn kernel(
    kernel: &'static str,
    first: &'static [&'static str],
    never: &'static [&'static str],
) -> Expected {
    Expected { kernel, first, never }
}

#[test]
fn rows_of_bf16() {
    check(
        "rmsnorm",
        r#""rows": 2112, "cols": 512"#,
        &[
            kernel("naive", &["coalesce-loads"], &[]),
            kernel("shared-tree", &[], &[]),
            kernel("warp-shuffle", &[], &[]),
            kernel("vector16", &[], &[]),
            kernel("registers", &[], &[]),
        ],
    );
}

#[test]
fn all() {
    for (project, axes) in [
        ("transpose", r#""rows": 1024, "cols": 1024"#),
        ("histogram", r#""n": 2097152"#),
        ("sgemm", r#""m": 256, "n": 256, "k": 128"#),
        ("vector-add", r#""n": 1048576"#),
        ("vector-sum", r#""n": 1048576"#),
        ("softmax-f32", r#""rows": 2112, "cols": 256"#),
        ("softmax-bf16", r#""rows": 2112, "cols": 256"#),
        ("layernorm", r#""rows": 2112, "cols": 256"#),
        ("cross-entropy", r#""rows": 1056, "classes": 1000"#),
        ("rotary", r#""tokens": 200, "heads": 8, "half": 64, "positions": 300"#),
        ("scan", r#""n": 131072"#),
        ("spmv-csr", r#""rows": 16384, "cols": 16384, "nnz": 262144"#),
        ("jacobi", r#""height": 512, "width": 512, "sweeps": 8"#),
    ] {
        let mut names: Vec<String> = std::fs::read_dir(
            crate::program::repository().join("sample-projects").join(project).join("kernels"),
        )
        .unwrap()
        .map(|e| e.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
        names.sort();
        for name in names {
            let name: &'static str = name.leak();
            check(project, axes, &[kernel(name, &[], &[])]);
        }
    }
}
