//! The beginning of a connection: the script of the host, the transfer of the program and the supervisor's first message.

use std::io::Write as _;
use std::process::{ChildStdin, ChildStdout};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;
use lightbench_primitives::cancellation::{Cancellation, WaitError};
use lightbench_worker::StderrTail;
use lightbench_worker::frame::Frame;

use super::ConnectError;
use super::process::Process;
use crate::message::Greeting;
use crate::preamble::{self, Line};
use crate::transport::{HostProgram, Transport};

pub(super) type Streams = (ChildStdin, ChildStdout);

/// Why the beginning of a connection failed.
pub(super) enum Stop {
    Refused(String),
    Ended,
    TimedOut,
    Cancelled,
    Broken(String),
}

impl Stop {
    pub(super) fn error(self, transport: &Transport, stderr: &StderrTail) -> ConnectError {
        let host = transport.host.clone();
        let said = || stderr.lines().join("; ");
        match self {
            Self::Refused(reason) => {
                let said = said();
                let reason = if said.is_empty() { reason } else { format!("{reason} ({said})") };
                ConnectError::Refused { host, reason }
            }
            Self::Ended => {
                let said = said();
                let nothing = "the command ended before the worker program began";
                let reason = if said.is_empty() { nothing.to_owned() } else { said };
                ConnectError::Refused { host, reason }
            }
            Self::Broken(reason) => ConnectError::Refused { host, reason },
            Self::TimedOut => {
                let (limit, said) = (transport.connect_limit(), said());
                ConnectError::TimedOut { host, limit, said }
            }
            Self::Cancelled => ConnectError::Cancelled,
        }
    }
}

/// Waits for the greeting in a thread of its own, which the end of the process releases.
pub(super) fn begin(
    process: &mut Process,
    (mut stdin, mut stdout): Streams,
    word: &str,
    programs: &[(HostProgram, String)],
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<(Streams, Greeting, Frame), Stop> {
    let (sender, receiver) = bounded(1);
    std::thread::scope(|scope| {
        let spawned =
            Builder::new().name("remote-greeting".to_owned()).spawn_scoped(scope, move || {
                let greeted = greet(&mut stdin, &mut stdout, word, programs);
                // No receiver is left after the limit.
                let _late = sender
                    .send(greeted.map(|(greeting, facts)| ((stdin, stdout), greeting, facts)));
            });
        if let Err(error) = spawned {
            process.end();
            return Err(Stop::Broken(error.to_string()));
        }
        let received = cancellation.receive(&receiver, Some(Instant::now() + limit));
        received.unwrap_or_else(|error| {
            process.end();
            Err(match error {
                WaitError::Cancelled => Stop::Cancelled,
                WaitError::TimedOut => Stop::TimedOut,
                WaitError::Disconnected => Stop::Ended,
            })
        })
    })
}

fn greet(
    stdin: &mut ChildStdin,
    stdout: &mut ChildStdout,
    word: &str,
    programs: &[(HostProgram, String)],
) -> Result<(Greeting, Frame), Stop> {
    let broken = |error: std::io::Error| Stop::Broken(error.to_string());
    loop {
        match preamble::next_line(word, stdout).map_err(broken)? {
            None => return Err(Stop::Ended),
            Some(Line::Failed(reason)) => return Err(Stop::Refused(reason)),
            Some(Line::Ready) => break,
            Some(Line::Needed(architecture)) => {
                let program = programs.iter().find(|(known, _)| known.architecture == architecture);
                let Some((program, _)) = program else {
                    return Err(Stop::Refused(format!("there is no program for {architecture}")));
                };
                let bytes = program.compressed().map_err(broken)?;
                let sent = writeln!(stdin, "{}", bytes.len())
                    .and_then(|()| stdin.write_all(&bytes))
                    .and_then(|()| stdin.flush());
                // After a full disk, the host's message follows.
                let _reported_by_the_host = sent;
            }
        }
    }
    let mut frame = || Frame::read_from(stdout).map_err(|error| Stop::Broken(error.to_string()));
    let (greeting, facts) = (frame()?, frame()?);
    Ok((greeting.parse().map_err(|error| Stop::Broken(error.to_string()))?, facts))
}

/// A word that no other connection has, so that no text of the host's shell is taken for the supervisor.
pub(super) fn word() -> String {
    let mut bytes = [0; 8];
    // Without random bytes the word is still no text of a shell.
    let _zeros = getrandom::fill(&mut bytes);
    format!("lightbench-{:016x}", u64::from_le_bytes(bytes))
}
