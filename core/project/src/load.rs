//! Loads a project folder: reads every file, validates all of them, and keeps invalid files separately.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{
    BrokenFile, HeldOutSource, IncludeFile, Part, Project, block,
    definition::{self, Definition},
    kernel::{self, Kernel},
    language::Language,
    launch::{KernelRole, LaunchContext},
    locate::Located,
    manifest::{IntermediateRounding, Manifest},
    policy::Baseline,
    problem::{self, Findings, Problem, ProjectError, ReadError, SourceLocation},
    read::{list, read_project_file},
    reference::{PythonReference, PythonText, Reference},
    ron_text,
    workload::Workload,
};

/// The file with the definition.
pub const MANIFEST: &str = "project.ron";

/// The files that may hold the reference; a project has one of them.
const CUDA_REFERENCE: &str = "reference.cu";
const PYTHON_REFERENCE: &str = "reference.py";

/// Maximum number of files in one folder of a project.
const MAX_FILES: usize = 1024;

impl Project {
    /// Loads a folder. An invalid kernel or include does not affect the others: it is kept in [`broken`](Self::broken)
    /// with all its problems.
    ///
    /// # Errors
    /// `project.ron`, the reference or the folder itself is invalid. Then the problems of all files are reported.
    pub fn load(folder: &Path) -> Result<Self, ProjectError> {
        Self::from_files(Files::read(folder)?)
    }

    /// Loads a folder as if its files had these texts, which are not saved yet.
    ///
    /// # Errors
    /// As [`Project::load`].
    pub fn load_with(
        folder: &Path,
        texts: &BTreeMap<PathBuf, String>,
    ) -> Result<Self, ProjectError> {
        let mut files = Files::read(folder)?;
        files.replace(texts);
        Self::from_files(files)
    }

    fn from_files(files: Files) -> Result<Self, ProjectError> {
        let (manifest, mut problems) = match check_manifest(&files) {
            Ok(manifest) => (Some(manifest), Vec::new()),
            Err(problems) => (None, problems),
        };
        let rounding = manifest.as_ref().map(|manifest| manifest.rounding).unwrap_or_default();
        let project =
            manifest.as_ref().map(|checked| (&checked.definition, checked.workloads.as_slice()));
        let reference = check_reference(&files.reference, project, rounding)
            .map_err(|more| problems.extend(more))
            .ok();
        let sorted = files.sorted(project);
        if let (Some(CheckedManifest { definition, workloads, pytorch, .. }), Some(reference)) =
            (manifest, reference)
        {
            let ParsedFiles { kernels, wrong, includes, broken } = sorted;
            let (root, manifest) = (files.root, files.manifest);
            return Ok(Self {
                root,
                manifest,
                definition,
                workloads,
                kernels,
                wrong,
                reference,
                includes,
                pytorch,
                broken,
                held_out: HeldOutSource::Declared,
            });
        }
        problems.extend(sorted.broken.into_iter().flat_map(|broken| broken.problems));
        problem::sort(&mut problems);
        Err(ProjectError::Problems { problems })
    }

    /// A kernel of this project from a text that is in no file. If the text does not decide its language, it has that of
    /// the project's file with this name, or is CUDA C++.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn draft(&self, name: &str, source: String) -> Result<Kernel, Vec<Problem>> {
        let language = self.draft_language(name, &source);
        self.draft_in(language, name, source)
    }

    /// As [`draft`](Self::draft), in a stated language.
    ///
    /// # Errors
    /// As there.
    pub fn draft_in(
        &self,
        language: Language,
        name: &str,
        source: String,
    ) -> Result<Kernel, Vec<Problem>> {
        let file = PathBuf::from(format!("kernels/{name}.{}", language.extension()));
        let project = Some((&self.definition, self.workloads.as_slice()));
        kernel::check(&file, source, LaunchContext { role: KernelRole::Variant, project })
    }

    fn draft_language(&self, name: &str, source: &str) -> Language {
        let file = self.kernel(name).ok().map(|kernel| &kernel.file);
        let file = file.or_else(|| self.broken_kernel(name).map(|broken| &broken.file));
        let known = || file.map_or(Language::Cuda, |file| Language::from_path(file));
        block::language_of(source).unwrap_or_else(known)
    }
}

/// The texts of a project.
struct Files {
    root: PathBuf,
    manifest: String,
    reference: (PathBuf, String),
    /// Kernels, wrong ones and includes, in this order, each sorted by path.
    others: Vec<OptionalFile>,
}

/// A file without which the project is still one.
struct OptionalFile {
    file: PathBuf,
    part: Part,
    text: Result<String, ReadError>,
}

/// A file that is understood.
enum ParsedFile {
    Kernel(Box<Kernel>),
    Include(IncludeFile),
}

/// The valid and the invalid files.
#[derive(Default)]
struct ParsedFiles {
    kernels: Vec<Kernel>,
    wrong: Vec<Kernel>,
    includes: Vec<IncludeFile>,
    broken: Vec<BrokenFile>,
}

impl Files {
    fn read(folder: &Path) -> Result<Self, ProjectError> {
        let unreadable =
            |source| ProjectError::UnreadableFolder { folder: folder.to_path_buf(), source };
        if !folder.metadata().map_err(unreadable)?.is_dir() {
            return Err(ProjectError::NotAFolder { path: folder.to_path_buf() });
        }
        folder.read_dir().map_err(unreadable)?;
        let mut others = Vec::new();
        for (name, part, extensions) in [
            ("kernels", Part::Kernel, &["cu", "ptx", "py"][..]),
            ("wrong", Part::Wrong, &["cu", "ptx", "py"]),
            ("include", Part::Include, &["cuh", "h", "hpp", "inl"]),
        ] {
            others.extend(all_of(folder, name, extensions)?.into_iter().map(|file| {
                let text = read_project_file(folder, &file);
                OptionalFile { file, part, text }
            }));
        }
        Ok(Self {
            root: folder.to_path_buf(),
            manifest: read_one(folder, Path::new(MANIFEST))?,
            reference: read_reference(folder)?,
            others,
        })
    }

    fn replace(&mut self, texts: &BTreeMap<PathBuf, String>) {
        if let Some(text) = texts.get(Path::new(MANIFEST)) {
            self.manifest.clone_from(text);
        }
        if let Some(text) = texts.get(&self.reference.0) {
            self.reference.1.clone_from(text);
        }
        for other in &mut self.others {
            if let Some(text) = texts.get(&other.file) {
                other.text = Ok(text.clone());
            }
        }
    }

    /// Parses all files.
    fn sorted(&self, project: Option<(&Definition, &[Workload])>) -> ParsedFiles {
        let mut sorted = ParsedFiles::default();
        for (index, OptionalFile { file, part, text }) in self.others.iter().enumerate() {
            let understood = match text {
                Err(reason) => Err(vec![problem::unreadable(file, reason)]),
                Ok(source) => self.understood(index, source, project),
            };
            match understood {
                Ok(ParsedFile::Kernel(kernel)) if *part == Part::Wrong => {
                    sorted.wrong.push(*kernel);
                }
                Ok(ParsedFile::Kernel(kernel)) => sorted.kernels.push(*kernel),
                Ok(ParsedFile::Include(include)) => sorted.includes.push(include),
                Err(problems) => {
                    let (file, source) = (file.clone(), text.as_ref().ok().cloned());
                    sorted.broken.push(BrokenFile { file, part: *part, source, problems });
                }
            }
        }
        sorted.broken.sort_by(|left, right| left.file.cmp(&right.file));
        sorted
    }

    /// Parses one file; returns all its problems if it is invalid.
    fn understood(
        &self,
        index: usize,
        source: &str,
        project: Option<(&Definition, &[Workload])>,
    ) -> Result<ParsedFile, Vec<Problem>> {
        let OptionalFile { file, part, .. } = &self.others[index];
        let role = match part {
            Part::Kernel => KernelRole::Variant,
            Part::Wrong => KernelRole::Wrong,
            Part::Include => {
                let (file, source) = (file.clone(), source.to_owned());
                return Ok(ParsedFile::Include(IncludeFile { file, source }));
            }
        };
        let checked = kernel::check(file, source.to_owned(), LaunchContext { role, project });
        match (self.clash(index, source), checked) {
            (None, checked) => checked.map(|kernel| ParsedFile::Kernel(Box::new(kernel))),
            // Two kernels of the same name are ambiguous.
            (Some(clash), Ok(_)) => Err(vec![clash]),
            (Some(clash), Err(more)) => Err([vec![clash], more].concat()),
        }
    }

    /// An earlier kernel that has the same name, or one that differs only in case.
    fn clash(&self, index: usize, text: &str) -> Option<Problem> {
        let of = |file: &Path| kernel::stem(file).to_lowercase();
        let file = &self.others[index].file;
        let earlier = self.others[..index].iter().map(|other| &other.file);
        let first =
            [&self.reference.0].into_iter().chain(earlier).find(|first| of(first) == of(file))?;
        let name = kernel::stem(file);
        let found = format!("a second kernel `{name}`; the first is {}", first.display());
        let place = SourceLocation { file, text, span: 0..0, field: String::new() };
        let expected = "names that differ, and not only in case";
        Some(problem::problem(place, &found, expected, Some("rename one of the files")))
    }
}

/// The files of one folder of the project.
fn all_of(folder: &Path, name: &str, extensions: &[&str]) -> Result<Vec<PathBuf>, ProjectError> {
    let unlisted = |source| ProjectError::Unreadable {
        file: folder.join(name),
        reason: ReadError::Failed(source),
    };
    let files = list(folder, name, extensions).map_err(unlisted)?;
    if files.len() > MAX_FILES {
        let count = format!("{} files, at most {MAX_FILES}", files.len());
        return Err(unlisted(std::io::Error::other(count)));
    }
    Ok(files)
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

/// The reference in CUDA C++, or else in Python.
fn read_reference(folder: &Path) -> Result<(PathBuf, String), ProjectError> {
    let [cuda, python] = [CUDA_REFERENCE, PYTHON_REFERENCE].map(Path::new);
    let text = match read_one(folder, cuda) {
        Ok(text) => text,
        Err(ProjectError::Missing { file }) => {
            return match read_project_file(folder, python) {
                Ok(text) => Ok((python.to_path_buf(), text)),
                Err(ReadError::Missing) => Err(ProjectError::Missing { file }),
                Err(reason) => Err(ProjectError::Unreadable { file: folder.join(python), reason }),
            };
        }
        Err(error) => return Err(error),
    };
    if folder.join(python).exists() {
        let place = SourceLocation { file: cuda, text: &text, span: 0..0, field: String::new() };
        let found = "a second reference, reference.py, beside it";
        let help = "remove the one that is not the definition of the task";
        let problem = problem::problem(place, found, "one reference", Some(help));
        return Err(ProjectError::Problems { problems: vec![problem] });
    }
    Ok((cuda.to_path_buf(), text))
}

fn check_reference(
    (file, source): &(PathBuf, String),
    project: Option<(&Definition, &[Workload])>,
    intermediate_rounding: IntermediateRounding,
) -> Result<Reference, Vec<Problem>> {
    let (file, source) = (file.clone(), source.clone());
    if file == Path::new(PYTHON_REFERENCE) {
        return Ok(Reference::Python(PythonReference { file, source, intermediate_rounding }));
    }
    let around = LaunchContext { role: KernelRole::Reference, project };
    Ok(Reference::Kernel(Box::new(kernel::check(&file, source, around)?)))
}

/// What `project.ron` states.
struct CheckedManifest {
    definition: Definition,
    workloads: Vec<Workload>,
    /// What roundings inside a reference in Python mean.
    rounding: IntermediateRounding,
    /// The texts of the baselines in PyTorch.
    pytorch: Vec<PythonText>,
}

fn check_manifest(files: &Files) -> Result<CheckedManifest, Vec<Problem>> {
    let text = files.manifest.as_str();
    if text.trim().is_empty() {
        return Err(vec![empty(text)]);
    }
    let (manifest, source) = ron_text::read::<Manifest>(Path::new(MANIFEST), text, 0..text.len())
        .map_err(|problem| vec![*problem])?;
    let kernels = files.others.iter().filter(|other| other.part == Part::Kernel);
    let kernels: Vec<String> = kernels.map(|other| kernel::stem(&other.file)).collect();
    let mut findings = Findings::new(&source);
    let (definition, workloads) =
        definition::check(&mut findings, &source.tree, &manifest, &kernels);
    let pytorch = read_pytorch(&mut findings, &source.tree, &files.root, &definition);
    let rounding = manifest.intermediate_rounding;
    let is_kernel = files.reference.0 == Path::new(CUDA_REFERENCE);
    if rounding != IntermediateRounding::Undeclared && is_kernel {
        let at = source.tree.field("intermediate_rounding");
        findings.add(
            at,
            "a declaration about `reference.py`",
            "no such field beside `reference.cu`",
        );
    }
    let problems = findings.into_problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(CheckedManifest { definition, workloads, rounding, pytorch })
}

/// The files of the baselines in PyTorch, each once.
fn read_pytorch(
    findings: &mut Findings<'_>,
    root: &Located,
    folder: &Path,
    definition: &Definition,
) -> Vec<PythonText> {
    let mut texts: Vec<PythonText> = Vec::new();
    for (index, baseline) in definition.baselines.iter().enumerate() {
        let Baseline::Pytorch(file) = baseline else { continue };
        if texts.iter().any(|text| text.file == *file) {
            continue;
        }
        match read_project_file(folder, file) {
            Ok(source) => texts.push(PythonText { file: file.clone(), source }),
            Err(reason) => {
                let found = format!("`{}`: {reason}", file.display());
                let place = root.field("baselines").item(index).item(0);
                findings.add(place, found, "a file of Python in the project folder");
            }
        }
    }
    texts
}

fn empty(text: &str) -> Problem {
    let place =
        SourceLocation { file: Path::new(MANIFEST), text, span: 0..0, field: String::new() };
    let help =
        "`lightbench new DIR` writes a small project; docs/project-format.md has the whole format";
    problem::problem(place, "the file is empty", "`(schema: 1, name: \"…\", …)`", Some(help))
}
