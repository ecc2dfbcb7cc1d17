//! Compilation of Triton kernels: PTX from a Python worker, machine code from the assembler.

use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::launch::OWN_ALIGN;
use lightbench_project::launch::triton::TritonCall;
use lightbench_ptx::merge::{Part, merge};
use lightbench_python::{Interpreter, PythonAccess, PythonError, Worker};
use lightbench_worker::error::{Stage, WorkerError};
use serde::Deserialize;

use super::{BatchJob, Compiled, Compiler, identity};
use crate::artifact::Rejection;
use crate::diagnostics::{Place, SourcePlace};
use crate::error::CompileError;
use crate::job::{CompileJob, Source};
use crate::target::Target;
use crate::triton::{TritonError, TritonLaunch, TritonOutput, TritonSource};

/// The service of the Python worker.
const SERVICE: &str = "triton_compile";

/// How Triton is installed.
const INSTALL: &str = "install it with `python3 -m pip install triton`, or name another interpreter by `LIGHTBENCH_PYTHON`";

/// Python for Triton kernels, which is looked for when the first one is compiled.
#[derive(Debug, Default)]
pub(super) struct Python {
    access: PythonAccess,
    triton: Option<Triton>,
}

/// An interpreter with Triton.
#[derive(Debug)]
struct Triton {
    worker: Worker,
    version: String,
}

impl Compiler {
    /// Sets where Python is looked for; without it, Triton kernels do not compile.
    #[must_use]
    pub fn with_python(mut self, access: PythonAccess) -> Self {
        self.python = Python { access, triton: None };
        self
    }

    /// Where Python is looked for.
    #[must_use]
    pub fn python_access(&self) -> &PythonAccess {
        &self.python.access
    }

    pub(super) fn compile_triton(
        &mut self,
        order: &BatchJob<'_>,
        source: &TritonSource,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let CompileJob { target, build, .. } = *order.job;
        let separate = source.separate();
        let mut outputs = Vec::new();
        for (kernel, only) in &separate {
            outputs.push((*kernel, self.generate_one(order, only, &kernel.call, cancellation)?));
        }
        // One module has all kernels, as the launches of a file expect. A part cannot be joined only if Triton's output has
        // another form than expected.
        let parts: Vec<Part<'_>> = outputs
            .iter()
            .map(|(kernel, output)| Part {
                text: &output.ptx,
                entry: &output.launch.name,
                new_name: &kernel.symbol,
            })
            .collect();
        let ptx = merge(&parts).map_err(|error| TritonError::Answer(error.to_string()))?;
        let assembly = Source::Ptx { name: source.name.clone(), text: ptx.clone() };
        let job = CompileJob { source: assembly, target, build };
        let mut compiled = self.assemble(&job, &source.name, &ptx, cancellation)?;
        for kernel in &mut compiled.artifact.kernels {
            let output = outputs.iter().find(|(known, _)| known.symbol == kernel.symbol);
            kernel.triton = output.map(|(_, output)| output.launch.clone());
        }
        Ok(compiled)
    }

    /// The PTX of one call, from the cache or from Triton.
    fn generate_one(
        &mut self,
        order: &BatchJob<'_>,
        source: &TritonSource,
        call: &TritonCall,
        cancellation: &Cancellation,
    ) -> Result<TritonOutput, CompileError> {
        let CompileJob { target, build, .. } = *order.job;
        let Triton { worker, version } = self.triton(cancellation)?;
        let program = &worker.interpreter().program;
        let identity = identity(program, &format!("triton {version}"));
        let job = CompileJob { source: Source::Triton(source.clone()), target, build };
        let key = job.key(&identity);
        if let Some(output) = self.cached(key) {
            return Ok(output);
        }
        let Triton { worker, .. } = self.triton(cancellation)?;
        let output = generate(worker, (source, call, target), order.limit, cancellation)?;
        self.keep(key, &output);
        Ok(output)
    }

    fn triton(&mut self, cancellation: &Cancellation) -> Result<&mut Triton, CompileError> {
        let found = match self.python.triton.take() {
            Some(found) => found,
            None => self.find_triton(cancellation)?,
        };
        Ok(self.python.triton.insert(found))
    }

    fn find_triton(&self, cancellation: &Cancellation) -> Result<Triton, CompileError> {
        let access = &self.python.access;
        let configuration = access.configuration(self.command.clone());
        let interpreter = Interpreter::find(&access.search, &configuration, cancellation)
            .map_err(|error| missing(&error))?;
        let Some(version) = interpreter.packages.triton.clone() else {
            let program = interpreter.program.display();
            let reason = format!("`{program}` has no Triton; {INSTALL}");
            return Err(TritonError::Missing { reason }.into());
        };
        Ok(Triton { worker: Worker::new(interpreter, configuration), version })
    }
}

/// The error of a search for Python.
fn missing(error: &PythonError) -> CompileError {
    if matches!(error, PythonError::Worker(WorkerError::Cancelled)) {
        return CompileError::Cancelled;
    }
    TritonError::Missing { reason: format!("{error}; {INSTALL}") }.into()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Rejected { rejected: RejectedText },
    Compiled(TritonOutput),
}

#[derive(Deserialize)]
struct RejectedText {
    message: String,
    line: u32,
    column: u32,
}

/// Generates PTX.
///
/// # Errors
/// Triton rejects the kernel, exceeds the limit, or fails.
fn generate(
    worker: &mut Worker,
    (source, call, target): (&TritonSource, &TritonCall, Target),
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<TritonOutput, CompileError> {
    let request = source.request(call, target);
    let blobs = [source.text.as_bytes()];
    let mut reply = worker.call(SERVICE, &request, &blobs, limit, cancellation);
    if reply.as_ref().is_err_and(is_crash) {
        // Once more in a new process: the code of an earlier kernel may have damaged the first one.
        reply = worker.call(SERVICE, &request, &blobs, limit, cancellation);
    }
    let reply = reply.map_err(|error| from_python(error, limit))?;
    let unexpected = |error: serde_json::Error| TritonError::Answer(error.to_string());
    match serde_json::from_value(reply.value).map_err(unexpected)? {
        Answer::Compiled(mut output) => {
            check(&output.launch, call).map_err(CompileError::Rejected)?;
            output.declare_version();
            Ok(output)
        }
        Answer::Rejected { rejected } => {
            Err(CompileError::Rejected(rejection(&source.name, rejected)))
        }
    }
}

/// Whether the process ended by a signal that its own code caused, as after a failed assertion of LLVM.
fn is_crash(error: &PythonError) -> bool {
    matches!(error, PythonError::Worker(WorkerError::Died { during: Stage::Call, death, oom_kills: 0, .. })
        if death.is_crash())
}

/// A process that crashed twice on one kernel was crashed by this kernel.
fn from_python(error: PythonError, limit: Duration) -> CompileError {
    if is_crash(&error) {
        let message = format!("Triton ended without a message: {error}");
        return CompileError::Rejected(Rejection::new(Place::Nowhere, message));
    }
    if let PythonError::Worker(WorkerError::Cancelled) = error {
        return CompileError::Cancelled;
    }
    if let PythonError::Worker(WorkerError::TimedOut { during: Stage::Call, .. }) = error {
        return CompileError::TimedOut { limit };
    }
    TritonError::Python(error).into()
}

fn rejection(file: &str, RejectedText { message, line, column }: RejectedText) -> Rejection {
    let place = if line == 0 {
        Place::Nowhere
    } else {
        Place::Source(SourcePlace {
            file: file.to_owned(),
            line,
            column: Some(column).filter(|column| *column > 0),
            excerpt: None,
            foreign: false,
        })
    };
    Rejection::new(place, message)
}

/// Refuses what cannot be launched here.
fn check(launch: &TritonLaunch, call: &TritonCall) -> Result<(), Rejection> {
    let reason = if launch.kept.iter().any(|index| *index >= call.arguments.len()) {
        "Triton names an argument that the launch does not have".to_owned()
    } else if launch.scratch_align > OWN_ALIGN {
        let align = launch.scratch_align;
        format!("scratch memory aligned to {align} bytes; expected at most {OWN_ALIGN}")
    } else if launch.tensor_memory > 0 {
        "the kernel needs tensor memory, which is not supported yet".to_owned()
    } else {
        return Ok(());
    };
    Err(Rejection::new(Place::Nowhere, reason))
}
