//! Generates floating-point inputs, element by element.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::random::{Stream, whole};
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;
use multiversion::multiversion;

use super::super::element::{element_bits, power_of_two, real, smallest_positive, store_reals};
use super::bounds::Bounds;
use super::distribution::{self, Change, Headroom};
use super::place::CHUNK;
use super::probe::{self, Sparse};
use super::{InputError, InputMode, Plan};

/// Source of the values before a distribution changes them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    Normal {
        mean: f64,
        std: f64,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    Integers {
        low: i64,
        high: i64,
    },
    Constant(f64),
    Mask {
        density: f64,
    },
    /// Rows and columns of each matrix.
    Causal {
        rows: u64,
        cols: u64,
    },
    /// Odd integers with as many bits.
    Odd {
        bits: u32,
    },
    Sparse(Sparse),
}

/// A tensor of floating-point numbers about to be made.
pub(super) struct Reals {
    dtype: Dtype,
    stream: Stream,
    pub(super) base: Base,
    /// The range of the fill.
    pub(super) within: Option<Bounds>,
    pub(super) changes: Vec<Change>,
    /// The range of the domain.
    pub(super) domain: Bounds,
    /// Replaces 0 if the domain excludes it.
    pub(super) instead_of_zero: Option<f64>,
    values: Vec<f64>,
    bits: Vec<u64>,
}

impl Reals {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, InputError> {
        let (dtype, domain) = (plan.made.dtype, &plan.made.domain);
        let mut made = Self {
            dtype,
            stream: plan.stream,
            base: declared(plan)?,
            within: within(dtype, plan.fill),
            changes: Vec::new(),
            domain: Bounds::from_domain(dtype, domain),
            instead_of_zero: None,
            values: vec![0.0; CHUNK],
            bits: vec![0; CHUNK],
        };
        let mut typical = typical(plan.fill);
        match plan.recipe.draw {
            InputMode::Distribution(distribution) => {
                let allowed = plan.made.distributions.contains(&distribution);
                let distribution = if allowed { distribution } else { Distribution::AsDeclared };
                let headroom = Headroom::new(dtype, plan.case.accuracy);
                made.changes =
                    distribution::changes(plan.fill, distribution, headroom, plan.stream);
                if distribution == Distribution::Exact {
                    (made.base, made.within) =
                        (Base::Integers { low: -headroom.small, high: headroom.small }, None);
                    typical = 1.0;
                }
            }
            // The changes of a perturbed input are applied later,
            // and so are the classes of the domain.
            InputMode::Perturbed(_) | InputMode::Repeating | InputMode::Domain(_) => {}
            InputMode::PrecisionProbe => {
                if let Some(base) = probe::base(plan) {
                    (made.base, made.within) = (base, None);
                    typical = 1.0;
                }
            }
        }
        for change in &made.changes {
            if let Change::Times(factor) = change {
                typical *= factor;
            }
        }
        if let Base::Constant(value) = made.base
            && made.changes.is_empty()
            && !value.is_finite()
        {
            // An infinity written in the fill is intended.
            made.domain = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        made.instead_of_zero = match domain {
            Domain::NonZero => Some(made.domain.clamp(typical.max(smallest_positive(dtype)))),
            Domain::Any
            | Domain::Finite
            | Domain::Positive
            | Domain::NonNegative
            | Domain::UnitInterval
            | Domain::Between { .. }
            | Domain::Probability
            | Domain::IndexBelow(_) => None,
        };
        Ok(made)
    }

    /// The elements from an index on.
    pub(super) fn chunk(&mut self, first: u64, bytes: &mut [u8]) {
        let count = bytes.len() / self.dtype.address_bytes() as usize;
        self.draw(first, count);
        store(self.dtype, &self.values[..count], bytes);
    }

    /// The numbers from index `first`, at most [`CHUNK`] of them, before rounding to the dtype.
    pub(super) fn draw(&mut self, first: u64, count: usize) -> &[f64] {
        let values = &mut self.values[..count];
        draw_base(self.base, self.stream, first, values, &mut self.bits[..count]);
        if let Some(within) = self.within {
            clamp(within, values);
        }
        for change in &self.changes {
            match *change {
                Change::Times(factor) => values.iter_mut().for_each(|value| *value *= factor),
                Change::Plus(offset) => values.iter_mut().for_each(|value| *value += offset),
                Change::Tail { center, exponents } => {
                    distribution::stretch(self.stream, first, values, (center, exponents));
                }
            }
        }
        clamp(self.domain, values);
        if let Some(instead) = self.instead_of_zero {
            // Half of the smallest number still becomes 0: it is a tie, and 0 is even.
            let vanishes = smallest_positive(self.dtype) * 0.5;
            for value in values.iter_mut() {
                *value = if value.abs() <= vanishes { instead } else { *value };
            }
        }
        values
    }
}

/// The values that the fill declares.
fn declared(plan: &Plan<'_>) -> Result<Base, InputError> {
    Ok(match *plan.fill {
        Fill::Normal { mean, std } => Base::Normal { mean, std },
        Fill::HeavyTail { scale } => Base::Normal { mean: 0.0, std: scale },
        Fill::Uniform { low, high } => Base::Uniform { low, high },
        Fill::Integers { low, high } => Base::Integers { low, high },
        Fill::Ones => Base::Constant(1.0),
        Fill::Zeros => Base::Constant(0.0),
        Fill::Constant(value) => {
            Base::Constant(real(plan.made.dtype, element_bits(plan.made.dtype, value)))
        }
        Fill::Mask { density } => Base::Mask { density },
        Fill::CausalMask => {
            let [rows, cols] = plan.inner_dims()?;
            Base::Causal { rows, cols }
        }
        Fill::Permutation
        | Fill::SortedOffsets { .. }
        | Fill::SortedIndices { .. }
        | Fill::Labels { .. }
        | Fill::PackedWeights => return Err(plan.no_value()),
    })
}

/// The range of the fill, if rounding could leave it.
fn within(dtype: Dtype, fill: &Fill<u64>) -> Option<Bounds> {
    match fill {
        Fill::Uniform { low, high } => Some(Bounds::between(dtype, *low, *high)),
        Fill::Normal { .. }
        | Fill::Integers { .. }
        | Fill::Ones
        | Fill::Zeros
        | Fill::Constant(_)
        | Fill::Permutation
        | Fill::SortedOffsets { .. }
        | Fill::SortedIndices { .. }
        | Fill::Mask { .. }
        | Fill::CausalMask
        | Fill::HeavyTail { .. }
        | Fill::Labels { .. }
        | Fill::PackedWeights => None,
    }
}

/// A magnitude that the fill makes often.
fn typical(fill: &Fill<u64>) -> f64 {
    let (center, spread) = distribution::center_and_spread(fill);
    center.abs().max(spread)
}

fn draw_base(base: Base, stream: Stream, first: u64, values: &mut [f64], bits: &mut [u64]) {
    match base {
        Base::Normal { mean, std } => {
            stream.normals(first, values);
            values.iter_mut().for_each(|value| *value = mean + std * *value);
        }
        Base::Uniform { low, high } => {
            stream.all_bits(first, bits);
            for (value, bits) in values.iter_mut().zip(bits) {
                let part = unit(*bits);
                // Not the width of the interval, which may overflow.
                *value = low * (1.0 - part) + high * part;
            }
        }
        Base::Integers { low, high } => {
            stream.all_bits(first, bits);
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = whole(i128::from(low), i128::from(high), *bits) as i64 as f64;
            }
        }
        Base::Constant(value) => values.fill(value),
        Base::Mask { density } => {
            stream.all_bits(first, bits);
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = f64::from(u8::from(unit(*bits) < density));
            }
        }
        Base::Causal { rows, cols } => {
            for (value, index) in values.iter_mut().zip(first..) {
                *value = f64::from(u8::from(on_or_below_diagonal(index, rows, cols)));
            }
        }
        Base::Odd { bits: count } => {
            stream.all_bits(first, bits);
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = probe::odd(count, *bits);
            }
        }
        Base::Sparse(sparse) => sparse.draw(stream, first, values),
    }
}

/// Whether an element of a stack of matrices is on or below the diagonal.
pub(super) fn on_or_below_diagonal(index: u64, rows: u64, cols: u64) -> bool {
    index % cols <= index / cols % rows
}

/// Evenly distributed in [0, 1), as [`Stream::unit`].
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * power_of_two(-53)
}

/// Random bytes, 16 of them from each number of the stream.
pub(super) fn random_bytes(stream: Stream, first: u64, bytes: &mut [u8]) {
    for (index, bytes) in (first / 16..).zip(bytes.chunks_mut(16)) {
        let words = stream.words(index, 0);
        for (byte, random) in bytes.iter_mut().zip(words.into_iter().flat_map(u32::to_le_bytes)) {
            *byte = random;
        }
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn clamp(bounds: Bounds, values: &mut [f64]) {
    for value in values {
        *value = bounds.clamp(*value);
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn store(dtype: Dtype, values: &[f64], bytes: &mut [u8]) {
    store_reals(dtype, values, bytes);
}
