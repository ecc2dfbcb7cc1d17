//! Calls of a vendor library as data: baselines that run on the same buffers as a kernel.

use std::path::PathBuf;

use lightbench_primitives::dtype::Dtype;
use serde::{Deserialize, Serialize};

use super::execution::{BufferId, LaunchFault};

/// A call of a library on buffers of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryRun {
    /// The computation.
    pub product: Product,
    /// Candidate paths of the library; the first that loads is used.
    pub files: Vec<PathBuf>,
    /// The factors and the product.
    pub buffers: [BufferId; 3],
}

/// A product of matrices, `c = a b`, by cuBLAS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Rows of `a` and `c`.
    pub m: u32,
    /// Columns of `b` and `c`.
    pub n: u32,
    /// Columns of `a`, rows of `b`.
    pub k: u32,
    /// The factors and the product.
    pub matrices: [Matrix; 3],
    /// In which precision it adds and multiplies.
    pub compute: Compute,
}

/// The layout of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// The type of its elements.
    pub dtype: Dtype,
    /// The contiguous dimension.
    pub order: Order,
    /// Elements from one row, or column, to the next.
    pub leading: u32,
}

/// The contiguous dimension of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The elements of a row.
    Rows,
    /// The elements of a column.
    Columns,
}

/// In which precision a library adds and multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compute {
    /// f64 throughout.
    F64,
    /// f32 throughout; narrower factors are not narrowed further.
    F32,
    /// f32 factors are narrowed to TF32.
    Tf32,
    /// f32 factors are narrowed to bf16.
    Bf16,
    /// f32 factors are narrowed to f16.
    F16,
}

impl Compute {
    /// The name in cuBLAS, with its meaning.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::F64 => "CUBLAS_COMPUTE_64F",
            Self::F32 => "CUBLAS_COMPUTE_32F, which permits no TF32",
            Self::Tf32 => "CUBLAS_COMPUTE_32F_FAST_TF32",
            Self::Bf16 => "CUBLAS_COMPUTE_32F_FAST_16BF",
            Self::F16 => "CUBLAS_COMPUTE_32F_FAST_16F",
        }
    }
}

/// The library that ran, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryUsed {
    pub name: String,
    /// The version that it reports.
    pub version: String,
    /// Its file, or its name for the system's loader.
    pub file: String,
    /// The function and its settings.
    pub call: String,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryOutcome {
    /// Which library ran.
    pub used: LibraryUsed,
    /// Faults during the call.
    pub faults: Vec<LaunchFault>,
}

/// Why a library does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// The device cannot run libraries.
    #[error("libraries run on GPUs only")]
    NoGpu,
    /// It is nowhere.
    #[error(
        "cuBLAS is missing ({reason}); it comes with the CUDA toolkit, or by `pip install nvidia-cublas`"
    )]
    Missing {
        /// The loader's error for the last path.
        reason: String,
    },
    /// It lacks a function.
    #[error("{file} has no `{symbol}`")]
    Symbol {
        /// The library.
        file: String,
        /// The function.
        symbol: &'static str,
    },
    /// It refuses a call.
    #[error("cuBLAS refuses {call}: {status}")]
    Call {
        /// The function.
        call: &'static str,
        /// The returned status.
        status: String,
    },
}

/// A product in column-major form: `result = left right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InColumns {
    /// Rows of the result.
    pub rows: u32,
    /// Columns of the result.
    pub columns: u32,
    /// Columns of the left factor.
    pub terms: u32,
    /// The left factor: the matrix and its interpretation.
    pub left: (Factor, Reading),
    /// The right factor.
    pub right: (Factor, Reading),
}

/// A factor, by its place among the matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The first.
    A,
    /// The second.
    B,
}

impl Factor {
    /// Its place among the matrices of a [`Product`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}

/// How row- or column-major memory is interpreted as column-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Unchanged.
    AsItLies,
    /// Rows for columns.
    Transposed,
}

impl Product {
    /// The product for a column-major library: a row-major matrix read as column-major is its transpose, and the
    /// transpose of a product is the product of the transposes in reverse order.
    #[must_use]
    pub fn in_columns(&self) -> InColumns {
        let [a, b, c] = &self.matrices;
        let reading = |matrix: &Matrix| match matrix.order == c.order {
            true => Reading::AsItLies,
            false => Reading::Transposed,
        };
        let (a, b) = ((Factor::A, reading(a)), (Factor::B, reading(b)));
        let (m, n, terms) = (self.m, self.n, self.k);
        match c.order {
            Order::Columns => InColumns { rows: m, columns: n, terms, left: a, right: b },
            Order::Rows => InColumns { rows: n, columns: m, terms, left: b, right: a },
        }
    }

    /// The call as text for the user.
    #[must_use]
    pub fn words(&self) -> String {
        format!("cublasGemmEx with {}", self.compute.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of small integers as it lies in memory.
    fn laid(
        rows: u32,
        columns: u32,
        matrix: Matrix,
        element: impl Fn(u32, u32) -> i64,
    ) -> Vec<i64> {
        let mut memory = vec![0; (rows.max(columns) * matrix.leading.max(1)) as usize + 64];
        for row in 0..rows {
            for column in 0..columns {
                memory[place(matrix, row, column)] = element(row, column);
            }
        }
        memory
    }

    fn place(matrix: Matrix, row: u32, column: u32) -> usize {
        let (line, within) = match matrix.order {
            Order::Rows => (row, column),
            Order::Columns => (column, row),
        };
        (line * matrix.leading + within) as usize
    }

    /// Computes a product as a column-major library does.
    fn by_columns(product: &Product, factors: [&[i64]; 2], result: &mut [i64]) {
        let InColumns { rows, columns, terms, left, right } = product.in_columns();
        let read = |(factor, reading): (Factor, Reading), row: u32, column: u32| {
            let leading = product.matrices[factor.index()].leading;
            let at = match reading {
                Reading::AsItLies => column * leading + row,
                Reading::Transposed => row * leading + column,
            };
            factors[factor.index()][at as usize]
        };
        for row in 0..rows {
            for column in 0..columns {
                let sum = (0..terms).map(|term| read(left, row, term) * read(right, term, column));
                result[(column * product.matrices[2].leading + row) as usize] = sum.sum();
            }
        }
    }

    #[test]
    fn every_order_of_rows_and_columns_is_the_same_product() {
        let (m, n, k) = (3, 5, 4);
        let a = |row: u32, column: u32| i64::from(7 * row + column) - 9;
        let b = |row: u32, column: u32| i64::from(row * 3) - i64::from(2 * column);
        let matrix = |order, rows: u32, columns: u32| {
            let leading = 2 + match order {
                Order::Rows => columns,
                Order::Columns => rows,
            };
            Matrix { dtype: Dtype::F32, order, leading }
        };
        for orders in 0..8 {
            let order =
                |bit: u32| if orders >> bit & 1 == 0 { Order::Rows } else { Order::Columns };
            let matrices = [matrix(order(0), m, k), matrix(order(1), k, n), matrix(order(2), m, n)];
            let product = Product { m, n, k, matrices, compute: Compute::F32 };
            let (left, right) = (laid(m, k, matrices[0], a), laid(k, n, matrices[1], b));
            let mut result = laid(m, n, matrices[2], |_, _| 0);
            by_columns(&product, [&left, &right], &mut result);
            let expected = laid(m, n, matrices[2], |row, column| {
                (0..k).map(|term| a(row, term) * b(term, column)).sum()
            });
            assert_eq!(result, expected, "{matrices:?}");
        }
    }
}
