//! A parent that is stopped together with its worker, as in a terminal, a paused container or a halted virtual machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::misbehaving::listing;
use super::*;

/// The limit of the order.
const LIMIT: Duration = Duration::from_secs(4);

/// How long both are stopped: more than the limit.
const PAUSE: Duration = Duration::from_secs(5);

/// A worker that is ready at once and carries out an order in about a second of its own time.
///
/// Each of its steps begins after the one before has ended, so that a pause delays all that follow.
const SCRIPT: &str =
    "cat WORDS; i=0; while [ $i -lt 10 ]; do sleep 0.1; i=$((i+1)); done; cat REPLY; sleep 60";

#[test]
fn a_pause_of_parent_and_worker_is_not_the_orders_time() {
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["worker::pausing::parent_that_is_paused", "--exact", "--ignored", "--nocapture"])
        .env("LIGHTBENCH_TEST_PARENT", "paused")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let worker: String =
        lines.find_map(|line| Some(line.unwrap().split("worker ").nth(1)?.to_owned())).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // The whole group: the worker's steps are processes of their own.
    let (parent_id, group) = (parent.id().to_string(), format!("-{worker}"));
    let both = |signal: &str| {
        Command::new("kill").args([signal, "--", &parent_id, &group]).status().unwrap();
    };
    both("-STOP");
    std::thread::sleep(PAUSE);
    both("-CONT");
    let told = lines.find_map(|line| Some(line.unwrap().split("outcome ").nth(1)?.to_owned()));
    parent.wait().unwrap();
    assert_eq!(told.as_deref(), Some("replied"));
}

#[test]
#[ignore = "the parent's part of the test above"]
fn parent_that_is_paused() {
    if std::env::var_os("LIGHTBENCH_TEST_PARENT").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [words, reply] = ["words", "reply"].map(|name| folder.path().join(name));
    fs::write(&words, misbehaving::greeting()).unwrap();
    fs::write(&reply, misbehaving::reply(&listing(10))).unwrap();
    let script =
        SCRIPT.replace("WORDS", words.to_str().unwrap()).replace("REPLY", reply.to_str().unwrap());
    let command = WorkerCommand::new("/bin/sh", ["-c", &script]);
    let mut handle = CompileWorker::new(command, Configuration::default());
    println!("\nworker {}", handle.worker(&never()).unwrap().id());
    let outcome = disassemble(&mut handle, Vec::new(), LIMIT);
    println!(
        "outcome {}",
        outcome.map_or_else(|error| error.to_string(), |_| "replied".to_owned())
    );
    std::io::stdout().flush().unwrap();
}
