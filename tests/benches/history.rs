//! The history's goals: append, the newest of many, open.
//!
//! `cargo bench --bench history`. The history has as many runs as somebody makes in years.
#![expect(clippy::print_stdout, reason = "what a bench has to say")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a failing bench is the error report"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lightbench_core::history::location::HistoryLocation;
use lightbench_core::history::machine::Machine;
use lightbench_core::history::query::{Filter, Order};
use lightbench_core::history::text::Texts;
use lightbench_core::history::{IntegrityCheck, OpenedHistory, RunRecord, open};
use serde_json::{Value, json};

const RUNS: usize = 100_000;

/// Kernels of the project, and attempts that have the same text.
const KERNELS: usize = 40;
const ATTEMPTS: usize = 10;

fn opened(folder: &Path) -> OpenedHistory {
    let place = HistoryLocation::for_writing(folder, None).unwrap();
    open(&place, &Machine::open(&folder.join("state")).unwrap(), IntegrityCheck::None).unwrap()
}

/// The run of that index: two in three passed with a time, the others are wrong, with as much evidence as usual.
fn run(template: &Value, index: usize) -> (RunRecord, Texts) {
    let mut document = template.clone();
    let kernel = format!("kernel{}", index % KERNELS);
    let attempt = index / KERNELS / ATTEMPTS;
    let mut texts = Texts::default();
    let text = texts.add(format!("// {kernel}, {attempt}\n").repeat(100).into_bytes());
    document["id"] = format!("{index:032x}").into();
    document["kernel"] = kernel.as_str().into();
    document["candidate"] = format!("{kernel}-{attempt}-{:040}", index).into();
    document["sources"] = json!([{ "file": format!("kernels/{kernel}.cu"), "text": text }]);
    if index.is_multiple_of(3) {
        let mismatch = json!({ "index": [index, 7], "found": 1.5, "expected": 1.25, "ulps": 9.0 });
        document["outcome"] = json!({
            "verdict": "failed", "word": "wrong", "sentence": format!("{kernel} is wrong: 3 of 8 elements of `y`"),
            "evidence": {
                "kind": "numeric", "workload": "small",
                "outputs": [{ "output": "y", "count": 3, "first": mismatch, "worst": mismatch,
                              "map": { "columns": 16, "counts": vec![index % 7; 64] } }],
            },
        });
    } else {
        document["outcome"]["timings"][0]["median"] =
            (1e-4 + (index * 7919 % RUNS) as f64 * 1e-9).into();
    }
    (serde_json::from_value(document).unwrap(), texts)
}

fn history(criterion: &mut Criterion) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/history/run.json");
    let template: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = opened(folder.path()).store;
    let mut slowest = Duration::ZERO;
    let begin = Instant::now();
    for index in 0..RUNS {
        let (record, texts) = run(&template, index);
        let begin = Instant::now();
        store.append(&record, &texts).unwrap();
        slowest = slowest.max(begin.elapsed());
    }
    let (whole, bytes) = (begin.elapsed(), store.path().metadata().unwrap().len());
    println!("{RUNS} appends in {whole:.1?}, the slowest {slowest:.2?}; {} MiB", bytes >> 20);

    let mut next = RUNS..;
    criterion.bench_function("history: append", |bencher| {
        bencher.iter_batched(
            || run(&template, next.next().unwrap()),
            |(record, texts)| store.append(&record, &texts).unwrap(),
            BatchSize::PerIteration,
        );
    });
    let filter = |kernel: Option<&str>, verdict: Option<&str>| Filter {
        kernel: kernel.map(str::to_owned),
        device: Some("cuda:0".to_owned()),
        verdict: verdict.map(str::to_owned),
        label: None,
    };
    for (name, filter, found) in [
        ("any", Filter::default(), 200),
        ("of a kernel that passed", filter(Some("kernel7"), Some("passed")), 200),
        ("of a kernel that nobody has", filter(Some("none"), Some("passed")), 0),
    ] {
        criterion.bench_function(&format!("history: newest 200, {name}"), |bencher| {
            bencher.iter(|| {
                let listing = store.newest(&filter, Order::Fastest, 200).unwrap();
                assert_eq!(listing.runs.len(), found);
                black_box(listing)
            });
        });
    }
    let (record, _) = run(&template, 1);
    let basis = record.score().unwrap().basis;
    criterion.bench_function("history: best", |bencher| {
        bencher.iter(|| store.best(&basis).unwrap().unwrap());
    });
    drop(store);
    criterion.bench_function("history: open", |bencher| bencher.iter(|| opened(folder.path())));
}

criterion_group!(benches, history);
criterion_main!(benches);
