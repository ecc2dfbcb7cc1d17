//! Workers that break the protocol.

use lightbench_core::compile::protocol::CompilerFacts;
use lightbench_core::worker::protocol::{Hello, Readiness, Ready, Reply, VERSION};
use lightbench_core::worker::sandbox::SandboxReport;
use serde::Serialize;

use super::*;

/// A limit for what never comes.
const SHORT: Duration = Duration::from_millis(500);

/// The messages of a worker until it is ready.
pub(super) fn greeting() -> Vec<u8> {
    let reason = || Enforcement::Unavailable { reason: "a recording".to_owned() };
    let sandbox = SandboxReport {
        filesystem: reason(),
        network: reason(),
        inherited_descriptors: Vec::new(),
    };
    let ready = Readiness::Ready(Ready { facts: None::<CompilerFacts>, sandbox });
    [framed(&Hello { version: VERSION }), framed(&ready)].concat()
}

/// A worker that becomes ready, then sends `reply` whatever the request, and stays.
fn recorded(reply: &[u8]) -> (tempfile::NamedTempFile, CompileWorker) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), [&greeting(), reply].concat()).unwrap();
    let script = format!("cat {}; sleep 60", file.path().display());
    let command = WorkerCommand::new("/bin/sh", ["-c", &script]);
    (file, CompileWorker::new(command, Configuration::default()))
}

fn framed<Message: Serialize + ?Sized>(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::new(message).unwrap().write_to(&mut bytes).unwrap();
    bytes
}

/// The frames of a reply.
pub(super) fn reply<Message: Serialize + ?Sized>(message: &Message) -> Vec<u8> {
    [framed(&Reply::Done), framed(message)].concat()
}

/// The reply to a request to disassemble, of this many bytes.
pub(super) fn listing(bytes: usize) -> Result<Disassembly, RequestFailure> {
    Ok(Disassembly { code: vec![1; bytes], live: None })
}

/// The error of a request to disassemble `cubin`, which does not wait for the limit.
fn ask(reply: &[u8], cubin: Vec<u8>) -> WorkerError {
    ask_within(LIMIT, reply, cubin)
}

/// The same with a limit that is reached.
fn ask_within(limit: Duration, reply: &[u8], cubin: Vec<u8>) -> WorkerError {
    let (_messages, mut worker) = recorded(reply);
    let process = worker.worker(&never()).unwrap().id();
    let error = disassemble(&mut worker, cubin, limit).unwrap_err();
    let goes_on = matches!(error, WorkerError::Request(_) | WorkerError::ReplyTooLarge { .. });
    assert!(is_gone(process) || goes_on, "{error}");
    error
}

#[test]
fn replies_of_another_kind_are_refused() {
    let check = |reply: &[u8]| {
        let error = ask(reply, Vec::new());
        assert!(matches!(error, WorkerError::Protocol(_)), "{error}");
    };
    // To another request; no message of the protocol; none at all; one that claims too much; one with a tail.
    check(&reply(&"headers extracted"));
    check(&framed("Everything is fine"));
    check(b"Segmentation fault (core dumped)");
    check(&[&framed(&Reply::Done)[..], b"LBF\x02", &u64::MAX.to_le_bytes()[..]].concat());
    check(&reply(&(listing(1), 0)));
}

#[test]
fn a_reply_that_is_too_large_is_reported() {
    let size = 300 << 20;
    let error = ask(&framed(&Reply::TooLarge { size }), Vec::new());
    assert!(
        matches!(error, WorkerError::ReplyTooLarge { size: found } if found == size),
        "{error}"
    );
}

#[test]
fn half_a_reply_is_waited_for_until_the_limit() {
    let mut reply = reply(&listing(100));
    reply.truncate(reply.len() - 50);
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
