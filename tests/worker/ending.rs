//! How workers end: at the limit, by cancellation, by accident, with their parent.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::*;

/// Compiles the bomb, which must not end well, and then something else, which must.
fn check_recovery(
    limit: Duration,
    meddle: impl FnOnce(u32, Cancellation) + Send,
) -> Option<(WorkerError, Duration, Vec<Death>)> {
    let toolchain = Toolchain::find()?;
    let mut handle = toolchain.handle();
    let worker = handle.worker(&never()).unwrap();
    let (process, scratch) = (worker.id(), worker.scratch().to_owned());
    let cancellation = Cancellation::new();
    let start = Instant::now();
    let error = std::thread::scope(|scope| {
        let token = cancellation.clone();
        scope.spawn(move || meddle(process, token));
        let request = toolchain.request(TEMPLATE_BOMB);
        compile(&mut handle, request, limit, &cancellation).unwrap_err()
    });
    let (elapsed, replaced) = (start.elapsed(), handle.take_replaced());
    assert!(is_gone(process), "the worker is reaped");
    assert!(!scratch.exists(), "its folder is removed");
    let reply = compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap();
    compiled(&reply);
    Some((error, elapsed, replaced))
}

/// A busy machine may take its time, which is no defect; what is not ended takes minutes.
const BUSY: Duration = Duration::from_secs(20);

#[test]
fn a_template_bomb_is_killed_at_the_limit() {
    let limit = Duration::from_secs(2);
    let Some((error, elapsed, replaced)) = check_recovery(limit, |_process, _token| {}) else {
        return;
    };
    assert_eq!(replaced, [], "what we kill ourselves is not tried again");
    assert!(
        matches!(error, WorkerError::TimedOut { during: Stage::Call, limit: reached } if reached == limit),
        "{error}"
    );
    println!("killed and reaped {:?} after the limit", elapsed.saturating_sub(limit));
    assert!(elapsed >= limit && elapsed <= limit + BUSY, "{elapsed:?}");
}

#[test]
fn cancelling_ends_a_compile() {
    let pause = Duration::from_millis(300);
    let cancel = move |_process, token: Cancellation| {
        std::thread::sleep(pause);
        token.cancel();
    };
    let Some((error, elapsed, replaced)) = check_recovery(LIMIT, cancel) else { return };
    assert_eq!(replaced, []);
    assert!(matches!(error, WorkerError::Cancelled), "{error}");
    assert!(elapsed <= pause + BUSY, "{elapsed:?}");
}

#[test]
fn a_worker_killed_from_outside_is_replaced_once() {
    let kill = |process: u32, _token| {
        std::thread::sleep(Duration::from_millis(300));
        Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
    };
    // The fresh worker compiles the bomb until the limit.
    let limit = Duration::from_secs(2);
    let Some((error, elapsed, replaced)) = check_recovery(limit, kill) else { return };
    assert!(matches!(error, WorkerError::TimedOut { during: Stage::Call, .. }), "{error}");
    assert_eq!(replaced, [Death::Signal { number: 9 }]);
    assert!(elapsed >= limit, "{elapsed:?}");
}

#[test]
fn a_worker_that_runs_out_of_memory_dies_alone() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut configuration = toolchain.configuration();
    configuration.limits.address_space_bytes = Some(512 << 20);
    let mut handle = CompileWorker::new(command(), configuration);
    let result = compile(&mut handle, toolchain.request(TEMPLATE_BOMB), LIMIT, &never());
    // The compiler may notice by itself, or die of it.
    let rejected = matches!(&result, Ok(reply) if is_rejected(reply));
    assert!(rejected || matches!(&result, Err(WorkerError::Died { .. })), "{result:?}");
    compiled(&compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap());
}

#[test]
fn processor_time_is_limited() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut configuration = toolchain.configuration();
    configuration.limits.cpu_secs = 2;
    let mut handle = CompileWorker::new(command(), configuration);
    let error =
        compile(&mut handle, toolchain.request(TEMPLATE_BOMB), LIMIT, &never()).unwrap_err();
    assert!(matches!(&error, WorkerError::Died { death: Death::Signal { .. }, .. }), "{error}");
    compiled(&compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap());
}

#[test]
fn a_kernel_that_includes_the_conversation_hurts_only_itself() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    for descriptor in 0..8 {
        let source = format!("#include \"/dev/fd/{descriptor}\"\n__global__ void f() {{}}");
        let result =
            compile(&mut handle, toolchain.request(&source), Duration::from_secs(1), &never());
        let rejected = matches!(&result, Ok(reply) if is_rejected(reply));
        assert!(rejected || matches!(&result, Err(WorkerError::TimedOut { .. })), "{result:?}");
    }
    compiled(&compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap());
}

fn is_rejected(reply: &NvrtcOutput) -> bool {
    matches!(reply.outcome, NvrtcOutcome::Rejected { .. })
}

#[test]
fn a_dropped_worker_is_gone() {
    let worker = Worker::start(&command(), &Configuration::default(), &never()).unwrap();
    let (process, scratch) = (worker.id(), worker.scratch().to_owned());
    assert!(scratch.exists());
    drop(worker);
    assert!(is_gone(process));
    assert!(!scratch.exists());
}

#[test]
fn grandchildren_end_with_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("grandchild");
    let script = format!("sleep 600 & echo $! > {}; wait", file.display());
    let command = WorkerCommand::new("/bin/sh", ["-c", &script]);
    // On a busy machine the shell may need longer until it has started the grandchild.
    let number = [300, 3000, 30_000].into_iter().find_map(|limit| {
        let mut configuration = Configuration::default();
        configuration.limits.start = Duration::from_millis(limit);
        Worker::start(&command, &configuration, &never()).unwrap_err();
        fs::read_to_string(&file).ok()?.trim().parse().ok()
    });
    let grandchild: u32 = number.expect("the shell starts within 30 s");
    wait_until("the grandchild is gone", LIMIT, || is_gone_or_zombie(grandchild));
}

#[test]
fn a_worker_ends_with_its_parent_in_the_middle_of_a_compile() {
    if Toolchain::find().is_none() {
        return;
    }
    check_ends_with_parent("busy");
}

#[test]
fn an_idle_worker_ends_with_its_parent() {
    check_ends_with_parent("idle");
}

/// Runs this very test program as the parent, kills it, and looks for what it leaves.
fn check_ends_with_parent(state: &str) {
    let temporary = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["worker::ending::parent_that_is_killed", "--exact", "--ignored", "--nocapture"])
        .env("LIGHTBENCH_TEST_PARENT", state)
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let worker =
        lines.find_map(|line| line.unwrap().split("worker ").nth(1)?.parse().ok()).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(!is_gone_or_zombie(worker), "the worker is alive before");
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until("the worker is gone", BUSY, || is_gone_or_zombie(worker));
    // An empty lock file may stay until the next start: a worker may be forbidden to write beside its folder.
    let left = |entry: &fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("lightbench-worker-") && !name.ends_with(".lock")
    };
    let left: Vec<_> =
        fs::read_dir(temporary.path()).unwrap().filter_map(Result::ok).filter(left).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[ignore = "the parent's part of the tests above"]
fn parent_that_is_killed() {
    let Ok(state) = std::env::var("LIGHTBENCH_TEST_PARENT") else { return };
    if state == "idle" {
        let worker = Worker::start(&command(), &Configuration::default(), &never()).unwrap();
        println!("\nworker {}", worker.id());
        std::thread::sleep(LIMIT);
    } else if let Some(toolchain) = Toolchain::find() {
        let mut handle = toolchain.handle();
        println!("\nworker {}", handle.worker(&never()).unwrap().id());
        let _killed = compile(&mut handle, toolchain.request(TEMPLATE_BOMB), LIMIT, &never());
    }
}
