//! A kernel file: its text and launch block.

use std::path::{Path, PathBuf};

use super::{
    block,
    device_files::DeviceFiles,
    language::Language,
    launch::{self, KernelRole, Launch, LaunchContext, written::LaunchBlockWritten},
    locate::{Located, locate},
    names::is_file_name,
    problem::{Findings, Problem, ProjectError, SourceLocation, problem},
    read::read_file,
    ron_text,
};

/// A kernel of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The file's name without its extension.
    pub name: String,
    /// The file, relative to the project folder.
    pub file: PathBuf,
    pub language: Language,
    /// Its role in the project.
    pub role: KernelRole,
    /// The whole text of the file.
    pub source: String,
    pub launch: Launch,
}

/// A kernel file that belongs to no project.
#[derive(Clone, Debug, PartialEq)]
pub struct StandaloneKernel {
    /// The file's name without its extension.
    pub name: String,
    /// The path as requested.
    pub file: PathBuf,
    pub language: Language,
    /// The whole text of the file.
    pub source: String,
    /// The launch block, if there is one. Names of axes and tensors are not checked.
    pub launch: Option<Launch>,
    /// The texts for the compiler: the file and its local headers without host code.
    pub device: DeviceFiles,
}

impl Kernel {
    /// Reads a kernel file that belongs to no project; a launch block is optional.
    pub fn load_standalone(path: &Path) -> Result<StandaloneKernel, ProjectError> {
        Self::load_standalone_with(path, &[])
    }

    /// As [`load_standalone`](Self::load_standalone); local headers are also looked up in `folders`.
    pub fn load_standalone_with(
        path: &Path,
        folders: &[PathBuf],
    ) -> Result<StandaloneKernel, ProjectError> {
        let language = Language::from_path(path);
        let source = read_file(path)
            .map_err(|reason| ProjectError::Unreadable { file: path.to_path_buf(), reason })?;
        if language == Language::Triton {
            return Err(ProjectError::Problems { problems: vec![no_project(path, &source)] });
        }
        let around = LaunchContext { role: KernelRole::Standalone, project: None };
        let launch = match check_launch(path, &source, around) {
            Ok(launch) => launch,
            Err(problems) => return Err(ProjectError::Problems { problems }),
        };
        let name = stem(path);
        let device = DeviceFiles::read(path, &source, folders);
        Ok(StandaloneKernel { name, file: path.to_path_buf(), language, source, launch, device })
    }
}

/// A Triton kernel has no types of arguments outside a project.
fn no_project(file: &Path, source: &str) -> Problem {
    let place = SourceLocation { file, text: source, span: 0..0, field: String::new() };
    let help = "put the file into `kernels/` of a project, with a launch block";
    problem(
        place,
        "a Triton kernel outside a project",
        "a project with tensors and workloads",
        Some(help),
    )
}

/// Validates a kernel file; returns all its problems if it is invalid.
pub(super) fn check(
    file: &Path,
    source: String,
    around: LaunchContext<'_>,
) -> Result<Kernel, Vec<Problem>> {
    let name = stem(file);
    let mut problems = Vec::new();
    if !is_file_name(&name) {
        let found = format!("a kernel cannot be called `{name}`");
        let expected = "a file name of letters, digits, `_`, `-` and `.`, at most 64 characters";
        let place = SourceLocation { file, text: &source, span: 0..0, field: String::new() };
        problems.push(problem(place, &found, expected, Some("rename the file")));
    }
    match check_launch(file, &source, around) {
        Ok(Some(launch)) if problems.is_empty() => {
            let (file, language) = (file.to_path_buf(), Language::from_path(file));
            return Ok(Kernel { name, file, language, role: around.role, source, launch });
        }
        Ok(Some(_)) => {}
        Ok(None) => problems.push(*block::missing(file, &source)),
        Err(more) => problems.extend(more),
    }
    Err(problems)
}

fn check_launch(
    file: &Path,
    source: &str,
    around: LaunchContext<'_>,
) -> Result<Option<Launch>, Vec<Problem>> {
    let Some(range) = block::find(file, source).map_err(|problem| vec![*problem])? else {
        return Ok(None);
    };
    let (written, located) = ron_text::read::<LaunchBlockWritten>(file, source, range)
        .map_err(|problem| vec![*problem])?;
    let mut findings = Findings::new(&located);
    let context = (around, Language::from_path(file));
    let launch = launch::check(&mut findings, &located.tree, &written, context);
    let problems = findings.into_problems();
    if problems.is_empty() { Ok(Some(launch)) } else { Err(problems) }
}

/// The location of each part of a kernel file's launch block; `None` without a readable block.
pub fn launch_block(file: &Path, source: &str) -> Option<Located> {
    locate(source, block::find(file, source).ok()??)
}

/// The name of a kernel file.
pub(super) fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
