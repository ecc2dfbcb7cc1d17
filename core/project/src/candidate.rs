//! An immutable snapshot of all compiled text, identified by the hash of its content.

use std::fmt;
use std::path::{Path, PathBuf};

use super::launch::HeaderLibrary;
use super::{Kernel, Language, Launch, Project, Selection, StandaloneKernel, block};
use crate::includes;
use crate::includes::{IncludedFile, Lookup, Refusal};
use crate::prelude;

/// The folder whose files kernels may include.
const INCLUDE: &str = "include";

/// Everything that is compiled for one kernel with chosen parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name of the kernel that it is a snapshot of.
    pub kernel: String,
    /// Its file, relative to the project folder.
    pub file: PathBuf,
    pub language: Language,
    /// The text without its launch block; lines and columns are those of the file.
    pub text: String,
    /// Project files that it includes, directly or not.
    pub includes: Vec<IncludedFile>,
    /// Toolkit headers that it includes, by name.
    pub system_headers: Vec<String>,
    /// Libraries that it names.
    pub libraries: Vec<HeaderLibrary>,
    /// Parameters, constants, flags and architecture.
    pub selection: Selection,
    /// Its name.
    pub hash: CandidateHash,
}

/// The library that a candidate was compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryVersion {
    /// Which library.
    pub library: HeaderLibrary,
    /// Its version, from its headers.
    pub version: String,
    /// The hash of the names and texts of its files.
    pub content: String,
}

/// The identifier of a candidate: the hash of its compiled text and launch configuration.
///
/// Titles, notes and lineage are excluded, so that renaming does not create another candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CandidateHash(blake3::Hash);

impl Candidate {
    /// The snapshot of a project's kernel.
    ///
    /// # Errors
    /// Every include that must not be compiled.
    pub fn new(
        project: &Project,
        kernel: &Kernel,
        selection: Selection,
    ) -> Result<Self, Vec<Refusal>> {
        let include = Path::new(INCLUDE);
        let lookup = |name: &str| {
            let wanted = include.join(name);
            if let Some(found) = project.includes.iter().find(|file| file.file == wanted) {
                return Lookup::Found(found.source.clone());
            }
            let broken = project.broken.iter().find(|broken| broken.file == wanted);
            broken.map_or(Lookup::Absent, |broken| Lookup::Refused(broken.problem_list()))
        };
        let Kernel { name, file, language, source, launch, .. } = kernel;
        Self::snapshot(
            Parts { name, file, language: *language, source, launch: Some(launch) },
            selection,
            lookup,
        )
    }

    /// The snapshot of a file that belongs to no project: its device part with the local headers and toolkit headers.
    ///
    /// # Errors
    /// All refused includes.
    pub fn standalone(
        kernel: &StandaloneKernel,
        selection: Selection,
    ) -> Result<Self, Vec<Refusal>> {
        let StandaloneKernel { name, file, language, launch, device, .. } = kernel;
        let file = Path::new(file.file_name().unwrap_or(file.as_os_str()));
        let (source, launch) = (&device.text, launch.as_ref());
        let parts = Parts { name, file, language: *language, source, launch };
        Self::snapshot(parts, selection, |name| device.lookup(name))
    }

    /// The candidate compiled with these versions of its libraries, which become part of its name.
    #[must_use]
    pub fn with_library_versions(mut self, versions: &[LibraryVersion]) -> Self {
        if versions.is_empty() {
            return self;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.hash.0.as_bytes());
        for LibraryVersion { library, version, content } in versions {
            for part in [&library.to_string(), version, content] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        self.hash = CandidateHash(hasher.finalize());
        self
    }

    fn snapshot(
        parts: Parts<'_>,
        selection: Selection,
        lookup: impl FnMut(&str) -> Lookup,
    ) -> Result<Self, Vec<Refusal>> {
        let text = without_block(parts.file, parts.source);
        let closure = match parts.language {
            Language::Cuda => includes::closure(&parts.file.display().to_string(), &text, lookup)?,
            // PTX has no preprocessor, and a Triton kernel imports nothing but Triton.
            Language::Ptx | Language::Triton => includes::Closure::default(),
        };
        let hash = hash(&text, &closure.files, &selection, parts.launch);
        Ok(Self {
            kernel: parts.name.to_owned(),
            file: parts.file.to_owned(),
            language: parts.language,
            text,
            includes: closure.files,
            system_headers: closure.system.into_keys().collect(),
            libraries: parts.launch.map(|launch| launch.libraries.clone()).unwrap_or_default(),
            selection,
            hash,
        })
    }
}

#[derive(Clone, Copy)]
struct Parts<'a> {
    name: &'a str,
    file: &'a Path,
    language: Language,
    source: &'a str,
    launch: Option<&'a Launch>,
}

/// The text with the launch block blanked, so that editing a title does not cause a recompilation. Line numbers and the
/// columns after the block are kept, but not the length of the block.
fn without_block(file: &Path, source: &str) -> String {
    let block = block::find(file, source).ok().flatten().unwrap_or(0..0);
    let inside = &source[block.clone()];
    let mut text = String::with_capacity(source.len());
    text.push_str(&source[..block.start]);
    match inside.rsplit_once('\n') {
        Some((before, last)) => {
            text.extend(std::iter::repeat_n('\n', before.matches('\n').count() + 1));
            text.extend(last.chars().map(|_| ' '));
        }
        None => text.extend(inside.chars().map(|_| ' ')),
    }
    text.push_str(&source[block.end..]);
    text
}

fn hash(
    text: &str,
    includes: &[IncludedFile],
    selection: &Selection,
    launch: Option<&Launch>,
) -> CandidateHash {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add("lightbench.candidate/1");
    add(&prelude::VERSION.to_string());
    add(text);
    for file in includes {
        add(&file.name);
        add(&file.text);
    }
    add("selection");
    // The debug form names every field, so that a new field makes a new hash.
    add(&without_unused(&format!("{selection:?}")));
    if let Some(launch) = launch {
        let mut launch = launch.clone();
        for prose in [&mut launch.title, &mut launch.note, &mut launch.lineage] {
            prose.clear();
        }
        launch.expect = None;
        add(&without_unused(&format!("{launch:?}")));
    }
    CandidateHash(hasher.finalize())
}

/// Leaves out what only Triton kernels and kernels with libraries have: stored runs of other kernels keep their identity.
fn without_unused(text: &str) -> String {
    text.replace(", triton: None }", " }")
        .replace(", triton: [] }", " }")
        .replace(", libraries: [], architecture: ", ", architecture: ")
}

impl fmt::Display for CandidateHash {
    /// The first twelve digits, enough to distinguish candidates of one project; `{:#}` shows all.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.to_hex();
        formatter.write_str(if formatter.alternate() { whole.as_str() } else { &whole[..12] })
    }
}

impl fmt::Debug for CandidateHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CandidateHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/*@ lightbench(\n    title: \"one\",\n    steps: [launch(kernel: \"f\", grid: [1], block: [32])],\n) @*/\n__global__ void f() {}\n";

    fn candidate(source: &str) -> Candidate {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.cu");
        std::fs::write(&path, source).unwrap();
        let kernel = Kernel::load_standalone(&path).unwrap();
        let selection = Selection {
            parameters: Vec::new(),
            constants: Vec::new(),
            options: Vec::new(),
            architecture: super::super::launch::Architecture::Portable,
            name_expressions: vec!["f".to_owned()],
            triton: Vec::new(),
        };
        Candidate::standalone(&kernel, selection).unwrap()
    }

    #[test]
    fn prose_is_not_identity_and_everything_else_is() {
        let check = |old: &str, new: &str, same: bool| {
            assert!(SOURCE.contains(old));
            let changed = candidate(&SOURCE.replace(old, new));
            assert_eq!(changed.hash == candidate(SOURCE).hash, same, "{old} → {new}");
        };
        check("one", "two", true);
        check("steps", "note: \"why\",  steps", true);
        check("title: \"one\"", "title: \"一つ\"", true);
        check("[32]", "[64]", false);
        check("f() {}", "f() { }", false);
    }

    #[test]
    fn the_version_of_a_library_is_identity() {
        let named = SOURCE.replace("    steps", "    libraries: [cutlass],\n    steps");
        let named = candidate(&named);
        assert_eq!(named.libraries, [HeaderLibrary::Cutlass]);
        assert_ne!(named.hash, candidate(SOURCE).hash, "the name of the library");
        assert_eq!(named.clone().with_library_versions(&[]).hash, named.hash);
        let with = |version: &str, content: &str| {
            let (version, content) = (version.to_owned(), content.to_owned());
            let version = LibraryVersion { library: HeaderLibrary::Cutlass, version, content };
            named.clone().with_library_versions(&[version]).hash
        };
        assert_eq!(with("4.2.0", "a"), with("4.2.0", "a"));
        assert_ne!(with("4.2.0", "a"), named.hash);
        assert_ne!(with("4.2.0", "a"), with("4.2.1", "a"), "another version");
        assert_ne!(with("4.2.0", "a"), with("4.2.0", "b"), "other headers of the same version");
    }

    #[test]
    fn a_kernel_without_libraries_keeps_its_identity() {
        let check = |source: &str, named: bool| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("f.cu");
            std::fs::write(&path, source).unwrap();
            let launch = Kernel::load_standalone(&path).unwrap().launch.unwrap();
            assert_eq!(without_unused(&format!("{launch:?}")).contains("libraries"), named);
        };
        check(SOURCE, false);
        check(&SOURCE.replace("    steps", "    libraries: [cutlass],\n    steps"), true);
    }

    #[test]
    fn the_block_is_blanked_and_lines_stay() {
        let text = candidate(SOURCE).text;
        assert_eq!(text.lines().count(), SOURCE.lines().count());
        assert_eq!(text.lines().last(), SOURCE.lines().last());
        assert!(!text.contains("title"), "{text}");
    }
}
