//! Project folder to [`Project`]: reads every file, checks all of them, reports everything at once.

use std::path::{Path, PathBuf};

use super::{
    IncludeFile, Project,
    definition::{self, Definition},
    kernel::{self, Kernel},
    launch::{KernelRole, Surroundings},
    manifest::Manifest,
    problem::{self, Findings, Place, Problem, ProjectError, ReadError},
    read::{list, read_project_file},
    ron_text,
    workload::Workload,
};

/// The file with the definition.
const MANIFEST: &str = "project.ron";

/// The file with the reference.
const REFERENCE: &str = "reference.cu";

/// The most files in one folder of a project.
const MAX_FILES: usize = 1024;

/// A project whose definition and reference are sound, and what is wrong with its other files.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The project with those kernels that are sound.
    pub project: Project,
    /// What is wrong with the others.
    pub problems: Vec<Problem>,
}

impl Project {
    /// Loads a folder; every problem in any file refuses it, and all are reported.
    pub fn load(folder: &Path) -> Result<Self, ProjectError> {
        let Survey { project, problems } = Self::survey(folder)?;
        if problems.is_empty() { Ok(project) } else { Err(ProjectError::Problems { problems }) }
    }

    /// A kernel of this project from a text that is in no file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn draft(&self, name: &str, source: String) -> Result<Kernel, Vec<Problem>> {
        let file = PathBuf::from(format!("kernels/{name}.cu"));
        let project = Some((&self.definition, self.workloads.as_slice()));
        kernel::check(&file, source, Surroundings { role: KernelRole::Variant, project })
    }

    /// Loads a folder in which some kernels may be broken: a person is editing them.
    pub fn survey(folder: &Path) -> Result<Survey, ProjectError> {
        let files = Files::read(folder)?;
        let mut problems = files.clashes();
        let definition = match check_definition(&files) {
            Ok(definition) => Some(definition),
            Err(more) => {
                problems.extend(more);
                None
            }
        };
        let project =
            definition.as_ref().map(|(definition, workloads)| (definition, workloads.as_slice()));
        let mut sound = |files: &[(PathBuf, String)], role| {
            let mut kernels = Vec::new();
            for (file, source) in files {
                match kernel::check(file, source.clone(), Surroundings { role, project }) {
                    Ok(kernel) => kernels.push(kernel),
                    Err(more) => problems.extend(more),
                }
            }
            kernels
        };
        let reference = sound(std::slice::from_ref(&files.reference), KernelRole::Reference).pop();
        let kernels = sound(&files.kernels, KernelRole::Variant);
        let wrong = sound(&files.wrong, KernelRole::Wrong);
        problem::sort(&mut problems);
        let (Some((definition, workloads)), Some(reference)) = (definition, reference) else {
            return Err(ProjectError::Problems { problems });
        };
        let project = files.into_project((definition, workloads), reference, kernels, wrong);
        Ok(Survey { project, problems })
    }
}

/// The texts of a project.
struct Files {
    root: PathBuf,
    manifest: String,
    reference: (PathBuf, String),
    kernels: Vec<(PathBuf, String)>,
    wrong: Vec<(PathBuf, String)>,
    includes: Vec<(PathBuf, String)>,
}

impl Files {
    fn read(folder: &Path) -> Result<Self, ProjectError> {
        let unreadable =
            |source| ProjectError::UnreadableFolder { folder: folder.to_path_buf(), source };
        if !folder.metadata().map_err(unreadable)?.is_dir() {
            return Err(ProjectError::NotAFolder { path: folder.to_path_buf() });
        }
        folder.read_dir().map_err(unreadable)?;
        let all =
            |name: &str, extensions: &[&str]| -> Result<Vec<(PathBuf, String)>, ProjectError> {
                let unlisted = |source| ProjectError::Unreadable {
                    file: folder.join(name),
                    reason: ReadError::Failed(source),
                };
                let files = list(folder, name, extensions).map_err(unlisted)?;
                if files.len() > MAX_FILES {
                    let count = format!("{} files, at most {MAX_FILES}", files.len());
                    return Err(unlisted(std::io::Error::other(count)));
                }
                files
                    .into_iter()
                    .map(|file| read_one(folder, &file).map(|source| (file, source)))
                    .collect()
            };
        Ok(Self {
            root: folder.to_path_buf(),
            manifest: read_one(folder, Path::new(MANIFEST))?,
            reference: (PathBuf::from(REFERENCE), read_one(folder, Path::new(REFERENCE))?),
            kernels: all("kernels", &["cu", "ptx"])?,
            wrong: all("wrong", &["cu", "ptx"])?,
            includes: all("include", &["cuh", "h", "hpp", "inl"])?,
        })
    }

    /// Kernels that have one name, or names that differ only in case.
    fn clashes(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut seen: Vec<(String, &Path)> =
            vec![(kernel::stem(&self.reference.0).to_lowercase(), &self.reference.0)];
        for (file, text) in self.kernels.iter().chain(&self.wrong) {
            let name = kernel::stem(file).to_lowercase();
            if let Some((_, other)) = seen.iter().find(|(known, _)| *known == name) {
                let found = format!(
                    "a second kernel `{}`; the first is {}",
                    kernel::stem(file),
                    other.display()
                );
                let place = Place { file, text, span: 0..0, field: String::new() };
                let expected = "names that differ, and not only in case";
                problems.push(problem::problem(
                    place,
                    &found,
                    expected,
                    Some("rename one of the files"),
                ));
            } else {
                seen.push((name, file));
            }
        }
        problems
    }

    fn into_project(
        self,
        (definition, workloads): (Definition, Vec<Workload>),
        reference: Kernel,
        kernels: Vec<Kernel>,
        wrong: Vec<Kernel>,
    ) -> Project {
        let includes =
            self.includes.into_iter().map(|(file, source)| IncludeFile { file, source }).collect();
        Project {
            root: self.root,
            manifest: self.manifest,
            definition,
            workloads,
            kernels,
            wrong,
            reference,
            includes,
        }
    }
}

fn read_one(folder: &Path, file: &Path) -> Result<String, ProjectError> {
    read_project_file(folder, file).map_err(|reason| match reason {
        ReadError::Missing => ProjectError::Missing { file: folder.join(file) },
        ReadError::TooLarge { .. }
        | ReadError::NotUtf8 { .. }
        | ReadError::NotAFile
        | ReadError::OutsideProject
        | ReadError::Failed(_) => ProjectError::Unreadable { file: folder.join(file), reason },
    })
}

fn check_definition(files: &Files) -> Result<(Definition, Vec<Workload>), Vec<Problem>> {
    let text = files.manifest.as_str();
    let (manifest, source) = ron_text::read::<Manifest>(Path::new(MANIFEST), text, 0..text.len())
        .map_err(|problem| vec![*problem])?;
    let kernels: Vec<String> = files.kernels.iter().map(|(file, _)| kernel::stem(file)).collect();
    let mut findings = Findings::new(&source);
    let checked = definition::check(&mut findings, &source.tree, &manifest, &kernels);
    let problems = findings.into_problems();
    if problems.is_empty() { Ok(checked) } else { Err(problems) }
}
