//! The code to launch: a CUDA file, compiled for the device, or PTX.

use std::collections::BTreeMap;
use std::time::Duration;

use lightbench_core::compile::facts::{FactsError, Setting, selection};
use lightbench_core::compile::{
    Artifact, Build, CompileError, CompileJob, Compiler, KernelFacts, SourceNames, artifact,
};
use lightbench_core::cuda_source;
use lightbench_core::device::{DescribedGpu, Description, DeviceKind, DeviceSheet, SheetError};
use lightbench_core::project::policy::Limits;
use lightbench_core::project::{
    Candidate, DeviceFiles, Kernel, Language, Project, Purpose, Selection, StandaloneKernel,
    Workload,
};
use lightbench_core::ptx::header;
use lightbench_core::report::document::error::ErrorKind;
use lightbench_core::verify::compiled_candidate::Origins;

use super::refused;
use crate::args::Launch;
use crate::commands::check::target::{self, Target};
use crate::commands::check::{failure, kernel_file, text};
use crate::commands::new::check_folders;
use crate::commands::python_setup;
use crate::outcome::{Outcome, Status};
use crate::report::{self, Sources};
use crate::session::Session;

/// A file before compilation.
pub(super) struct LaunchedFile {
    kernel: StandaloneKernel,
    /// The project that contains the file.
    project: Option<ProjectKernel>,
}

/// A project, and the kernel that a file is in it.
struct ProjectKernel {
    project: Box<Project>,
    name: String,
}

/// A compiled file.
pub(super) struct CompiledCode {
    pub(super) file: StandaloneKernel,
    /// Maps lines of PTX to lines of the file.
    pub(super) origins: Origins,
    project: Option<ProjectKernel>,
    pub(super) artifact: Artifact,
    /// The compiler, if one was used.
    pub(super) compiler: Option<String>,
    /// Warnings of the compiler.
    pub(super) notices: String,
}

impl LaunchedFile {
    /// Reads the file; a kernel of a project uses that project's includes, parameters and constants.
    pub(super) fn read(arguments: &Launch) -> Result<Self, Outcome> {
        let unreadable = |error| report::project_error(&error, &arguments.file, arguments.json);
        let folders = &arguments.include_folders;
        check_folders(folders).map_err(|message| report::request(&message, arguments.json))?;
        let found = match arguments.file.is_file() {
            true => target::find_with(&arguments.file, folders).map_err(unreadable)?,
            false => {
                let alone = Kernel::load_standalone_with(&arguments.file, folders);
                let alone = alone.map_err(unreadable)?;
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
                    device: DeviceFiles::of_project(&kernel.source),
                };
                Ok(Self { kernel, project: Some(ProjectKernel { project, name }) })
            }
        }
    }

    /// Compiles CUDA for the device. PTX is passed on, unless it is too new for the driver of a GPU.
    pub(super) fn compile(
        self,
        session: &Session,
        arguments: &Launch,
        device: &Description,
    ) -> Result<CompiledCode, Outcome> {
        match self.kernel.language {
            Language::Ptx if !self.is_too_new_for_the_driver(device) => {
                self.take_ptx(arguments, device)
            }
            Language::Cuda | Language::Ptx | Language::Triton => {
                self.compile_text(session, arguments, device)
            }
        }
    }

    /// Whether the PTX must be assembled here, because the device's driver does not support its version.
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
    ) -> Result<CompiledCode, Outcome> {
        let mut compiler =
            python_setup::compiler(session).map_err(|failure| failure.outcome(arguments.json))?;
        let candidate = self.candidate(arguments, device)?;
        let compiled = compile(session, &mut compiler, &candidate, arguments, device);
        let artifact = compiled.map_err(|error| self.rejected(&error, arguments))?;
        let notices: Vec<String> =
            compiler.take_notices().iter().map(ToString::to_string).collect();
        let (compiler, notices) = (Some(compiler.name()), report::notices(&notices));
        let file = candidate.file.display().to_string();
        Ok(self.code(file, artifact, compiler, notices))
    }

    fn take_ptx(self, arguments: &Launch, device: &Description) -> Result<CompiledCode, Outcome> {
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
    ) -> CompiledCode {
        let origins = Origins {
            file,
            language: self.kernel.language,
            names: artifact.names.clone(),
            lines: artifact.module.line_map.clone(),
        };
        CompiledCode {
            file: self.kernel,
            origins,
            project: self.project,
            artifact,
            compiler,
            notices,
        }
    }

    /// The candidate with the requested parameters and constants.
    fn candidate(&self, arguments: &Launch, device: &Description) -> Result<Candidate, Outcome> {
        let refused = |refusals| self.rejected(&FactsError::Include(refusals), arguments);
        let Some(ProjectKernel { project, name }) = &self.project else {
            let selection = instantiating(kernel_file::selection(&self.kernel), arguments);
            return Candidate::standalone(&self.kernel, selection).map_err(refused);
        };
        let request = |error: &dyn std::fmt::Display| report::request(&error, arguments.json);
        let kernel = project.kernel(name).map_err(|error| request(&error))?;
        let sheet = sheet(device).map_err(|error| request(&error))?;
        let workload = workload(project, arguments).map_err(|message| request(&message))?;
        let chosen: BTreeMap<String, i64> = arguments.parameters.iter().cloned().collect();
        let (chosen, multiprocessors, build) = (&chosen, None, build(arguments));
        let setting = Setting { project, workload, chosen, sheet, multiprocessors, build };
        let selection = selection(kernel, &setting).map_err(|error| request(&error))?;
        Candidate::new(project, kernel, instantiating(selection, arguments)).map_err(refused)
    }

    /// A compile error is a wrong request here, because there is nothing to launch.
    fn rejected(&self, error: &FactsError, arguments: &Launch) -> Outcome {
        let status = match failure::status(error) {
            Status::Passed | Status::KernelFailed | Status::BadRequest => Status::BadRequest,
            other @ (Status::Environment | Status::Interrupted) => other,
        };
        let outcome = report::failed(status, error.into(), arguments.json);
        let sources = sources(&self.kernel, self.project.as_ref());
        let errors = failure::to_text(&self.kernel.name, error, &sources)
            + &kernel_file::host_code_note(error, &self.kernel);
        Outcome { errors, ..outcome }
    }
}

/// Refuses options that only apply to a project's kernel.
fn needs_project(arguments: &Launch) -> Result<(), Outcome> {
    let message = match (arguments.parameters.first(), &arguments.workload) {
        (Some((name, _)), _) => format!(
            "`--param {name}=…` needs a kernel of a project, whose launch block uses the parameter"
        ),
        (None, Some(_)) => {
            "`--workload` needs a kernel of a project: a single file has none".to_owned()
        }
        (None, None) => return Ok(()),
    };
    Err(report::request(&message, arguments.json))
}

/// The workload that determines compile-time constants: the requested one, else the first.
fn workload<'a>(project: &'a Project, arguments: &Launch) -> Result<&'a Workload, String> {
    let is_visible = |workload: &&Workload| workload.purpose != Purpose::HeldOut;
    let Some(name) = &arguments.workload else {
        let first = project.workloads.iter().find(is_visible);
        return first.ok_or_else(|| "all workloads of the project are held out".to_owned());
    };
    let workload = project.workload(name).map_err(|error| error.to_string())?;
    let visible = Some(workload).filter(is_visible);
    visible.ok_or_else(|| format!("`{name}` is a held-out workload and cannot be selected"))
}

/// The device's sheet.
fn sheet(device: &Description) -> Result<&'static DeviceSheet, SheetError> {
    match &device.kind {
        DeviceKind::Virtual => DeviceSheet::named(&device.name),
        DeviceKind::Cuda { attributes, .. } => {
            DescribedGpu::from_attributes(attributes).map(|found| DescribedGpu::kept(found.sheet))
        }
    }
}

fn build(arguments: &Launch) -> Build {
    if arguments.as_written { Build::AsWritten } else { Build::Optimised }
}

/// Adds the requested template instantiation to a selection.
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
    let job = CompileJob::new(candidate, device.capability, build(arguments));
    let limit = Duration::from_secs(Limits::default().compile_secs);
    Ok(compiler.compile(&job, limit, &session.cancellation)?.artifact)
}

/// The texts that can be quoted, by the compiler's names for them.
fn sources<'a>(file: &'a StandaloneKernel, project: Option<&'a ProjectKernel>) -> Sources<'a> {
    let mut sources = Sources::default();
    let main = match project {
        Some(ProjectKernel { project, name }) => {
            for include in &project.includes {
                let name = include.file.strip_prefix("include").unwrap_or(&include.file);
                let path = project.root.join(&include.file);
                sources.add(name.display().to_string(), &path, &include.source);
            }
            let kernel =
                project.kernel(name).ok().filter(|kernel| kernel.language == Language::Cuda);
            kernel.map(|kernel| kernel.file.display().to_string())
        }
        None => {
            kernel_file::add_headers(&mut sources, file);
            None
        }
    };
    let main = main.unwrap_or_else(|| kernel_file::shown_name(file));
    sources.add_main(main, &file.file, &file.source);
    sources
}

impl CompiledCode {
    /// The texts that can be quoted.
    pub(super) fn sources(&self) -> Sources<'_> {
        sources(&self.file, self.project.as_ref())
    }

    pub(super) fn warnings(&self) -> String {
        text::warnings(&self.artifact, &self.sources())
    }

    /// The requested kernel, or the only one.
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
            (None, _) => {
                format!("the file has several kernels; select one with `--kernel`: {}", known())
            }
            (Some(name), _) => {
                let found = kernels.iter().find(|kernel| kernel_file::is_named(kernel, name));
                match found {
                    Some(kernel) => return Ok(kernel),
                    None => format!("no kernel `{name}` in this file; it has {}", known()),
                }
            }
        };
        Err(refused(ErrorKind::Kernel, &message, arguments))
    }

    /// Parameter names from the source, where the signature can be parsed.
    pub(super) fn parameter_names(&self, kernel: &KernelFacts) -> Vec<String> {
        let count = kernel.parameters.len();
        let readable = kernel_file::readable(kernel);
        let plain = readable.split('<').next().unwrap_or_default();
        let plain = plain.rsplit("::").next().unwrap_or_default();
        let signature = match self.file.language {
            Language::Cuda => cuda_source::read(&self.file.source, Some(plain)).ok(),
            Language::Ptx | Language::Triton => None,
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
