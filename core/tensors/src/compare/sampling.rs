//! Compares samples with a distribution: correct samples are rejected with a probability of at most 10⁻⁹.
//!
//! Each row of probabilities (the last dimension; divided by its sum) has as many samples as the output has elements
//! for each row, and the first `draws` of them are tested. A sample that is not an index, or whose probability is 0, is
//! wrong in any case. The others are tested by three bounds, each rigorous for any number of samples:
//!
//! * for each row, the largest distance between the empirical and the exact distribution function (Dvoretzky, Kiefer
//!   and Wolfowitz, with Massart's constant: P(distance > d) ≤ 2 exp(-2 n d²));
//! * for each index of each row, the distance between count and expectation (Bernstein's inequality:
//!   P(|count - n p| > d) ≤ 2 exp(-d² / (2 n p (1 - p) + 2 d / 3)));
//! * for all rows together, the first bound again: the position of a sample in its row's distribution function is
//!   uniformly distributed in [0, 1) after adding a random part of its own step, so that many rows of one sample each
//!   can be tested.
//!
//! Each bound has a third of the probability, divided evenly among its rows and indices.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::Stream;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::launch::expectation::WrongKind;

use super::super::element::{element_at, element_value, real};
use super::super::layout::{Layout, LayoutError};
use super::error::CompareError;
use super::output::Output;
use super::tally::{Fault, Rejected, Tally};
use super::{Comparison, ErrorMap, OutputError};

/// The probability that correct samples are rejected.
const FALSE_REJECTION: f64 = 1e-9;

/// Compares an output of indices with the probabilities that they were drawn by.
pub(super) fn compare(
    output: &Output<'_>,
    (probabilities, draws): (usize, u64),
    inputs: &[Option<Vec<u8>>],
) -> Result<Comparison, CompareError> {
    if !output.made.dtype.is_integer() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let table = Table::new(output, probabilities, inputs)?;
    let per_row = output.made.elements / table.rows;
    let judged = per_row.min(draws);
    if per_row == 0 || judged == 0 || !output.made.elements.is_multiple_of(table.rows) {
        return Err(CompareError::Shape { tensor: output.name(), input: table.name.to_owned() });
    }
    let mut tally = Tally::new(&output.made.dims);
    let mut distances = Distances::new(&table, judged);
    let mut row = Row::default();
    for (element, place) in output.elements() {
        let (current, turn) = (element / per_row, element % per_row);
        if turn == 0 {
            table.read(current, &mut row)?;
        }
        let found = element_value(output.made.dtype, output.found_at(place));
        let index = row.index(found);
        let unwritten = output.any_unwritten(&output.bytes_of(place..place + 1));
        match index {
            Some(index) if !unwritten => {
                if turn < judged {
                    distances.draw(&mut row, index, element);
                }
            }
            Some(_) | None => {
                let bits = element_at(output.made.dtype, output.expected.values, place);
                let expected = element_value(output.made.dtype, bits.unwrap_or_default());
                let poison = unwritten || output.holds_poison(place);
                let fault = if poison { Fault::Unwritten } else { Fault::Value };
                tally.reject(Rejected::unequal(element, fault, found, expected));
            }
        }
        if turn + 1 == per_row {
            distances.end_of_row(&row);
        }
    }
    let mut comparison = tally.finish(output.tensor, judged * table.rows, WrongKind::Numeric);
    if comparison.wrong.is_none() {
        let (distance, limit) = distances.worst();
        comparison.worst_fraction = distance / limit;
        let within = distance <= limit;
        if !within {
            comparison.wrong = Some(biased((distance, limit)));
        }
    }
    Ok(comparison)
}

/// No single draw is wrong, but all of them together are.
fn biased(distribution: (f64, f64)) -> OutputError {
    OutputError {
        kind: WrongKind::Numeric,
        count: 0,
        first: None,
        worst: None,
        root_mean_square: None,
        distribution: Some(distribution),
        map: ErrorMap::default(),
    }
}

/// The probabilities of all rows.
struct Table<'a> {
    name: &'a str,
    rows: u64,
    cols: usize,
    dtype: Dtype,
    bytes: &'a [u8],
    dims: &'a [u64],
    strides: &'a [u64],
}

/// The probabilities of one row, and its draws.
#[derive(Default)]
struct Row {
    probabilities: Vec<f64>,
    counts: Vec<u64>,
    /// The sum of the probabilities before each index.
    before: Vec<f64>,
}

impl Row {
    /// The index of a sample, if its probability is positive.
    fn index(&self, found: ScalarValue) -> Option<usize> {
        let ScalarValue::Integer(found) = found else { return None };
        let index = usize::try_from(found).ok()?;
        self.probabilities.get(index).is_some_and(|probability| *probability > 0.0).then_some(index)
    }
}

impl<'a> Table<'a> {
    fn new(
        output: &Output<'a>,
        probabilities: usize,
        inputs: &'a [Option<Vec<u8>>],
    ) -> Result<Self, CompareError> {
        let (tensor, bytes) = output.input(probabilities, inputs)?;
        let layout = |reason| CompareError::Layout { tensor: tensor.name.clone(), reason };
        Layout::new(tensor).map_err(layout)?;
        let cols = tensor.dims.last().copied().unwrap_or(1);
        let rows = tensor.elements / cols;
        let cols = usize::try_from(cols).ok();
        let cols = cols.ok_or_else(|| layout(LayoutError::TooLarge))?;
        let (dims, strides) = (&tensor.dims[..], &tensor.strides[..]);
        Ok(Self { name: &tensor.name, rows, cols, dtype: tensor.dtype, bytes, dims, strides })
    }

    /// Reads a row and forgets its draws.
    fn read(&self, row: u64, into: &mut Row) -> Result<(), CompareError> {
        let (mut rest, mut base) = (row, 0);
        let outer = self.dims.len().saturating_sub(1);
        for (dim, stride) in self.dims[..outer].iter().zip(self.strides).rev() {
            base += rest % dim * stride;
            rest /= dim;
        }
        let step = self.strides.last().copied().unwrap_or(1);
        let number = |col: usize| {
            let place = usize::try_from(base + col as u64 * step).ok()?;
            element_at(self.dtype, self.bytes, place).map(|bits| real(self.dtype, bits))
        };
        into.probabilities.clear();
        into.probabilities.extend((0..self.cols).map(|col| number(col).unwrap_or(f64::NAN)));
        let sum: f64 = into.probabilities.iter().sum();
        let sound = into.probabilities.iter().all(|probability| *probability >= 0.0);
        if !(sound && sum > 0.0 && sum < f64::INFINITY) {
            return Err(CompareError::Probabilities { input: self.name.to_owned(), row });
        }
        let mut before = 0.0;
        into.before.clear();
        for probability in &mut into.probabilities {
            *probability /= sum;
            into.before.push(before);
            before += *probability;
        }
        into.counts.clear();
        into.counts.resize(self.cols, 0);
        Ok(())
    }
}

/// The distances that have been seen, each as a fraction of its limit.
struct Distances {
    /// Draws of each row.
    draws: f64,
    /// ln(2 / chance) of a row's distribution function, and of a single index.
    row_chance: f64,
    index_chance: f64,
    worst: f64,
    /// Where the draws of all rows fall, as counts of equal parts of [0, 1).
    pooled: Vec<u64>,
    random: Stream,
}

/// Equal parts of [0, 1): a distance between their ends is seen as that of the nearer end, which only lessens it.
const PARTS: usize = 4096;

impl Distances {
    fn new(table: &Table<'_>, draws: u64) -> Self {
        let rows = table.rows as f64;
        let chance = |shares: f64| (2.0 * shares / (FALSE_REJECTION / 3.0)).ln();
        Self {
            draws: draws as f64,
            row_chance: chance(rows),
            index_chance: chance(rows * table.cols as f64),
            worst: 0.0,
            pooled: vec![0; PARTS],
            // Any fixed numbers do: a candidate cannot choose its draws by them and still draw at random.
            random: Stream::new(0, 0),
        }
    }

    fn draw(&mut self, row: &mut Row, index: usize, element: u64) {
        row.counts[index] += 1;
        let within = self.random.unit(element) * row.probabilities[index];
        let place = ((row.before[index] + within) * PARTS as f64) as usize;
        self.pooled[place.min(PARTS - 1)] += 1;
    }

    fn end_of_row(&mut self, row: &Row) {
        let limit = (self.row_chance / (2.0 * self.draws)).sqrt();
        let mut sum = 0.0;
        for (index, count) in row.counts.iter().enumerate() {
            let (count, probability) = (*count as f64, row.probabilities[index]);
            let distance = (sum / self.draws - row.before[index]).abs();
            self.worst = self.worst.max(distance / limit);
            sum += count;
            let expected = self.draws * probability;
            let variance = expected * (1.0 - probability).max(0.0);
            let third = self.index_chance / 3.0;
            // Bernstein's inequality, solved for the distance.
            let most = third + (third * third + 2.0 * variance * self.index_chance).sqrt();
            self.worst = self.worst.max((count - expected).abs() / most);
        }
    }

    /// The largest distance, as a fraction of its limit, and 1.
    fn worst(self) -> (f64, f64) {
        let draws: u64 = self.pooled.iter().sum();
        let limit = ((6.0 / FALSE_REJECTION).ln() / (2.0 * draws as f64)).sqrt();
        let mut worst = self.worst;
        let mut sum = 0;
        for (part, count) in self.pooled.iter().enumerate() {
            let distance = (sum as f64 / draws as f64 - part as f64 / PARTS as f64).abs();
            worst = worst.max(distance / limit);
            sum += count;
        }
        (worst, 1.0)
    }
}
