//! What of an input a device can make by itself: all that depends on an element's index alone.
//!
//! Row offsets, rows of probabilities and what an echo changes are made on the host; indices between offsets are looked up
//! in a table of those.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;

use super::distribution::Change;
use super::probe::{Sparse, SparseValue};
use super::reals::{self, Reals};
use super::wholes::{self, Wholes};
use super::{Draw, InputError, Plan, Recipe};
use crate::case::Case;
use crate::element::{POISON, real, smallest_positive};
use crate::encoding::format::Format;
use crate::encoding::making;
use crate::encoding::making::{Dimension, Making, Stored, Tail};

/// An input that is made, or how a device makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// By the device code.
    OnDevice(Box<Making>),
    /// Its bytes.
    OnHost(Vec<u8>),
}

/// How the elements of a float tensor are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// As they are.
    AsElements,
    /// Each as the f64 of the same value, as the reference takes what it both reads and writes.
    AsReals,
}

/// How a device makes a tensor; its bytes where it cannot; none for outputs and for indices beyond the last tensor.
///
/// # Errors
/// As [`super::generate`].
pub fn make(
    case: &Case,
    tensor: usize,
    recipe: Recipe,
    wanted: Wanted,
) -> Result<Option<Made>, InputError> {
    let Some(made) = case.tensors.get(tensor) else { return Ok(None) };
    let Some(fill) = made.role.fill() else { return Ok(None) };
    let recipe = match recipe.draw {
        Draw::Echo(echo) if echo.touches(case, tensor) => {
            return make_on_host(case, tensor, recipe, wanted).map(|bytes| bytes.map(Made::OnHost));
        }
        // Made on the host on every device: these inputs are small.
        Draw::Domain(_) => {
            return make_on_host(case, tensor, recipe, wanted).map(|bytes| bytes.map(Made::OnHost));
        }
        Draw::Echo(_) => Recipe { draw: Draw::Distribution(Distribution::AsDeclared), ..recipe },
        Draw::Distribution(_) | Draw::Repeating | Draw::PrecisionProbe => recipe,
    };
    let plan = Plan::of(case, tensor, fill, recipe)?;
    if let Some(making) = on_device(&plan, wanted)? {
        return Ok(Some(Made::OnDevice(Box::new(making))));
    }
    make_on_host(case, tensor, recipe, wanted).map(|bytes| bytes.map(Made::OnHost))
}

/// The bytes of a tensor as they are wanted; none for outputs and for indices beyond the last tensor.
///
/// # Errors
/// As [`super::generate`].
pub fn make_on_host(
    case: &Case,
    tensor: usize,
    recipe: Recipe,
    wanted: Wanted,
) -> Result<Option<Vec<u8>>, InputError> {
    let bytes = super::generate_tensor(case, tensor, recipe)?;
    Ok(match (wanted, case.tensors.get(tensor)) {
        (Wanted::AsReals, Some(made)) => bytes.map(|bytes| super::widened(made, &bytes)),
        (Wanted::AsElements, _) | (Wanted::AsReals, None) => bytes,
    })
}

/// How a device makes it, where it can.
fn on_device(plan: &Plan<'_>, wanted: Wanted) -> Result<Option<Making>, InputError> {
    let dtype = plan.made.dtype;
    if dtype.is_packed() {
        let widened = wanted == Wanted::AsReals && dtype.is_float();
        return Ok(Some(packed(plan)).filter(|_| !widened));
    }
    let Some(format) = Format::of(dtype) else { return Ok(None) };
    let making = match dtype.family() {
        Family::Float if plan.made.domain == Domain::Probability => return Ok(None),
        Family::Float if plan.recipe.draw == Draw::Repeating => return Ok(None),
        Family::Float => of_reals(plan, format, wanted, &Reals::of(plan)?),
        Family::Signed | Family::Unsigned | Family::Boolean => match plan.fill {
            Fill::SortedOffsets { .. } => None,
            Fill::Permutation
            | Fill::SortedIndices { .. }
            | Fill::Normal { .. }
            | Fill::Uniform { .. }
            | Fill::Integers { .. }
            | Fill::Ones
            | Fill::Zeros
            | Fill::Constant(_)
            | Fill::Mask { .. }
            | Fill::CausalMask
            | Fill::HeavyTail { .. }
            | Fill::Labels { .. }
            | Fill::PackedWeights => of_wholes(plan, format, &Wholes::of(plan)?),
        },
    };
    let aligned = |making: &Making| match wanted {
        Wanted::AsElements => plan.made.align.is_multiple_of(making.stored_bytes()),
        // Such buffers are aligned to their elements.
        Wanted::AsReals => true,
    };
    Ok(making.filter(Making::is_sound).filter(aligned))
}

/// Bytes of which nobody knows what they stand for.
fn packed(plan: &Plan<'_>) -> Making {
    let bytes = plan.layout.bytes as u64;
    let nothing = Making::constant(bytes, Format::whole(1), 0);
    match plan.fill {
        Fill::PackedWeights => Making { base: making::Base::Bytes, ..drawn(plan, nothing) },
        Fill::Normal { .. }
        | Fill::Uniform { .. }
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
        | Fill::Labels { .. } => nothing,
    }
}

/// The same with the tensor's own random numbers.
fn drawn(plan: &Plan<'_>, making: Making) -> Making {
    Making { seed: plan.recipe.seed, position: plan.tensor as u32, ..making }
}

/// With the tensor's place in memory; nothing is drawn yet.
fn placed(plan: &Plan<'_>, format: Format) -> Making {
    let mut weight = 1;
    let mut dimensions = Vec::new();
    for (count, step) in plan.layout.dims().iter().rev() {
        let (count, step) = (*count as u64, *step as u64);
        dimensions.push(Dimension { step, count, weight });
        weight *= count;
    }
    dimensions.sort_by_key(|dimension| std::cmp::Reverse(dimension.step));
    let constant = Making::constant(plan.layout.span as u64, format, 0);
    drawn(plan, Making { format, dimensions, ..constant })
}

fn of_reals(plan: &Plan<'_>, format: Format, wanted: Wanted, reals: &Reals) -> Option<Making> {
    let (tail, change) = changes(&reals.changes)?;
    let stored = match wanted {
        Wanted::AsElements => Stored::AsElements,
        Wanted::AsReals => Stored::AsReals { gap: gap_as_real(plan.made.dtype) },
    };
    let bounds = |bounds: super::bounds::Bounds| (bounds.low, bounds.high);
    let placed = placed(plan, format);
    Some(Making {
        stored,
        base: real_base(&reals.base)?,
        within: reals.within.map_or(placed.within, bounds),
        tail,
        change,
        domain: bounds(reals.domain),
        instead_of_zero: reals
            .instead_of_zero
            .map(|instead| (smallest_positive(plan.made.dtype) * 0.5, instead)),
        ..placed
    })
}

/// At most a tail and then one thing more, which is all that distributions ask for.
fn changes(changes: &[Change]) -> Option<(Option<Tail>, making::Change)> {
    let tail = |change: &Change| match change {
        Change::Tail { center, exponents } => Some(Tail { center: *center, exponents: *exponents }),
        Change::Times(_) | Change::Plus(_) => None,
    };
    let rest = |change: &Change| match change {
        Change::Times(factor) => Some(making::Change::Times(*factor)),
        Change::Plus(offset) => Some(making::Change::Plus(*offset)),
        Change::Tail { .. } => None,
    };
    match changes {
        [] => Some((None, making::Change::None)),
        [only] => match tail(only) {
            Some(tail) => Some((Some(tail), making::Change::None)),
            None => Some((None, rest(only)?)),
        },
        [first, second] => Some((Some(tail(first)?), rest(second)?)),
        [_, _, _, ..] => None,
    }
}

fn real_base(base: &reals::Base) -> Option<making::Base> {
    Some(match *base {
        reals::Base::Normal { mean, std } => making::Base::Normal { mean, std },
        reals::Base::Uniform { low, high } => making::Base::Uniform { low, high },
        reals::Base::Integers { low, high } => integers(i128::from(low), i128::from(high))?,
        reals::Base::Constant(value) => making::Base::Number(value),
        reals::Base::Mask { density } => making::Base::Mask { density },
        reals::Base::Causal { rows, cols } => making::Base::Causal { rows, cols },
        reals::Base::Odd { bits } => making::Base::Odd { bits },
        reals::Base::Sparse(Sparse { elements, parts, value }) => {
            let value = match value {
                SparseValue::One { negative: false } => making::SparseValue::One,
                SparseValue::One { negative: true } => making::SparseValue::MinusOne,
                SparseValue::Odd { bits } => making::SparseValue::Odd { bits },
            };
            making::Base::Sparse { elements, parts, value }
        }
    })
}

fn of_wholes(plan: &Plan<'_>, format: Format, wholes: &Wholes) -> Option<Making> {
    let base = match &wholes.base {
        wholes::Base::Constant(value) => making::Base::Bits(*value),
        wholes::Base::Between { low, high } => integers(*low, *high)?,
        wholes::Base::Mask { density } => making::Base::Mask { density: *density },
        wholes::Base::Causal { rows, cols } => making::Base::Causal { rows: *rows, cols: *cols },
        wholes::Base::Shuffle(shuffle) => shuffle.on_device(),
        wholes::Base::Indices(indices) => indices.on_device(),
        wholes::Base::Offsets(_) => return None,
    };
    Some(Making { base, ..placed(plan, format) })
}

/// Integers from one to another; none where there are none, or more than 2^64.
fn integers(low: i128, high: i128) -> Option<making::Base> {
    let count = high.checked_sub(low)?.checked_add(1)?;
    let whole = 1_i128 << 64;
    let fits = (1..=whole).contains(&count);
    // 2^64 of them become 0, as the device code expects.
    fits.then_some(making::Base::Integers { low: low as u64, count: count as u64 })
}

/// What an element of ones is as f64.
fn gap_as_real(dtype: Dtype) -> u64 {
    let bits = u64::from_le_bytes([POISON; 8]) >> (64 - dtype.bits());
    real(dtype, bits).to_bits()
}
