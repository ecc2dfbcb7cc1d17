//! Expected outputs from a Python reference: generates its inputs, calls it in a confined worker, and writes its results to
//! files for the reference's session.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use lightbench_device::{Content, DeviceName, LocalDevice};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::element::{load_reals, store_reals};
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PythonReference;
use lightbench_python::{Interpreter, PythonAccess, PythonError, Worker};
use lightbench_remote::folder::CopyError;
use lightbench_tensors::case::{Case, TensorCase};
use lightbench_tensors::inputs::{InputSpec, generate_tensor};
use lightbench_tensors::layout::Layout;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::{Stage, WorkerError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::device_session::SessionFailure;
use crate::device_worker::WorkerPlace;
use crate::output_exchange::OutputExchange;
use crate::reference_source::{
    Precision, PythonCall, SuppliedResults, magnitudes_file, values_file,
};

/// The memory of the worker beside a GPU, whose timed workloads are compared as a whole.
const MEMORY_BESIDE_GPU: u64 = 64 << 30;

/// The service of the Python worker.
const SERVICE: &str = "reference";

/// Python for references, which is looked for when the first one is needed.
#[derive(Debug)]
pub(super) struct PythonResults {
    access: PythonAccess,
    command: WorkerCommand,
    device: DeviceName,
    reference: Option<PythonReference>,
    /// A worker runs the code of one project only.
    worker: Option<Worker>,
    /// Has a folder of results for each precision. The candidate's process cannot write it.
    folder: OutputExchange,
    /// Cases that exceeded the limits of a call, and how. Another call with other values would take as long.
    too_large: Vec<(Case, Precision, String)>,
}

/// A line that converts to f16 or bf16.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Conversion {
    /// The line of the text, from 1.
    pub line: u32,
    /// The names of the types.
    pub types: BTreeSet<String>,
}

/// The head of the service's reply.
#[derive(Deserialize)]
struct ReplyHead {
    #[serde(rename = "roundings")]
    conversions: Vec<Conversion>,
}

/// Why a call gave no results.
#[derive(Debug)]
pub(super) enum PythonCallError {
    /// The user cancelled.
    Cancelled,
    /// This machine cannot run the reference.
    Unavailable(String),
    /// The call exceeded its time or memory.
    TooLarge(String),
    /// The reference failed, or its inputs or results could not be passed.
    Failed(SessionFailure),
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
    pub(super) limit: Duration,
}

/// The outputs of a reference in the dtypes of their tensors, as a kernel would write them.
pub(super) struct StoredOutputs {
    pub(super) contents: StoredContents,
    pub(super) conversions: Vec<Conversion>,
}

/// The contents of outputs, each with the index of its tensor.
pub(super) type StoredContents = Vec<(usize, Content)>;

impl PythonResults {
    /// No reference is set.
    ///
    /// # Errors
    /// There is no place for the results.
    pub(super) fn new(
        command: WorkerCommand,
        device: DeviceName,
        place: &WorkerPlace<'_>,
    ) -> io::Result<Self> {
        Ok(Self {
            access: PythonAccess::default(),
            command,
            device,
            reference: None,
            worker: None,
            folder: OutputExchange::new(place)?,
            too_large: Vec::new(),
        })
    }

    /// Where the results are.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
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

    /// Computes the expected outputs for the reference's session.
    pub(super) fn supply(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        cancellation: &Cancellation,
    ) -> Result<SuppliedResults, PythonCallError> {
        let precision = call.precision;
        let (_, blobs) = self.call(call, inputs, cancellation)?;
        let written = self.folder.here().join(precision.name());
        write(&written, inputs.case, precision, blobs).map_err(failed)?;
        self.folder.publish(Some(precision.name()), cancellation).map_err(|error| match error {
            CopyError::Connection(WorkerError::Cancelled) => PythonCallError::Cancelled,
            error @ (CopyError::Connection(_)
            | CopyError::Read(_)
            | CopyError::NotStored { .. }) => failed(SessionFailure::Device(error.to_string())),
        })?;
        Ok(SuppliedResults { precision, folder: self.folder.path().join(precision.name()) })
    }

    /// Computes the outputs for a comparison with those of the exact reference.
    pub(super) fn outputs(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        cancellation: &Cancellation,
    ) -> Result<StoredOutputs, PythonCallError> {
        let (conversions, blobs) = self.call(call, inputs, cancellation)?;
        let contents = stored(inputs.case, blobs).map_err(failed)?;
        Ok(StoredOutputs { contents, conversions })
    }

    fn call(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        cancellation: &Cancellation,
    ) -> Result<(Vec<Conversion>, Vec<Vec<u8>>), PythonCallError> {
        if let Some(reason) = self.too_large(inputs.case, call.precision) {
            return Err(PythonCallError::TooLarge(reason.to_owned()));
        }
        let called = self.call_anew(call, inputs, cancellation);
        if let Err(PythonCallError::TooLarge(reason)) = &called {
            self.too_large.push((inputs.case.clone(), call.precision, reason.clone()));
        }
        called
    }

    /// Why a call for this case exceeded its limits, if one did.
    pub(super) fn too_large(&self, case: &Case, precision: Precision) -> Option<&str> {
        let mut known = self.too_large.iter();
        let same = known.find(|(each, of, _)| each == case && *of == precision);
        same.map(|(_, _, reason)| reason.as_str())
    }

    fn call_anew(
        &mut self,
        call: &PythonCall,
        inputs: CallInputs<'_>,
        cancellation: &Cancellation,
    ) -> Result<(Vec<Conversion>, Vec<Vec<u8>>), PythonCallError> {
        let missing = || SessionFailure::Order("no Python reference is open".to_owned());
        let reference = self.reference.clone().ok_or_else(missing).map_err(failed)?;
        let (request, blobs) = request(&reference, call, inputs).map_err(failed)?;
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        let worker = self.worker(cancellation)?;
        let reply = worker.call(SERVICE, &request, &blobs, inputs.limit, cancellation);
        let reply = reply.map_err(|error| from_python(&error))?;
        let head: ReplyHead = serde_json::from_value(reply.value)
            .map_err(|error| failed(SessionFailure::Reference(error.to_string())))?;
        Ok((head.conversions, reply.blobs))
    }

    fn worker(&mut self, cancellation: &Cancellation) -> Result<&mut Worker, PythonCallError> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let mut configuration = self.access.configuration(self.command.clone());
                if let LocalDevice::Cuda(_) = self.device.local {
                    configuration.limits.memory_bytes = MEMORY_BESIDE_GPU;
                }
                let search = &self.access.search;
                let interpreter = Interpreter::find(search, &configuration, cancellation);
                let interpreter = interpreter.map_err(unavailable)?;
                Worker::new(interpreter, configuration)
            }
        };
        Ok(self.worker.insert(worker))
    }
}

fn failed(failure: SessionFailure) -> PythonCallError {
    PythonCallError::Failed(failure)
}

fn unavailable(error: PythonError) -> PythonCallError {
    match error {
        PythonError::Worker(WorkerError::Cancelled) => PythonCallError::Cancelled,
        error @ (PythonError::NotFound { .. }
        | PythonError::Unusable { .. }
        | PythonError::Request(_)
        | PythonError::Worker(_)
        | PythonError::Reply(_)
        | PythonError::Exception { .. }) => PythonCallError::Unavailable(error.to_string()),
    }
}

fn from_python(error: &PythonError) -> PythonCallError {
    match error {
        PythonError::Worker(WorkerError::Cancelled) => PythonCallError::Cancelled,
        PythonError::Worker(WorkerError::TimedOut { during: Stage::Call, limit }) => {
            let seconds = limit.as_secs();
            PythonCallError::TooLarge(format!("no result after {seconds} s"))
        }
        PythonError::Exception { exception, .. } if exception.kind == "MemoryError" => {
            PythonCallError::TooLarge(error.to_string())
        }
        PythonError::Exception { exception, .. } if exception.kind == "ModuleNotFoundError" => {
            PythonCallError::Unavailable(error.to_string())
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
    inputs: CallInputs<'_>,
) -> Result<(Value, Vec<Vec<u8>>), SessionFailure> {
    let (mut request, blobs) = tensors_and_values(&call.values, inputs, ElementEncoding::Widened)?;
    request["file"] = json!(reference.file);
    request["source"] = json!(reference.source);
    request["precision"] = json!(call.precision.name());
    Ok((request, blobs))
}

/// The part of a request that describes the values, inputs and outputs of a call, and the contents of the inputs.
pub(super) fn tensors_and_values(
    values: &[(String, ScalarValue)],
    CallInputs { case, recipe, .. }: CallInputs<'_>,
    encoding: ElementEncoding,
) -> Result<(Value, Vec<Vec<u8>>), SessionFailure> {
    let (mut inputs, mut outputs, mut blobs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tensor) in case.tensors.iter().enumerate() {
        let (dtype, shape) = described(tensor);
        let described = json!({ "name": tensor.name, "dtype": dtype, "shape": shape });
        let made = generate_tensor(case, index, recipe)
            .map_err(|error| SessionFailure::Inputs(error.to_string()))?;
        if let Some(bytes) = made {
            blobs.push(dense(tensor, &bytes, encoding)?);
            inputs.push(described.clone());
        }
        if tensor.role.compare().is_some() {
            let mut output = described;
            output["magnitude"] = json!(tensor.has_magnitude());
            outputs.push(output);
        }
    }
    let values: serde_json::Map<String, Value> =
        values.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
    Ok((json!({ "values": values, "inputs": inputs, "outputs": outputs }), blobs))
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

/// How elements of types that NumPy lacks are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementEncoding {
    /// As f32, which holds them exactly.
    Widened,
    /// As in memory.
    AsStored,
}

impl ElementEncoding {
    fn widens(self, dtype: Dtype) -> bool {
        let lacks = matches!(dtype, Dtype::Bf16 | Dtype::F8E4M3 | Dtype::F8E5M2);
        self == Self::Widened && lacks
    }
}

/// The elements in the order of their indices, without gaps.
fn dense(
    tensor: &TensorCase,
    bytes: &[u8],
    encoding: ElementEncoding,
) -> Result<Vec<u8>, SessionFailure> {
    let layout = layout(tensor)?;
    let dense = match tensor.dtype.is_packed() || layout.is_contiguous() {
        true => bytes.to_vec(),
        false => gathered(&layout, bytes, tensor.dtype.address_bytes() as usize),
    };
    if !encoding.widens(tensor.dtype) {
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

/// The blobs of a reply, each in the strides of its tensor.
struct Blobs(std::vec::IntoIter<Vec<u8>>);

impl Blobs {
    /// The next one, which has elements of so many bytes.
    fn next(&mut self, tensor: &TensorCase, size: u64) -> Result<Vec<u8>, SessionFailure> {
        let layout = layout(tensor)?;
        let blob = self.0.next().unwrap_or_default();
        let packed = tensor.dtype.is_packed();
        let expected = if packed { tensor.bytes } else { tensor.elements * size };
        if blob.len() as u64 != expected {
            let (name, found) = (&tensor.name, blob.len());
            let message = format!("`{name}` has {found} bytes in the reply, not {expected}");
            return Err(SessionFailure::Reference(message));
        }
        Ok(match packed || layout.is_contiguous() {
            true => blob,
            false => scattered(&layout, &blob, size as usize),
        })
    }

    /// The elements of an output: f64 for floats.
    fn values(&mut self, tensor: &TensorCase) -> Result<Vec<u8>, SessionFailure> {
        self.next(tensor, if is_float(tensor) { 8 } else { tensor.dtype.address_bytes() })
    }
}

fn is_float(tensor: &TensorCase) -> bool {
    tensor.dtype.is_float() && !tensor.dtype.is_packed()
}

fn outputs(case: &Case) -> impl Iterator<Item = (usize, &TensorCase)> {
    case.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role.compare().is_some())
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
    let mut blobs = Blobs(blobs.into_iter());
    for (index, tensor) in outputs(case) {
        fs::write(folder.join(values_file(index)), blobs.values(tensor)?).map_err(failure)?;
        if precision == Precision::Exact && tensor.has_magnitude() {
            let magnitudes = blobs.next(tensor, 8)?;
            fs::write(folder.join(magnitudes_file(index)), magnitudes).map_err(failure)?;
        }
    }
    Ok(())
}

/// The outputs of a reply whose elements have the dtypes of their tensors.
pub(super) fn as_stored(
    case: &Case,
    blobs: Vec<Vec<u8>>,
) -> Result<StoredContents, SessionFailure> {
    let mut blobs = Blobs(blobs.into_iter());
    let contents = outputs(case).map(|(index, tensor)| {
        let bytes = blobs.next(tensor, tensor.dtype.address_bytes())?;
        Ok((index, Content { bytes, unwritten: Vec::new() }))
    });
    contents.collect()
}

/// The outputs, with floats rounded to the dtypes of their tensors.
fn stored(case: &Case, blobs: Vec<Vec<u8>>) -> Result<StoredContents, SessionFailure> {
    let mut blobs = Blobs(blobs.into_iter());
    let mut contents = Vec::new();
    for (index, tensor) in outputs(case) {
        let values = blobs.values(tensor)?;
        let bytes = if is_float(tensor) {
            let mut reals = vec![0.0; values.len() / 8];
            load_reals(Dtype::F64, &values, &mut reals);
            let mut bytes = vec![0; reals.len() * tensor.dtype.address_bytes() as usize];
            store_reals(tensor.dtype, &reals, &mut bytes);
            bytes
        } else {
            values
        };
        contents.push((index, Content { bytes, unwritten: Vec::new() }));
    }
    Ok(contents)
}
