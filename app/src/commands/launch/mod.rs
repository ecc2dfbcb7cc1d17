//! `lightbench launch`: launches one kernel with given buffers on any device.

mod buffer_text;
mod code;
mod counters;
mod faults;
mod json;
mod modelled;
mod request;
mod source_line;
mod text;
mod variables;

use lightbench_core::arguments::{Buffer, SpecKind, match_specs};
use lightbench_core::compile::KernelFacts;
use lightbench_core::compile::modelled_time::{ModelledTime, NotModelled};
use lightbench_core::device::execution::{self, Argument};
use lightbench_core::device::{
    BufferId, BufferRequest, Content, Description, Device, DeviceError, Image,
};
use lightbench_core::report::document::error::{ErrorDetails, ErrorKind};
use lightbench_core::verify::fault_report::FaultReport;
use lightbench_core::virtual_gpu::{LoadError, PtxLocation};

use crate::args::Launch;
use crate::outcome::{Outcome, Status, report_document};
use crate::report;
use crate::session::{self, Session};
use code::CompiledCode;
use request::LaunchRequest;

/// Compiles, launches and reports.
pub fn run(session: &Session, arguments: &Launch) -> Outcome {
    launch(session, arguments).unwrap_or_else(|failed| failed)
}

/// Size of a pointer: all devices use 64-bit addresses.
const POINTER_BYTES: usize = 8;

/// The inputs of the report on a launch.
struct LaunchResult<'a> {
    arguments: &'a Launch,
    request: &'a LaunchRequest,
    description: &'a Description,
    code: &'a CompiledCode,
    kernel: &'a KernelFacts,
    outcome: &'a execution::Outcome,
    /// The modelled time, if counters were requested.
    modelled: Option<Result<ModelledTime, NotModelled>>,
    printed: Vec<PrintedBuffer<'a>>,
}

impl LaunchResult<'_> {
    /// The faults with source names and locations.
    fn faults(&self) -> Vec<FaultReport> {
        self.outcome.faults.iter().map(|fault| faults::resolve(fault, self.code)).collect()
    }
}

/// A buffer after the launch.
struct PrintedBuffer<'a> {
    index: usize,
    buffer: &'a Buffer,
    name: &'a str,
    content: Result<Content, DeviceError>,
}

fn launch(session: &Session, arguments: &Launch) -> Result<Outcome, Outcome> {
    let request = LaunchRequest::from_arguments(arguments)?;
    let file = code::LaunchedFile::read(arguments)?;
    let mut device = request.open(arguments)?;
    let code = file.compile(session, arguments, device.description())?;
    let kernel = code.kernel(arguments)?;
    let misfits = match_specs(&request.specs, kernel);
    if !misfits.is_empty() {
        let lines: Vec<String> = misfits.iter().map(ToString::to_string).collect();
        return Err(refused(ErrorKind::Arguments, &lines.join("\n"), arguments));
    }
    let names = code.parameter_names(kernel);
    let image = Image { ptx: &code.artifact.ptx, cubin: code.artifact.cubin.as_deref() };
    let module = device.load(image).map_err(|error| unloaded(&error, &code, arguments))?;
    variables::fill(device.as_mut(), module, &request.variables, arguments)?;
    let (values, buffers) = make(device.as_mut(), &request, &names, arguments)?;
    let launch = execution::Launch {
        module,
        kernel: kernel.symbol.clone(),
        grid: arguments.grid,
        block: arguments.block,
        dynamic_shared: arguments.shared,
        cooperative: arguments.cooperative,
        cluster: None,
        arguments: values,
    };
    if session.cancellation.is_cancelled() {
        return Err(Outcome::failed(Status::Interrupted, "interrupted before the launch"));
    }
    session::end_when_interrupted();
    let outcome = device.launch(&launch).map_err(|error| unlaunched(&error, arguments))?;
    let printed = request.prints(arguments, &names, |index| {
        let buffer = buffers.get(index).copied().flatten();
        buffer.map_or(Err(DeviceError::Unknown("buffer")), |buffer| device.read(buffer))
    });
    let description = device.description();
    let done = LaunchResult {
        arguments,
        request: &request,
        description,
        code: &code,
        kernel,
        outcome: &outcome,
        modelled: modelled::model_time(arguments, &request, kernel, &outcome),
        printed,
    };
    Ok(report_on(&done))
}

/// Converts the argument specifications to device arguments and buffers.
fn make(
    device: &mut dyn Device,
    request: &LaunchRequest,
    names: &[String],
    arguments: &Launch,
) -> Result<(Vec<Argument>, Vec<Option<BufferId>>), Outcome> {
    let (mut values, mut buffers) = (Vec::new(), Vec::new());
    let limit = device.description().memory_bytes;
    if request.buffer_bytes() > limit {
        let message = format!(
            "the buffers need {} bytes in total; {} has {limit}",
            request.buffer_bytes(),
            device.description().name
        );
        return Err(refused(ErrorKind::Launch, &message, arguments));
    }
    for (index, (spec, name)) in request.specs.iter().zip(names).enumerate() {
        let (value, buffer) = match &spec.kind {
            SpecKind::Value { bytes, .. } | SpecKind::Bytes(bytes) => {
                (Argument::Bytes(bytes.clone()), None)
            }
            SpecKind::Null => (Argument::Bytes(vec![0; POINTER_BYTES]), None),
            SpecKind::Same(earlier) => {
                // `match_specs` has refused references to anything but buffers.
                let buffer = buffers.get(*earlier).copied().flatten();
                let missing = || unlaunched(&DeviceError::Unknown("buffer"), arguments);
                let buffer = buffer.ok_or_else(missing)?;
                (Argument::Buffer(buffer), Some(buffer))
            }
            SpecKind::Buffer(buffer) => {
                let position = u32::try_from(index).unwrap_or(u32::MAX);
                let initial =
                    buffer.initial(arguments.seed, position, request::read_bytes).map_err(
                        |error| refused(ErrorKind::Arguments, &error.to_string(), arguments),
                    )?;
                let id = device
                    .allocate(BufferRequest::new(name, buffer.size(), buffer.access, initial))
                    .map_err(|error| unlaunched(&error, arguments))?;
                (Argument::Buffer(id), Some(id))
            }
        };
        values.push(value);
        buffers.push(buffer);
    }
    Ok((values, buffers))
}

fn report_on(done: &LaunchResult<'_>) -> Outcome {
    let status = if done.outcome.faults.is_empty() { Status::Passed } else { Status::KernelFailed };
    let notes = done.code.notices.clone() + &done.code.warnings();
    if done.arguments.json {
        return Outcome { output: report_document(&json::report(done)), errors: notes, status };
    }
    Outcome { output: text::report_text(done), errors: notes, status }
}

/// The outcome of a refused launch.
fn refused(kind: ErrorKind, message: &str, arguments: &Launch) -> Outcome {
    let details = ErrorDetails::new(kind, message.to_owned());
    report::failed(Status::BadRequest, details, arguments.json)
}

fn unlaunched(error: &DeviceError, arguments: &Launch) -> Outcome {
    refused(ErrorKind::Launch, &error.to_string(), arguments)
}

/// The outcome of a module that the device cannot load: each problem below its line of PTX.
fn unloaded(error: &DeviceError, code: &CompiledCode, arguments: &Launch) -> Outcome {
    let mut outcome = refused(ErrorKind::Load, &error.to_string(), arguments);
    if let DeviceError::Load(problems) = error {
        outcome.errors = problems.iter().map(|problem| load_problem(problem, code)).collect();
    }
    outcome
}

fn load_problem(problem: &LoadError, code: &CompiledCode) -> String {
    let PtxLocation { line, column, .. } = problem.place;
    faults::at_ptx(&problem.problem.to_string(), (line, column), problem.source_line.as_ref(), code)
}
