//! A vendor's library as a program, which verification runs in the candidate's place.

use std::path::PathBuf;

use lightbench_device::library::{Compute, Matrix, Order, Product};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::launch::Buffer;
use lightbench_project::library::{Gemm, Orientation};
use lightbench_project::manifest::Accuracy;
use lightbench_tensors::case::{Case, TensorCase};

use super::program::{LibraryStep, Program, Step};

impl Program {
    /// The call of a library for one workload. `files` are the paths to try.
    ///
    /// # Errors
    /// A sentence: the layout of a matrix is not supported by the library, or the matrix is too large.
    pub fn from_library_call(gemm: &Gemm, case: &Case, files: &[PathBuf]) -> Result<Self, String> {
        let product = product(gemm, case)?;
        let buffers = [gemm.a.tensor, gemm.b.tensor, gemm.c].map(Buffer::Tensor);
        let step = LibraryStep { product, files: files.to_vec(), buffers };
        let (scratch, constants) = (Vec::new(), Vec::new());
        Ok(Self { module: 0, scratch, constants, steps: vec![Step::Library(step)] })
    }
}

/// A tensor as the library sees it.
struct Seen {
    rows: u32,
    columns: u32,
    matrix: Matrix,
}

fn product(gemm: &Gemm, case: &Case) -> Result<Product, String> {
    let a = seen(case, gemm.a.tensor, gemm.a.taken)?;
    let b = seen(case, gemm.b.tensor, gemm.b.taken)?;
    let c = seen(case, gemm.c, Orientation::Untransposed)?;
    if (a.rows, b.columns, a.columns) != (c.rows, c.columns, b.rows) {
        return Err("the sizes of its matrices do not form a product".to_owned());
    }
    Ok(Product {
        m: c.rows,
        n: c.columns,
        k: a.columns,
        compute: compute(a.matrix.dtype, case.accuracy),
        matrices: [a.matrix, b.matrix, c.matrix],
    })
}

fn seen(case: &Case, index: usize, taken: Orientation) -> Result<Seen, String> {
    let tensor = case.tensors.get(index).ok_or("it names a tensor that the case does not have")?;
    let (rows, columns, order, leading) = laid(tensor)?;
    let number = |number: u64| {
        let fits = u32::try_from(number).ok().filter(|number| i32::try_from(*number).is_ok());
        fits.ok_or_else(|| format!("`{}` is larger than it takes", tensor.name))
    };
    let (rows, columns, order) = match (taken, order) {
        (Orientation::Untransposed, order) => (rows, columns, order),
        (Orientation::Transposed, Order::Rows) => (columns, rows, Order::Columns),
        (Orientation::Transposed, Order::Columns) => (columns, rows, Order::Rows),
    };
    let matrix = Matrix { dtype: tensor.dtype, order, leading: number(leading)? };
    Ok(Seen { rows: number(rows)?, columns: number(columns)?, matrix })
}

/// Rows, columns, what lies side by side, and the elements from one row or column to the next.
fn laid(tensor: &TensorCase) -> Result<(u64, u64, Order, u64), String> {
    let (&[rows, columns], &[down, across]) = (tensor.dims.as_slice(), tensor.strides.as_slice())
    else {
        return Err(format!("`{}` is no matrix", tensor.name));
    };
    // The stride of a single row or a single column is not used.
    if (across == 1 || columns == 1) && (down >= columns || rows == 1) {
        return Ok((rows, columns, Order::Rows, down.max(columns)));
    }
    if (down == 1 || rows == 1) && (across >= rows || columns == 1) {
        return Ok((rows, columns, Order::Columns, across.max(rows)));
    }
    Err(format!("in `{}` neither rows nor columns are contiguous", tensor.name))
}

/// The precision that the task permits: the narrowest that it names is what a user would take.
fn compute(dtype: Dtype, accuracy: Accuracy) -> Compute {
    if dtype == Dtype::F64 {
        return Compute::F64;
    }
    // Narrow factors are multiplied as they are, and added in f32.
    if dtype != Dtype::F32 {
        return Compute::F32;
    }
    match accuracy {
        Accuracy::Tf32 => Compute::Tf32,
        Accuracy::Bf16 | Accuracy::F8 => Compute::Bf16,
        Accuracy::F16 => Compute::F16,
        Accuracy::F64 | Accuracy::F32 | Accuracy::Exact => Compute::F32,
    }
}

#[cfg(test)]
mod tests {
    use lightbench_project::compare::Comparator;
    use lightbench_project::definition::Subnormals;
    use lightbench_project::library::Operand;
    use lightbench_project::manifest::{Distribution, Init, Purpose};
    use lightbench_project::tensor::{Domain, Role};

    use super::*;

    fn tensor(name: &str, dims: [u64; 2], strides: [u64; 2]) -> TensorCase {
        TensorCase {
            name: name.to_owned(),
            dtype: Dtype::F32,
            dims: dims.to_vec(),
            strides: strides.to_vec(),
            elements: dims[0] * dims[1],
            span: dims[0] * dims[1],
            bytes: 4 * dims[0] * dims[1],
            align: 256,
            role: Role::Output { init: Init::Undefined, compare: Comparator::IntegerExact },
            domain: Domain::Any,
            distributions: vec![Distribution::AsDeclared],
            scales: None,
        }
    }

    fn case(tensors: &[TensorCase; 3]) -> Case {
        Case {
            workload: "w".to_owned(),
            purpose: Purpose::Measure,
            accuracy: Accuracy::F32,
            subnormals: Subnormals::default(),
            tensors: tensors.to_vec(),
        }
    }

    fn gemm(taken: Orientation) -> Gemm {
        let operand = |tensor, taken| Operand { tensor, taken };
        Gemm { a: operand(0, Orientation::Untransposed), b: operand(1, taken), c: 2 }
    }

    #[test]
    fn matrices_are_read_as_they_lie() {
        use Order::{Columns, Rows};
        let check = |b: TensorCase, taken, expected: (Order, u32)| {
            let case = case(&[tensor("a", [3, 4], [4, 1]), b, tensor("c", [3, 5], [8, 1])]);
            let product = product(&gemm(taken), &case).unwrap();
            assert_eq!((product.m, product.n, product.k), (3, 5, 4));
            let [a, b, c] = product.matrices;
            assert_eq!((a.order, a.leading, c.order, c.leading), (Rows, 4, Rows, 8));
            assert_eq!((b.order, b.leading), expected);
        };
        check(tensor("b", [4, 5], [5, 1]), Orientation::Untransposed, (Rows, 5));
        check(tensor("b", [4, 5], [7, 1]), Orientation::Untransposed, (Rows, 7));
        check(tensor("b", [4, 5], [1, 4]), Orientation::Untransposed, (Columns, 4));
        check(tensor("b", [5, 4], [4, 1]), Orientation::Transposed, (Columns, 4));
        check(tensor("b", [5, 4], [1, 6]), Orientation::Transposed, (Rows, 6));
    }

    #[test]
    fn what_the_library_cannot_read_is_said() {
        let check = |b: TensorCase, expected: &str| {
            let case = case(&[tensor("a", [3, 4], [4, 1]), b, tensor("c", [3, 5], [5, 1])]);
            assert_eq!(product(&gemm(Orientation::Untransposed), &case).unwrap_err(), expected);
        };
        check(tensor("b", [4, 5], [10, 2]), "in `b` neither rows nor columns are contiguous");
        check(tensor("b", [5, 4], [4, 1]), "the sizes of its matrices do not form a product");
        check(tensor("b", [4, 1 << 31], [1 << 31, 1]), "`b` is larger than it takes");
        let one = case(&[
            tensor("a", [1, 8], [8, 1]),
            tensor("b", [8, 1], [1, 1]),
            tensor("c", [1, 1], [1, 1]),
        ]);
        let product = product(&gemm(Orientation::Untransposed), &one).unwrap();
        assert_eq!(product.matrices.map(|matrix| matrix.leading), [8, 1, 1]);
    }
}
