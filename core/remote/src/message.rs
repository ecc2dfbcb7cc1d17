//! The messages of a connection. A comment names the frames that follow a message.

use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use lightbench_worker::error::{Death, Stage, WorkerError};
use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::protocol::Limits;
use lightbench_worker::sandbox::SandboxPolicy;
use serde::{Deserialize, Serialize};

/// Version of these messages.
pub(crate) const VERSION: u32 = 2;

/// The supervisor's first message. Its facts follow in a frame.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub(crate) version: u32,
    /// The build of the service that its workers offer.
    pub(crate) build: String,
    /// The number of the Slurm job in which it runs.
    pub(crate) job: Option<String>,
}

/// A message to the host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ToHost {
    Heartbeat,
    /// Defines a worker, which starts at its first call. Its options follow in a frame.
    Define {
        worker: u32,
        policy: SandboxPolicy,
        limits: Limits,
    },
    /// A request to a worker, which follows in a frame.
    Call {
        id: u64,
        worker: u32,
        to: Recipient,
        limit: Duration,
    },
    /// Defines a sequence of calls. The requests follow in a frame each.
    DefineSequence {
        sequence: u32,
        calls: Vec<SequenceCall>,
    },
    /// Carries out the calls of a sequence from this one on, until a reply differs from what the sequence assumes. Every
    /// answer has this number.
    CarryOut {
        id: u64,
        sequence: u32,
        from: usize,
    },
    /// Ends a sequence after the call that the host carries out.
    EndSequence {
        id: u64,
    },
    /// Removes the definition of a sequence.
    RemoveSequence {
        sequence: u32,
    },
    /// Ends the worker that carries out a call, or a call of a sequence.
    Cancel {
        id: u64,
    },
    /// Ends the process of a worker; its next call starts another.
    Stop {
        worker: u32,
    },
    /// Ends the process of a worker for good.
    Remove {
        worker: u32,
    },
    /// Makes a folder that workers may share.
    MakeFolder {
        id: u64,
        folder: u32,
    },
    /// Replaces the files of a folder, or of a folder in it. The content of each follows in a frame.
    StoreFiles {
        id: u64,
        folder: u32,
        within: Option<String>,
        names: Vec<String>,
    },
    /// Removes a folder.
    RemoveFolder {
        folder: u32,
    },
}

/// A call of a sequence. The process that took the request before carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SequenceCall {
    pub(crate) worker: u32,
    pub(crate) limit: Duration,
}

/// Which process of a worker may take a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Recipient {
    /// Any; one is started if none runs.
    Any,
    /// The process that took the request before.
    Same,
}

/// A message from the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromHost {
    Heartbeat,
    /// The answer to the call, folder or files with this number. After [`Answer::Reply`] the reply follows in a frame.
    Answer {
        id: u64,
        answer: Answer,
    },
    /// The host carries out no further call of the sequence with this number.
    SequenceEnded {
        id: u64,
    },
}

/// An answer of the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The worker replied.
    Reply(WorkerState),
    /// The worker gave no reply.
    Failed(WorkerState, CallFailure),
    /// A folder was made.
    Folder(PathBuf),
    /// The files are stored.
    Stored,
    /// The supervisor could not make or fill a folder, for this reason.
    NotStored(String),
}

/// The state of a worker after a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkerState {
    /// How the processes ended that were found dead when they were needed.
    pub(crate) replaced: Vec<Death>,
    pub(crate) is_running: bool,
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct FileContent(#[serde(with = "serde_bytes")] pub(crate) Vec<u8>);

/// A [`WorkerError`] in a message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum CallFailure {
    TimedOut { during: Stage, limit: Duration },
    Cancelled,
    Died { during: Stage, death: Death, stderr_tail: Vec<String>, oom_kills: u64 },
    ReplyTooLarge { size: u64 },
    Other(String),
}

impl CallFailure {
    pub(crate) fn into_error(self, host: &str) -> WorkerError {
        match self {
            Self::TimedOut { during, limit } => WorkerError::TimedOut { during, limit },
            Self::Cancelled => WorkerError::Cancelled,
            Self::Died { during, death, stderr_tail, oom_kills } => {
                WorkerError::Died { during, death, stderr_tail, oom_kills }
            }
            Self::ReplyTooLarge { size } => WorkerError::ReplyTooLarge { size },
            Self::Other(reason) => WorkerError::OnHost { host: host.to_owned(), reason },
        }
    }
}

impl From<WorkerError> for CallFailure {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::TimedOut { during, limit } => Self::TimedOut { during, limit },
            WorkerError::Cancelled => Self::Cancelled,
            WorkerError::Died { during, death, stderr_tail, oom_kills } => {
                Self::Died { during, death, stderr_tail, oom_kills }
            }
            WorkerError::ReplyTooLarge { size } => Self::ReplyTooLarge { size },
            error @ (WorkerError::Start { .. }
            | WorkerError::Setup(_)
            | WorkerError::OtherVersion { .. }
            | WorkerError::OtherBuild { .. }
            | WorkerError::Protocol(_)
            | WorkerError::Request(_)
            | WorkerError::ConnectionLost { .. }
            | WorkerError::OnHost { .. }) => Self::Other(error.to_string()),
        }
    }
}

/// Ends what a supervisor writes at once. Slurm holds back the end of its output until a newline; the reader skips it.
pub(crate) const END_OF_MESSAGE: [u8; 1] = *b"\n";

/// The first frame of the next message of a supervisor.
pub(crate) fn next_frame(stream: &mut impl Read) -> Result<Frame, FrameError> {
    let mut first = END_OF_MESSAGE;
    while first == END_OF_MESSAGE {
        match stream.read(&mut first) {
            Ok(0) => return Err(FrameError::Closed),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Io(error)),
        }
    }
    Frame::read_from(&mut first.as_slice().chain(stream))
}

/// Writes a message and the frames that follow it.
pub(crate) fn send<Message: Serialize>(
    stream: &mut impl Write,
    message: &Message,
    following: &[Frame],
) -> Result<(), FrameError> {
    Frame::new(message)?.write_to(stream)?;
    following.iter().try_for_each(|frame| frame.write_to(stream))
}
