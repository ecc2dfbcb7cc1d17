//! Python workers: what they answer, what their code cannot do, and which interpreters are found.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::python::{
    Interpreter, InterpreterSearch, Limits, PythonError, Reply, Worker, WorkerConfiguration,
};
use lightbench_core::worker::command::WorkerCommand;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

fn configuration() -> WorkerConfiguration {
    let limits = Limits { memory_bytes: 2 << 30, ..Limits::default() };
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    WorkerConfiguration { limits, ..WorkerConfiguration::new(command) }
}

fn never() -> Cancellation {
    Cancellation::new()
}

fn find(explicit: impl Into<PathBuf>) -> Result<Interpreter, PythonError> {
    let search = InterpreterSearch { explicit: Some(explicit.into()), path: Vec::new() };
    Interpreter::find(&search, &configuration(), &never())
}

/// The system's interpreter. Prints that the test is skipped and returns `None` without an interpreter or a sandbox.
fn system_interpreter() -> Option<&'static Interpreter> {
    static FOUND: OnceLock<Option<Interpreter>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        if !cfg!(target_os = "linux") || !PathBuf::from("/usr/bin/python3").exists() {
            return None;
        }
        Some(find("/usr/bin/python3").unwrap())
    });
    if found.is_none() {
        println!("skipped: no /usr/bin/python3 on Linux");
    }
    found.as_ref()
}

/// The system's interpreter if it has this package. Otherwise prints that the test is skipped, or fails where
/// `LIGHTBENCH_REQUIRE_TORCH` is set.
pub(crate) fn interpreter_with(package: &str) -> Option<&'static Interpreter> {
    let found = system_interpreter().filter(|interpreter| match package {
        "torch" => interpreter.packages.torch.is_some(),
        _ => interpreter.packages.numpy.is_some(),
    });
    if found.is_none() {
        let missing = format!("/usr/bin/python3 has no {package}");
        crate::skip::skip(&missing, "LIGHTBENCH_REQUIRE_TORCH");
    }
    found
}

/// Calls `f(argument, blobs)` of this text.
fn run(worker: &mut Worker, source: &str, argument: &Value) -> Result<Reply, PythonError> {
    run_within(worker, source, argument, LIMIT)
}

fn run_within(
    worker: &mut Worker,
    source: &str,
    argument: &Value,
    limit: Duration,
) -> Result<Reply, PythonError> {
    let request =
        json!({ "file": "case.py", "source": source, "entry": "f", "argument": argument });
    worker.call("run", &request, &[], limit, &never())
}

fn check_works(worker: &mut Worker) {
    let reply = run(worker, "def f(argument, blobs):\n    return argument + 1\n", &json!(41));
    assert_eq!(reply.unwrap().value, json!(42));
}

mod calls;
mod hostile;
mod interpreters;
mod references;
