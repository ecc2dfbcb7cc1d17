//! Structured integers: permutations, row offsets of compressed sparse rows, and the column indices between them.

use std::sync::Arc;

use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;

use super::super::case::{Case, TensorCase};
use super::super::layout::LayoutError;
use super::{InputError, InputSpec, Plan, domain};
use crate::encoding::input;

/// A permutation of 0..n that needs no memory: a Feistel network on the smallest square power of two that holds n,
/// walked until it falls below n (J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
pub(super) struct Shuffle {
    count: u64,
    half_bits: u32,
    keys: [u32; 8],
}

impl Shuffle {
    pub(super) fn new(stream: Stream, count: u64) -> Self {
        let bits = (64 - count.saturating_sub(1).leading_zeros()).max(2);
        let ([a, b, c, d], [e, f, g, h]) = (stream.words(0, 0), stream.words(1, 0));
        Self { count, half_bits: bits.div_ceil(2), keys: [a, b, c, d, e, f, g, h] }
    }

    /// The same for a device, which draws the keys for itself.
    pub(super) fn on_device(&self) -> input::Base {
        input::Base::Permutation { count: self.count, half_bits: self.half_bits }
    }

    /// The position of an index below n.
    pub(super) fn at(&self, index: u64) -> u64 {
        let mut place = index;
        loop {
            place = self.step(place);
            if place < self.count {
                return place;
            }
        }
    }

    fn step(&self, place: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (place >> self.half_bits, place & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (u64::from(mixed(right as u32 ^ key)) & mask));
        }
        left << self.half_bits | right
    }
}

/// The finalizer of MurmurHash3 (A. Appleby, public domain): every bit of the result depends on every bit.
fn mixed(word: u32) -> u32 {
    let word = (word ^ word >> 16).wrapping_mul(0x85eb_ca6b);
    let word = (word ^ word >> 13).wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}

/// Row offsets: the first 0, the last `total`, rows of very different lengths including empty ones, none longer than
/// the tensors of indices between them allow.
pub(super) fn offsets(
    case: &Case,
    tensor: usize,
    total: u64,
    recipe: InputSpec,
) -> Result<Vec<u64>, InputError> {
    let made = &case.tensors[tensor];
    let rows = made.elements - 1;
    let longest = longest_row(case, tensor);
    if u128::from(rows) * u128::from(longest) < u128::from(total) {
        return Err(InputError::Offsets { tensor: made.name.clone(), rows, longest, total });
    }
    let mut offsets = Vec::new();
    let room = usize::try_from(made.elements).ok();
    let reserved = room.and_then(|room| offsets.try_reserve_exact(room).ok());
    if reserved.is_none() {
        return Err(too_large(made));
    }
    // The weight of each row in the entry after its offset, then the share of the total of all preceding rows.
    let stream = Stream::new(recipe.seed, tensor as u32);
    offsets.resize(made.elements as usize, 0);
    stream.all_bits(0, &mut offsets[1..]);
    offsets[1..].iter_mut().for_each(|bits| *bits = weight(*bits));
    if domain::is_lopsided(case, tensor, recipe) {
        keep_one_row(&mut offsets[1..], stream.bits(rows + 1));
    }
    let weights = offsets[1..].iter().sum::<u64>().max(1);
    let (mut share, mut rest) = (0, 0);
    for offset in &mut offsets[1..] {
        let more = u128::from(rest) + u128::from(*offset) * u128::from(total);
        let (whole, remainder) = divided(more, weights);
        share += whole;
        rest = remainder;
        *offset = share;
    }
    shorten(&mut offsets, longest, stream.bits(rows));
    Ok(offsets)
}

/// Removes the weight of all rows but one, so that this row has every element that fits and the others few or none.
fn keep_one_row(weights: &mut [u64], bits: u64) {
    let chosen = ((u128::from(bits) * weights.len() as u128) >> 64) as usize;
    for (row, weight) in weights.iter_mut().enumerate() {
        *weight = u64::from(row == chosen);
    }
}

/// Quotient and remainder, the first of which has no more than 64 bits; dividing 64 bits is several times as fast.
fn divided(number: u128, by: u64) -> (u64, u64) {
    match u64::try_from(number) {
        Ok(number) => (number / by, number % by),
        Err(_) => ((number / u128::from(by)) as u64, (number % u128::from(by)) as u64),
    }
}

/// From 1 to 2²³: the fourth power of an even number, so that a tenth of the rows has half of everything, and one in 64
/// eight times that.
fn weight(bits: u64) -> u64 {
    let even = bits >> 44;
    let square = (even * even) >> 20;
    let long = if bits & 63 == 0 { 3 } else { 0 };
    (((square * square) >> 20) << long) + 1
}

/// Moves the elements beyond the maximum row length to other rows, starting at a random one.
fn shorten(offsets: &mut [u64], longest: u64, bits: u64) {
    let rows = offsets.len() - 1;
    if rows == 0 {
        return;
    }
    let mut excess = 0;
    let mut before = 0;
    // Converts offsets to lengths, each in the entry after its row's offset.
    for offset in &mut offsets[1..] {
        let length = *offset - before;
        before = *offset;
        excess += length.saturating_sub(longest);
        *offset = length.min(longest);
    }
    let start = ((u128::from(bits) * rows as u128) >> 64) as usize;
    for row in (start..rows).chain(0..start) {
        let given = excess.min(longest - offsets[row + 1]);
        offsets[row + 1] += given;
        excess -= given;
    }
    let mut sum = 0;
    for offset in &mut offsets[1..] {
        sum += *offset;
        *offset = sum;
    }
}

/// The maximum row length, from the tensors whose indices refer to these offsets.
fn longest_row(case: &Case, offsets: usize) -> u64 {
    let limits = case.tensors.iter().filter_map(|tensor| match tensor.role.fill() {
        Some(Fill::SortedIndices { offsets: of, below }) if *of == offsets => Some(*below),
        Some(_) | None => None,
    });
    limits.min().unwrap_or(u64::MAX)
}

fn too_large(tensor: &TensorCase) -> InputError {
    InputError::Layout { tensor: tensor.name.clone(), reason: LayoutError::TooLarge }
}

/// Indices that increase inside each row: one from each of as many equal parts as the row is long.
pub(super) struct Indices {
    offsets: Vec<u64>,
    below: u64,
    /// The row of the last requested element.
    row: usize,
}

impl Indices {
    pub(super) fn new(plan: &Plan<'_>, offsets: usize, below: u64) -> Result<Self, InputError> {
        if below == 0 {
            return Err(plan.no_value());
        }
        let fill = plan.case.tensors.get(offsets).and_then(|tensor| tensor.role.fill());
        let Some(Fill::SortedOffsets { total }) = fill else {
            return Err(InputError::NotOffsets { tensor: plan.made.name.clone() });
        };
        let offsets = self::offsets(plan.case, offsets, *total, plan.recipe)?;
        Ok(Self { offsets, below, row: 0 })
    }

    /// The same for a device.
    pub(super) fn on_device(&self) -> input::Base {
        input::Base::Indices { offsets: Arc::from(&*self.offsets), below: self.below }
    }

    /// The index of an element; elements are requested in ascending order. Elements after the last row belong to no
    /// row.
    pub(super) fn at(&mut self, element: u64, bits: u64) -> u64 {
        let last = self.offsets.len() - 1;
        while self.row < last && self.offsets[self.row + 1] <= element {
            self.row += 1;
        }
        if self.row == last {
            return ((u128::from(bits) * u128::from(self.below)) >> 64) as u64;
        }
        let length = u128::from(self.offsets[self.row + 1] - self.offsets[self.row]);
        let position = u128::from(element - self.offsets[self.row]);
        let below = u128::from(self.below);
        let (low, high) = (position * below / length, (position + 1) * below / length);
        (low + ((u128::from(bits) * (high - low)) >> 64)) as u64
    }
}
