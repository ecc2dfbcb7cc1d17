//! This machine's side of a connection to a host.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use lightbench_primitives::cancellation::{Cancellation, WaitError};
use lightbench_worker::StderrTail;
use lightbench_worker::error::WorkerError;
use lightbench_worker::frame::{Frame, FrameError};
use serde::de::DeserializeOwned;

use crate::last_heard::{Heard, LastHeard};
use crate::message::{self, Answer, FromHost, ToHost, VERSION, send};
use crate::transport::{Allocation, HostProgram, Transport};
use crate::{HEARTBEAT, SILENCE};

mod counted;
mod greeting;
mod process;

use self::counted::Counted;
use self::greeting::{begin, word};
use self::process::{Process, job_state, wait_for};

/// Time for the host to end after its input was closed: longer than the supervisor waits for its workers.
const CLOSE_LIMIT: Duration = Duration::from_secs(3);

/// A connection to a host, with a supervisor at its other end. Dropping it ends the supervisor and every worker there.
#[derive(Debug)]
pub struct Connection {
    host: String,
    build: String,
    facts: Frame,
    link: Arc<Link>,
    next_call: AtomicU64,
    next_number: AtomicU32,
}

/// Why a host was not reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No program for hosts lies beside this one.
    #[error(
        "there is no program `lightbench-worker` beside this one, which {0} needs: build it with `cargo build --release --package lightbench-worker-program`"
    )]
    NoProgram(String),
    /// The program for hosts cannot be read.
    #[error("cannot read {}: {reason}", file.display())]
    Program {
        /// Its path.
        file: std::path::PathBuf,
        /// The system's message.
        #[source]
        reason: std::io::Error,
    },
    /// The command that reaches the host cannot be started.
    #[error("cannot start `{}` to reach {host}: {reason}", program.display())]
    Start {
        /// The host.
        host: String,
        /// The program.
        program: std::path::PathBuf,
        /// The system's message.
        #[source]
        reason: std::io::Error,
    },
    /// The command ended, or the host refused.
    #[error("cannot use {host}: {reason}{}", advice(host, reason))]
    Refused {
        /// The host.
        host: String,
        /// The host's or the command's message.
        reason: String,
    },
    /// The host has another version.
    #[error("{host} runs another version of the worker program")]
    OtherVersion {
        /// The host.
        host: String,
    },
    /// The host did not answer in time.
    #[error("{host} did not answer within {} s{}{said}", limit.as_secs(), if said.is_empty() { "" } else { ": " })]
    TimedOut {
        /// The host.
        host: String,
        /// The time limit.
        limit: Duration,
        /// The command's messages.
        said: String,
    },
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// What to do about a message of `ssh`.
fn advice(host: &str, reason: &str) -> String {
    if reason.contains("Host key verification failed") {
        format!("; run `ssh {host}` once and check the key of the host")
    } else if reason.contains("Permission denied") {
        format!("; make `ssh {host}` work without a question, or set SSH_ASKPASS")
    } else if reason.contains("Invalid generic resource (gres) specification") {
        "; `gpus` in the settings of the partition names its GPUs, and `gpus: \"\"` says that it has none".to_owned()
    } else {
        String::new()
    }
}

/// Bytes and waits of a connection since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes to the host, without the transfer of the program.
    pub sent: u64,
    /// Bytes from the host.
    pub received: u64,
    /// Requests that waited for an answer.
    pub round_trips: u64,
}

/// What the threads of a connection share.
#[derive(Debug)]
struct Link {
    process: Mutex<Process>,
    stderr: StderrTail,
    /// None after the connection has ended.
    writer: Mutex<Option<Counted<ChildStdin>>>,
    /// The calls without an answer.
    waiting: Mutex<BTreeMap<u64, Sender<Answered>>>,
    /// The sequences that the host carries out.
    sequences: Mutex<BTreeMap<u64, Sender<Answered>>>,
    /// Why the connection ended.
    lost: Mutex<Option<String>>,
    heard: LastHeard,
    allocation: Option<Allocation>,
    /// The number of the job that has the allocation.
    job: Option<String>,
    /// When the last request ended.
    used: Mutex<Instant>,
    sent: Arc<AtomicU64>,
    received: Arc<AtomicU64>,
}

pub(crate) type Answered = (Answer, Option<Frame>);

impl Connection {
    /// Reaches the host, installs the program there if it is missing, and starts the supervisor.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub fn open(
        transport: &Transport,
        programs: &[HostProgram],
        cancellation: &Cancellation,
    ) -> Result<Self, ConnectError> {
        let host = transport.host.clone();
        let hashed = |program: &HostProgram| {
            let file = program.file.clone();
            program.hashed().map_err(|reason| ConnectError::Program { file, reason })
        };
        let programs: Vec<_> = programs.iter().map(hashed).collect::<Result<_, _>>()?;
        if programs.is_empty() {
            return Err(ConnectError::NoProgram(host));
        }
        let word = word();
        let start = |reason| {
            let (host, program) = (transport.host.clone(), transport.program.clone());
            ConnectError::Start { host, program, reason }
        };
        let mut child =
            transport.command(&transport.script(&word, &programs)).spawn().map_err(start)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Process { child, allocates: transport.allocation.is_some() };
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(start(std::io::Error::other("the process has no pipes")));
        };
        let stderr = StderrTail::start(stderr).map_err(start)?;
        let (streams, limit) = ((stdin, stdout), transport.connect_limit());
        let began = begin(&mut process, streams, &word, &programs, limit, cancellation);
        let (streams, greeting, facts) = match began {
            Ok(began) => began,
            Err(stop) => {
                process.end();
                stderr.finish();
                return Err(stop.error(transport, &stderr));
            }
        };
        if greeting.version != VERSION {
            process.end();
            return Err(ConnectError::OtherVersion { host });
        }
        let (stdin, stdout) = streams;
        let (sent, received) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let link = Arc::new(Link {
            process: Mutex::new(process),
            stderr,
            writer: Mutex::new(Some(Counted { stream: stdin, count: Arc::clone(&sent) })),
            waiting: Mutex::default(),
            sequences: Mutex::default(),
            lost: Mutex::default(),
            heard: LastHeard::now(),
            allocation: transport.allocation,
            job: greeting.job,
            used: Mutex::new(Instant::now()),
            sent,
            received: Arc::clone(&received),
        });
        let from_host = Counted { stream: stdout, count: received };
        let connection = Self {
            host,
            build: greeting.build,
            facts,
            link,
            next_call: AtomicU64::new(0),
            next_number: AtomicU32::new(0),
        };
        connection.start_threads(from_host).map_err(start)?;
        Ok(connection)
    }

    fn start_threads(&self, from_host: Counted<ChildStdout>) -> std::io::Result<()> {
        let start = |name: &str, body: Box<dyn FnOnce(&Link) + Send>| {
            let link = Arc::clone(&self.link);
            Builder::new().name(name.to_owned()).spawn(move || body(&link)).map(drop)
        };
        start("remote-answers", Box::new(|link| link.read_answers(from_host)))?;
        start("remote-heartbeat", Box::new(Link::send_heartbeats))?;
        // A thread of its own, because a write to a stalled connection blocks until the process ends.
        start("remote-silence", Box::new(Link::watch_silence))
    }

    /// The host, as the user names it.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The build of the service that workers on the host offer.
    #[must_use]
    pub fn build(&self) -> &str {
        &self.build
    }

    /// What the supervisor reported about its host.
    ///
    /// # Errors
    ///
    /// [`FrameError::Decode`] if it reported something else.
    pub fn facts<Facts: DeserializeOwned>(&self) -> Result<Facts, FrameError> {
        self.facts.parse()
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        locked(&self.link.lost).is_some()
    }

    /// Bytes and waits until now.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        Traffic {
            sent: self.link.sent.load(Ordering::Relaxed),
            received: self.link.received.load(Ordering::Relaxed),
            round_trips: self.next_call.load(Ordering::Relaxed),
        }
    }

    /// A number for a worker or a folder.
    pub(crate) fn number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a message that has no answer.
    pub(crate) fn tell(&self, message: &ToHost, following: &[Frame]) -> Result<(), WorkerError> {
        self.link.send(message, following).map_err(|error| self.failed(error))
    }

    /// Sends a message and waits for its answer. A cancellation is passed on and ends the wait.
    pub(crate) fn ask(
        &self,
        message: impl FnOnce(u64) -> ToHost,
        following: &[Frame],
        cancellation: &Cancellation,
    ) -> Result<Answered, WorkerError> {
        if cancellation.is_cancelled() {
            return Err(WorkerError::Cancelled);
        }
        let id = self.next_call.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = bounded(1);
        locked(&self.link.waiting).insert(id, sender);
        let answered =
            self.tell(&message(id), following).and_then(|()| self.wait(&answer, cancellation));
        locked(&self.link.waiting).remove(&id);
        *locked(&self.link.used) = Instant::now();
        if matches!(answered, Err(WorkerError::Cancelled)) {
            // A lost connection cancels everything by itself.
            let _lost = self.tell(&ToHost::Cancel { id }, &[]);
        }
        answered
    }

    /// Starts calls of a sequence, at most `count`. Their answers arrive in the channel, which closes when the host carries
    /// out no further call.
    pub(crate) fn carry_out(
        &self,
        sequence: u32,
        from: usize,
        count: usize,
    ) -> Result<(u64, Receiver<Answered>), WorkerError> {
        let id = self.next_call.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = bounded(count);
        locked(&self.link.sequences).insert(id, sender);
        self.tell(&ToHost::CarryOut { id, sequence, from }, &[])?;
        Ok((id, answers))
    }

    fn wait(
        &self,
        answer: &Receiver<Answered>,
        cancellation: &Cancellation,
    ) -> Result<Answered, WorkerError> {
        match cancellation.receive(answer, None) {
            Ok(answered) => Ok(answered),
            Err(WaitError::Cancelled) => Err(WorkerError::Cancelled),
            Err(WaitError::Disconnected | WaitError::TimedOut) => Err(self.lost()),
        }
    }

    /// The error of a connection that ended.
    pub(crate) fn lost(&self) -> WorkerError {
        let reason = locked(&self.link.lost).clone();
        let reason = reason.unwrap_or_else(|| "the connection ended".to_owned());
        WorkerError::ConnectionLost { host: self.host.clone(), reason }
    }

    /// The error for an answer of another kind, which ends the connection.
    pub(crate) fn unexpected(&self) -> WorkerError {
        self.link.end("the host sent an unexpected answer");
        self.lost()
    }

    fn failed(&self, error: FrameError) -> WorkerError {
        match error {
            FrameError::TooLarge { .. } | FrameError::Encode(_) => WorkerError::Request(error),
            FrameError::Closed
            | FrameError::Truncated { .. }
            | FrameError::NotAFrame { .. }
            | FrameError::Version { .. }
            | FrameError::Decode(_)
            | FrameError::Trailing(_)
            | FrameError::Io(_) => {
                self.link.end(&error.to_string());
                self.lost()
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.close();
    }
}

impl Link {
    fn send(&self, message: &ToHost, following: &[Frame]) -> Result<(), FrameError> {
        match &mut *locked(&self.writer) {
            Some(writer) => send(writer, message, following),
            None => Err(FrameError::Closed),
        }
    }

    fn read_answers(&self, stream: Counted<ChildStdout>) {
        let mut stream = Heard { stream, heard: &self.heard };
        let failed = loop {
            match read_answer(&mut stream) {
                Ok(Received::Heartbeat) => {}
                Ok(Received::Answer(id, answered)) => {
                    let waiting = locked(&self.waiting).remove(&id);
                    let waiting = waiting.or_else(|| locked(&self.sequences).get(&id).cloned());
                    if let Some(waiting) = waiting {
                        // The channel has room for every answer; a cancelled call has no receiver.
                        let _cancelled = waiting.try_send(answered);
                    }
                }
                Ok(Received::SequenceEnded(id)) => {
                    *locked(&self.used) = Instant::now();
                    locked(&self.sequences).remove(&id);
                }
                Err(error) => break error,
            }
        };
        self.stderr.finish();
        let last = self.stderr.lines().pop();
        self.lose(&last.unwrap_or_else(|| failed.to_string()));
    }

    fn send_heartbeats(&self) {
        while self.send(&ToHost::Heartbeat, &[]).is_ok() {
            std::thread::sleep(HEARTBEAT);
        }
    }

    fn watch_silence(&self) {
        while locked(&self.lost).is_none() {
            if self.heard.ago() >= SILENCE {
                self.lose(&format!("no answer for {} s", SILENCE.as_secs()));
                return;
            }
            if let Some(Allocation { idle_limit, .. }) = self.allocation
                && self.is_idle_since(idle_limit)
            {
                let seconds = idle_limit.as_secs();
                self.end(&format!("the allocation was given back after {seconds} s without work"));
                return;
            }
            std::thread::sleep(SILENCE / 20);
        }
    }

    fn is_idle_since(&self, limit: Duration) -> bool {
        let is_idle = locked(&self.waiting).is_empty() && locked(&self.sequences).is_empty();
        is_idle && locked(&self.used).elapsed() >= limit
    }

    /// Ends everything because the host is lost; Slurm may know more about the reason.
    fn lose(&self, reason: &str) {
        let job = self.job.as_deref().filter(|_| self.allocation.is_some());
        let state = job.and_then(|job| Some((job, job_state(job)?)));
        match state {
            None => self.end(reason),
            Some((job, state)) => self.end(&format!("{reason} (Slurm job {job}: {state})")),
        }
    }

    /// Closes the host's input, at whose end the supervisor removes its folders and ends, and kills a process that
    /// stays.
    fn close(&self) {
        // A stalled write holds the writer; then only the end of the process helps.
        if let Ok(mut writer) = self.writer.try_lock() {
            *writer = None;
            drop(writer);
            // A process that stays is ended below.
            let _ended = wait_for(&mut locked(&self.process).child, CLOSE_LIMIT);
        }
        self.end("this machine closed it");
    }

    /// Ends the process and every wait. The first reason counts.
    fn end(&self, reason: &str) {
        locked(&self.lost).get_or_insert_with(|| reason.to_owned());
        // The process first: its end releases a thread that writes and holds the writer.
        locked(&self.process).end();
        *locked(&self.writer) = None;
        locked(&self.waiting).clear();
        locked(&self.sequences).clear();
    }
}

/// A message from the host with the frames that follow it.
enum Received {
    Heartbeat,
    Answer(u64, Answered),
    SequenceEnded(u64),
}

fn read_answer(stream: &mut impl Read) -> Result<Received, FrameError> {
    match message::next_frame(stream)?.parse()? {
        FromHost::Heartbeat => Ok(Received::Heartbeat),
        FromHost::SequenceEnded { id } => Ok(Received::SequenceEnded(id)),
        FromHost::Answer { id, answer } => {
            let reply = match &answer {
                Answer::Reply(_) => Some(Frame::read_from(stream)?),
                Answer::Failed(..) | Answer::Folder(_) | Answer::Stored | Answer::NotStored(_) => {
                    None
                }
            };
            Ok(Received::Answer(id, (answer, reply)))
        }
    }
}

fn locked<Value>(mutex: &Mutex<Value>) -> MutexGuard<'_, Value> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
