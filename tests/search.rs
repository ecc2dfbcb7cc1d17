//! Searches on the command line: what they find, what is left when they are killed, and what is refused.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::compiler;
use crate::program::Bench;

fn journals(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.project().join(".lightbench/searches");
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_sweep_tries_what_is_declared_and_says_what_is_best() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    let sweep = |more: &[&str]| {
        let usual = ["sweep", "scale", "--kernel", "tuned", "--device", "virtual:h200"];
        bench.run(&[&usual, more].concat())
    };
    sweep(&["--seed", "1"]).expect(
        0,
        &[
            "sweep by local from `tuned`",
            "BLOCK=128 UNROLL=8",
            "nothing is left to try",
            "of 3 of 3 configurations",
            "4 evaluations",
        ],
    );
    let lines = sweep(&["--budget", "2", "--json", "--tuner", "exhaustive"]).output;
    let entries: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries[0]["began"]["schema"], "lightbench.search/1");
    assert!(entries.last().unwrap()["ended"].is_object());
    sweep(&["--budget", "9", "--kernel", "naive"]).expect(2, &["cannot be used multiple times"]);
}

#[test]
fn a_search_that_is_killed_goes_on_and_loses_nothing() {
    let bench = Bench::new();
    if compiler::required().is_none() {
        return;
    }
    let usual =
        ["search", "scale", "--kernel", "naive", "--device", "virtual:h200", "--budget", "6"];
    let mut child = bench.command(&usual).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    let lines = || journals(&bench).first().map_or(0, count);
    while lines() < 6 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let path = journals(&bench).remove(0);
    let before = fs::read_to_string(&path).unwrap();
    let whole = &before[..before.rfind('\n').unwrap() + 1];
    let resumed = bench.run(&["search", "scale", "--resume", "last", "--write", "found"]);
    resumed.expect(0, &["goes on", "6 evaluations"]);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(whole), "what was written stays");
    let is_better = resumed.output.contains("best: variant");
    assert_eq!(bench.project().join("kernels/found.cu").is_file(), is_better);
    // A project that has changed has other results.
    bench.edit("project.ron", "\"cols\": 4096", "\"cols\": 4095");
    bench.run(&["search", "scale", "--resume"]).expect(2, &["the project has changed"]);
    bench.edit("project.ron", "\"cols\": 4095", "\"cols\": 4096");
    // What somebody else wrote is not gone on from.
    fs::write(&path, after.replacen("\"virtual:h200\"", "\"virtual:t4\"", 1)).unwrap();
    bench.run(&["search", "scale", "--resume"]).expect(2, &["not written by this machine"]);
}

fn count(path: &PathBuf) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_reason() {
    let bench = Bench::new();
    let check = |arguments: &[&str], status: i32, expected: &str| {
        bench.run(arguments).expect(status, &[expected]);
    };
    check(&["search", "nowhere"], 2, "nowhere");
    check(&["search", "scale", "--strategy", "luck"], 2, "no strategy is called `luck`");
    check(&["sweep", "scale", "--tuner", "luck"], 2, "no tuner is called `luck`");
    check(&["search", "scale", "--workload", "small"], 2, "small");
    check(&["search", "scale", "--resume", "../../etc/passwd"], 2, "there is no search");
    check(&["search", "scale", "--resume"], 2, "there is no search");
    if compiler::required().is_none() {
        return;
    }
    check(&["search", "scale", "--operators", "rules,magic"], 2, "magic");
    check(&["search", "scale", "--kernel", "none"], 2, "none");
    bench.edit("kernels/naive.cu", "alpha * x[i]", "alpha + x[i]");
    let wrong = ["search", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    check(&wrong, 1, "the kernel to begin with does not pass");
}
