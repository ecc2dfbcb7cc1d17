//! What computes the expected outputs of a workload: a program on the session's device, or Python.

use std::path::PathBuf;

use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::PythonReference;
use serde::{Deserialize, Serialize};

use crate::device_session::{Admission, JudgeRequest, ModuleImage};
use crate::program::Program;
use crate::python_results::CallInputs;

/// The reference of a project, compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledReference {
    /// The modules of a kernel.
    Modules(Vec<ModuleImage>),
    /// A function of Python.
    Python(PythonReference),
}

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
    /// The folder with the files of [`values_file`] and [`magnitudes_file`].
    pub folder: PathBuf,
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

impl JudgeRequest {
    /// The inputs of a call of a Python reference.
    pub(crate) fn call_inputs(&self) -> CallInputs<'_> {
        CallInputs { case: &self.case, recipe: self.recipe, part: self.part }
    }

    /// The call of the reference, or of its twin, in this precision.
    pub(crate) fn python_call(&self, precision: Precision) -> Option<&PythonCall> {
        let twin = match &self.admission {
            Some(Admission::ByTwin(twin)) => Some(twin),
            Some(Admission::ByReference) | None => None,
        };
        let mut calls =
            [Some(&self.reference), twin].into_iter().flatten().filter_map(|source| match source {
                ReferenceSource::Python(call) => Some(call),
                ReferenceSource::Program(_) => None,
            });
        calls.find(|call| call.precision == precision)
    }
}

impl CompiledReference {
    /// The modules of a kernel; none of a Python function.
    #[must_use]
    pub fn modules(&self) -> &[ModuleImage] {
        match self {
            Self::Modules(modules) => modules,
            Self::Python(_) => &[],
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
