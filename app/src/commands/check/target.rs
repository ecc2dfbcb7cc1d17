//! Resolves the path argument: a project, one of its kernels, or a file outside any project.

use std::path::{Path, PathBuf};

use lightbench_core::evaluate::profiled::usual_workload;
use lightbench_core::project::{
    Kernel, Project, ProjectError, Purpose, StandaloneKernel, Workload,
};

use crate::outcome::Outcome;
use crate::report;

/// A resolved path argument.
pub(in crate::commands) enum Target {
    /// A project, or one of its kernels.
    Project {
        project: Box<Project>,
        /// The kernel, if the path is a kernel file.
        kernel: Option<String>,
    },
    /// A file outside any project.
    File(Box<StandaloneKernel>),
}

/// Resolves a path. A folder or its `project.ron` is a project; a file in `kernels/` or `wrong/`, or the reference, is
/// one of its kernels.
pub(in crate::commands) fn find(path: &Path) -> Result<Target, ProjectError> {
    find_with(path, &[])
}

/// As [`find`]; local headers of a file outside any project are also looked up in `folders`.
pub(in crate::commands) fn find_with(
    path: &Path,
    folders: &[PathBuf],
) -> Result<Target, ProjectError> {
    let is_kernel = path
        .extension()
        .is_some_and(|extension| ["cu", "ptx", "py"].iter().any(|known| extension == *known));
    let is_manifest = path.is_file() && path.file_name().is_some_and(|name| name == "project.ron");
    if is_manifest || !path.is_file() && (path.is_dir() || !is_kernel) {
        let folder = if is_manifest { parent_of(path) } else { path.to_owned() };
        let project = Box::new(Project::load(&folder)?);
        return Ok(Target::Project { project, kernel: None });
    }
    if let Some((root, file)) = containing_project(path) {
        let project = Box::new(Project::load(&root)?);
        let kernel = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let broken = project.broken.iter().find(|broken| broken.file == file);
        // A broken file may share its name with another kernel, which must not be taken instead.
        return match broken.filter(|broken| project.kernel(&broken.name()).is_ok()) {
            Some(broken) => Err(ProjectError::Problems { problems: broken.problems.clone() }),
            None => Ok(Target::Project { project, kernel }),
        };
    }
    Ok(Target::File(Box::new(Kernel::load_standalone_with(path, folders)?)))
}

/// The project, and the kernel if the path is one of its files. `lacks` names what a file outside any project is
/// missing.
pub(in crate::commands) fn project(
    path: &Path,
    lacks: &str,
    as_json: bool,
) -> Result<(Box<Project>, Option<String>), Outcome> {
    match find(path) {
        Ok(Target::Project { project, kernel }) => Ok((project, kernel)),
        Ok(Target::File(_)) => {
            let message = format!("a file outside any project has {lacks}");
            Err(report::request(&message, as_json))
        }
        Err(error) => Err(report::project_error(&error, path, as_json)),
    }
}

/// The kernel with this name, or the first.
pub(in crate::commands) fn kernel(
    project: &Project,
    wanted: Option<String>,
) -> Result<Kernel, String> {
    let name = wanted.or_else(|| project.kernels.first().map(|kernel| kernel.name.clone()));
    let name = name.ok_or("the project has no kernel")?;
    project.kernel(&name).cloned().map_err(|error| error.to_string())
}

/// The workload with this name, or the default one; never a held-out one.
pub(in crate::commands) fn workload(
    project: &Project,
    wanted: Option<&str>,
) -> Result<Workload, String> {
    let found = match wanted {
        Some(name) => project.workload(name).map_err(|error| error.to_string())?,
        None => usual_workload(project).ok_or("all workloads of the project are held out")?,
    };
    match found.purpose {
        Purpose::HeldOut => {
            Err(format!("`{}` is a held-out workload: its results are not shown", found.name))
        }
        Purpose::Verify | Purpose::Measure => Ok(found.clone()),
    }
}

/// The project that contains a kernel file, and the file relative to it.
fn containing_project(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let folder = match file.parent()? {
        // A bare file name: the working directory may be the project's `kernels/`.
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let real = folder.canonicalize().ok()?;
    let named = |name: &str| real.file_name().is_some_and(|folder| folder == name);
    let name = Path::new(file.file_name()?);
    let (root, below) = if named("kernels") || named("wrong") {
        (parent_of(folder), Path::new(real.file_name()?).join(name))
    } else if name == Path::new("reference.cu") {
        (folder.to_owned(), name.to_owned())
    } else {
        return None;
    };
    root.join("project.ron").is_file().then_some((root, below))
}

/// The parent folder in the user's spelling: `project` for `project/kernels`, `..` for `.`.
fn parent_of(folder: &Path) -> PathBuf {
    match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(_)) if !parent.as_os_str().is_empty() => parent.to_owned(),
        (Some(_), Some(_)) => PathBuf::from("."),
        (_, _) => folder.join(".."),
    }
}
