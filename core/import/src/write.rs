//! Writes an imported project: rendered, loaded as any project is, and only then renamed to its final path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lightbench_project::new_folder::{self, FolderError, PlannedFile};
use lightbench_project::{BrokenFile, Project, ProjectError};

use crate::Imported;
use crate::error::ImportError;
use crate::names::relative_path;
use crate::render::render;
use crate::report::{PlacedQuestion, Report};

/// A project that was written.
#[derive(Debug)]
pub struct Written {
    /// Its folder.
    pub folder: PathBuf,
    /// The written files, below it.
    pub files: Vec<String>,
    /// The questions, each with the place of its answer.
    pub questions: Vec<PlacedQuestion>,
    /// What the user must know, with the kernels that the project reader refused.
    pub report: Report,
}

/// Writes the project to `folder`, which must be missing or empty. A kernel that the project reader refuses is left out.
///
/// # Errors
///
/// The folder is not empty or cannot be written, a file name is not allowed, or the project does not load; then nothing is
/// left behind.
pub fn write(folder: &Path, imported: Imported) -> Result<Written, ImportError> {
    let Imported { mut draft, mut report } = imported;
    loop {
        let rendered = render(&draft, &report);
        check_names(&rendered.files)?;
        let checked = new_folder::write(folder, &rendered.files, check);
        match checked {
            Ok(folder) => {
                let files = rendered.files.into_iter().map(|file| file.path).collect();
                return Ok(Written { folder, files, questions: rendered.questions, report });
            }
            Err(Refused::Import(error)) => return Err(error),
            Err(Refused::Broken(files)) => {
                let count = draft.kernels.len();
                for broken in &files {
                    let name = broken.file.file_name().unwrap_or_default().to_string_lossy();
                    draft.kernels.retain(|kernel| kernel.name != name);
                    let of_kernel = |place: &crate::Place| place.kernel() == Some(name.as_ref());
                    report.questions.retain(|question| !of_kernel(&question.place));
                    let what = broken.file.display().to_string();
                    report.leave_out(what, broken.problem_list());
                }
                if draft.kernels.len() == count {
                    let problems = files.iter().map(BrokenFile::problem_list).collect::<Vec<_>>();
                    return Err(ImportError::Invalid { problems: problems.join("; ") });
                }
            }
        }
    }
}

/// Why a rendered project is not kept.
enum Refused {
    Import(ImportError),
    /// Kernels or headers that the project reader does not understand.
    Broken(Vec<BrokenFile>),
}

impl From<FolderError> for Refused {
    fn from(error: FolderError) -> Self {
        Self::Import(ImportError::Folder(error))
    }
}

fn check(folder: &Path) -> Result<(), Refused> {
    match Project::load(folder) {
        Ok(project) if project.broken.is_empty() => Ok(()),
        Ok(project) => Err(Refused::Broken(project.broken)),
        Err(ProjectError::Problems { problems }) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(Refused::Import(ImportError::Invalid { problems: lines.join("; ") }))
        }
        Err(error) => Err(Refused::Import(ImportError::Invalid { problems: error.to_string() })),
    }
}

/// Paths below the folder, of which no two differ only in case.
fn check_names(files: &[PlannedFile]) -> Result<(), ImportError> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for file in files {
        let refused = |found: String| {
            let path = Path::new(&file.path);
            Err(ImportError::new(path, "", found, "a relative path of its own"))
        };
        if let Err(found) = relative_path(&file.path) {
            return refused(found);
        }
        if let Some(other) = seen.insert(file.path.to_lowercase(), &file.path) {
            return refused(format!("a second file with the path of `{other}`"));
        }
    }
    Ok(())
}
