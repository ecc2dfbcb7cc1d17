//! The Cholesky factor of a small covariance matrix.

/// Added to the diagonal, in this order, if rounding has made a matrix indefinite.
const JITTERS: [f64; 5] = [0.0, 1e-10, 1e-8, 1e-6, 1e-4];

/// A lower triangle whose product with its transpose is the matrix; rows one after another.
#[derive(Clone, Debug)]
pub(super) struct Cholesky {
    size: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factorises a matrix given by its entries, of which only the lower triangle is read. `None` if it stays
    /// indefinite with the largest jitter.
    pub(super) fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut matrix = Vec::with_capacity(size * (size + 1) / 2);
        for row in 0..size {
            matrix.extend((0..=row).map(|column| entry(row, column)));
        }
        JITTERS.iter().find_map(|&jitter| {
            let lower = factorise(size, matrix.clone(), jitter)?;
            Some(Self { size, lower })
        })
    }

    /// The logarithm of the matrix's determinant.
    pub(super) fn log_determinant(&self) -> f64 {
        2.0 * (0..self.size).map(|row| pxfm::f_log(self.row(row)[row])).sum::<f64>()
    }

    /// The factor's inverse times a vector.
    pub(super) fn solve_lower(&self, right: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(self.size);
        for (row, value) in right.iter().enumerate().take(self.size) {
            let entries = self.row(row);
            let known = dot(&entries[..row], &solved);
            solved.push((value - known) / entries[row]);
        }
        solved
    }

    /// The matrix's inverse times a vector.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solved = self.solve_lower(right);
        for row in (0..self.size).rev() {
            let entries = self.row(row);
            solved[row] /= entries[row];
            let own = solved[row];
            for (value, entry) in solved[..row].iter_mut().zip(entries) {
                *value -= entry * own;
            }
        }
        solved
    }

    fn row(&self, row: usize) -> &[f64] {
        let start = row * (row + 1) / 2;
        &self.lower[start..start + row + 1]
    }
}

fn factorise(size: usize, mut lower: Vec<f64>, jitter: f64) -> Option<Vec<f64>> {
    for row in 0..size {
        let (done, rest) = lower.split_at_mut(row * (row + 1) / 2);
        let own = &mut rest[..=row];
        for column in 0..row {
            let start = column * (column + 1) / 2;
            let other = &done[start..=start + column];
            own[column] = (own[column] - dot(&own[..column], other)) / other[column];
        }
        let left = own[row] + jitter - dot(&own[..row], &own[..row]);
        // NaN fails this comparison too.
        own[row] = Some(left).filter(|left| *left > 0.0)?.sqrt();
    }
    Some(lower)
}

/// The dot product over the length of the shorter slice. Four independent sums, because a single sum would wait for
/// every addition.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let length = left.len().min(right.len());
    let (left, right) = (left[..length].chunks_exact(4), right[..length].chunks_exact(4));
    let rest = left.remainder().iter().zip(right.remainder());
    let rest: f64 = rest.map(|(left, right)| left * right).sum();
    let mut sums = [0.0; 4];
    for (left, right) in left.zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    sums[0] + sums[1] + (sums[2] + sums[3]) + rest
}
