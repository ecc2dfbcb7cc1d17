//! Expected outputs from a Python reference: generates its inputs, calls it in a confined worker, and writes its results to
//! files for the reference's session.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_primitives::element::{load_reals, store_reals};
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PythonReference;
use lightbench_python::{Interpreter, PythonAccess, PythonError, Worker};
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_tensors::inputs::{InputSpec, generate_tensor};
use lightbench_tensors::layout::Layout;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::{Stage, WorkerError};
use serde_json::{Value, json};

use crate::device_session::SessionFailure;
use crate::device_workers::DeviceWorkerError;
use crate::reference_source::{Precision, PythonCall, magnitudes_file, values_file};

/// The time limit of a call.
const CALL_LIMIT: Duration = Duration::from_secs(30);

/// The service of the Python worker.
const SERVICE: &str = "reference";

/// Python for references, which is looked for when the first one is needed.
#[derive(Debug)]
pub(super) struct PythonResults {
    access: PythonAccess,
    command: WorkerCommand,
    reference: Option<PythonReference>,
    /// A worker runs the code of one project only.
    worker: Option<Worker>,
    /// Cases that exceeded the limits of a call, and how. Another call with other values would take as long.
    too_large: Vec<(Case, String)>,
}

/// Whether a reference differs from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceChange {
    Same,
    Changed,
}

/// The inputs of a call.
#[derive(Clone, Copy)]
pub(super) struct CallInputs<'a> {
    pub(super) case: &'a Case,
    pub(super) recipe: InputSpec,
}

impl PythonResults {
    pub(super) fn new(command: WorkerCommand) -> Self {
        let (access, too_large) = (PythonAccess::default(), Vec::new());
        Self { access, command, reference: None, worker: None, too_large }
    }

    /// Sets where Python is looked for.
    pub(super) fn set_access(&mut self, access: &PythonAccess) {
        self.access = access.clone();
        self.worker = None;
    }

    /// Sets the reference; a worker that ran another one ends.
    pub(super) fn set(&mut self, reference: Option<&PythonReference>) -> ReferenceChange {
        if self.reference.as_ref() == reference {
            return ReferenceChange::Same;
        }
        self.reference = reference.cloned();
        self.worker = None;
        self.too_large.clear();
        ReferenceChange::Changed
    }

    /// Ends the worker; the next call starts another.
    pub(super) fn stop(&mut self) {
        if let Some(worker) = &mut self.worker {
            worker.stop();
        }
    }

    /// Computes the expected outputs, and writes them to files in `folder`.
    pub(super) fn compute(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        folder: &Path,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        if let Some((_, reason)) = self.too_large.iter().find(|(case, _)| case == inputs.case) {
            return Err(DeviceWorkerError::ReferenceTooLarge(reason.clone()));
        }
        let computed = self.compute_anew(call, inputs, folder, cancellation);
        if let Err(DeviceWorkerError::ReferenceTooLarge(reason)) = &computed {
            self.too_large.push((inputs.case.clone(), reason.clone()));
        }
        computed
    }

    fn compute_anew(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        folder: &Path,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        let missing = || SessionFailure::Order("no Python reference is open".to_owned());
        let reference = self.reference.clone().ok_or_else(missing).map_err(failed)?;
        let (request, blobs) = request(&reference, call, inputs).map_err(failed)?;
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        let worker = self.worker(cancellation)?;
        let reply = worker.call(SERVICE, &request, &blobs, CALL_LIMIT, cancellation);
        let reply = reply.map_err(|error| from_python(&error))?;
        write(folder, inputs.case, call.precision, reply.blobs).map_err(failed)
    }

    fn worker(&mut self, cancellation: &Cancellation) -> Result<&mut Worker, DeviceWorkerError> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let configuration = self.access.configuration(self.command.clone());
                let search = &self.access.search;
                let interpreter = Interpreter::find(search, &configuration, cancellation);
                let interpreter = interpreter.map_err(unavailable)?;
                Worker::new(interpreter, configuration)
            }
        };
        Ok(self.worker.insert(worker))
    }
}

fn failed(failure: SessionFailure) -> DeviceWorkerError {
    DeviceWorkerError::Failed(failure)
}

fn unavailable(error: PythonError) -> DeviceWorkerError {
    match error {
        PythonError::Worker(WorkerError::Cancelled) => DeviceWorkerError::Cancelled,
        error @ (PythonError::NotFound { .. }
        | PythonError::Unusable { .. }
        | PythonError::Request(_)
        | PythonError::Worker(_)
        | PythonError::Reply(_)
        | PythonError::Exception { .. }) => {
            DeviceWorkerError::ReferenceUnavailable(error.to_string())
        }
    }
}

fn from_python(error: &PythonError) -> DeviceWorkerError {
    match error {
        PythonError::Worker(WorkerError::Cancelled) => DeviceWorkerError::Cancelled,
        PythonError::Worker(WorkerError::TimedOut { during: Stage::Call, .. }) => {
            let seconds = CALL_LIMIT.as_secs();
            DeviceWorkerError::ReferenceTooLarge(format!("no result after {seconds} s"))
        }
        PythonError::Exception { exception, .. } if exception.kind == "MemoryError" => {
            DeviceWorkerError::ReferenceTooLarge(error.to_string())
        }
        PythonError::Exception { exception, .. } if exception.kind == "ModuleNotFoundError" => {
            DeviceWorkerError::ReferenceUnavailable(error.to_string())
        }
        PythonError::NotFound { .. }
        | PythonError::Unusable { .. }
        | PythonError::Request(_)
        | PythonError::Worker(_)
        | PythonError::Reply(_)
        | PythonError::Exception { .. } => failed(SessionFailure::Reference(error.to_string())),
    }
}

/// The request and its blobs.
fn request(
    reference: &PythonReference,
    call: &PythonCall,
    CallInputs { case, recipe }: CallInputs<'_>,
) -> Result<(Value, Vec<Vec<u8>>), SessionFailure> {
    let (mut inputs, mut outputs, mut blobs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tensor) in case.tensors.iter().enumerate() {
        let (dtype, shape) = described(tensor);
        let described = json!({ "name": tensor.name, "dtype": dtype, "shape": shape });
        let made = generate_tensor(case, index, recipe)
            .map_err(|error| SessionFailure::Inputs(error.to_string()))?;
        if let Some(bytes) = made {
            blobs.push(dense(tensor, &bytes)?);
            inputs.push(described.clone());
        }
        if tensor.role.compare().is_some() {
            let mut output = described;
            output["magnitude"] = json!(tensor.has_magnitude());
            outputs.push(output);
        }
    }
    let values: serde_json::Map<String, Value> =
        call.values.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
    let request = json!({
        "file": reference.file,
        "source": reference.source,
        "precision": call.precision.name(),
        "rounds": false,
        "values": values,
        "inputs": inputs,
        "outputs": outputs,
    });
    Ok((request, blobs))
}

fn number(value: ScalarValue) -> Value {
    match value {
        ScalarValue::Boolean(value) => json!(value),
        ScalarValue::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => json!(value),
            (_, Ok(value)) => json!(value),
            (Err(_), Err(_)) => json!(value.to_string()),
        },
        ScalarValue::Real(value) => json!(value),
    }
}

/// The dtype and the dimensions: packed elements are bytes.
fn described(tensor: &TensorCase) -> (&'static str, Vec<u64>) {
    if tensor.dtype.is_packed() {
        return (Dtype::U8.name(), vec![tensor.bytes]);
    }
    (tensor.dtype.name(), tensor.dims.clone())
}

/// Whether the elements are sent as f32, which holds them exactly: NumPy lacks the type.
fn is_widened(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Bf16 | Dtype::F8E4M3 | Dtype::F8E5M2)
}

/// The elements in the order of their indices, without gaps.
fn dense(tensor: &TensorCase, bytes: &[u8]) -> Result<Vec<u8>, SessionFailure> {
    let layout = layout(tensor)?;
    let dense = match tensor.dtype.is_packed() || layout.is_contiguous() {
        true => bytes.to_vec(),
        false => gathered(&layout, bytes, tensor.dtype.address_bytes() as usize),
    };
    if !is_widened(tensor.dtype) {
        return Ok(dense);
    }
    let mut reals = vec![0.0; tensor.elements as usize];
    load_reals(tensor.dtype, &dense, &mut reals);
    let mut wide = vec![0; reals.len() * 4];
    store_reals(Dtype::F32, &reals, &mut wide);
    Ok(wide)
}

fn layout(tensor: &TensorCase) -> Result<Layout, SessionFailure> {
    Layout::new(tensor).map_err(|error| SessionFailure::Inputs(error.to_string()))
}

fn gathered(layout: &Layout, bytes: &[u8], size: usize) -> Vec<u8> {
    let places = layout.runs().flat_map(lightbench_tensors::layout::Run::places);
    places.flat_map(|place| &bytes[place * size..][..size]).copied().collect()
}

/// The inverse of [`gathered`]; gaps are zero.
fn scattered(layout: &Layout, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut spread = vec![0; layout.span * size];
    let places = layout.runs().flat_map(lightbench_tensors::layout::Run::places);
    for (place, element) in places.zip(bytes.chunks_exact(size)) {
        spread[place * size..][..size].copy_from_slice(element);
    }
    spread
}

/// Writes the results to files; `blobs` are those of the reply.
fn write(
    folder: &Path,
    case: &Case,
    precision: Precision,
    blobs: Vec<Vec<u8>>,
) -> Result<(), SessionFailure> {
    let failure = |error: io::Error| SessionFailure::Outputs(error.to_string());
    // Files of another case could remain.
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failure(error)),
        Ok(()) | Err(_) => {}
    }
    fs::create_dir(folder).map_err(failure)?;
    let mut blobs = blobs.into_iter();
    let mut next = |tensor: &TensorCase, size: u64, file: PathBuf| {
        let layout = layout(tensor)?;
        let blob = blobs.next().unwrap_or_default();
        let packed = tensor.dtype.is_packed();
        let expected = if packed { tensor.bytes } else { tensor.elements * size };
        if blob.len() as u64 != expected {
            let (name, found) = (&tensor.name, blob.len());
            let message = format!("`{name}` has {found} bytes in the reply, not {expected}");
            return Err(SessionFailure::Reference(message));
        }
        let spread = match packed || layout.is_contiguous() {
            true => blob,
            false => scattered(&layout, &blob, size as usize),
        };
        fs::write(file, spread).map_err(failure)
    };
    for (index, tensor) in case.tensors.iter().enumerate() {
        if tensor.role.compare().is_none() {
            continue;
        }
        let is_float = tensor.dtype.family() == Family::Float && !tensor.dtype.is_packed();
        let size = if is_float { 8 } else { tensor.dtype.address_bytes() };
        next(tensor, size, folder.join(values_file(index)))?;
        if precision == Precision::Exact && tensor.has_magnitude() {
            next(tensor, 8, folder.join(magnitudes_file(index)))?;
        }
    }
    Ok(())
}
