//! Compilation of Triton kernels: PTX from a Python worker, machine code from the assembler.

use lightbench_primitives::cancellation::Cancellation;
use lightbench_python::{Interpreter, PythonAccess, PythonError, Worker};

use lightbench_worker::error::WorkerError;

use super::{BatchJob, Compiled, Compiler};
use crate::error::CompileError;
use crate::job::{CompileJob, Source};
use crate::triton::{self, TritonError, TritonOutput, TritonSource};

/// How Triton is installed.
const INSTALL: &str = "install it with `python3 -m pip install triton`, or name another interpreter by `LIGHTBENCH_PYTHON`";

/// Python, which is looked for when the first Triton kernel is compiled.
#[derive(Debug)]
pub(super) enum Python {
    /// Not looked for yet.
    NotSearched(PythonAccess),
    /// An interpreter with this version of Triton.
    Found { worker: Box<Worker>, triton: String },
}

impl Compiler {
    /// Sets where Python is looked for; without it, Triton kernels do not compile.
    #[must_use]
    pub fn with_python(mut self, access: PythonAccess) -> Self {
        self.python = Python::NotSearched(access);
        self
    }

    pub(super) fn compile_triton(
        &mut self,
        order: &BatchJob<'_>,
        source: &TritonSource,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let CompileJob { target, build, .. } = *order.job;
        let (worker, version) = self.triton(cancellation)?;
        let program = worker.interpreter().program.display().to_string();
        let key = order.job.key(&format!("triton {version} {program}"));
        let output: TritonOutput = match self.cached(key) {
            Some(output) => output,
            None => {
                let (worker, _) = self.triton(cancellation)?;
                let subject = (source, target);
                let output = triton::generate(worker, subject, order.limit, cancellation)?;
                self.keep(key, &output);
                output
            }
        };
        let TritonOutput { ptx, launch } = output;
        let assembly = Source::Ptx { name: source.name.clone(), text: ptx.clone() };
        let job = CompileJob { source: assembly, target, build };
        let mut compiled = self.assemble(&job, &source.name, &ptx, cancellation)?;
        for kernel in &mut compiled.artifact.kernels {
            kernel.triton = Some(launch.clone());
        }
        Ok(compiled)
    }

    /// The worker and the version of Triton.
    fn triton(&mut self, cancellation: &Cancellation) -> Result<(&mut Worker, &str), CompileError> {
        if let Python::NotSearched(access) = &self.python {
            let configuration = access.configuration(self.command.clone());
            let interpreter = Interpreter::find(&access.search, &configuration, cancellation)
                .map_err(|error| missing(&error))?;
            let Some(triton) = interpreter.packages.triton.clone() else {
                let program = interpreter.program.display();
                let reason = format!("`{program}` has no Triton; {INSTALL}");
                return Err(TritonError::Missing { reason }.into());
            };
            let worker = Box::new(Worker::new(interpreter, configuration));
            self.python = Python::Found { worker, triton };
        }
        match &mut self.python {
            Python::Found { worker, triton } => Ok((worker, triton)),
            Python::NotSearched(_) => {
                let reason = "Python was not found".to_owned();
                Err(TritonError::Missing { reason }.into())
            }
        }
    }
}

/// The error of a search for Python.
fn missing(error: &PythonError) -> CompileError {
    if matches!(error, PythonError::Worker(WorkerError::Cancelled)) {
        return CompileError::Cancelled;
    }
    TritonError::Missing { reason: format!("{error}; {INSTALL}") }.into()
}
