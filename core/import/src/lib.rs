//! Projects from the files of public task sets.
//!
//! ```text
//!  file, folder ──► detect ──► one module per format ──► Draft + Report ──► render ──► load ──► new folder
//! ```
//!
//! Importing executes no Python and compiles nothing. A format's module computes a [`Draft`] and a [`Report`] from text;
//! [`write()`] renders the draft, loads the result as any project is loaded, and only then gives the folder its name.

mod detect;
mod draft;
mod error;
mod extension;
mod flashinfer;
mod format;
mod input;
mod json;
mod kernel_bench;
mod names;
mod python;
mod render;
mod report;
mod ron;
mod starter;
mod triton;
mod triton_parse;
mod undefined;
mod wrapper;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use lightbench_primitives::dtype::Dtype;

pub use detect::{Detected, detect, holds_traces};
pub use draft::{
    Draft, KernelFile, ReferenceFile, axis, expression, operation, scalar, tensor, workload,
};
pub use error::ImportError;
pub use format::Format;
pub use input::{Input, InputFile, InputKind};
pub use json::Json;
pub use names::{NameGiver, relative_path};
pub use report::{LeftOut, Need, Place, PlacedQuestion, Question, Report};
pub use starter::starter;
pub use write::{Written, write};

/// A project that was computed and not written yet.
#[derive(Debug)]
pub struct Imported {
    /// The project.
    pub draft: Draft,
    /// What the user must know about it.
    pub report: Report,
}

/// What the user states beside the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A file with the reference, for formats that have none.
    pub reference: Option<PathBuf>,
    /// The dtype to take where the input has several.
    pub dtype: Option<Dtype>,
    /// The kernel to take where the input has several.
    pub kernel: Option<String>,
    /// For a task of KernelBench: a file with an answer, which becomes a kernel.
    pub answer: Option<PathBuf>,
}

/// Reads a file or a folder and computes the project that it describes.
///
/// # Errors
///
/// The path cannot be read within the limits, or its content has no project: where, what was found, what is expected.
pub fn import(path: &Path) -> Result<Imported, ImportError> {
    import_with(path, &Options::default())
}

/// As [`import`], with what the user states beside the input.
///
/// # Errors
///
/// As [`import`].
pub fn import_with(path: &Path, options: &Options) -> Result<Imported, ImportError> {
    let input = Input::read(path)?;
    let detected = detect(&input)?;
    if let Some(answer) = &options.answer
        && !matches!(detected, Detected::KernelBench(_))
    {
        let found = "an answer to an input that is no task of KernelBench";
        return Err(ImportError::new(answer, "", found, "a task with `class Model`"));
    }
    let read = |path: &Option<PathBuf>| path.as_deref().map(input::read_file).transpose();
    match detected {
        Detected::FlashInfer(task) => flashinfer::import(&task),
        Detected::KernelBench(task) => kernel_bench::import(&task, read(&options.answer)?.as_ref()),
        Detected::Extension(file) => {
            extension::import(&file, read(&options.reference)?.as_ref(), options.dtype)
        }
        Detected::Triton(file) => {
            triton::import(&file, read(&options.reference)?.as_ref(), options.dtype)
        }
        Detected::TritonParse(file) => {
            let reference = read(&options.reference)?;
            triton_parse::import(&file, reference.as_ref(), options.kernel.as_deref())
        }
        Detected::Traces { file } => Err(ImportError::new(
            &file,
            "",
            "traces of runs, which belong to the history of a project",
            "a task: `lightbench import FILE PROJECT` adds traces to a project",
        )),
    }
}
