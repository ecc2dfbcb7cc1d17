//! Connections to the built program, which `env` starts in place of `ssh`.

#![allow(clippy::unwrap_used, reason = "a failing test is the error report")]
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_remote::SILENCE;
use lightbench_remote::connection::{ConnectError, Connection};
use lightbench_remote::folder::RemoteFolder;
use lightbench_remote::handle::RemoteHandle;
use lightbench_remote::sequence::Sequence;
use lightbench_remote::transport::{HostProgram, Shell, Transport};
use lightbench_verify::device_protocol::DeviceProtocol;
use lightbench_verify::device_session::{OpenRequest, Side};
use lightbench_worker::error::WorkerError;
use lightbench_worker::protocol::Configuration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);

fn transport(folder: &str) -> Transport {
    let (host, program) = ("here".to_owned(), "env".into());
    let folder = Some(folder.to_owned());
    Transport { host, program, arguments: Vec::new(), shell: Shell::None, folder, allocation: None }
}

fn program(architecture: &str) -> HostProgram {
    let file = env!("CARGO_BIN_EXE_lightbench-worker").into();
    HostProgram { architecture: architecture.to_owned(), file }
}

fn connect(folder: &TempDir) -> Arc<Connection> {
    let transport = transport(folder.path().to_str().unwrap());
    let programs = [program(std::env::consts::ARCH)];
    Arc::new(Connection::open(&transport, &programs, &Cancellation::new()).unwrap())
}

fn worker(connection: &Arc<Connection>) -> RemoteHandle<DeviceProtocol> {
    RemoteHandle::new(Arc::clone(connection), Configuration::default())
}

fn opening(device: &str) -> OpenRequest {
    let (side, device) = (Side::Candidate, device.to_owned());
    OpenRequest { side, device, max_steps: 0, modules: Vec::new(), harness_kernels: None }
}

/// The numbers of the processes whose program lies in the folder.
fn processes(folder: &TempDir) -> Vec<String> {
    let named = fs::read_dir("/proc").unwrap().flatten();
    let numbers = named.filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |number: &String| {
        fs::read_link(format!("/proc/{number}/exe"))
            .is_ok_and(|program| program.starts_with(folder.path()))
    };
    numbers.filter(is_ours).collect()
}

fn wait_until(limit: Duration, what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < limit, "{what} within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn workers_of_a_host_answer_and_end_with_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connect(&folder);
    let mut worker = worker(&connection);
    let described = worker.call(opening("virtual:h200"), LIMIT, &Cancellation::new()).unwrap();
    assert_eq!(described.unwrap().name, "virtual:h200");
    assert!(worker.is_running());
    let refused = worker.call(opening("virtual:none"), LIMIT, &Cancellation::new()).unwrap();
    assert!(refused.is_err(), "the host reports an unknown device");
    assert_eq!(processes(&folder).len(), 2, "the supervisor and one worker");

    let files = tempfile::tempdir().unwrap();
    fs::write(files.path().join("values"), vec![7; 300_000]).unwrap();
    let there = RemoteFolder::new(Arc::clone(&connection), &Cancellation::new()).unwrap();
    there.copy(files.path(), Some("exact"), &Cancellation::new()).unwrap();
    let stored = there.path().join("exact/values");
    assert_eq!(fs::read(&stored).unwrap(), vec![7; 300_000]);
    assert!(connection.traffic().sent > 300_000);
    assert_eq!(connection.traffic().round_trips, 4);

    drop((there, worker, connection));
    wait_until(Duration::from_secs(5), "every process ends", || processes(&folder).is_empty());
    assert!(!stored.exists(), "the folder is removed");
}

#[test]
fn a_host_that_falls_silent_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connect(&folder);
    let mut worker = worker(&connection);
    let stopped = processes(&folder);
    assert!(Command::new("kill").arg("-STOP").args(&stopped).status().unwrap().success());
    let began = Instant::now();
    let lost = worker.call(opening("virtual:h200"), LIMIT, &Cancellation::new());
    assert!(matches!(lost, Err(WorkerError::ConnectionLost { .. })), "{lost:?}");
    assert!(began.elapsed() < SILENCE + Duration::from_secs(2));
    assert!(connection.is_lost());
    // A stopped process ends only by force: the test ended its parent.
    let _ended = Command::new("kill").arg("-KILL").args(&stopped).status();
}

#[test]
fn a_worker_that_is_killed_is_reported_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connect(&folder);
    let supervisor = processes(&folder);
    let mut worker = worker(&connection);
    let open = |worker: &mut RemoteHandle<DeviceProtocol>| {
        worker.call(opening("virtual:h200"), LIMIT, &Cancellation::new()).unwrap().unwrap();
    };
    open(&mut worker);
    let workers = processes(&folder).into_iter().filter(|number| !supervisor.contains(number));
    assert!(Command::new("kill").arg("-KILL").args(workers).status().unwrap().success());
    let died = worker.call_same(opening("virtual:h200"), LIMIT, &Cancellation::new());
    assert!(matches!(died, Err(WorkerError::Died { .. })), "{died:?}");
    open(&mut worker);
}

#[test]
fn calls_in_sequence_take_one_round_trip_until_a_reply_is_unexpected() {
    let folder = tempfile::tempdir().unwrap();
    let connection = connect(&folder);
    let mut worker = worker(&connection);
    let devices =
        ["virtual:h200", "virtual:none", "virtual:h100-sxm", "virtual:b200", "virtual:h200"];
    worker.call(opening(devices[0]), LIMIT, &Cancellation::new()).unwrap().unwrap();
    let planned = devices.map(|device| worker.plan(opening(device), LIMIT).unwrap());
    let mut sequence = Sequence::new(Arc::clone(&connection), planned.to_vec()).unwrap();
    let mut call = |sequence: &mut Sequence, device: &str| {
        let opened = worker.call_in(sequence, opening(device), LIMIT, &Cancellation::new());
        opened.map(|opened| opened.is_ok_and(|described| described.name == device))
    };
    let trips = || connection.traffic().round_trips;
    let before = trips();
    assert!(call(&mut sequence, devices[0]).unwrap());
    assert!(!call(&mut sequence, devices[1]).unwrap(), "the host stops here");
    assert_eq!(trips() - before, 1);
    assert!(call(&mut sequence, "virtual:l4").unwrap(), "a call between them");
    assert!(call(&mut sequence, devices[3]).unwrap(), "the sequence goes on, without one call");
    assert!(call(&mut sequence, devices[4]).unwrap());
    assert_eq!(trips() - before, 3);

    let mut again = Sequence::new(Arc::clone(&connection), planned[2..].to_vec()).unwrap();
    assert!(call(&mut again, devices[2]).unwrap());
    let other = call(&mut again, "virtual:l4");
    assert!(matches!(other, Err(WorkerError::OnHost { .. })), "the host ran ahead: {other:?}");
}

#[test]
fn a_supervisor_without_heartbeats_ends_itself() {
    let mut supervisor = Command::new(env!("CARGO_BIN_EXE_lightbench-worker"));
    supervisor.args(["remote", "word"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut supervisor = supervisor.stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let input = supervisor.stdin.take();
    let status = supervisor.wait().unwrap();
    drop(input);
    assert!(!status.success());
    assert!((SILENCE..SILENCE * 2).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[track_caller]
fn check_refused(folder: &str, program: HostProgram, expected: &str) {
    let opened = Connection::open(&transport(folder), &[program], &Cancellation::new());
    let error = opened.err().unwrap();
    assert!(matches!(error, ConnectError::Refused { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_host_that_cannot_take_the_program_says_why() {
    let here = std::env::consts::ARCH;
    check_refused("/proc/none", program(here), "the folder /proc/none/worker/");
    check_refused("/tmp", program("riscv64"), "there is no program for Linux");
    // A disk without room, in place of a folder.
    let full = tempfile::tempdir().unwrap();
    let worker = full.path().join("worker");
    std::os::unix::fs::symlink("/dev/full", worker).unwrap();
    check_refused(full.path().to_str().unwrap(), program(here), "cannot be made");
}
