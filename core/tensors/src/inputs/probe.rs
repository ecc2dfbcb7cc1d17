//! The precision probe: inputs for which every order of additions is exact, and lower precision is not.
//!
//! One tensor holds positive odd integers with as many bits as its dtype carries, up to 13 for a task in f32 (tf32 has
//! 11, f16 has 11, bf16 has 8) and 36 for one in f64 (f32 has 24). All others hold 0, with few that are 1 or all -1.
//! Products and sums are then integers below 2^24 (2^53), which f32 (f64) adds up without error in any order. Rounding
//! the odd integers to fewer bits makes them even. Terms have one sign, and one-dimensional tensors an odd number of
//! them, so that a dot product is odd and needs 13 bits and more: no luck makes up for an input or a partial sum that
//!
//! Number of nonzero elements: along the longest dimension enough that their sum needs more than 12 bits, and along the
//! shortest about one, but at most 512, so that sums of sums are exact too. If the odd integers have no second factor
//! (sums, scans), all but 1,025 of them are 0.

use lightbench_primitives::random::Stream;
use lightbench_project::compare::Comparator;
use lightbench_project::manifest::Accuracy;
use lightbench_project::tensor::{Domain, Role};

use super::super::case::{Case, TensorCase};
use super::super::compare::Expected;
use super::super::element::digits;
use super::Plan;
use super::distribution::WHOLE_TENSOR_PART;
use super::reals::Base;

/// Number of nonzero odd integers without a second factor: 2^10 · 2^13 is below 2^24.
const WITHOUT_PARTNER: u64 = 1025;

/// Maximum nonzero elements along a dimension.
const MOST: u64 = 512;

/// A few elements that are not 0: one in each of equal parts of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sparse {
    pub(super) elements: u64,
    pub(super) parts: u64,
    pub(super) value: SparseValue,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SparseValue {
    One { negative: bool },
    Odd { bits: u32 },
}

impl Sparse {
    pub(super) fn draw(self, stream: Stream, first: u64, values: &mut [f64]) {
        values.fill(0.0);
        let wide = |value: u64| u128::from(value);
        let (elements, parts) = (wide(self.elements), wide(self.parts));
        let end = first + values.len() as u64;
        let start = |part: u128| (part * elements / parts) as u64;
        let mut part = ((wide(first) + 1) * parts - 1) / elements;
        while part < parts && start(part) < end {
            let [a, b, c, d] = stream.words(part as u64, 0);
            let (low, high) = (start(part), start(part + 1));
            let random = wide(u64::from(b) << 32 | u64::from(a));
            let chosen = low + ((random * wide(high - low)) >> 64) as u64;
            if (first..end).contains(&chosen) {
                values[(chosen - first) as usize] = match self.value {
                    SparseValue::One { negative: false } => 1.0,
                    SparseValue::One { negative: true } => -1.0,
                    SparseValue::Odd { bits } => odd(bits, u64::from(d) << 32 | u64::from(c)),
                };
            }
            part += 1;
        }
    }
}

/// A positive odd integer of this many bits, from random bits.
pub(super) fn odd(count: u32, bits: u64) -> f64 {
    let top = 1_u64 << (count - 1);
    let middle = (bits >> 11) & (top - 1);
    (top | middle | 1) as f64
}

/// The tensor that holds the odd integers: one of the two largest floating-point inputs, chosen by the seed, so that
/// either factor of a product is probed. Tensors that are read and written have lower priority. `None` if the task has
/// no such input, or no lower precision to detect.
#[must_use]
pub fn probed_tensor(case: &Case, seed: u64) -> Option<usize> {
    exact_bits(case.accuracy)?;
    let candidates = candidates(case);
    let turns = candidates.iter().filter(|(written, _)| *written == candidates[0].0).count().min(2);
    let turn = (seed % turns.max(1) as u64) as usize;
    candidates.get(turn).map(|(_, tensor)| *tensor)
}

/// Tensors that may hold the odd integers, the best first; whether each is written too.
fn candidates(case: &Case) -> Vec<(bool, usize)> {
    let mut all: Vec<_> = case
        .tensors
        .iter()
        .enumerate()
        .filter(|(_, tensor)| takes_part(tensor) && holds_large_numbers(tensor))
        .map(|(index, tensor)| {
            let written = matches!(tensor.role, Role::Inout { .. });
            (written, std::cmp::Reverse(tensor.elements), index)
        })
        .collect();
    all.sort_unstable();
    all.into_iter().map(|(written, _, index)| (written, index)).collect()
}

/// Floating-point inputs that are not packed.
fn takes_part(tensor: &TensorCase) -> bool {
    let float = tensor.dtype.is_float() && !tensor.dtype.is_packed();
    float && tensor.role.fill().is_some()
}

fn holds_large_numbers(tensor: &TensorCase) -> bool {
    match tensor.domain {
        Domain::Any | Domain::Finite | Domain::NonZero | Domain::Positive | Domain::NonNegative => {
            true
        }
        Domain::UnitInterval
        | Domain::Probability
        | Domain::Between { .. }
        | Domain::IndexBelow(_) => false,
    }
}

fn excludes_zero(tensor: &TensorCase) -> bool {
    matches!(tensor.domain, Domain::NonZero | Domain::Positive)
}

/// Bits of the odd integers and of the sums that are exact.
fn exact_bits(accuracy: Accuracy) -> Option<(u32, i32)> {
    match accuracy {
        Accuracy::F32 => Some((13, 24)),
        Accuracy::F64 => Some((36, 53)),
        Accuracy::Tf32 | Accuracy::F16 | Accuracy::Bf16 | Accuracy::F8 | Accuracy::Exact => None,
    }
}

/// The probe's values of a tensor; `None` if it stays as declared.
pub(super) fn base(plan: &Plan<'_>) -> Option<Base> {
    let tensor = plan.made;
    let probed = probed_tensor(plan.case, plan.recipe.seed)?;
    if !takes_part(tensor) || tensor.domain == Domain::Probability {
        return None;
    }
    let (most, _) = exact_bits(plan.case.accuracy)?;
    let bits = |tensor: &TensorCase| most.min(digits(tensor.dtype));
    let partners = plan.case.tensors.iter().filter(|tensor| takes_part(tensor)).count();
    let elements = plan.layout.elements();
    let sparse = |parts, value| Base::Sparse(Sparse { elements, parts: odd_count(parts), value });
    Some(if plan.tensor == probed {
        let bits = bits(tensor);
        if partners > 1 || excludes_zero(tensor) {
            Base::Odd { bits }
        } else {
            sparse(elements.min(WITHOUT_PARTNER), SparseValue::Odd { bits })
        }
    } else if excludes_zero(tensor) {
        Base::Constant(1.0)
    } else {
        let step = spacing(tensor, bits(&plan.case.tensors[probed]));
        let [.., sign] = plan.stream.words(0, WHOLE_TENSOR_PART);
        let signed = matches!(tensor.domain, Domain::Any | Domain::Finite);
        let negative = signed && sign & 1 == 1;
        sparse(elements.div_ceil(step), SparseValue::One { negative })
    })
}

/// The odd number at or below a positive one.
fn odd_count(count: u64) -> u64 {
    if count.is_multiple_of(2) { count.saturating_sub(1) } else { count }
}

/// One in this many elements is nonzero, if the other factor holds odd integers of `bits` bits.
fn spacing(tensor: &TensorCase, bits: u32) -> u64 {
    let dims = || tensor.dims.iter().copied().filter(|dim| *dim > 1);
    let longest = dims().max().unwrap_or(1);
    let shortest = if dims().count() > 1 { dims().min().unwrap_or(1) } else { longest };
    // Each integer is above 2^(bits - 1): this many of them sum to more than 2^12.
    let enough = (1_u64 << 13_u32.saturating_sub(bits)).max(8) + 1;
    (longest / enough).min(shortest.max(longest / MOST)).max(1)
}

/// The limit below which sums of the probe are exact; `None` if the task has no probe.
#[must_use]
pub fn exact_limit(case: &Case) -> Option<f64> {
    exact_bits(case.accuracy).map(|(_, bits)| super::super::element::power_of_two(bits))
}

/// Whether the results of the reference prove that the probe is exact: they are integers, some of them too large for
/// half precision, and the sums of their terms' magnitudes stay in the range of exact integers.
///
/// The check cannot detect whether the task computes anything but sums and products: a task whose work counts `special`
/// operations must not be probed, because its results may be integers by coincidence and correct kernels need not match
/// them.
///
/// `references` holds the reference's values of each tensor of the case, `None` for inputs.
#[must_use]
pub fn probe_applies(case: &Case, references: &[Option<Expected<'_>>]) -> bool {
    let Some(limit) = exact_limit(case) else { return false };
    let mut telling = false;
    for (index, tensor) in case.tensors.iter().enumerate() {
        if !matches!(tensor.role.compare(), Some(Comparator::Elementwise { .. })) {
            continue;
        }
        let Some(Some(reference)) = references.get(index) else { return false };
        let Some(magnitudes) = reference.magnitudes else { return false };
        let Ok(layout) = super::super::layout::Layout::new(tensor) else { return false };
        if reference.values.len() != layout.span * 8 || magnitudes.len() != layout.span * 8 {
            return false;
        }
        let number = |bytes: &[u8], place: usize| {
            bytes.as_chunks::<8>().0.get(place).map_or(f64::NAN, |bytes| f64::from_le_bytes(*bytes))
        };
        for run in layout.runs() {
            for place in (0..run.length).map(|element| run.offset + element * run.step) {
                let (value, magnitude) =
                    (number(reference.values, place), number(magnitudes, place));
                let exact = value.trunc() == value && value.abs() <= magnitude && magnitude < limit;
                if !exact {
                    return false;
                }
                telling |= value.abs() > 2048.0 && value % 2.0 != 0.0;
            }
        }
    }
    telling
}
