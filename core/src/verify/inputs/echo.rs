//! Inputs that agree with earlier ones almost everywhere: what a kernel that recognises its inputs by a part of them takes
//! for the earlier ones.
//!
//! Whatever elements such a kernel looks at, few changes miss them; and a sum over all elements stays when two of them
//! change places. One tensor changes at a time, because a kernel may look at all of the others. How many elements change is
//! a power of two, each as probable as the next, up to a fourth of the tensor: a single one evades the closest look, many
//! show in a result that hardly depends on any one of them.

use serde::{Deserialize, Serialize};

use super::super::case::{Case, TensorCase};
use super::probability::Probabilities;
use super::reals::{Reals, random_bytes};
use super::wholes::Wholes;
use super::{Draw, InputError, Plan, Recipe};
use crate::project::dtype::Family;
use crate::project::fill::Fill;
use crate::project::manifest::Distribution;
use crate::project::tensor::Domain;
use crate::random::Stream;

/// Draws of an element before the next one is tried: values that can be told apart are often the same.
const MOST_TRIES: u64 = 64;

/// Bytes that a number of the stream gives.
const BYTES_AT_ONCE: u64 = 16;

/// Which places change: no tensor has this number.
const PLACES: u32 = u32::MAX;

/// The declared inputs of a recipe, but for a few elements of one tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Echo {
    /// What the changes come from.
    pub seed: u64,
    /// The tensor that changes, by its index in the case.
    pub tensor: usize,
    /// How it changes.
    pub change: Change,
}

/// How elements change.
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
    /// What they become.
    pub bytes: Vec<u8>,
}

/// The changes that the inputs of a case admit, by tensor.
#[must_use]
pub fn echoes(case: &Case) -> Vec<(usize, Change)> {
    let tensors = case.tensors.iter().enumerate();
    let changes =
        tensors.flat_map(|(index, tensor)| changes(tensor).iter().map(move |c| (index, *c)));
    changes.collect()
}

/// Where each element is drawn by itself, any may be another; where all are as good at any place, two may change places.
fn changes(tensor: &TensorCase) -> &'static [Change] {
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

impl Echo {
    /// What changes of a tensor whose declared content comes from a seed; nothing of the other tensors. Later patches of
    /// the same bytes count.
    ///
    /// # Errors
    /// A tensor that cannot be made.
    pub fn patches(self, case: &Case, tensor: usize, seed: u64) -> Result<Vec<Patch>, InputError> {
        let made = case.tensors.get(tensor).filter(|_| tensor == self.tensor);
        let Some(fill) = made.and_then(|made| made.role.fill()) else { return Ok(Vec::new()) };
        let plan = |seed| {
            let draw = Draw::Distribution(Distribution::AsDeclared);
            Plan::of(case, tensor, fill, Recipe { seed, draw })
        };
        let (declared, other) = (plan(seed)?, plan(self.seed)?);
        let mut picker = Picker::of(&declared, self.seed);
        let (mut old, mut new) = (Elements::of(&declared)?, Elements::of(&other)?);
        let mut patches = Vec::new();
        for _ in 0..picker.count() {
            let pair = match self.change {
                Change::Replaced => replaced(&mut picker, &mut old, &mut new),
                Change::Moved => moved(&mut picker, &mut old),
            };
            patches.extend(pair.into_iter().flatten().map(|(element, bytes)| Patch {
                offset: declared.layout.place(element) * bytes.len(),
                bytes,
            }));
        }
        Ok(patches)
    }
}

type Changed = Option<(u64, Vec<u8>)>;

/// One element that is another now.
fn replaced(picker: &mut Picker, old: &mut Elements, new: &mut Elements) -> [Changed; 2] {
    let found = (0..MOST_TRIES).find_map(|_| {
        let element = picker.element();
        let bytes = new.at(element);
        (bytes != old.at(element)).then_some((element, bytes))
    });
    [found, None]
}

/// Two elements that differ, each with the other's value. An element that moves twice has the value of the last.
fn moved(picker: &mut Picker, old: &mut Elements) -> [Changed; 2] {
    let found = (0..MOST_TRIES).find_map(|_| {
        let (first, second) = picker.pair()?;
        let (left, right) = (old.at(first), old.at(second));
        (left != right).then_some([Some((first, right)), Some((second, left))])
    });
    found.unwrap_or_default()
}

/// Chooses places, each at most once where they are exchanged.
struct Picker {
    stream: Stream,
    next: u64,
    elements: u64,
    /// Elements among which places may be exchanged: those of a row.
    row: u64,
    taken: std::collections::BTreeSet<u64>,
}

impl Picker {
    fn of(plan: &Plan<'_>, seed: u64) -> Self {
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
            | Domain::IndexBelow(_) => elements,
        };
        let stream = Stream::new(seed, PLACES);
        let taken = std::collections::BTreeSet::new();
        Self { stream, next: 0, elements, row, taken }
    }

    /// A number below another, which is at least 1.
    fn below(&mut self, end: u64) -> u64 {
        self.next += 1;
        ((u128::from(self.stream.bits(self.next)) * u128::from(end)) >> 64) as u64
    }

    /// How many elements change.
    fn count(&mut self) -> u64 {
        let powers = u64::from(self.elements.max(1).ilog2()).saturating_sub(1).max(1);
        1 << self.below(powers)
    }

    fn element(&mut self) -> u64 {
        self.below(self.elements)
    }

    /// Two elements that have not changed yet.
    fn pair(&mut self) -> Option<(u64, u64)> {
        let first = self.element();
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
    Wholes(Wholes, usize),
}

impl Elements {
    fn of(plan: &Plan<'_>) -> Result<Self, InputError> {
        let dtype = plan.made.dtype;
        let size = dtype.address_bytes() as usize;
        if dtype.is_packed() {
            return Ok(Self::Bytes(plan.stream));
        }
        Ok(match dtype.family() {
            Family::Float if plan.made.domain == Domain::Probability => {
                Self::Probabilities(Probabilities::of(plan)?, size)
            }
            Family::Float => Self::Reals(Reals::of(plan)?, size),
            Family::Signed | Family::Unsigned | Family::Boolean => {
                Self::Wholes(Wholes::of(plan)?, size)
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
