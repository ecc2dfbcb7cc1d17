//! Products of matrices by cuBLAS, baselines that run on a project's tensors.

use lightbench_primitives::dtype::Dtype;

use super::locate::Located;
use super::manifest::LibraryWritten;
use super::problem::Findings;
use super::tensor::{Role, Tensor};

/// `c = a b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gemm {
    pub a: Operand,
    /// The right factor.
    pub b: Operand,
    /// The tensor of the product.
    pub c: usize,
}

/// A factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its tensor.
    pub tensor: usize,
    /// Which of its dimensions are rows.
    pub taken: Orientation,
}

/// The orientation of a tensor as a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Its first dimension counts rows.
    Untransposed,
    /// Its last dimension counts rows.
    Transposed,
}

/// Dtypes that the library supports.
const FLOATS: [Dtype; 4] = [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16];

/// Validates a library; the result is valid only if no problem was reported.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LibraryWritten,
    tensors: &[Tensor],
) -> Gemm {
    let LibraryWritten::CublasGemm { a, b, c, transposed } = written;
    let mut operand = |field: &str, name: &String| {
        let tensor = matrix(findings, at.field(field), name, tensors);
        let taken = if transposed.contains(name) {
            Orientation::Transposed
        } else {
            Orientation::Untransposed
        };
        Operand { tensor, taken }
    };
    let (left, right) = (operand("a", a), operand("b", b));
    let result = matrix(findings, at.field("c"), c, tensors);
    for (index, name) in transposed.iter().enumerate() {
        if name != a && name != b {
            let place = at.field("transposed").item(index);
            findings.unknown(place, "factor", name, &[a.as_str(), b.as_str()]);
        }
    }
    let gemm = Gemm { a: left, b: right, c: result };
    check_shapes(findings, at, &gemm, tensors);
    gemm
}

/// The index of a tensor that can be a matrix.
fn matrix(findings: &mut Findings<'_>, at: &Located, name: &str, tensors: &[Tensor]) -> usize {
    let Some(index) = tensors.iter().position(|tensor| tensor.name == name) else {
        let known: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        findings.unknown(at, "tensor", name, &known);
        return 0;
    };
    let tensor = &tensors[index];
    if tensor.shape.len() != 2 {
        let found = format!("`{name}`, whose dimensions are {}", tensor.shape.len());
        findings.add(at, found, "a tensor with two, rows and columns");
    }
    if !FLOATS.contains(&tensor.dtype) {
        let found = format!("`{name}` is of {}", tensor.dtype.name());
        findings.add(at, found, "f64, f32, f16 or bf16");
    }
    index
}

fn check_shapes(findings: &mut Findings<'_>, at: &Located, gemm: &Gemm, tensors: &[Tensor]) {
    let dims = |operand: Operand| {
        let [first, last] = tensors.get(operand.tensor)?.shape.as_slice() else { return None };
        Some(match operand.taken {
            Orientation::Untransposed => (first, last),
            Orientation::Transposed => (last, first),
        })
    };
    let c = Operand { tensor: gemm.c, taken: Orientation::Untransposed };
    let (Some(left), Some(right), Some(product)) = (dims(gemm.a), dims(gemm.b), dims(c)) else {
        return;
    };
    if left.0 != product.0 || right.1 != product.1 || left.1 != right.0 {
        let expected = "a of m by k, b of k by n and c of m by n, in the same words; `transposed: [\"b\"]` where b is n by k";
        findings.add(at, "shapes that make no product", expected);
    }
    let (a, b, c) = (&tensors[gemm.a.tensor], &tensors[gemm.b.tensor], &tensors[gemm.c]);
    let fits = a.dtype == b.dtype
        && (c.dtype == a.dtype || (c.dtype == Dtype::F32 && a.dtype != Dtype::F64));
    if !fits {
        let found = format!(
            "factors of {} and {}, a product of {}",
            a.dtype.name(),
            b.dtype.name(),
            c.dtype.name()
        );
        findings.add(at, found, "factors of one dtype and a product of the same, or of f32");
    }
    match (&a.role, &b.role, &c.role) {
        (Role::Input { .. }, Role::Input { .. }, Role::Output { .. }) => {}
        (Role::Input { .. } | Role::Output { .. } | Role::Inout { .. }, _, _) => {
            findings.add(
                at,
                "a product that is not an output of two inputs",
                "inputs a and b, output c",
            );
        }
    }
}
