//! What computes the expected outputs of a workload: a program on the session's device, or Python.

use std::path::PathBuf;

use lightbench_primitives::scalar_value::ScalarValue;
use serde::{Deserialize, Serialize};

use crate::program::Program;

/// What computes the expected outputs of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ReferenceSource {
    /// Steps that the session's device runs.
    Program(Program),
    /// A call of the project's Python function. The session asks for results that it does not keep.
    Python(PythonCall),
}

/// A call of a Python reference; the inputs are those of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PythonCall {
    /// The precision of the computation.
    pub precision: Precision,
    /// Axes and scalars by name.
    pub values: Vec<(String, ScalarValue)>,
}

/// The precision in which a Python reference computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// In f64, with magnitudes.
    Exact,
    /// In f32.
    Single,
    /// In the types that the text requests.
    Written,
}

/// Results of a Python reference for the inputs of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuppliedResults {
    /// The precision of the computation.
    pub precision: Precision,
    /// The folder with their files, `values-N` and `magnitudes-N` for the output with the index N.
    pub folder: PathBuf,
}

/// A workload that the reference in Python does not compute within its limits of time and memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reference.py, workload `{workload}`: {reason}")]
pub struct ReferenceTooLarge {
    /// The workload, which may be held out.
    pub workload: String,
    /// The limit, and what exceeded it.
    pub reason: String,
}

impl Precision {
    /// The name in requests to the Python worker, and of the folder with the results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Single => "single",
            Self::Written => "written",
        }
    }
}

/// The file with the values of an output, in its strides: f64 for floats, else of its dtype.
pub(crate) fn values_file(tensor: usize) -> String {
    format!("values-{tensor}")
}

/// The file with the magnitudes of an output, f64 in its strides.
pub(crate) fn magnitudes_file(tensor: usize) -> String {
    format!("magnitudes-{tensor}")
}
