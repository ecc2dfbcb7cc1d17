//! Inputs from the whole domain of each tensor, independent of its fill: extreme values, and structure that independent
//! random numbers do not have.
//!
//! In one round each tensor has a different class, and over as many rounds as there are classes every tensor has every
//! class. Subnormal numbers, if the definition keeps them, follow in an additional round. Elements are generated on the
//! host from their index and the seed alone, as in the rest of this module; on a GPU the bytes are copied, so that they
//! are the same on every device.
//!
//! Magnitudes keep the headroom of the *scaled* distribution (`distribution.rs`), so that sums of thousands of fourth
//! powers stay below the largest f32. Far offsets are between 1.1 and 1.4 · 10⁹: beyond the −10⁹ that some kernels use
//! as the least number, and small enough that `exp2(x·log2(e) − max·log2(e))`, whose rounding error is half an ulp of
//! the product (64), stays below the largest f32 (2^128).

mod integer_shape;
mod real_shape;

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_project::definition::Subnormals;
use lightbench_project::fill::Fill;
use lightbench_project::manifest::Distribution;
use lightbench_project::tensor::Domain;
use serde::{Deserialize, Serialize};

use super::super::case::{Case, TensorCase};
use super::super::element::store_reals;
use super::class::Class;
use super::integers::Integers;
use super::place::{self, CHUNK};
use super::reals::Reals;
use super::{InputError, InputMode, InputSpec, Plan};
use integer_shape::IntegerShape;
use real_shape::RealShape;

/// Counter part of the classes: elements and distributions use the lower ones.
const CLASS_PART: u32 = 5;
/// The same, for a whole line of elements.
const LINE_PART: u32 = 6;

/// Assigns classes to tensors, and selects the axis of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DomainInput {
    /// Which class the first input has; each further one has the class four places on.
    pub round: u8,
    /// Only the input with this index in the case has its class; the others are as declared.
    pub alone: Option<u8>,
    /// The axis of sorted values, outliers and other structure.
    pub along: Along,
}

/// The axis of a tensor along which a line of elements runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// The first axis: lines are columns of a matrix.
    First,
    /// The last axis: lines are rows of a matrix.
    Last,
}

/// Distance between the classes of consecutive inputs: coprime to the number of classes, so that every input has each
/// class once.
const STEP: usize = 4;

/// The round after those of [`Class::ALL`].
const SUBNORMAL_ROUND: u8 = Class::ALL.len() as u8;

impl DomainInput {
    /// One class of one tensor; the others are as declared.
    #[must_use]
    pub fn alone(case: &Case, tensor: usize, class: Class) -> Option<Self> {
        let own = u8::try_from(tensor).ok()?;
        let rounds = 0..=SUBNORMAL_ROUND;
        let mut draws = rounds.map(|round| Self { round, alone: Some(own), along: Along::Last });
        draws.find(|draw| draw.class(case, tensor) == Some(class))
    }

    /// Equal values in the largest floating-point input only: the worst case for a sequence of additions.
    #[must_use]
    pub fn equal_terms(case: &Case) -> Option<(usize, Self)> {
        let tensors = case.tensors.iter().enumerate();
        let floats = tensors.filter(|(_, made)| varies(made) && made.dtype.is_float());
        let (largest, _) = floats.max_by_key(|(_, made)| made.elements)?;
        Some((largest, Self::alone(case, largest, Class::Equal)?))
    }

    /// The class of a tensor; `None` if it is as declared, and for outputs.
    #[must_use]
    pub fn class(self, case: &Case, tensor: usize) -> Option<Class> {
        if !varies(case.tensors.get(tensor)?) {
            return None;
        }
        if self.alone.is_some_and(|alone| usize::from(alone) != tensor) {
            return None;
        }
        if self.round == SUBNORMAL_ROUND {
            return keeps_subnormals(case, tensor).then_some(Class::Subnormal);
        }
        let before = case.tensors[..tensor].iter().filter(|other| varies(other)).count();
        Class::ALL.get((usize::from(self.round) + STEP * before) % Class::ALL.len()).copied()
    }

    /// The class of each tensor that has one.
    pub fn classes(self, case: &Case) -> impl Iterator<Item = (usize, Class)> {
        let all = 0..case.tensors.len();
        all.filter_map(move |tensor| Some((tensor, self.class(case, tensor)?)))
    }
}

/// Whether subnormal numbers belong to the domain of a tensor only because the definition keeps them.
fn keeps_subnormals(case: &Case, tensor: usize) -> bool {
    let Some(made) = case.tensors.get(tensor).filter(|made| varies(made)) else { return false };
    let is_wide = matches!(made.dtype, Dtype::F32 | Dtype::Bf16);
    is_wide && case.subnormals == Subnormals::Keep
}

/// Whether the domain of a tensor has values besides those of its fill. Each such tensor gets every class of
/// [`Class::ALL`].
#[must_use]
pub fn varies(tensor: &TensorCase) -> bool {
    let Some(fill) = tensor.role.fill() else { return false };
    let open = match fill {
        Fill::Normal { .. }
        | Fill::Uniform { .. }
        | Fill::Integers { .. }
        | Fill::Ones
        | Fill::Zeros
        | Fill::HeavyTail { .. }
        | Fill::SortedOffsets { .. }
        | Fill::Labels { .. } => true,
        Fill::Constant(value) => value.as_real().is_finite(),
        // Their values are the structure of the task.
        Fill::Permutation
        | Fill::SortedIndices { .. }
        | Fill::Mask { .. }
        | Fill::CausalMask
        | Fill::PackedWeights => false,
    };
    open && !tensor.dtype.is_packed() && tensor.domain != Domain::Probability
}

/// The class of the tensor that a plan is for.
pub(super) fn class_of(plan: &Plan<'_>) -> Option<(Class, Along)> {
    match plan.recipe.draw {
        InputMode::Domain(draw) => Some((draw.class(plan.case, plan.tensor)?, draw.along)),
        InputMode::Distribution(_)
        | InputMode::Repeating
        | InputMode::PrecisionProbe
        | InputMode::Perturbed(_) => None,
    }
}

/// Whether one row of a sparse matrix has nearly all of its elements.
pub(super) fn is_lopsided(case: &Case, tensor: usize, recipe: InputSpec) -> bool {
    let InputMode::Domain(draw) = recipe.draw else { return false };
    match draw.class(case, tensor) {
        Some(
            Class::Zeros
            | Class::Equal
            | Class::LineScales
            | Class::Outlier
            | Class::OneMaximum
            | Class::Wide,
        ) => true,
        Some(
            Class::Signs
            | Class::Large
            | Class::Small
            | Class::FarBelow
            | Class::FarAbove
            | Class::LineMeans
            | Class::Sorted
            | Class::Alternating
            | Class::Duplicates
            | Class::Subnormal,
        )
        | None => false,
    }
}

/// The bytes of a tensor of its class.
pub(super) fn bytes(
    plan: &Plan<'_>,
    (class, along): (Class, Along),
) -> Result<Vec<u8>, InputError> {
    let lines = Lines::new(plan.made, along);
    let size = plan.made.dtype.address_bytes() as usize;
    let stored = |chunk: &mut dyn FnMut(u64, &mut [u8])| {
        place::place(&plan.layout, plan.made.dtype, chunk)
            .map_err(|reason| plan.layout_error(reason))
    };
    match plan.made.dtype.family() {
        Family::Float => {
            let mut declared = Reals::new(plan)?;
            let shape = RealShape::new(plan, class, lines);
            let mut values = vec![0.0; CHUNK];
            stored(&mut |first, bytes| {
                let values = &mut values[..bytes.len() / size];
                values.copy_from_slice(declared.draw(first, values.len()));
                for (value, index) in values.iter_mut().zip(first..) {
                    *value = shape.within_domain(shape.at(index, *value));
                }
                store_reals(plan.made.dtype, values, bytes);
            })
        }
        Family::Signed | Family::Unsigned | Family::Boolean => {
            if matches!(plan.fill, Fill::SortedOffsets { .. }) {
                let mut offsets = Integers::new(plan)?;
                return stored(&mut |first, bytes| offsets.chunk(first, bytes));
            }
            let shape = IntegerShape::new(plan, class, lines)?;
            stored(&mut |first, bytes| {
                for (slot, index) in bytes.chunks_exact_mut(size).zip(first..) {
                    slot.copy_from_slice(&shape.at(index).to_le_bytes()[..slot.len()]);
                }
            })
        }
    }
}

/// Elements along one axis.
#[derive(Clone, Copy)]
struct Lines {
    /// Elements of a line.
    length: u64,
    /// Elements, in the order of indices, from one of a line to the next.
    step: u64,
}

impl Lines {
    fn new(made: &TensorCase, along: Along) -> Self {
        let (first, last) = (made.dims.first(), made.dims.last());
        match along {
            Along::Last => Self { length: last.copied().unwrap_or(1).max(1), step: 1 },
            Along::First => {
                let length = first.copied().unwrap_or(1).max(1);
                Self { length, step: (made.elements / length).max(1) }
            }
        }
    }

    /// The line of an element, and the element's position in it.
    fn place(self, index: u64) -> (u64, u64) {
        let span = self.length * self.step;
        let (outer, inner) = (index / span, index % span);
        (outer * self.step + inner % self.step, inner / self.step)
    }

    /// Where the outlier of a line is: first, middle or last.
    fn outlier(self, line: u64) -> u64 {
        match line % 3 {
            0 => 0,
            1 => self.length / 2,
            _ => self.length - 1,
        }
    }

    /// Where the maximum of a line is: at the end of the first line, at the beginning of the second, and so on in every
    /// four lines; elsewhere at a random place, given as a fraction of the line.
    fn maximum(self, line: u64, random: f64) -> u64 {
        match line % 4 {
            0 => self.length - 1,
            1 => 0,
            _ => (random * self.length as f64) as u64,
        }
    }

    /// Whether the outlier of a line has the other sign than that of the first line: six lines have each sign in each
    /// place.
    fn is_outlier_opposite(self, line: u64) -> bool {
        line / 3 % 2 == 1
    }
}

/// As declared, for a tensor without a class.
pub(super) fn without_class(recipe: InputSpec) -> InputSpec {
    InputSpec { draw: InputMode::Distribution(Distribution::AsDeclared), ..recipe }
}
