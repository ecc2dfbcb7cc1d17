//! Cases for tests, without a project.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::Purpose;
use lightbench_project::compare::Comparator;
use lightbench_project::definition::Subnormals;
use lightbench_project::fill::Fill;
use lightbench_project::manifest::{Accuracy, Distribution, Init};
use lightbench_project::tensor::{Domain, Role};

use super::case::{Case, TensorCase};

pub(super) const ALL_DISTRIBUTIONS: [Distribution; 5] = [
    Distribution::AsDeclared,
    Distribution::Scaled,
    Distribution::Shifted,
    Distribution::HeavyTail,
    Distribution::Exact,
];

pub fn case(accuracy: Accuracy, tensors: Vec<TensorCase>) -> Case {
    let subnormals = Subnormals::default();
    Case { workload: "test".to_owned(), purpose: Purpose::Verify, accuracy, subnormals, tensors }
}

pub fn input(name: &str, dtype: Dtype, dims: &[u64], fill: Fill<u64>) -> TensorCase {
    tensor(name, dtype, dims, Role::Input { fill })
}

pub fn output(dtype: Dtype, dims: &[u64], compare: Comparator<u64>) -> TensorCase {
    tensor("y", dtype, dims, Role::Output { init: Init::Undefined, compare })
}

pub fn elementwise(terms: u64) -> Comparator<u64> {
    Comparator::Elementwise { terms, factor: 4.0, rms: true }
}

fn tensor(name: &str, dtype: Dtype, dims: &[u64], role: Role<u64>) -> TensorCase {
    let mut strides = vec![1; dims.len()];
    for index in (1..dims.len()).rev() {
        strides[index - 1] = strides[index] * dims[index];
    }
    let elements = dims.iter().product();
    TensorCase {
        name: name.to_owned(),
        dtype,
        dims: dims.to_vec(),
        strides,
        elements,
        span: elements,
        bytes: (elements * dtype.bits()).div_ceil(8),
        align: 256,
        role,
        domain: Domain::Any,
        distributions: ALL_DISTRIBUTIONS.to_vec(),
        scales: None,
    }
}

/// The same with other strides.
pub fn strided(tensor: TensorCase, strides: &[u64]) -> TensorCase {
    let reach: u64 = tensor.dims.iter().zip(strides).map(|(dim, stride)| (dim - 1) * stride).sum();
    let span = reach + 1;
    let bytes = (span * tensor.dtype.bits()).div_ceil(8);
    TensorCase { strides: strides.to_vec(), span, bytes, ..tensor }
}

/// The same in another domain.
pub fn within(tensor: TensorCase, domain: Domain<u64>) -> TensorCase {
    TensorCase { domain, ..tensor }
}
