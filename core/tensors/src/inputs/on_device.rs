//! Inputs that a device can generate: those whose elements depend only on their index.
//!
//! Row offsets, rows of probabilities and the changes of perturbed inputs are generated on the host; indices between
//! offsets are computed on the device from a table of the offsets.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;

use super::distribution::Change;
use super::integers::{self, Integers};
use super::probe::{Sparse, SparseValue};
use super::reals::{self, Reals};
use super::{InputError, InputMode, InputSpec, Plan};
use crate::case::Case;
use crate::element::{POISON, real, smallest_positive};
use crate::encoding::format::Format;
use crate::encoding::input;
use crate::encoding::input::{Dimension, InputEncoding, Stored, Tail};

/// An input that is made, or how a device makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneratedInput {
    /// By the device code.
    OnDevice(Box<InputEncoding>),
    /// Its bytes.
    OnHost(Vec<u8>),
}

/// The element type in which a float tensor is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatStorage {
    /// As they are.
    AsElements,
    /// Each as the f64 of the same value, which the reference uses for tensors that it reads and writes.
    AsReals,
}

/// How a device generates a tensor, or its bytes if the device cannot; `None` for outputs and for indices beyond the
/// last tensor.
///
/// # Errors
/// As [`super::generate`].
pub fn make(
    case: &Case,
    tensor: usize,
    recipe: InputSpec,
    wanted: FloatStorage,
) -> Result<Option<GeneratedInput>, InputError> {
    let Some(made) = case.tensors.get(tensor) else { return Ok(None) };
    let Some(fill) = made.role.fill() else { return Ok(None) };
    let recipe = match recipe.draw {
        InputMode::Perturbed(echo) if echo.touches(case, tensor) => {
            return make_on_host(case, tensor, recipe, wanted)
                .map(|bytes| bytes.map(GeneratedInput::OnHost));
        }
        // Made on the host on every device: these inputs are small.
        InputMode::Domain(_) => {
            return make_on_host(case, tensor, recipe, wanted)
                .map(|bytes| bytes.map(GeneratedInput::OnHost));
        }
        InputMode::Perturbed(_) => {
            InputSpec { draw: InputMode::Distribution(Distribution::AsDeclared), ..recipe }
        }
        InputMode::Distribution(_) | InputMode::Repeating | InputMode::PrecisionProbe => recipe,
    };
    let plan = Plan::new(case, tensor, fill, recipe)?;
    if let Some(making) = on_device(&plan, wanted)? {
        return Ok(Some(GeneratedInput::OnDevice(Box::new(making))));
    }
    make_on_host(case, tensor, recipe, wanted).map(|bytes| bytes.map(GeneratedInput::OnHost))
}

/// The bytes of a tensor in the given representation; `None` for outputs and for indices beyond the last tensor.
///
/// # Errors
/// As [`super::generate`].
pub fn make_on_host(
    case: &Case,
    tensor: usize,
    recipe: InputSpec,
    wanted: FloatStorage,
) -> Result<Option<Vec<u8>>, InputError> {
    let bytes = super::generate_tensor(case, tensor, recipe)?;
    Ok(match (wanted, case.tensors.get(tensor)) {
        (FloatStorage::AsReals, Some(made)) => bytes.map(|bytes| super::widened(made, &bytes)),
        (FloatStorage::AsElements, _) | (FloatStorage::AsReals, None) => bytes,
    })
}

/// The device's encoding, if the device supports it.
fn on_device(plan: &Plan<'_>, wanted: FloatStorage) -> Result<Option<InputEncoding>, InputError> {
    let dtype = plan.made.dtype;
    if dtype.is_packed() {
        let widened = wanted == FloatStorage::AsReals && dtype.is_float();
        return Ok(Some(packed(plan)).filter(|_| !widened));
    }
    if plan.repeats() {
        return Ok(None);
    }
    let Some(format) = Format::from_dtype(dtype) else { return Ok(None) };
    let making = match dtype.family() {
        Family::Float if plan.made.domain == Domain::Probability => return Ok(None),
        Family::Float => of_reals(plan, format, wanted, &Reals::new(plan)?),
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
            | Fill::PackedWeights => of_wholes(plan, format, &Integers::new(plan)?),
        },
    };
    let aligned = |making: &InputEncoding| match wanted {
        FloatStorage::AsElements => plan.made.align.is_multiple_of(making.stored_bytes()),
        // Such buffers are aligned to their elements.
        FloatStorage::AsReals => true,
    };
    Ok(making.filter(InputEncoding::is_sound).filter(aligned))
}

/// Bytes of packed elements.
fn packed(plan: &Plan<'_>) -> InputEncoding {
    let bytes = plan.layout.bytes as u64;
    let nothing = InputEncoding::constant(bytes, Format::opaque(1), 0);
    match plan.fill {
        Fill::PackedWeights => InputEncoding { base: input::Base::Bytes, ..drawn(plan, nothing) },
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

/// The same with the random stream of the tensor.
fn drawn(plan: &Plan<'_>, making: InputEncoding) -> InputEncoding {
    InputEncoding { seed: plan.recipe.seed, position: plan.tensor as u32, ..making }
}

/// The layout of the tensor, without random numbers.
fn placed(plan: &Plan<'_>, format: Format) -> InputEncoding {
    let mut weight = 1;
    let mut dimensions = Vec::new();
    for (count, step) in plan.layout.dims().iter().rev() {
        let (count, step) = (*count as u64, *step as u64);
        dimensions.push(Dimension { step, count, weight });
        weight *= count;
    }
    dimensions.sort_by_key(|dimension| std::cmp::Reverse(dimension.step));
    let constant = InputEncoding::constant(plan.layout.span as u64, format, 0);
    drawn(plan, InputEncoding { format, dimensions, ..constant })
}

fn of_reals(
    plan: &Plan<'_>,
    format: Format,
    wanted: FloatStorage,
    reals: &Reals,
) -> Option<InputEncoding> {
    let (tail, change) = changes(&reals.changes)?;
    let stored = match wanted {
        FloatStorage::AsElements => Stored::AsElements,
        FloatStorage::AsReals => Stored::AsReals { gap: gap_as_real(plan.made.dtype) },
    };
    let bounds = |bounds: super::bounds::Bounds| (bounds.low, bounds.high);
    let placed = placed(plan, format);
    Some(InputEncoding {
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

/// At most a tail and one further change, which covers all distributions.
fn changes(changes: &[Change]) -> Option<(Option<Tail>, input::Change)> {
    let tail = |change: &Change| match change {
        Change::Tail { center, exponents } => Some(Tail { center: *center, exponents: *exponents }),
        Change::Times(_) | Change::Plus(_) => None,
    };
    let rest = |change: &Change| match change {
        Change::Times(factor) => Some(input::Change::Times(*factor)),
        Change::Plus(offset) => Some(input::Change::Plus(*offset)),
        Change::Tail { .. } => None,
    };
    match changes {
        [] => Some((None, input::Change::None)),
        [only] => match tail(only) {
            Some(tail) => Some((Some(tail), input::Change::None)),
            None => Some((None, rest(only)?)),
        },
        [first, second] => Some((Some(tail(first)?), rest(second)?)),
        [_, _, _, ..] => None,
    }
}

fn real_base(base: &reals::Base) -> Option<input::Base> {
    Some(match *base {
        reals::Base::Normal { mean, std } => input::Base::Normal { mean, std },
        reals::Base::Uniform { low, high } => input::Base::Uniform { low, high },
        reals::Base::Integers { low, high } => integers(i128::from(low), i128::from(high))?,
        reals::Base::Constant(value) => input::Base::Number(value),
        reals::Base::Mask { density } => input::Base::Mask { density },
        reals::Base::Causal { rows, cols } => input::Base::Causal { rows, cols },
        reals::Base::Odd { bits } => input::Base::Odd { bits },
        reals::Base::Sparse(Sparse { elements, parts, value }) => {
            let value = match value {
                SparseValue::One { negative: false } => input::SparseValue::One,
                SparseValue::One { negative: true } => input::SparseValue::MinusOne,
                SparseValue::Odd { bits } => input::SparseValue::Odd { bits },
            };
            input::Base::Sparse { elements, parts, value }
        }
    })
}

fn of_wholes(plan: &Plan<'_>, format: Format, wholes: &Integers) -> Option<InputEncoding> {
    let base = match &wholes.base {
        integers::Base::Constant(value) => input::Base::Bits(*value),
        integers::Base::Between { low, high } => integers(*low, *high)?,
        integers::Base::Mask { density } => input::Base::Mask { density: *density },
        integers::Base::Causal { rows, cols } => input::Base::Causal { rows: *rows, cols: *cols },
        integers::Base::Shuffle(shuffle) => shuffle.on_device(),
        integers::Base::Indices(indices) => indices.on_device(),
        integers::Base::Offsets(_) => return None,
    };
    Some(InputEncoding { base, ..placed(plan, format) })
}

/// Integers of a range; `None` if it is empty or has more than 2^64.
fn integers(low: i128, high: i128) -> Option<input::Base> {
    let count = high.checked_sub(low)?.checked_add(1)?;
    let whole = 1_i128 << 64;
    let fits = (1..=whole).contains(&count);
    // 2^64 of them become 0, as the device code expects.
    fits.then_some(input::Base::Integers { low: low as u64, count: count as u64 })
}

/// The f64 value of an element with all bits set.
fn gap_as_real(dtype: Dtype) -> u64 {
    let bits = u64::from_le_bytes([POISON; 8]) >> (64 - dtype.bits());
    real(dtype, bits).to_bits()
}
