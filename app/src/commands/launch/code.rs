//! What is launched: a file, compiled for the device or taken as it is.

use std::time::Duration;

use lightbench_core::compile::facts::FactsError;
use lightbench_core::compile::{
    Artifact, Build, CompileError, CompileJob, Compiler, KernelFacts, SourceNames, artifact,
};
use lightbench_core::device::ComputeCapability;
use lightbench_core::project::policy::Limits;
use lightbench_core::project::scaffold::signature;
use lightbench_core::project::{Candidate, Kernel, Language, StandaloneKernel};

use super::refused;
use crate::args::Launch;
use crate::commands::check::{failure, kernel_file, text};
use crate::outcome::{Outcome, Status};
use crate::report::{self, Sources};
use crate::session::Session;

/// A file before it is compiled.
pub(super) struct File(StandaloneKernel);

/// A compiled file.
pub(super) struct Code {
    pub(super) file: StandaloneKernel,
    pub(super) artifact: Artifact,
    /// The compiler, where one was needed.
    pub(super) compiler: Option<String>,
    /// What did not stop the compiler.
    pub(super) notices: String,
}

impl File {
    pub(super) fn read(arguments: &Launch) -> Result<Self, Outcome> {
        let read = Kernel::load_standalone(&arguments.file);
        read.map(Self)
            .map_err(|error| report::project_error(&error, &arguments.file, arguments.json))
    }

    /// Compiles CUDA; PTX is what a device reads.
    pub(super) fn compile(
        self,
        session: &Session,
        arguments: &Launch,
        capability: ComputeCapability,
    ) -> Result<Code, Outcome> {
        match self.0.language {
            Language::Cuda => self.compile_cuda(session, arguments, capability),
            Language::Ptx => self.take_ptx(arguments),
        }
    }

    fn compile_cuda(
        self,
        session: &Session,
        arguments: &Launch,
        capability: ComputeCapability,
    ) -> Result<Code, Outcome> {
        let file = self.0;
        let mut compiler = session.compiler().map_err(|failure| failure.outcome(arguments.json))?;
        let compiled = compile(session, &mut compiler, &file, arguments, capability);
        let artifact = compiled.map_err(|error| rejected(&file, &error, arguments))?;
        let notices: Vec<String> =
            compiler.take_notices().iter().map(ToString::to_string).collect();
        let (compiler, notices) = (Some(compiler.name()), report::notices(&notices));
        Ok(Code { file, artifact, compiler, notices })
    }

    fn take_ptx(self, arguments: &Launch) -> Result<Code, Outcome> {
        let file = self.0;
        let names = SourceNames::new(&kernel_file::shown_name(&file), []);
        let artifact = artifact::from_assembler(file.source.clone(), None, names)
            .map_err(|said| rejected(&file, &CompileError::Rejected(said).into(), arguments))?;
        Ok(Code { file, artifact, compiler: None, notices: String::new() })
    }
}

fn compile(
    session: &Session,
    compiler: &mut Compiler,
    file: &StandaloneKernel,
    arguments: &Launch,
    capability: ComputeCapability,
) -> Result<Artifact, FactsError> {
    let mut selection = kernel_file::selection(file);
    // A template is instantiated by naming it.
    let named = arguments.kernel.iter().filter(|name| name.contains('<'));
    for name in named {
        if !selection.name_expressions.contains(name) {
            selection.name_expressions.push(name.clone());
        }
    }
    let candidate = Candidate::standalone(file, selection).map_err(FactsError::Include)?;
    let build = if arguments.as_written { Build::AsWritten } else { Build::Optimised };
    let job = CompileJob::of(&candidate, capability, build);
    let limit = Duration::from_secs(Limits::default().compile_secs);
    Ok(compiler.compile(&job, limit, &session.cancellation)?.artifact)
}

/// What does not compile cannot be launched: a wrong request, whoever wrote the kernel.
fn rejected(file: &StandaloneKernel, error: &FactsError, arguments: &Launch) -> Outcome {
    let status = match failure::status(error) {
        Status::Passed | Status::KernelFailed | Status::BadRequest => Status::BadRequest,
        other @ (Status::Environment | Status::Interrupted) => other,
    };
    let details = failure::to_json(error);
    let outcome = report::failed(status, &error.to_string(), details, arguments.json);
    let sources = sources(file);
    let errors =
        failure::to_text(&file.name, error, &sources) + &kernel_file::host_hint(error, file);
    Outcome { errors, ..outcome }
}

fn sources(file: &StandaloneKernel) -> Sources<'_> {
    let mut sources = Sources::default();
    sources.add_main(kernel_file::shown_name(file), &file.file, &file.source);
    sources
}

impl Code {
    /// The texts that can be quoted.
    pub(super) fn sources(&self) -> Sources<'_> {
        sources(&self.file)
    }

    pub(super) fn warnings(&self) -> String {
        text::warnings(&self.artifact, &self.sources())
    }

    /// The kernel that is meant: the one of that name, or the only one.
    pub(super) fn kernel(&self, arguments: &Launch) -> Result<&KernelFacts, Outcome> {
        let kernels = &self.artifact.kernels;
        let known = || {
            let names: Vec<String> = kernels.iter().map(kernel_file::readable).collect();
            names.join(", ")
        };
        let message = match (&arguments.kernel, kernels.as_slice()) {
            (_, []) => format!(
                "{}; `--kernel 'name<arguments>'` instantiates one",
                kernel_file::no_kernel(&self.file)
            ),
            (None, [only]) => return Ok(only),
            (None, _) => format!("which kernel? `--kernel` takes one of {}", known()),
            (Some(name), _) => {
                let found = kernels.iter().find(|kernel| kernel_file::is_named(kernel, name));
                match found {
                    Some(kernel) => return Ok(kernel),
                    None => format!("no kernel `{name}` here; there is {}", known()),
                }
            }
        };
        Err(refused("kernel", &message, arguments))
    }

    /// What each parameter is called: as in the source, where its grammar is understood.
    pub(super) fn parameter_names(&self, kernel: &KernelFacts) -> Vec<String> {
        let count = kernel.parameters.len();
        let readable = kernel_file::readable(kernel);
        let plain = readable.split('<').next().unwrap_or_default();
        let plain = plain.rsplit("::").next().unwrap_or_default();
        let signature = match self.file.language {
            Language::Cuda => signature::read(&self.file.source, Some(plain)).ok(),
            Language::Ptx => None,
        };
        let written =
            signature.map(|signature| signature.parameters).filter(|all| all.len() == count);
        let name = |index: usize| {
            let name = written.as_ref().and_then(|all| all.get(index)?.name.clone());
            name.unwrap_or_else(|| format!("argument {index}"))
        };
        (0..count).map(name).collect()
    }
}
