//! Long runs of everything that lives long or is called often: memory, descriptors, processes and files do not grow with
//! the number of operations.
//!
//! `cargo soak soak:: --test-threads=3` runs the parts side by side; for `LIGHTBENCH_SOAK_MINUTES` instead of 45.

mod trend;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use self::trend::Growth;
use crate::compiler;
use crate::mcp::client::Agent;
use crate::program::{Bench, copy_folder, repository};
use crate::window::screen::{Session, until};

/// Values by name, after so many operations.
type Series = BTreeMap<String, Vec<(f64, f64)>>;

/// Runs a part until the end of the soak, and fits what it measured.
fn check(part: &str, run: impl FnOnce(Instant) -> Option<Series>) {
    let Some(_) = compiler::required() else { return };
    let minutes = std::env::var("LIGHTBENCH_SOAK_MINUTES").ok();
    let minutes: u64 = minutes.map_or(45, |text| text.parse().unwrap());
    let Some(series) = run(Instant::now() + Duration::from_secs(60 * minutes)) else { return };
    let operations = series.values().flatten().map(|sample| sample.0).fold(0.0, f64::max);
    println!("{part}: {operations} operations; growth per 1,000");
    let mut growing = Vec::new();
    for (name, samples) in &series {
        let Some(growth) = Growth::fit(samples) else {
            println!("  {name:<32} too few samples: {}", samples.len());
            continue;
        };
        let (slope, half_width) = (1e3 * growth.slope, 1e3 * growth.half_width);
        let last = samples.last().unwrap().1;
        println!("  {name:<32} {slope:>9.3} ± {half_width:<9.3} (last {last:.1})");
        growing.extend(growth.is_growing().then_some(name));
    }
    assert!(growing.is_empty(), "of the {part}, these grow: {growing:#?}");
}

#[test]
#[ignore = "takes 45 minutes"]
fn window_does_not_grow() {
    check("window", window);
}

#[test]
#[ignore = "takes 45 minutes"]
fn commands_do_not_grow() {
    check("commands", commands);
}

#[test]
#[ignore = "takes 45 minutes"]
fn server_for_agents_does_not_grow() {
    check("server for agents", agent);
}

/// A window in which a kernel is edited, saved and judged, searches run, and layouts change.
fn window(end: Instant) -> Option<Series> {
    let session = Session::open("soak", 3, |folder| {
        let project = folder.join("scale");
        copy_folder(&repository().join("tests/data/scale"), &project);
        fs::create_dir(folder.join("state")).unwrap();
        let plan = "(search: (evaluations: Some(4)))";
        fs::write(folder.join("state/settings.ron"), plan).unwrap();
        Some(project.join("kernels/naive.cu"))
    })?;
    let (project, state) = (session.path("scale"), session.path("state"));
    let runs = || session.history("scale", &["--limit", "1"])["count"].as_u64();
    let (mut series, mut operations, mut judged, mut searches) = (Series::new(), 0.0, 0, 0);
    while Instant::now() < end {
        session.keys(&["ctrl+1", "ctrl+p"]);
        session.write("naive");
        session.keys(&["Return", "ctrl+End"]);
        // A text of two in turn: the compiler's cache has both after the first rounds.
        for _ in 0..4 {
            for edit in ["space", "BackSpace"] {
                session.keys(&[edit, "ctrl+s"]);
                judged = until("another verdict", || runs().filter(|count| *count > judged));
                operations += 1.0;
            }
            add_processes(&mut series, operations, session.process());
        }
        if searches * 20 < operations as usize {
            session.keys(&["F9"]);
            searches += 1;
            let folder = project.join(".lightbench/searches");
            until("the end of a search", || (ended(&folder) == searches).then_some(()));
            judged = runs().unwrap();
            operations += 1.0;
        }
        session.keys(&["ctrl+2", "ctrl+3", "ctrl+4", "ctrl+5", "ctrl+1"]);
        session.wheel((1000, 250), 3);
        session.wheel((1000, 250), -3);
        let files = count_files(&project) + count_files(&state) - searches;
        add(&mut series, "files", operations, files as f64);
    }
    session.quit();
    Some(series)
}

/// Searches whose journals have an end.
fn ended(folder: &Path) -> usize {
    let Ok(journals) = fs::read_dir(folder) else { return 0 };
    let text = |journal: fs::DirEntry| fs::read_to_string(journal.path()).unwrap_or_default();
    let texts = journals.filter_map(Result::ok).map(text);
    texts.filter(|text| text.contains("{\"ended\"")).count()
}

/// Commands, each a process of its own.
fn commands(end: Instant) -> Option<Series> {
    let bench = Bench::new();
    let on = ["--device", "virtual:h200", "--seed", "1"];
    let run = [&["run", "scale", "--kernel", "naive"], &on[..]].concat();
    let search = [&["search", "scale", "--kernel", "naive", "--budget", "3"], &on[..]].concat();
    let sweep = [&["sweep", "scale", "--kernel", "tuned", "--budget", "3"], &on[..]].concat();
    let (mut series, mut operations, mut journals) = (Series::new(), 0.0, 0);
    while Instant::now() < end {
        for arguments in [&run, &search, &sweep] {
            let peak = peak_memory(&bench, arguments);
            operations += 1.0;
            journals += usize::from(arguments[0] != "run");
            add(&mut series, &format!("memory of {}, MiB", arguments[0]), operations, peak);
        }
        add(&mut series, "processes", operations, bench.processes().len() as f64);
        let files = count_files(bench.path()) - journals;
        add(&mut series, "files", operations, files as f64);
    }
    Some(series)
}

/// A server for coding agents that judges proposals.
fn agent(end: Instant) -> Option<Series> {
    let bench = Bench::new();
    let agent = Agent::start(&bench, "scale", "evaluations: 1000000");
    let text = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
    let (mut series, mut operations) = (Series::new(), 0.0);
    while Instant::now() < end {
        for end in ["", "\n"] {
            let candidate = agent.propose(&format!("{text}{end}"));
            let verified = agent.finish("verify", &json!({ "kernel": candidate }));
            assert_eq!(verified["document"]["verdict"], "passed", "{verified}");
            operations += 1.0;
        }
        add_processes(&mut series, operations, agent.process());
        add(&mut series, "files", operations, count_files(bench.path()) as f64);
    }
    agent.close();
    Some(series)
}

fn add(series: &mut Series, name: &str, operations: f64, value: f64) {
    series.entry(name.to_owned()).or_default().push((operations, value));
}

/// Adds what a process and its workers have.
fn add_processes(series: &mut Series, operations: f64, process: u32) {
    let tree = tree(process);
    let total = |of: fn(u32) -> f64| tree.iter().map(|process| of(*process)).sum();
    add(series, "memory, MiB", operations, status(process, "RssAnon:") / 1024.0);
    add(series, "processes", operations, tree.len() as f64);
    add(series, "threads", operations, total(|process| status(process, "Threads:")));
    add(series, "descriptors", operations, total(descriptors));
}

fn descriptors(process: u32) -> f64 {
    fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count) as f64
}

/// A number of `/proc/PID/status`; 0 for a process that has ended.
fn status(process: u32, field: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}

/// A process with its children and theirs.
fn tree(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let mut next = 0;
    while let Some(parent) = all.get(next) {
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten();
        let children =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        let children: String = children.collect();
        all.extend(children.split_whitespace().map(|child| child.parse::<u32>().unwrap()));
        next += 1;
    }
    all
}

/// Runs a command that must pass; the most memory that its own process had, in MiB, without pages of files, which the
/// system keeps as long as it likes.
fn peak_memory(bench: &Bench, arguments: &[&str]) -> f64 {
    let output = fs::File::create(bench.path().join("output")).unwrap();
    let mut child = bench.command(arguments).stdout(output).spawn().unwrap();
    let mut peak: f64 = 0.0;
    let ended = loop {
        peak = peak.max(status(child.id(), "RssAnon:"));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(1));
    };
    assert!(ended.success(), "{arguments:?}: {ended}");
    peak / 1024.0
}

fn count_files(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.iter().map(|path| if path.is_dir() { count_files(path) } else { 1 }).sum()
}
