//! Calls of a baseline in PyTorch on a GPU, in a confined worker of its own.

use std::path::PathBuf;
use std::time::Duration;

use lightbench_device::{DeviceName, LocalDevice};
use lightbench_measure::protocol::Protocol;
use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PythonText;
use lightbench_python::{Interpreter, PythonAccess, PythonError, Worker};
use lightbench_units::Seconds;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::WorkerError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::device_session::SessionFailure;
use crate::python_results::{
    CallInputs, ElementEncoding, StoredContents, as_stored, tensors_and_values,
};

/// The service of the Python worker.
const SERVICE: &str = "torch_baseline";

/// The worker of one baseline.
#[derive(Debug)]
pub(super) struct PytorchWorker {
    access: PythonAccess,
    command: WorkerCommand,
    gpu_files: Vec<PathBuf>,
    /// A worker runs one text only.
    open: Option<(PythonText, Worker)>,
}

/// One call.
#[derive(Clone, Copy)]
pub struct PytorchCall<'a> {
    /// The text with the function.
    pub text: &'a PythonText,
    /// Axes and scalars by name.
    pub values: &'a [(String, ScalarValue)],
    /// How the call is timed; not at all if there is no protocol.
    pub sampling: Option<Protocol>,
}

/// What a call returned.
#[derive(Debug)]
pub(super) struct PytorchReply {
    /// The outputs of the first call.
    pub(super) outputs: StoredContents,
    pub(super) times: PytorchSamples,
}

/// Readings of CUDA events, round by round; empty if none were requested.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PytorchSamples {
    /// The version of PyTorch.
    pub version: String,
    /// With cold caches.
    pub cold: Vec<Vec<Seconds>>,
    /// With the caches as the call before left them.
    pub warm: Vec<Vec<Seconds>>,
}

/// Why a call returned nothing.
#[derive(Debug)]
pub(crate) enum PytorchError {
    /// The user cancelled.
    Cancelled,
    /// The function raised this exception: the worker is ready for another call.
    Raised(String),
    /// For another reason.
    Failed(String),
}

impl PytorchWorker {
    /// A worker that starts when it is needed.
    pub(super) fn new(
        access: PythonAccess,
        command: WorkerCommand,
        gpu_files: Vec<PathBuf>,
    ) -> Self {
        Self { access, command, gpu_files, open: None }
    }

    /// Sets where Python is looked for.
    pub(super) fn set_access(&mut self, access: &PythonAccess) {
        self.access = access.clone();
        self.open = None;
    }

    /// Ends the process, and with it its use of the GPU's memory.
    pub(super) fn stop(&mut self) {
        self.open = None;
    }

    /// Calls the function on a GPU.
    pub(super) fn call(
        &mut self,
        device: &DeviceName,
        call: PytorchCall<'_>,
        inputs: CallInputs<'_>,
        cancellation: &Cancellation,
    ) -> Result<PytorchReply, PytorchError> {
        let LocalDevice::Cuda(number) = device.local else {
            return Err(PytorchError::Failed("it runs on a GPU only".to_owned()));
        };
        if let Some(host) = &device.host {
            let reason =
                format!("PyTorch is timed on a GPU of this machine only, and {host} has this one");
            return Err(PytorchError::Failed(reason));
        }
        let encoding = ElementEncoding::AsStored;
        let (mut request, blobs) = tensors_and_values(call.values, inputs, encoding)
            .map_err(|failure| failed(&failure))?;
        request["file"] = json!(call.text.file);
        request["source"] = json!(call.text.source);
        request["device"] = json!(number);
        request["sampling"] = call.sampling.map_or(Value::Null, |protocol| {
            json!({
                "rounds": protocol.most_rounds,
                "per_round": protocol.per_round,
                "seconds": protocol.longest.as_secs_f64(),
            })
        });
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        let sampling = call.sampling.map_or(Duration::ZERO, |protocol| protocol.longest * 4);
        let limit = inputs.limit.saturating_add(sampling);
        let worker = self.worker(call.text, cancellation)?;
        let reply = worker.call(SERVICE, &request, &blobs, limit, cancellation);
        let reply = reply.map_err(from_python)?;
        let times = serde_json::from_value(reply.value)
            .map_err(|error| PytorchError::Failed(format!("its reply cannot be read: {error}")))?;
        let outputs = as_stored(inputs.case, reply.blobs).map_err(|failure| failed(&failure))?;
        Ok(PytorchReply { outputs, times })
    }

    fn worker(
        &mut self,
        text: &PythonText,
        cancellation: &Cancellation,
    ) -> Result<&mut Worker, PytorchError> {
        let open = match self.open.take() {
            Some(open) if open.0 == *text => open,
            Some(_) | None => {
                let mut configuration = self.access.configuration(self.command.clone());
                let search = &self.access.search;
                let interpreter = Interpreter::find(search, &configuration, cancellation);
                let interpreter = interpreter.map_err(from_python)?;
                configuration.gpu_files = self.gpu_files.clone();
                (text.clone(), Worker::new(interpreter, configuration))
            }
        };
        Ok(&mut self.open.insert(open).1)
    }
}

fn failed(failure: &SessionFailure) -> PytorchError {
    PytorchError::Failed(failure.to_string())
}

fn from_python(error: PythonError) -> PytorchError {
    match error {
        PythonError::Worker(WorkerError::Cancelled) => PytorchError::Cancelled,
        error @ PythonError::Exception { .. } => PytorchError::Raised(error.to_string()),
        error @ (PythonError::NotFound { .. }
        | PythonError::Unusable { .. }
        | PythonError::Request(_)
        | PythonError::Worker(_)
        | PythonError::Reply(_)) => PytorchError::Failed(error.to_string()),
    }
}
