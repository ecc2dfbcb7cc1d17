//! Inputs that differ from earlier ones in few elements, to detect kernels that recognise inputs by a part of them and
//! return stored results.
//!
//! Such a kernel may compare any subset of elements, which few changes are likely to miss, or a sum over all elements,
//! which does not change if two of them exchange places. One tensor changes at a time, because a kernel may compare all
//! the others, and changes accumulate, because a kernel may have stored the result of the previous change. Every second
//! change affects a single element, which evades most comparisons; the others affect a power of two of elements,
//! uniformly chosen up to a fourth of the tensor, which alters results that hardly depend on any single one.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_primitives::dtype::Family;
use lightbench_primitives::random::Stream;
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;
use serde::{Deserialize, Serialize};

use super::super::case::{Case, TensorCase};
use super::integers::Integers;
use super::probability::Probabilities;
use super::reals::{Reals, random_bytes};
use super::{InputError, InputMode, InputSpec, Plan};

/// Maximum draws for an element before the next one is tried: distinguishable values may be rare.
const MOST_TRIES: u64 = 64;

/// Bytes that a number of the stream gives.
const BYTES_AT_ONCE: u64 = 16;

/// Stream for the places of the first change; no tensor has this number or those just below it.
const PLACES: u32 = u32::MAX;

/// The declared inputs of a recipe after a number of small changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PerturbedInput {
    /// Seed of the changes.
    pub seed: u64,
    /// The number of the first change: changes cycle through the list of [`changes`].
    pub first: usize,
    /// Number of changes.
    pub links: usize,
}

/// The kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// They are drawn anew.
    Replaced,
    /// They change places with others.
    Moved,
}

/// Bytes of a tensor that change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The first of them.
    pub offset: usize,
    /// The new bytes.
    pub bytes: Vec<u8>,
}

/// The changes that the inputs of a case admit, each with the index of the tensor that changes.
#[must_use]
pub fn changes(case: &Case) -> Vec<(usize, Change)> {
    let tensors = case.tensors.iter().enumerate();
    tensors.flat_map(|(index, tensor)| admitted(tensor).iter().map(move |c| (index, *c))).collect()
}

/// The number of a change of a single element, as the first of a [`PerturbedInput`], in one of the tensors of at most
/// `most_bytes` bytes, chosen by the seed; `None` if no such tensor may change.
#[must_use]
pub fn single_change(case: &Case, seed: u64, most_bytes: u64) -> Option<usize> {
    let all = changes(case);
    let is_small = |(_, change): &(usize, &(usize, Change))| {
        case.tensors.get(change.0).is_some_and(|tensor| tensor.bytes <= most_bytes)
    };
    let small: Vec<usize> = all.iter().enumerate().filter(is_small).map(|(way, _)| way).collect();
    let chosen = small.get((seed % small.len().max(1) as u64) as usize)?;
    // Every other round of changes is of single elements, which round it is alternates from one to the next.
    Some(chosen + all.len() * (chosen % 2))
}

/// If elements are independent, any of them may be replaced; if all are interchangeable, two may exchange places.
fn admitted(tensor: &TensorCase) -> &'static [Change] {
    let Some(fill) = tensor.role.fill() else { return &[] };
    match fill {
        Fill::Normal { .. }
        | Fill::Uniform { .. }
        | Fill::Integers { .. }
        | Fill::Mask { .. }
        | Fill::HeavyTail { .. }
        | Fill::Labels { .. }
        | Fill::PackedWeights => match tensor.domain {
            Domain::Probability => &[Change::Moved],
            Domain::Any
            | Domain::Finite
            | Domain::NonZero
            | Domain::Positive
            | Domain::NonNegative
            | Domain::UnitInterval
            | Domain::Between { .. }
            | Domain::IndexBelow(_) => &[Change::Replaced, Change::Moved],
        },
        Fill::Permutation => &[Change::Moved],
        Fill::Ones
        | Fill::Zeros
        | Fill::Constant(_)
        | Fill::CausalMask
        | Fill::SortedOffsets { .. }
        | Fill::SortedIndices { .. } => &[],
    }
}

impl PerturbedInput {
    /// Whether anything changes of a tensor.
    pub(super) fn touches(self, case: &Case, tensor: usize) -> bool {
        let all = changes(case);
        let mut links = self.first..self.first.saturating_add(self.links);
        links.any(|link| all.get(link % all.len().max(1)).is_some_and(|c| c.0 == tensor))
    }

    /// The changed bytes of a tensor whose declared content comes from a seed, each byte at most once.
    ///
    /// # Errors
    /// The tensor cannot be generated.
    pub fn patches(self, case: &Case, tensor: usize, seed: u64) -> Result<Vec<Patch>, InputError> {
        let fill = case.tensors.get(tensor).and_then(|made| made.role.fill());
        let (Some(fill), all) = (fill, changes(case)) else { return Ok(Vec::new()) };
        let links = self.first..self.first.saturating_add(self.links);
        if !self.touches(case, tensor) {
            return Ok(Vec::new());
        }
        let plan = |seed| {
            let draw = InputMode::Distribution(Distribution::AsDeclared);
            Plan::new(case, tensor, fill, InputSpec { seed, draw })
        };
        let declared = plan(seed)?;
        let mut now =
            CurrentElements { declared: Elements::new(&declared)?, changed: BTreeMap::new() };
        for link in links {
            let (round, number) = (link / all.len(), link % all.len());
            let (changing, change) = all[number];
            if changing != tensor {
                continue;
            }
            let mut picker = Picker::new(&declared, Stream::new(self.seed, PLACES - link as u32));
            let count = if (round + number).is_multiple_of(2) { 1 } else { picker.count() };
            match change {
                Change::Replaced => {
                    let mut new = Elements::new(&plan(self.seed.wrapping_add(link as u64))?)?;
                    (0..count).for_each(|_| now.replace(&mut picker, &mut new));
                }
                Change::Moved => (0..count).for_each(|_| now.exchange(&mut picker)),
            }
        }
        let patch = |(element, bytes): (u64, Vec<u8>)| Patch {
            offset: declared.layout.place(element) * bytes.len(),
            bytes,
        };
        Ok(now.changed.into_iter().map(patch).collect())
    }
}

/// The elements as they are after the changes so far.
struct CurrentElements {
    declared: Elements,
    changed: BTreeMap<u64, Vec<u8>>,
}

impl CurrentElements {
    fn at(&mut self, element: u64) -> Vec<u8> {
        let changed = self.changed.get(&element).cloned();
        changed.unwrap_or_else(|| self.declared.at(element))
    }

    /// One element is another now.
    fn replace(&mut self, picker: &mut Picker, new: &mut Elements) {
        for _ in 0..MOST_TRIES {
            let element = picker.below(picker.elements);
            let bytes = new.at(element);
            if bytes != self.at(element) {
                self.changed.insert(element, bytes);
                return;
            }
        }
    }

    /// Two elements that differ change places.
    fn exchange(&mut self, picker: &mut Picker) {
        for _ in 0..MOST_TRIES {
            let Some((first, second)) = picker.pair() else { continue };
            let (left, right) = (self.at(first), self.at(second));
            if left != right {
                self.changed.insert(first, right);
                self.changed.insert(second, left);
                return;
            }
        }
    }
}

/// Chooses places.
struct Picker {
    stream: Stream,
    next: u64,
    elements: u64,
    /// Number of elements in a row, within which elements may exchange places.
    row: u64,
    /// Elements that have already moved and would move back.
    taken: BTreeSet<u64>,
}

impl Picker {
    fn new(plan: &Plan<'_>, stream: Stream) -> Self {
        let elements = match plan.made.dtype.is_packed() {
            true => plan.layout.bytes as u64,
            false => plan.layout.elements(),
        };
        let row = match plan.made.domain {
            Domain::Probability => plan.made.dims.last().copied().unwrap_or(1),
            Domain::Any
            | Domain::Finite
            | Domain::NonZero
            | Domain::Positive
            | Domain::NonNegative
            | Domain::UnitInterval
            | Domain::Between { .. }
            | Domain::IndexBelow(_) => elements,
        };
        Self { stream, next: 0, elements, row, taken: BTreeSet::new() }
    }

    /// A number below another, which is at least 1.
    fn below(&mut self, end: u64) -> u64 {
        self.next += 1;
        ((u128::from(self.stream.bits(self.next)) * u128::from(end)) >> 64) as u64
    }

    /// The number of elements to change.
    fn count(&mut self) -> u64 {
        let powers = u64::from(self.elements.max(1).ilog2()).saturating_sub(1).max(1);
        1 << self.below(powers)
    }

    /// Two elements that have not changed places yet.
    fn pair(&mut self) -> Option<(u64, u64)> {
        let first = self.below(self.elements);
        let second = first - first % self.row + self.below(self.row);
        let is_new =
            first != second && !self.taken.contains(&first) && !self.taken.contains(&second);
        is_new.then(|| {
            self.taken.extend([first, second]);
            (first, second)
        })
    }
}

/// The elements of a tensor one by one, as its plan makes them all.
enum Elements {
    Bytes(Stream),
    Probabilities(Probabilities, usize),
    Reals(Reals, usize),
    Wholes(Integers, usize),
}

impl Elements {
    fn new(plan: &Plan<'_>) -> Result<Self, InputError> {
        let dtype = plan.made.dtype;
        let size = dtype.address_bytes() as usize;
        if dtype.is_packed() {
            return Ok(Self::Bytes(plan.stream));
        }
        Ok(match dtype.family() {
            Family::Float if plan.made.domain == Domain::Probability => {
                Self::Probabilities(Probabilities::new(plan)?, size)
            }
            Family::Float => Self::Reals(Reals::new(plan)?, size),
            Family::Signed | Family::Unsigned | Family::Boolean => {
                Self::Wholes(Integers::new(plan)?, size)
            }
        })
    }

    /// The bytes of an element, or the byte of two packed ones.
    fn at(&mut self, element: u64) -> Vec<u8> {
        match self {
            Self::Bytes(stream) => {
                let inside = (element % BYTES_AT_ONCE) as usize;
                let mut bytes = vec![0; inside + 1];
                random_bytes(*stream, element - inside as u64, &mut bytes);
                bytes.split_off(inside)
            }
            Self::Probabilities(rows, size) => filled(*size, |bytes| rows.chunk(element, bytes)),
            Self::Reals(reals, size) => filled(*size, |bytes| reals.chunk(element, bytes)),
            Self::Wholes(wholes, size) => filled(*size, |bytes| wholes.chunk(element, bytes)),
        }
    }
}

fn filled(size: usize, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = vec![0; size];
    fill(&mut bytes);
    bytes
}
