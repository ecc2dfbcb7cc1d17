//! Rows of probabilities: the fill generates weights, which are divided by the sum of their row.

use lightbench_primitives::dtype::Dtype;

use super::super::element::{power_of_two, store_reals};
use super::place::CHUNK;
use super::reals::Reals;
use super::{InputError, Plan};

/// A tensor of probabilities about to be made.
pub(super) struct Probabilities {
    dtype: Dtype,
    weights: Reals,
    /// The length of a row.
    cols: u64,
    /// The row with a known sum, and the sum, in steps of 2⁻³².
    known: Option<(u64, u64)>,
    values: Vec<f64>,
}

impl Probabilities {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, InputError> {
        let [cols] = plan.inner_dims()?;
        let weights = Reals::new(plan)?;
        let values = Vec::with_capacity(CHUNK);
        Ok(Self { dtype: plan.made.dtype, weights, cols, known: None, values })
    }

    /// The elements from an index on.
    pub(super) fn chunk(&mut self, first: u64, bytes: &mut [u8]) {
        let end = first + (bytes.len() / self.dtype.address_bytes() as usize) as u64;
        self.values.clear();
        let mut index = first;
        while index < end {
            let row = index / self.cols;
            let sum = self.sum(row);
            let count = ((row + 1) * self.cols).min(end) - index;
            let even = 1.0 / self.cols as f64;
            let weights = self.weights.draw(index, count as usize);
            self.values.extend(weights.iter().map(|weight| match sum {
                // Nothing has any weight: all are as probable.
                0 => even,
                1.. => fixed(*weight) as f64 / sum as f64,
            }));
            index += count;
        }
        store_reals(self.dtype, &self.values, bytes);
    }

    /// The sum of the weights of a row: of integers, so that it does not depend on the order.
    fn sum(&mut self, row: u64) -> u64 {
        if let Some((known, sum)) = self.known
            && known == row
        {
            return sum;
        }
        let (mut index, end) = (row * self.cols, (row + 1) * self.cols);
        let mut sum = 0_u64;
        while index < end {
            let count = (end - index).min(CHUNK as u64);
            let weights = self.weights.draw(index, count as usize);
            sum = weights.iter().fold(sum, |sum, weight| sum.saturating_add(fixed(*weight)));
            index += count;
        }
        self.known = Some((row, sum));
        sum
    }
}

/// A weight from 0 to 1 in steps of 2⁻³².
fn fixed(weight: f64) -> u64 {
    (weight * power_of_two(32)) as u64
}
