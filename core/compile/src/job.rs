//! A compilation: all inputs that determine its result.

use std::path::PathBuf;

use lightbench_device::ComputeCapability;
use lightbench_project::Language;
use lightbench_project::candidate::Candidate;
use lightbench_project::launch::{Architecture, HeaderLibrary};
use lightbench_project::prelude;

use super::cache::Key;
use super::protocol::{AssembleRequest, CompileRequest};
use super::source_names;
use super::target::{Portability, Target};
use super::triton::TritonSource;

/// Part of every cache key. Raise it when the options or inputs of the compiler change.
const SCHEMA: &str = "lightbench.compile/2";

/// Optimised code, or code that follows the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// Optimised, with line information: this build is run and measured.
    #[default]
    Optimised,
    /// With device debug information and no optimisation (`-G`): dead reads and stores survive.
    AsWritten,
}

/// The text to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// CUDA C++.
    Cuda(CudaSource),
    /// PTX, to be assembled.
    Ptx {
        /// The file's name.
        name: String,
        /// The text.
        text: String,
    },
    /// Python with `@triton.jit`.
    Triton(TritonSource),
}

/// A kernel file with the headers that it includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSource {
    /// The file's name, as diagnostics show it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Headers by the name in the directive; the prelude is among them.
    pub headers: Vec<(String, String)>,
    /// The kernels to launch, as C++ expressions: templates are instantiated by naming them.
    pub name_expressions: Vec<String>,
    /// Libraries of headers, whose folders the compiler reads.
    pub libraries: Vec<HeaderLibrary>,
    /// Options translated from the closed list of flags.
    pub options: Vec<String>,
}

/// A compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileJob {
    /// The source.
    pub source: Source,
    /// The architecture.
    pub target: Target,
    /// Optimised or not.
    pub build: Build,
}

impl CompileJob {
    /// The compilation of a candidate for a compute capability.
    #[must_use]
    pub fn new(candidate: &Candidate, capability: ComputeCapability, build: Build) -> Self {
        let selection = &candidate.selection;
        let is_specific = selection.architecture == Architecture::Specific
            || match candidate.language {
                Language::Cuda => false,
                Language::Ptx => lightbench_ptx::header::is_specific(&candidate.text),
                // It always generates code for one architecture.
                Language::Triton => true,
            };
        let portability = if is_specific { Portability::Specific } else { Portability::Portable };
        let name = candidate.file.display().to_string();
        let text = || candidate.text.clone();
        let source = match candidate.language {
            Language::Triton => {
                let kernels = selection.triton.clone();
                Source::Triton(TritonSource { name, text: text(), kernels })
            }
            Language::Cuda => Source::Cuda(cuda_source(candidate, name)),
            Language::Ptx => Source::Ptx { name, text: text() },
        };
        Self { source, target: Target { capability, portability }, build }
    }

    /// Cache key of the result, for a compiler with this identity, which includes the identities of libraries.
    #[must_use]
    pub fn key(&self, compiler: &str) -> Key {
        let target = self.target.to_string();
        let version = prelude::VERSION.to_string();
        let build: &str = match self.build {
            Build::Optimised => "optimised",
            Build::AsWritten => "as written",
        };
        let own;
        let mut parts = vec![SCHEMA, compiler, &version, &target, build];
        match &self.source {
            Source::Ptx { text, .. } => parts.extend(["ptx", text]),
            Source::Triton(triton) => {
                own = triton.key_parts();
                parts.push("triton");
                parts.extend(own.iter().map(String::as_str));
            }
            Source::Cuda(cuda) => {
                parts.extend(["cuda", &cuda.name, &cuda.text, "headers"]);
                parts.extend(cuda.headers.iter().flat_map(|(name, text)| [&**name, &**text]));
                parts.push("expressions");
                parts.extend(cuda.name_expressions.iter().map(String::as_str));
                parts.push("options");
                parts.extend(cuda.options.iter().map(String::as_str));
            }
        }
        Key::new(parts.into_iter().map(str::as_bytes))
    }

    /// The request to a compile worker.
    pub(super) fn compile_request(
        &self,
        cuda: &CudaSource,
        include_folders: Vec<PathBuf>,
    ) -> CompileRequest {
        let mut options = vec![
            format!("--gpu-architecture={}", self.target),
            "--ptxas-options=-v".to_owned(),
            format!("--pre-include={}", prelude::PRELUDE_NAME),
            // nvcc has 128-bit integers on every host that has them.
            "--device-int128".to_owned(),
            // A kernel file has no host: what is not annotated is device code, constexpr functions above all.
            "--device-as-default-execution-space".to_owned(),
        ];
        options.push(match self.build {
            Build::Optimised => "--generate-line-info".to_owned(),
            Build::AsWritten => "--device-debug".to_owned(),
        });
        options.extend(cuda.options.iter().cloned());
        CompileRequest {
            name: source_names::compiler_name(&cuda.name),
            source: cuda.text.clone(),
            headers: cuda.headers.clone(),
            name_expressions: cuda.name_expressions.clone(),
            options,
            include_folders,
        }
    }

    /// The request to an assembler worker.
    pub(super) fn assemble_request(&self, ptx: &str) -> AssembleRequest {
        let options = match self.build {
            Build::Optimised => vec!["-lineinfo".to_owned()],
            Build::AsWritten => vec!["-g".to_owned()],
        };
        AssembleRequest {
            ptx: ptx.as_bytes().to_vec(),
            architecture: self.target.to_string(),
            options,
        }
    }
}

fn cuda_source(candidate: &Candidate, name: String) -> CudaSource {
    let selection = &candidate.selection;
    let headers = prelude::headers(
        &selection.parameters,
        &selection.constants,
        candidate.system_headers.iter().map(String::as_str),
        &candidate.libraries,
    );
    let included = candidate.includes.iter().map(|file| (file.name.clone(), file.text.clone()));
    CudaSource {
        name,
        text: candidate.text.clone(),
        headers: headers.into_iter().chain(included).collect(),
        name_expressions: selection.name_expressions.clone(),
        libraries: candidate.libraries.clone(),
        options: selection.options.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> CompileJob {
        CompileJob {
            source: Source::Cuda(CudaSource {
                name: "a.cu".to_owned(),
                text: "__global__ void f() {}".to_owned(),
                headers: vec![("h".to_owned(), "text".to_owned())],
                name_expressions: vec!["f".to_owned()],
                libraries: Vec::new(),
                options: vec!["--fmad=false".to_owned()],
            }),
            target: Target {
                capability: ComputeCapability(9, 0),
                portability: Portability::Portable,
            },
            build: Build::Optimised,
        }
    }

    #[test]
    fn everything_that_determines_the_result_changes_the_key() {
        type Change = fn(&mut CompileJob);
        fn cuda(job: &mut CompileJob) -> &mut CudaSource {
            match &mut job.source {
                Source::Cuda(cuda) => cuda,
                Source::Ptx { .. } | Source::Triton(_) => unreachable!("the job is CUDA"),
            }
        }
        let changes: &[(&str, Change)] = &[
            ("name", |job| cuda(job).name.push('x')),
            ("text", |job| cuda(job).text.push(' ')),
            ("header name", |job| cuda(job).headers[0].0.push('x')),
            ("header text", |job| cuda(job).headers[0].1.push('x')),
            ("another header", |job| cuda(job).headers.push((String::new(), String::new()))),
            ("expression", |job| cuda(job).name_expressions[0].push('x')),
            ("option", |job| cuda(job).options.clear()),
            ("target", |job| job.target.portability = Portability::Specific),
            ("build", |job| job.build = Build::AsWritten),
            ("language", |job| {
                let text = "__global__ void f() {}".to_owned();
                job.source = Source::Ptx { name: "a.cu".to_owned(), text };
            }),
        ];
        let key = job().key("13.5");
        assert_eq!(key, job().key("13.5"), "the same job has the same key");
        assert_ne!(key, job().key("13.4"), "another compiler");
        for (what, change) in changes {
            let mut changed = job();
            change(&mut changed);
            assert_ne!(key, changed.key("13.5"), "{what}");
        }
    }
}
