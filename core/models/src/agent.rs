//! An agent command: a program chosen by the user that reads the prompt from standard input and writes the reply to
//! standard output.
//!
//! The program is trusted like the user, but its resources are limited: an empty working folder that is removed
//! afterwards, the environment variables that the settings allow, and limits on time and output.

use std::ffi::OsString;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded, never, select};
use tempfile::TempDir;

use crate::budget::guessed;
use crate::error::{Ending, ModelError, ModelErrorKind, WaitPhase};
use crate::model::{AnswerEvent, Model, Reply, Request, Stop};
use crate::secret::{RedactedStream, Redactor};
use crate::stop_signal::SLICE;
use crate::text::{Decoder, excerpt};

/// A configured program.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The name in the settings.
    pub name: String,
    /// Path of the program.
    pub program: PathBuf,
    /// Its command-line arguments.
    pub arguments: Vec<String>,
    /// All variables that it gets.
    pub environment: Vec<(String, OsString)>,
    pub limits: AgentLimits,
    /// Removes secrets from all its output.
    pub redactor: Redactor,
}

/// Limits of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// From start to end.
    pub time: Duration,
    /// Limit on its standard output.
    pub reply_bytes: usize,
    /// Tokens of an answer that a budget sets aside for it.
    pub most_tokens: u64,
}

/// Bytes of standard error that are kept.
const TAIL_BYTES: usize = 4 << 10;
/// Time limit for the ends of its streams after the program has ended.
const GRACE: Duration = Duration::from_millis(250);

impl Model for Agent {
    fn name(&self) -> &str {
        &self.name
    }

    fn most_output(&self) -> u64 {
        self.limits.most_tokens
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let prompt = self.redactor.redact(&request.conversation.to_prompt());
        let began = Instant::now();
        let running = Running::start(self, &prompt).map_err(|error| ModelErrorKind::Start {
            program: self.program.display().to_string(),
            reason: error.to_string(),
        })?;
        let limit = request.limits.time_within(self.limits.time);
        let mut talk = AgentSession {
            agent: self,
            hear,
            clean: self.redactor.stream(),
            decoder: Decoder::default(),
            text: String::new(),
            deadline: Deadline { end: began + limit, limit, request },
        };
        let heard = talk.listen(running);
        let text = talk.text;
        let usage = guessed(request, text.len(), self.limits.most_tokens);
        match heard {
            Ok(stop) => {
                let took = began.elapsed();
                Ok(Reply::of_text(text, usage, stop, took))
            }
            Err(trouble) => Err(ModelError { trouble, usage, attempts: Vec::new() }),
        }
    }
}

/// A program that runs. Dropping it ends it, and everything that it started in its process group.
struct Running {
    process: Child,
    status: Option<ExitStatus>,
    /// Pieces of its standard output and of its standard error; disconnected at the end of the stream.
    output: Receiver<Vec<u8>>,
    errors: Receiver<Vec<u8>>,
    /// Its working folder.
    _folder: TempDir,
}

impl Running {
    fn start(agent: &Agent, prompt: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("lightbench-agent-").tempdir()?;
        // A file without a name, so that a program that does not read cannot block us.
        let mut input = tempfile::tempfile()?;
        input.write_all(prompt.as_bytes())?;
        input.seek(SeekFrom::Start(0))?;
        let mut command = Command::new(&agent.program);
        command
            .args(&agent.arguments)
            .env_clear()
            .envs(agent.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder.path())
            .stdin(Stdio::from(input))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        own_process_group(&mut command);
        let mut process = command.spawn()?;
        let streams = (process.stdout.take(), process.stderr.take());
        let read = |streams| match streams {
            (Some(output), Some(errors)) => {
                Ok((read_beside("agent-output", output)?, read_beside("agent-errors", errors)?))
            }
            _ => Err(io::Error::other("the process has no pipes")),
        };
        match read(streams) {
            Ok((output, errors)) => {
                Ok(Self { process, status: None, output, errors, _folder: folder })
            }
            Err(error) => {
                end_group(&mut process);
                process.wait()?;
                Err(error)
            }
        }
    }

    /// Ends it and its group, now.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // Kill the group first, while its number is still reserved by a process that has not been waited for.
        end_group(&mut self.process);
        let status = self.process.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // An error here has no receiver.
        let _ended = self.end();
    }
}

/// Reads a stream to its end in a thread, whose end disconnects the channel. A program that leaves its process group may
/// keep the stream open; the thread then continues until its next piece has no receiver.
fn read_beside(
    name: &str,
    mut stream: impl Read + Send + 'static,
) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, pieces) = bounded(4);
    Builder::new().name(name.to_owned()).spawn(move || {
        let mut buffer = vec![0_u8; 16 << 10];
        loop {
            match stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count @ 1..) => {
                    let piece = buffer.iter().take(count).copied().collect();
                    if sender.send(piece).is_err() {
                        return;
                    }
                }
                Ok(_) | Err(_) => return,
            }
        }
    })?;
    Ok(pieces)
}

/// Cancellation and time limit of a conversation.
struct Deadline<'a> {
    end: Instant,
    limit: Duration,
    request: &'a Request<'a>,
}

impl Deadline<'_> {
    fn check(&self) -> Result<(), ModelErrorKind> {
        if self.request.stop.is_raised() {
            return Err(ModelErrorKind::Cancelled);
        }
        if Instant::now() > self.end {
            return Err(ModelErrorKind::TimedOut {
                waited_for: WaitPhase::Whole,
                limit: self.limit,
            });
        }
        Ok(())
    }
}

/// One conversation with a running program.
struct AgentSession<'a> {
    agent: &'a Agent,
    hear: &'a mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    clean: RedactedStream,
    decoder: Decoder,
    text: String,
    deadline: Deadline<'a>,
}

impl AgentSession<'_> {
    fn listen(&mut self, mut running: Running) -> Result<Stop, ModelErrorKind> {
        let mut tail = Vec::new();
        let mut bytes = 0_usize;
        let mut errors = running.errors.clone();
        loop {
            self.deadline.check()?;
            select! {
                recv(running.output) -> piece => {
                    let Ok(piece) = piece else { break };
                    bytes += piece.len();
                    if bytes > self.agent.limits.reply_bytes {
                        return Err(ModelErrorKind::TooLong {
                            limit: self.agent.limits.reply_bytes,
                        });
                    }
                    let text = self.decoder.push(&piece);
                    let clean = self.clean.push(&text);
                    if self.say(&clean).is_break() {
                        return Ok(Stop::Listener);
                    }
                }
                recv(errors) -> piece => match piece {
                    Ok(piece) => keep_tail(&mut tail, piece),
                    // The stream has ended. A disconnected channel is always ready, so that the loop would not wait.
                    Err(_) => errors = never(),
                },
                default(SLICE) => {}
            }
        }
        let status = self.status(&mut running)?;
        while let Ok(piece) = running.errors.recv_timeout(GRACE) {
            keep_tail(&mut tail, piece);
        }
        if !status.success() {
            let says = self.agent.redactor.redact(&String::from_utf8_lossy(&tail));
            return Err(ModelErrorKind::Command { ending: ending(status), says: excerpt(&says) });
        }
        let text = self.decoder.finish();
        let last = self.clean.push(&text) + &self.clean.finish();
        if self.say(&last).is_break() {
            return Ok(Stop::Listener);
        }
        Ok(Stop::Finished)
    }

    /// Waits for the end of a program that has closed its output.
    fn status(&self, running: &mut Running) -> Result<ExitStatus, ModelErrorKind> {
        while !has_ended(&mut running.process) {
            self.deadline.check()?;
            std::thread::sleep(SLICE);
        }
        running.end().map_err(|error| ModelErrorKind::Command {
            ending: Ending::Unknown,
            says: error.to_string(),
        })
    }

    fn say(&mut self, piece: &str) -> ControlFlow<()> {
        if piece.is_empty() {
            return ControlFlow::Continue(());
        }
        self.text.push_str(piece);
        (self.hear)(AnswerEvent::Text(piece))
    }
}

/// Keeps the last bytes.
fn keep_tail(tail: &mut Vec<u8>, piece: Vec<u8>) {
    tail.extend(piece);
    tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
}

#[cfg(unix)]
fn ending(status: ExitStatus) -> Ending {
    use std::os::unix::process::ExitStatusExt as _;
    let by_signal = status.signal().map(Ending::Signal);
    status.code().map(Ending::Status).or(by_signal).unwrap_or(Ending::Unknown)
}

#[cfg(not(unix))]
fn ending(status: ExitStatus) -> Ending {
    status.code().map_or(Ending::Unknown, Ending::Status)
}

/// A separate process group, so that killing it also ends the program's children.
#[cfg(unix)]
fn own_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_process_group(_command: &mut Command) {}

#[cfg(unix)]
fn end_group(process: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        // Fails only if the whole group has ended.
        let _ended = kill_process_group(group, Signal::KILL);
    }
}

/// Whether it has ended, without reaping it: its number stays reserved.
#[cfg(unix)]
fn has_ended(process: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

#[cfg(not(unix))]
fn has_ended(process: &mut Child) -> bool {
    !matches!(process.try_wait(), Ok(None))
}

/// On systems without process groups, only the program itself is killed.
#[cfg(not(unix))]
fn end_group(process: &mut Child) {
    // Fails only if it has ended.
    let _ended = process.kill();
}
