//! Compiles that would never end, and Ctrl-C at any moment.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::worker::TEMPLATE_BOMB;

/// A kernel that compiles for minutes, with this limit in seconds.
fn plant_bomb(bench: &Bench, limit: u32) {
    let kernel =
        TEMPLATE_BOMB.replace("__global__ void bomb(int *out) { out[0] =", "__device__ int bomb =");
    let kernel = kernel.replace("::value; }\n", "::value;\n");
    bench.edit("kernels/naive.cu", "__global__", &format!("{kernel}\n__global__"));
    bench.edit(
        "project.ron",
        "    workloads: [",
        &format!("    limits: (compile_secs: {limit}),\n    workloads: ["),
    );
}

#[test]
fn a_template_bomb_is_stopped_at_the_limit() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    plant_bomb(&bench, 2);
    let start = Instant::now();
    // The kernels after it are compiled all the same.
    check_one(
        &bench,
        bench.command(SCALE),
        1,
        &["naive", "timed out", "longer than 2 s", "1 of 3 failed"],
    );
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Starts the program, sends it a signal after `delay`, and gives its exit status and how long it took to end.
fn interrupted(bench: &Bench, signal: &str, delay: Duration) -> (Option<i32>, Duration) {
    let mut command = bench.command(NAIVE);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = command.spawn().unwrap();
    sleep(delay);
    let process = program.id().to_string();
    Command::new("kill").args([signal, &process]).stderr(Stdio::null()).status().unwrap();
    let start = Instant::now();
    let status = program.wait().unwrap();
    (status.code(), start.elapsed())
}

fn check_signal(signal: &str) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    plant_bomb(&bench, 600);
    let before = bench.listing();
    let (status, elapsed) = interrupted(&bench, signal, Duration::from_millis(1500));
    assert_eq!(status, Some(130));
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert_eq!(bench.listing(), before);
}

#[test]
fn control_c_ends_a_compile() {
    check_signal("-INT");
}

#[test]
fn termination_ends_a_compile() {
    check_signal("-TERM");
}

#[test]
fn control_c_at_any_moment_leaves_nothing_that_a_later_run_trusts() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_empty_cache();
    let before = bench.listing();
    for delay in [15, 40, 80, 120, 160, 200, 260, 320] {
        let (status, _) = interrupted(&bench, "-INT", Duration::from_millis(delay));
        // Before the program listens, the signal ends it; when it was done, there was nothing to stop.
        assert!(matches!(status, None | Some(0 | 130)), "{status:?} after {delay} ms");
        assert_eq!(bench.processes(), Vec::<String>::new(), "after {delay} ms");
        assert_eq!(bench.listing(), before, "after {delay} ms");
    }
    check_one(&bench, bench.command(NAIVE), 0, &["compiles"]);
    let headers = fs::read_dir(bench.cache().join("headers")).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = headers.map(|entry| entry.file_name()).collect();
    names.retain(|name| !name.to_string_lossy().starts_with(".lock"));
    assert_eq!(names.len(), 1, "only the finished headers: {names:?}");
}
