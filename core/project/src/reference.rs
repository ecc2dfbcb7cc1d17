//! The reference of a project: a kernel in f64, or a Python function.

use std::path::{Path, PathBuf};

use super::Kernel;
use super::manifest::IntermediateRounding;

/// What computes the expected outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// `reference.cu`: f64 results and magnitudes, written by the author of the project.
    Kernel(Box<Kernel>),
    /// `reference.py`: a function of NumPy or PyTorch; the magnitudes are derived from it.
    Python(PythonReference),
}

/// A reference in Python. Its text is not parsed before it runs, because no Python is needed to load a project.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonReference {
    /// The file, relative to the project folder.
    pub file: PathBuf,
    /// The whole text of the file.
    pub source: String,
    /// What roundings to f16 and bf16 inside it mean.
    pub intermediate_rounding: IntermediateRounding,
}

/// A file of Python whose code runs in a confined worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonText {
    /// The file, relative to the project folder.
    pub file: PathBuf,
    /// The whole text of the file.
    pub source: String,
}

impl Reference {
    /// The file, relative to the project folder.
    #[must_use]
    pub fn file(&self) -> &Path {
        match self {
            Self::Kernel(kernel) => &kernel.file,
            Self::Python(python) => &python.file,
        }
    }

    /// The whole text of the file.
    #[must_use]
    pub fn source(&self) -> &str {
        match self {
            Self::Kernel(kernel) => &kernel.source,
            Self::Python(python) => &python.source,
        }
    }

    /// The kernel, if it is one.
    #[must_use]
    pub fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Kernel(kernel) => Some(kernel),
            Self::Python(_) => None,
        }
    }
}
