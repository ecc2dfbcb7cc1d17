//! Messages between a parent and its worker.
//!
//! Order of the frames:
//!
//! 1. The worker sends [`Hello`].
//! 2. The parent sends [`Setup`], then [`Protocol::Options`] in a second frame.
//! 3. The worker prepares the service, applies the sandbox and sends [`Readiness`].
//! 4. For each [`Protocol::Request`] the worker sends one [`Reply`], followed by the reply of the service
//!    ([`Call::Reply`]) in a second frame if it is [`Reply::Done`].

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::frame::{Frame, FrameError};
use crate::sandbox::{SandboxPolicy, SandboxReport};

/// Version of the messages before the first request.
pub const VERSION: u32 = 5;

/// A service of workers: its name and its message types.
pub trait Protocol: 'static {
    /// The name of the service.
    const SERVICE: &'static str;
    /// Identity of the build of the service: a worker of another build is refused.
    const BUILD: &'static str;
    /// Options that the parent sends at the start.
    type Options: Clone + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync;
    /// Facts that the service reports when it is prepared.
    type Facts: Clone + std::fmt::Debug + Serialize + DeserializeOwned + Send;
    /// The requests of the service.
    type Request: Clone + Serialize + DeserializeOwned + Send + Sync;
}

/// A request of a service, with the type of its reply.
pub trait Call<P: Protocol>: Into<P::Request> {
    /// The reply.
    type Reply: Serialize + DeserializeOwned + Send;

    /// Encodes the reply of a service to this request.
    ///
    /// # Errors
    ///
    /// As [`Frame::new`].
    fn encode(reply: &Self::Reply) -> Result<Frame, FrameError> {
        Frame::new(reply)
    }
}

/// The worker's first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The worker's [`VERSION`].
    pub version: u32,
}

/// Settings of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration<Options> {
    /// The options of the service.
    pub options: Options,
    /// The files and sockets that the worker may use.
    pub policy: SandboxPolicy,
    /// The worker's limits.
    pub limits: Limits,
}

/// Limits of the worker process, enforced by the operating system where it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time limit of the start, until the worker is ready.
    pub start: Duration,
    /// Address space in bytes, never more than the memory of the machine; none for a GPU's driver, which maps the
    /// memory of all devices.
    pub address_space_bytes: Option<u64>,
    /// The largest file that it may write, in bytes.
    pub file_bytes: u64,
    /// Processor time for the worker's whole life, in seconds, in addition to the parent's limit for each request. A
    /// worker that has used it up is killed, and the next call starts another.
    pub cpu_secs: u64,
    /// The most threads of the worker at the same time. The parent counts them every 20 ms during a request and kills a
    /// worker that has more. Limits of the operating system do not bind root, and control groups need a delegation that
    /// most users do not have. Between two counts, the address space bounds the threads, because each needs a stack.
    pub threads: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            address_space_bytes: Some(8 << 30),
            file_bytes: 1 << 30,
            cpu_secs: 6 * 3600,
            threads: None,
        }
    }
}

/// The parent's first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The name of the service.
    pub service: String,
    /// The parent's build of the service.
    pub build: String,
    /// The files and sockets that the worker may use.
    pub policy: SandboxPolicy,
    /// The worker's limits.
    pub limits: Limits,
    /// The scratch folder: the worker's working directory, and the only folder that it may write by default. The parent
    /// removes it, or the worker does if the parent has ended.
    pub scratch: PathBuf,
}

/// The worker's second message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readiness<Facts> {
    /// The worker takes requests.
    Ready(Ready<Facts>),
    /// The worker is a different build; it exits.
    OtherBuild {
        /// The worker's build of the service.
        build: String,
    },
    /// The worker cannot start the service; it exits.
    Failed(SetupFailure),
}

/// A worker that takes requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready<Facts> {
    /// Facts of the service.
    pub facts: Facts,
    /// The restrictions that are in force.
    pub sandbox: SandboxReport,
}

/// Why a worker did not become ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SetupFailure {
    /// The program offers no such service.
    #[error("the program offers no service `{0}`")]
    NoSuchService(String),
    /// The service could not be prepared.
    #[error("{0}")]
    Service(String),
    /// The sandbox is not fully in force, and the service does not run without it.
    #[error("the sandbox is not fully in force: {}", gaps.join("; "))]
    NotConfined {
        /// The restrictions that are missing.
        gaps: Vec<String>,
    },
    /// A limit could not be set.
    #[error("cannot limit the worker's {resource}: {reason}")]
    Limit {
        /// Which resource.
        resource: String,
        /// The system's message.
        reason: String,
    },
}

/// The worker's message for each request. The reply of the service follows [`Reply::Done`] in a frame of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The request was carried out or refused: the next frame is the reply.
    Done,
    /// The reply is larger than a frame may be; none follows.
    TooLarge {
        /// Its size in bytes.
        size: u64,
    },
}
