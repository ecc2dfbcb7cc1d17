//! What becomes of workers that do not keep to the protocol.

use lightbench_core::worker::protocol::{Readiness, Ready};
use lightbench_core::worker::sandbox::SandboxReport;

use super::*;

/// A limit for what never comes.
const SHORT: Duration = Duration::from_millis(500);

/// What a worker says until it is ready.
pub(super) fn greeting() -> Vec<u8> {
    let reason = || Enforcement::Unavailable { reason: "a puppet".to_owned() };
    let sandbox = SandboxReport {
        filesystem: reason(),
        network: reason(),
        inherited_descriptors: Vec::new(),
    };
    let ready = Readiness::Ready(Ready { compiler: None, sandbox });
    let mut words = Vec::new();
    Frame::new(&Hello::ours(), Vec::new()).unwrap().write_to(&mut words).unwrap();
    Frame::new(&ready, Vec::new()).unwrap().write_to(&mut words).unwrap();
    words
}

/// A worker that says hello, is ready, then sends `reply` whatever it is asked, and stays.
fn puppet(reply: &[u8]) -> (tempfile::NamedTempFile, WorkerHandle) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), [&greeting(), reply].concat()).unwrap();
    let script = format!("cat {}; sleep 60", file.path().display());
    let command = WorkerCommand::new("/bin/sh", ["-c", &script]);
    (file, WorkerHandle::new(command, Configuration::default()))
}

pub(super) fn framed(head: &str, blobs: Vec<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::new(&head, blobs).unwrap().write_to(&mut bytes).unwrap();
    bytes
}

/// Asks the puppet for a disassembly of `cubin` and gives the error, which does not wait for the limit.
fn ask(reply: &[u8], cubin: Vec<u8>) -> WorkerError {
    ask_within(LIMIT, reply, cubin)
}

/// The same with a limit that is reached.
fn ask_within(limit: Duration, reply: &[u8], cubin: Vec<u8>) -> WorkerError {
    let (_words, mut handle) = puppet(reply);
    let process = handle.worker(&never()).unwrap().id();
    let request = DisassembleRequest { cubin, functions: Vec::new() };
    let error = handle.disassemble(request, limit, &never()).unwrap_err();
    assert!(is_gone(process) || matches!(error, WorkerError::Request(_)), "{error}");
    error
}

#[test]
fn the_wrong_kind_of_reply_is_refused() {
    let error = ask(&framed("HeadersExtracted", Vec::new()), Vec::new());
    assert_eq!(error.to_string(), "the worker answered headers extracted, expected disassembled");
}

#[test]
fn an_unknown_reply_is_refused() {
    let error = ask(&framed("Everything is fine", Vec::new()), Vec::new());
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
}

#[test]
fn a_reply_with_too_many_blobs_is_refused() {
    let error = ask(&framed("Disassembled", vec![Vec::new(), Vec::new()]), Vec::new());
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
}

#[test]
fn a_reply_that_claims_too_much_is_refused() {
    let mut reply = b"LBF\x01".to_vec();
    reply.extend_from_slice(&u32::MAX.to_le_bytes());
    reply.extend_from_slice(&0_u32.to_le_bytes());
    let error = ask(&reply, Vec::new());
    assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
}

#[test]
fn half_a_reply_is_waited_for_until_the_limit() {
    let mut reply = framed("Disassembled", vec![vec![1; 100]]);
    reply.truncate(50);
    let error = ask_within(SHORT, &reply, Vec::new());
    assert!(matches!(error, WorkerError::TimedOut { during: Stage::Call, .. }), "{error}");
}

#[test]
fn a_worker_that_does_not_read_is_killed_at_the_limit() {
    // More than any pipe holds.
    let error = ask_within(SHORT, b"", vec![0; 4 << 20]);
    assert!(matches!(error, WorkerError::TimedOut { during: Stage::Call, .. }), "{error}");
}

#[test]
fn a_request_beyond_the_bounds_is_not_sent() {
    let error = ask(b"", vec![0; (256 << 20) + 1]);
    assert!(matches!(error, WorkerError::Request(_)), "{error}");
}
