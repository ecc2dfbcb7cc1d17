//! What is launched: a file, compiled for the device or taken as it is.

use std::collections::BTreeMap;
use std::time::Duration;

use lightbench_core::compile::facts::{FactsError, Setting, selection};
use lightbench_core::compile::{
    Artifact, Build, CompileError, CompileJob, Compiler, KernelFacts, SourceNames, artifact,
};
use lightbench_core::device::{Described, Description, DeviceKind, DeviceSheet, SheetError};
use lightbench_core::project::policy::Limits;
use lightbench_core::project::scaffold::signature;
use lightbench_core::project::{
    Candidate, Kernel, Language, Project, Purpose, Selection, StandaloneKernel, Workload,
};
use lightbench_core::ptx::header;
use lightbench_core::verify::subject::Origins;

use super::refused;
use crate::args::Launch;
use crate::commands::check::target::{self, Target};
use crate::commands::check::{failure, kernel_file, text};
use crate::outcome::{Outcome, Status};
use crate::report::{self, Sources};
use crate::session::Session;

/// A file before it is compiled.
pub(super) struct File {
    kernel: StandaloneKernel,
    /// The project that it is part of.
    project: Option<Membership>,
}

/// A project and which of its kernels a file is.
struct Membership {
    project: Box<Project>,
    name: String,
}

/// A compiled file.
pub(super) struct Code {
    pub(super) file: StandaloneKernel,
    /// From lines of PTX to those of the file.
    pub(super) origins: Origins,
    project: Option<Membership>,
    pub(super) artifact: Artifact,
    /// The compiler, where one was needed.
    pub(super) compiler: Option<String>,
    /// What did not stop the compiler.
    pub(super) notices: String,
}

impl File {
    /// A kernel of a project has that project's includes, parameters and constants.
    pub(super) fn read(arguments: &Launch) -> Result<Self, Outcome> {
        let unreadable = |error| report::project_error(&error, &arguments.file, arguments.json);
        let found = match arguments.file.is_file() {
            true => target::find(&arguments.file).map_err(unreadable)?,
            false => {
                let alone = Kernel::load_standalone(&arguments.file).map_err(unreadable)?;
                Target::File(Box::new(alone))
            }
        };
        match found {
            Target::File(kernel) => {
                needs_project(arguments)?;
                Ok(Self { kernel: *kernel, project: None })
            }
            Target::Project { project, kernel } => {
                let name = kernel.unwrap_or_default();
                let kernel = project.kernel(&name);
                let kernel = kernel.map_err(|error| report::request(&error, arguments.json))?;
                let kernel = StandaloneKernel {
                    name: name.clone(),
                    file: arguments.file.clone(),
                    language: kernel.language,
                    source: kernel.source.clone(),
                    launch: Some(kernel.launch.clone()),
                };
                Ok(Self { kernel, project: Some(Membership { project, name }) })
            }
        }
    }

    /// Compiles CUDA; PTX is what a device reads, unless it is too new for the driver of a GPU.
    pub(super) fn compile(
        self,
        session: &Session,
        arguments: &Launch,
        device: &Description,
    ) -> Result<Code, Outcome> {
        match self.kernel.language {
            Language::Ptx if !self.is_too_new_for_the_driver(device) => {
                self.take_ptx(arguments, device)
            }
            Language::Cuda | Language::Ptx => self.compile_text(session, arguments, device),
        }
    }

    /// Whether the assembler must make machine code of the PTX, because the driver of the device does not.
    fn is_too_new_for_the_driver(&self, device: &Description) -> bool {
        match &device.kind {
            DeviceKind::Virtual => false,
            DeviceKind::Cuda { driver, .. } => {
                header::newer_than_driver(&self.kernel.source, *driver).is_some()
            }
        }
    }

    fn compile_text(
        self,
        session: &Session,
        arguments: &Launch,
        device: &Description,
    ) -> Result<Code, Outcome> {
        let mut compiler = session.compiler().map_err(|failure| failure.outcome(arguments.json))?;
        let candidate = self.candidate(arguments, device)?;
        let compiled = compile(session, &mut compiler, &candidate, arguments, device);
        let artifact = compiled.map_err(|error| self.rejected(&error, arguments))?;
        let notices: Vec<String> =
            compiler.take_notices().iter().map(ToString::to_string).collect();
        let (compiler, notices) = (Some(compiler.name()), report::notices(&notices));
        let file = candidate.file.display().to_string();
        Ok(self.code(file, artifact, compiler, notices))
    }

    fn take_ptx(self, arguments: &Launch, device: &Description) -> Result<Code, Outcome> {
        artifact::check_header(&self.kernel.source, device.capability)
            .map_err(|said| self.rejected(&CompileError::Rejected(said).into(), arguments))?;
        let name = kernel_file::shown_name(&self.kernel);
        let names = SourceNames::new(&name, []);
        let artifact = artifact::from_assembler(self.kernel.source.clone(), None, names)
            .map_err(|said| self.rejected(&CompileError::Rejected(said).into(), arguments))?;
        Ok(self.code(name, artifact, None, String::new()))
    }

    fn code(
        self,
        file: String,
        artifact: Artifact,
        compiler: Option<String>,
        notices: String,
    ) -> Code {
        let origins = Origins {
            file,
            language: self.kernel.language,
            names: artifact.names.clone(),
            lines: artifact.module.line_map.clone(),
        };
        Code { file: self.kernel, origins, project: self.project, artifact, compiler, notices }
    }

    /// All that is compiled, with the parameters and constants that are asked for.
    fn candidate(&self, arguments: &Launch, device: &Description) -> Result<Candidate, Outcome> {
        let refused = |refusals| self.rejected(&FactsError::Include(refusals), arguments);
        let Some(Membership { project, name }) = &self.project else {
            let selection = instantiating(kernel_file::selection(&self.kernel), arguments);
            return Candidate::standalone(&self.kernel, selection).map_err(refused);
        };
        let request = |error: &dyn std::fmt::Display| report::request(&error, arguments.json);
        let kernel = project.kernel(name).map_err(|error| request(&error))?;
        let sheet = sheet(device).map_err(|error| request(&error))?;
        let workload = workload(project, arguments).map_err(|message| request(&message))?;
        let chosen: BTreeMap<String, i64> = arguments.parameters.iter().cloned().collect();
        let setting =
            Setting { project, workload, chosen: &chosen, sheet, build: build(arguments) };
        let selection = selection(kernel, &setting).map_err(|error| request(&error))?;
        Candidate::of(project, kernel, instantiating(selection, arguments)).map_err(refused)
    }

    /// What does not compile cannot be launched: a wrong request, whoever wrote the kernel.
    fn rejected(&self, error: &FactsError, arguments: &Launch) -> Outcome {
        let status = match failure::status(error) {
            Status::Passed | Status::KernelFailed | Status::BadRequest => Status::BadRequest,
            other @ (Status::Environment | Status::Interrupted) => other,
        };
        let details = failure::to_json(error);
        let outcome = report::failed(status, &error.to_string(), details, arguments.json);
        let sources = sources(&self.kernel, self.project.as_ref());
        let errors = failure::to_text(&self.kernel.name, error, &sources)
            + &kernel_file::host_hint(error, &self.kernel);
        Outcome { errors, ..outcome }
    }
}

/// Options that only a kernel of a project has an answer to.
fn needs_project(arguments: &Launch) -> Result<(), Outcome> {
    let message = match (arguments.parameters.first(), &arguments.workload) {
        (Some((name, _)), _) => format!(
            "`--param {name}=…` needs a kernel of a project: its launch block says where the value goes"
        ),
        (None, Some(_)) => {
            "`--workload` needs a kernel of a project: a single file has none".to_owned()
        }
        (None, None) => return Ok(()),
    };
    Err(report::request(&message, arguments.json))
}

/// The workload that gives compile-time constants their values: the one asked for, else the first.
fn workload<'a>(project: &'a Project, arguments: &Launch) -> Result<&'a Workload, String> {
    let is_visible = |workload: &&Workload| workload.purpose != Purpose::HeldOut;
    let Some(name) = &arguments.workload else {
        let first = project.workloads.iter().find(is_visible);
        return first.ok_or_else(|| "the project has no workload that is not held out".to_owned());
    };
    let workload = project.workload(name).map_err(|error| error.to_string())?;
    let visible = Some(workload).filter(is_visible);
    visible.ok_or_else(|| format!("`{name}` is held out: nobody sees anything of it"))
}

/// The numbers of the device.
fn sheet(device: &Description) -> Result<&'static DeviceSheet, SheetError> {
    match &device.kind {
        DeviceKind::Virtual => DeviceSheet::named(&device.name),
        DeviceKind::Cuda { attributes, .. } => {
            Described::of(attributes).map(|found| Described::kept(found.sheet))
        }
    }
}

fn build(arguments: &Launch) -> Build {
    if arguments.as_written { Build::AsWritten } else { Build::Optimised }
}

/// A template is instantiated by naming it.
fn instantiating(mut selection: Selection, arguments: &Launch) -> Selection {
    for name in arguments.kernel.iter().filter(|name| name.contains('<')) {
        if !selection.name_expressions.contains(name) {
            selection.name_expressions.push(name.clone());
        }
    }
    selection
}

pub(super) fn compile(
    session: &Session,
    compiler: &mut Compiler,
    candidate: &Candidate,
    arguments: &Launch,
    device: &Description,
) -> Result<Artifact, FactsError> {
    let job = CompileJob::of(candidate, device.capability, build(arguments));
    let limit = Duration::from_secs(Limits::default().compile_secs);
    Ok(compiler.compile(&job, limit, &session.cancellation)?.artifact)
}

/// The texts that can be quoted, by the names that the compiler has for them.
fn sources<'a>(file: &'a StandaloneKernel, project: Option<&'a Membership>) -> Sources<'a> {
    let mut sources = Sources::default();
    let main = match project {
        Some(Membership { project, name }) => {
            for include in &project.includes {
                let name = include.file.strip_prefix("include").unwrap_or(&include.file);
                let path = project.root.join(&include.file);
                sources.add(name.display().to_string(), &path, &include.source);
            }
            let kernel =
                project.kernel(name).ok().filter(|kernel| kernel.language == Language::Cuda);
            kernel.map(|kernel| kernel.file.display().to_string())
        }
        None => None,
    };
    let main = main.unwrap_or_else(|| kernel_file::shown_name(file));
    sources.add_main(main, &file.file, &file.source);
    sources
}

impl Code {
    /// The texts that can be quoted.
    pub(super) fn sources(&self) -> Sources<'_> {
        sources(&self.file, self.project.as_ref())
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
