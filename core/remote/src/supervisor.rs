//! The side of a connection on the other host: starts workers, passes requests and replies, and ends with its input.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Stdout, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::owned_folder::OwnedFolder;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::WorkerError;
use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::handle::WorkerHandle;
use lightbench_worker::protocol::{Configuration, Limits, Protocol};
use lightbench_worker::sandbox::SandboxPolicy;
use serde::Serialize;

use crate::last_heard::{Heard, LastHeard};
use crate::message::{
    Answer, CallFailure, END_OF_MESSAGE, FileContent, FromHost, Greeting, Recipient, ToHost,
    VERSION, WorkerState, send,
};
use crate::sequence::Sequenced;
use crate::{HEARTBEAT, SILENCE, preamble};

mod sequences;

use self::sequences::Sequences;

/// Requests that wait for one worker. This machine sends the next request after the reply.
const MOST_WAITING: usize = 16;

/// Most workers of a connection.
const MOST_WORKERS: usize = 256;

/// Time for workers to end after a cancellation.
const GRACE: Duration = Duration::from_secs(2);

/// How the names of folders begin.
const FOLDER_PREFIX: &str = "lightbench-remote-";

/// Why a supervisor ended before its input did.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// Nothing arrived for [`SILENCE`].
    #[error("no heartbeat for {} s", SILENCE.as_secs())]
    Silence,
    /// The messages cannot be read or written.
    #[error(transparent)]
    Stream(#[from] FrameError),
    /// A message refers to something that does not exist, or too many requests wait.
    #[error("unexpected message: {0}")]
    Message(&'static str),
    /// The system cannot start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
}

/// Serves the machine at the other end of the standard streams until its end closes. `word` is the word of the script by
/// which that machine finds the first message; `job` is the Slurm job in which it runs, if any; `facts` are what that
/// machine learns about this host.
///
/// # Errors
///
/// [`SupervisorError`].
pub fn serve<P: Sequenced>(
    command: &WorkerCommand,
    word: &str,
    job: Option<String>,
    facts: &impl Serialize,
) -> Result<(), SupervisorError> {
    let output = Arc::new(Output(Mutex::new(io::stdout())));
    let greeting = Greeting { version: VERSION, build: P::BUILD.to_owned(), job };
    output.begin(word, &greeting, facts)?;
    let heard = Arc::new(LastHeard::now());
    let messages = start_reader(Arc::clone(&heard))?;
    let beating = Arc::clone(&output);
    start("remote-heartbeat", move || {
        while beating.heartbeat().is_ok() {
            std::thread::sleep(HEARTBEAT);
        }
    })?;
    let (alive, all_ended) = bounded(0);
    let mut supervisor = Supervisor::<P> {
        command: command.clone(),
        output,
        workers: BTreeMap::new(),
        calls: Arc::default(),
        sequences: Sequences::default(),
        folders: BTreeMap::new(),
        alive,
        _protocol: std::marker::PhantomData,
    };
    let ended = supervisor.run(&messages, &heard);
    for cancellation in supervisor.calls.lock().unwrap_or_else(PoisonError::into_inner).values() {
        cancellation.cancel();
    }
    // The threads of the workers end without their queues. One that cannot write to a stalled connection stays behind: its
    // worker ends with this process.
    drop(supervisor);
    let _stalled = all_ended.recv_timeout(GRACE);
    ended
}

/// A message with the frames that follow it.
type Incoming = Result<(ToHost, Vec<Frame>), FrameError>;

/// Reads messages in a thread, because a read cannot be interrupted.
fn start_reader(heard: Arc<LastHeard>) -> Result<Receiver<Incoming>, SupervisorError> {
    let (sender, receiver) = bounded(1);
    start("remote-messages", move || {
        let mut input = Heard { stream: io::stdin().lock(), heard: &heard };
        loop {
            let message = read_message(&mut input);
            let failed = message.is_err();
            if sender.send(message).is_err() || failed {
                return;
            }
        }
    })?;
    Ok(receiver)
}

fn read_message(input: &mut impl Read) -> Incoming {
    let message: ToHost = Frame::read_from(input)?.parse()?;
    let frames = match &message {
        ToHost::Define { .. } | ToHost::Call { .. } => 1,
        ToHost::StoreFiles { names, .. } => names.len(),
        ToHost::DefineSequence { calls, .. } => calls.len(),
        ToHost::Heartbeat
        | ToHost::CarryOut { .. }
        | ToHost::EndSequence { .. }
        | ToHost::RemoveSequence { .. }
        | ToHost::Cancel { .. }
        | ToHost::Stop { .. }
        | ToHost::Remove { .. }
        | ToHost::MakeFolder { .. }
        | ToHost::RemoveFolder { .. } => 0,
    };
    let frames = (0..frames).map(|_| Frame::read_from(input)).collect::<Result<_, _>>()?;
    Ok((message, frames))
}

struct Supervisor<P: Sequenced> {
    command: WorkerCommand,
    output: Arc<Output>,
    workers: BTreeMap<u32, Sender<Task>>,
    calls: Arc<Calls>,
    sequences: Sequences,
    folders: BTreeMap<u32, OwnedFolder>,
    /// Each thread of a worker or a sequence holds a copy: the channel disconnects when all have ended.
    alive: Sender<()>,
    _protocol: std::marker::PhantomData<P>,
}

/// What a worker's thread does.
enum Task {
    Call {
        to: Recipient,
        limit: Duration,
        request: Frame,
        cancellation: Cancellation,
        /// Takes the reply. False if the connection has failed.
        answer: Box<dyn FnOnce(Replied) -> bool + Send>,
    },
    Stop,
}

/// The state of a worker after a call, and its reply.
type Replied = (WorkerState, Result<Frame, WorkerError>);

/// The calls and sequences that are waiting or running.
type Calls = Mutex<BTreeMap<u64, Cancellation>>;

impl<P: Sequenced> Supervisor<P> {
    fn run(
        &mut self,
        messages: &Receiver<Incoming>,
        heard: &LastHeard,
    ) -> Result<(), SupervisorError> {
        loop {
            match messages.recv_timeout(HEARTBEAT) {
                Ok(Ok((message, frames))) => self.take(message, frames)?,
                Ok(Err(FrameError::Closed)) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(Err(error)) => return Err(error.into()),
                Err(RecvTimeoutError::Timeout) if heard.ago() >= SILENCE => {
                    return Err(SupervisorError::Silence);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn take(&mut self, message: ToHost, frames: Vec<Frame>) -> Result<(), SupervisorError> {
        match message {
            ToHost::Heartbeat => Ok(()),
            ToHost::Define { worker, policy, limits } => {
                self.define(worker, policy, limits, &only(frames)?)
            }
            ToHost::Call { id, worker, to, limit } => {
                let (request, cancellation) = (only(frames)?, Cancellation::new());
                self.calls().insert(id, cancellation.clone());
                let (output, calls) = (Arc::clone(&self.output), Arc::clone(&self.calls));
                let answer = Box::new(move |replied| {
                    calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                    output.replied(id, replied).is_ok()
                });
                self.pass(worker, Task::Call { to, limit, request, cancellation, answer })
            }
            ToHost::DefineSequence { sequence, calls } => {
                self.sequences.define(sequence, calls, frames)
            }
            ToHost::CarryOut { id, sequence, from } => self.carry_out(id, sequence, from),
            ToHost::EndSequence { id } => {
                self.sequences.end(id);
                Ok(())
            }
            ToHost::RemoveSequence { sequence } => {
                self.sequences.remove(sequence);
                Ok(())
            }
            ToHost::Cancel { id } => {
                if let Some(cancellation) = self.calls().get(&id) {
                    cancellation.cancel();
                }
                Ok(())
            }
            ToHost::Stop { worker } => self.pass(worker, Task::Stop),
            ToHost::Remove { worker } => {
                self.workers.remove(&worker);
                Ok(())
            }
            ToHost::MakeFolder { id, folder } => {
                let answer = match OwnedFolder::in_memory(FOLDER_PREFIX) {
                    Ok(made) => {
                        let path = made.path().to_owned();
                        self.folders.insert(folder, made);
                        Answer::Folder(path)
                    }
                    Err(error) => Answer::NotStored(error.to_string()),
                };
                Ok(self.output.answer(id, answer, &[])?)
            }
            ToHost::StoreFiles { id, folder, within, names } => {
                let folder = self.folders.get(&folder);
                let folder = folder.ok_or(SupervisorError::Message("no such folder"))?;
                let answer = match store(folder.path(), within.as_deref(), &names, &frames)? {
                    Ok(()) => Answer::Stored,
                    Err(error) => Answer::NotStored(error.to_string()),
                };
                Ok(self.output.answer(id, answer, &[])?)
            }
            ToHost::RemoveFolder { folder } => {
                self.folders.remove(&folder);
                Ok(())
            }
        }
    }

    fn define(
        &mut self,
        worker: u32,
        policy: SandboxPolicy,
        limits: Limits,
        options: &Frame,
    ) -> Result<(), SupervisorError> {
        if self.workers.len() >= MOST_WORKERS {
            return Err(SupervisorError::Message("too many workers"));
        }
        let configuration = Configuration { options: options.parse()?, policy, limits };
        let handle = WorkerHandle::<P>::new(self.command.clone(), configuration);
        let (sender, tasks) = bounded(MOST_WAITING);
        let alive = self.alive.clone();
        start("remote-worker", move || {
            serve_worker(handle, &tasks);
            drop(alive);
        })?;
        self.workers.insert(worker, sender);
        Ok(())
    }

    /// Carries out calls of a sequence in a thread of its own, which waits for the workers.
    fn carry_out(&mut self, id: u64, sequence: u32, from: usize) -> Result<(), SupervisorError> {
        let run = self.sequences.start(id, sequence, from, &self.workers)?;
        let cancellation = Cancellation::new();
        self.calls().insert(id, cancellation.clone());
        let (output, calls) = (Arc::clone(&self.output), Arc::clone(&self.calls));
        let alive = self.alive.clone();
        start("remote-sequence", move || {
            run.carry_out::<P>(&output, &cancellation);
            calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            drop(alive);
        })
    }

    fn pass(&self, worker: u32, task: Task) -> Result<(), SupervisorError> {
        let worker = self.workers.get(&worker);
        let worker = worker.ok_or(SupervisorError::Message("no such worker"))?;
        worker.try_send(task).map_err(|error| {
            SupervisorError::Message(match error {
                TrySendError::Full(_) => "too many requests wait",
                TrySendError::Disconnected(_) => "a worker's thread has ended",
            })
        })
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Cancellation>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries out the tasks of one worker until its queue closes or the connection fails.
fn serve_worker<P: Protocol>(mut handle: WorkerHandle<P>, tasks: &Receiver<Task>) {
    for task in tasks {
        match task {
            Task::Stop => handle.stop(),
            Task::Call { to, limit, request, cancellation, answer } => {
                let reply = call(&mut handle, to, &request, limit, &cancellation);
                let (replaced, is_running) = (handle.take_replaced(), handle.is_running());
                if !answer((WorkerState { replaced, is_running }, reply)) {
                    return;
                }
            }
        }
    }
}

fn call<P: Protocol>(
    handle: &mut WorkerHandle<P>,
    to: Recipient,
    request: &Frame,
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<Frame, WorkerError> {
    match to {
        Recipient::Any => handle.call_encoded(request, limit, cancellation),
        Recipient::Same => handle.call_same_encoded(request, limit, cancellation),
    }
}

/// Replaces the files of a folder. The outer error is one of the message, the inner one of the system.
fn store(
    folder: &Path,
    within: Option<&str>,
    names: &[String],
    contents: &[Frame],
) -> Result<io::Result<()>, SupervisorError> {
    if !within.into_iter().chain(names.iter().map(String::as_str)).all(is_plain) {
        return Err(SupervisorError::Message("a file outside its folder"));
    }
    let contents = contents.iter().map(Frame::parse::<FileContent>);
    let contents = contents.collect::<Result<Vec<_>, _>>()?;
    let place = within.map_or_else(|| folder.to_owned(), |within| folder.join(within));
    let write = || {
        if within.is_some() && place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(&place)?;
        names
            .iter()
            .zip(&contents)
            .try_for_each(|(name, FileContent(bytes))| fs::write(place.join(name), bytes))
    };
    Ok(write())
}

/// Whether a name is that of an entry of a folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

fn only(frames: Vec<Frame>) -> Result<Frame, SupervisorError> {
    frames.into_iter().next().ok_or(SupervisorError::Message("a frame is missing"))
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SupervisorError> {
    let thread = Builder::new().name(name.to_owned());
    thread.spawn(body).map(drop).map_err(SupervisorError::Thread)
}

/// Standard output: messages of several threads, each with the frames that follow it.
struct Output(Mutex<Stdout>);

impl Output {
    fn begin(
        &self,
        word: &str,
        greeting: &Greeting,
        facts: &impl Serialize,
    ) -> Result<(), FrameError> {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(preamble::ready(word).as_bytes()).map_err(FrameError::Io)?;
        send(&mut *stream, greeting, &[Frame::new(facts)?])?;
        end_message(&mut stream)
    }

    fn heartbeat(&self) -> Result<(), FrameError> {
        self.send(&FromHost::Heartbeat, &[])
    }

    fn replied(&self, id: u64, (state, reply): Replied) -> Result<(), FrameError> {
        match reply {
            Ok(reply) => self.answer(id, Answer::Reply(state), &[reply]),
            Err(error) => self.answer(id, Answer::Failed(state, CallFailure::from(error)), &[]),
        }
    }

    fn sequence_ended(&self, id: u64) -> Result<(), FrameError> {
        self.send(&FromHost::SequenceEnded { id }, &[])
    }

    fn answer(&self, id: u64, answer: Answer, reply: &[Frame]) -> Result<(), FrameError> {
        self.send(&FromHost::Answer { id, answer }, reply)
    }

    fn send(&self, message: &FromHost, frames: &[Frame]) -> Result<(), FrameError> {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        send(&mut *stream, message, frames)?;
        end_message(&mut stream)
    }
}

fn end_message(stream: &mut Stdout) -> Result<(), FrameError> {
    stream.write_all(&END_OF_MESSAGE).and_then(|()| stream.flush()).map_err(FrameError::Io)
}
