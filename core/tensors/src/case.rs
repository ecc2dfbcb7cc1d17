//! One workload of a definition with all sizes as numbers, without formulas.
//!
//! Cases are sent to the processes that run kernels, which therefore need no project.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::compare::Comparator;
use lightbench_project::definition::Subnormals;
use lightbench_project::manifest::{Accuracy, Distribution};
use lightbench_project::tensor::{Domain, Role, Scales};
use lightbench_project::{Definition, PlanError, Purpose, Workload};
use serde::{Deserialize, Serialize};

/// One workload of a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The workload's name.
    pub workload: String,
    pub purpose: Purpose,
    /// The precision in which the task may be computed.
    pub accuracy: Accuracy,
    /// Whether kernels must keep subnormal numbers of f32 and bf16.
    #[serde(default)]
    pub subnormals: Subnormals,
    /// In the order of the definition.
    pub tensors: Vec<TensorCase>,
}

/// One tensor in one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorCase {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its dimensions; empty for a single element.
    pub dims: Vec<u64>,
    /// Elements between neighbours, for each dimension.
    pub strides: Vec<u64>,
    /// The product of the dimensions.
    pub elements: u64,
    /// Elements from the first to the last in memory, gaps included.
    pub span: u64,
    /// Bytes in memory, gaps included.
    pub bytes: u64,
    /// Every address that it is given is a multiple of this many bytes.
    pub align: u64,
    /// Role, generation and comparison of the tensor.
    pub role: Role<u64>,
    /// The values that it may have.
    pub domain: Domain<u64>,
    /// The inputs that make sense.
    pub distributions: Vec<Distribution>,
    /// Location of the scales, for packed 4-bit dtypes only.
    pub scales: Option<Scales>,
}

impl Case {
    /// A workload of a checked definition.
    ///
    /// # Errors
    /// An expression without a value, which a checked project does not have.
    pub fn new(definition: &Definition, workload: &Workload) -> Result<Self, PlanError> {
        let environment = definition.environment(workload);
        let mut tensors = Vec::new();
        let sized = definition.tensors.iter().zip(&workload.extents).zip(&workload.fills);
        for ((tensor, extent), fill) in sized {
            let resolve = |own| fill.as_ref().unwrap_or(own).resolve(&environment);
            let role = match &tensor.role {
                Role::Input { fill } => Role::Input { fill: resolve(fill)? },
                Role::Output { init, compare } => {
                    Role::Output { init: *init, compare: compare.resolve(&environment)? }
                }
                Role::Inout { fill, compare } => {
                    Role::Inout { fill: resolve(fill)?, compare: compare.resolve(&environment)? }
                }
            };
            tensors.push(TensorCase {
                name: tensor.name.clone(),
                dtype: tensor.dtype,
                dims: extent.dims.clone(),
                strides: extent.strides.clone(),
                elements: extent.elements,
                span: extent.span_elements,
                bytes: extent.bytes,
                align: tensor.align,
                role,
                domain: tensor.domain.resolve(&environment)?,
                distributions: tensor.distributions.clone(),
                scales: tensor.scales,
            });
        }
        Ok(Self {
            workload: workload.name.clone(),
            purpose: workload.purpose,
            accuracy: definition.accuracy,
            subnormals: definition.subnormals,
            tensors,
        })
    }

    /// Bytes of all tensors together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.bytes).sum()
    }
}

impl TensorCase {
    /// Whether the reference also outputs, for each element, the sum of the magnitudes of its terms.
    #[must_use]
    pub fn has_magnitude(&self) -> bool {
        matches!(self.role.compare(), Some(Comparator::Elementwise { .. }))
    }
}
