//! The parent's side of a Python worker: starts it, calls its services, and replaces it after it has ended.

use std::path::PathBuf;
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_worker::client;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::Stage;
use lightbench_worker::protocol::{self, Configuration};
use lightbench_worker::sandbox::SandboxReport;
use lightbench_worker::server::WithoutSandbox;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::PythonError;
use crate::interpreter::Interpreter;
use crate::message::{Outcome, Received, Request};
use crate::service::{Launch, PythonProtocol};
use crate::shim;

/// How workers start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfiguration {
    /// The command that starts a worker of Lightbench.
    pub command: WorkerCommand,
    /// The limits of each worker.
    pub limits: Limits,
    /// Files and folders that the code may read, besides the interpreter's and its scratch folder.
    pub read: Vec<PathBuf>,
    /// Device files of GPUs that the code may use; none if it may use no GPU.
    pub gpu_files: Vec<PathBuf>,
    /// Whether workers start where the sandbox is not fully in force: the user's setting, never a project's.
    pub without_sandbox: WithoutSandbox,
}

impl WorkerConfiguration {
    /// Default limits, no further files, no GPU, and no worker without the sandbox.
    #[must_use]
    pub fn new(command: WorkerCommand) -> Self {
        Self {
            command,
            limits: Limits::default(),
            read: Vec::new(),
            gpu_files: Vec::new(),
            without_sandbox: WithoutSandbox::Refused,
        }
    }
}

/// Limits of a Python worker. A worker that reaches one is killed or gets a Python exception, and the next call starts
/// another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time limit of the start.
    pub start: Duration,
    /// Address space in bytes, never more than the memory of the machine. Code that exceeds it gets a `MemoryError`.
    /// Not limited beside a GPU, whose driver reserves address space for the memory of all devices.
    pub memory_bytes: u64,
    /// The largest file that the code may write, in bytes. Code that exceeds it gets an `OSError`.
    pub file_bytes: u64,
    /// Processor time of the worker's whole life, in seconds.
    pub cpu_secs: u64,
    /// The most threads at the same time.
    pub threads: u32,
    /// The most threads of a numerical library (OpenMP, OpenBLAS, MKL).
    pub compute_threads: u32,
    /// The largest total size of the blobs of a reply, in bytes.
    pub reply_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            start: Duration::from_secs(60),
            memory_bytes: 16 << 30,
            file_bytes: 1 << 30,
            cpu_secs: 6 * 3600,
            threads: 128,
            compute_threads: u32::try_from(processors).unwrap_or(u32::MAX).min(16),
            reply_bytes: 4 << 30,
        }
    }
}

/// The reply of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The value.
    pub value: Value,
    /// The blobs.
    pub blobs: Vec<Vec<u8>>,
}

/// A worker that serves many calls with one process, and starts another after that process has ended.
#[derive(Debug)]
pub struct Worker {
    interpreter: Interpreter,
    configuration: WorkerConfiguration,
    process: Option<Process>,
}

/// What the interpreter reports at its start.
#[derive(Debug, Deserialize)]
pub(crate) struct Facts {
    pub(crate) version: (u32, u32, u32),
}

impl Worker {
    /// A worker whose process starts at the first call.
    #[must_use]
    pub fn new(interpreter: Interpreter, configuration: WorkerConfiguration) -> Self {
        Self { interpreter, configuration, process: None }
    }

    /// A worker whose process runs, and what its interpreter reports.
    pub(crate) fn start(
        interpreter: &Interpreter,
        configuration: WorkerConfiguration,
        cancellation: &Cancellation,
    ) -> Result<(Self, Facts), PythonError> {
        let (process, facts) = Process::start(interpreter, &configuration, cancellation)?;
        let interpreter = interpreter.clone();
        Ok((Self { interpreter, configuration, process: Some(process) }, facts))
    }

    /// The interpreter.
    #[must_use]
    pub fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// The process id, if a process runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.client.id())
    }

    /// The restrictions in force, if a process runs.
    #[must_use]
    pub fn sandbox(&self) -> Option<&SandboxReport> {
        self.process.as_ref().map(|process| &process.client.ready().sandbox)
    }

    /// Calls a service and waits for its reply, at most `limit` after the process is ready. Starts a process if none runs.
    ///
    /// # Errors
    ///
    /// [`PythonError::Exception`] and [`PythonError::Request`]: the process takes further requests. Otherwise it has been
    /// killed, and the next call starts another.
    pub fn call(
        &mut self,
        service: &str,
        request: &Value,
        blobs: &[&[u8]],
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Reply, PythonError> {
        // A process that ended between two calls had nothing to lose.
        let running = self.process.take();
        let mut process = match running.and_then(Process::if_running) {
            Some(process) => process,
            None => Process::start(&self.interpreter, &self.configuration, cancellation)?.0,
        };
        let limits = &self.configuration.limits;
        let encoded =
            Request::new(process.next_id(), service, request, blobs).map_err(PythonError::Request);
        let encoded = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                self.process = Some(process);
                return Err(error);
            }
        };
        let (outcome, blobs) =
            process.exchange(&encoded, (Stage::Call, limit), limits.reply_bytes, cancellation)?;
        self.process = Some(process);
        match outcome {
            Outcome::Value(value) => Ok(Reply { value, blobs }),
            Outcome::Exception(exception) => Err(PythonError::Exception {
                exception: Box::new(exception.into_printable()),
                memory_bytes: limits.memory_bytes,
            }),
        }
    }

    /// Ends the process, if one runs; the next call starts another.
    pub fn stop(&mut self) {
        self.process = None;
    }
}

/// One interpreter process.
#[derive(Debug)]
struct Process {
    client: client::Worker<PythonProtocol>,
    /// Number of the last request.
    last_id: u64,
}

impl Process {
    fn start(
        interpreter: &Interpreter,
        configuration: &WorkerConfiguration,
        cancellation: &Cancellation,
    ) -> Result<(Self, Facts), PythonError> {
        let WorkerConfiguration { command, limits, read, gpu_files, without_sandbox } =
            configuration;
        let (policy, readable) = interpreter.policy(read, gpu_files)?;
        let options = Launch {
            program: interpreter.program.clone(),
            compute_threads: limits.compute_threads,
            without_sandbox: *without_sandbox,
        };
        let worker_limits = protocol::Limits {
            start: limits.start,
            address_space_bytes: gpu_files.is_empty().then_some(limits.memory_bytes),
            file_bytes: limits.file_bytes,
            cpu_secs: limits.cpu_secs,
            threads: Some(limits.threads),
        };
        let configuration = Configuration { options, policy, limits: worker_limits };
        let client = client::Worker::start(command, &configuration, cancellation)?;
        let mut process = Self { client, last_id: 0 };
        let modules: serde_json::Map<String, Value> =
            shim::SERVICES.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
        let hello = json!({
            "modules": modules, "readable": readable, "blob_bytes_limit": limits.reply_bytes,
        });
        let hello = Request::new(process.next_id(), "hello", &hello, &[]);
        let hello = hello.map_err(PythonError::Request)?;
        let limit = (Stage::Start, limits.start);
        let (outcome, _) = process.exchange(&hello, limit, 0, cancellation)?;
        let unusable = |reason| {
            let program = interpreter.program.clone();
            PythonError::Unusable { program, reason }
        };
        match outcome {
            Outcome::Value(value) => {
                let facts = Facts::deserialize(value).map_err(|error| {
                    unusable(format!("what it reports at its start cannot be read: {error}"))
                })?;
                Ok((process, facts))
            }
            Outcome::Exception(exception) => Err(unusable(exception.into_printable().to_string())),
        }
    }

    /// This process, unless it has ended.
    fn if_running(mut self) -> Option<Self> {
        match self.client.ended() {
            None => Some(self),
            Some(_) => None,
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn exchange(
        &mut self,
        request: &Request<'_>,
        limit: (Stage, Duration),
        blob_bytes_limit: u64,
        cancellation: &Cancellation,
    ) -> Result<Received, PythonError> {
        let reply = self.client.converse(limit, cancellation, |to_worker, from_worker| {
            request.write_to(to_worker)?;
            request.read_reply(from_worker, blob_bytes_limit)
        })?;
        Ok(reply?)
    }
}
