//! Inputs from the whole domain of each tensor, whatever its fill declares: extreme values, and structure that
//! independent random numbers never have.
//!
//! In one round each tensor has a class of its own, and over as many rounds as there are classes every tensor has every class. Elements
//! are made on the host from their index and the seed alone, as everywhere else in this module; on a GPU the bytes are
//! copied, so that they are the same on every device.
//!
//! Magnitudes keep the headroom of the *scaled* distribution (`distribution.rs`), so that sums of thousands of fourth
//! powers stay below the largest f32. Far offsets stay between 1.1 and 1.4 · 10⁹: beyond the −10⁹ that careless kernels
//! take for the least number, and so small that `exp2(x·log2(e) − max·log2(e))`, whose rounding error is half an ulp of
//! the product (64), stays below the largest f32 (2^128).

use serde::{Deserialize, Serialize};

use super::super::case::{Case, TensorCase};
use super::super::element::{power_of_two, smallest_positive, store_reals};
use super::class::Class;
use super::distribution::{self, WHOLE_TENSOR_PART};
use super::place::{self, CHUNK};
use super::reals::{Reals, unit};
use super::wholes::Wholes;
use super::{Draw, InputError, Plan, Recipe};
use crate::project::dtype::{Dtype, Family};
use crate::project::fill::Fill;
use crate::project::manifest::{Accuracy, Distribution};
use crate::project::tensor::Domain;
use crate::random::{Stream, whole};

/// Part of the counter that the classes draw from: elements and distributions use those below.
const CLASS_PART: u32 = 5;
/// The same, for a whole line of elements.
const LINE_PART: u32 = 6;

/// How the classes are dealt to tensors, and along which axis lines run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DomainDraw {
    /// Which class the first input has; each further one has the class four places on.
    pub round: u8,
    /// Only the input with this index in the case has its class; the others are as declared.
    pub alone: Option<u8>,
    /// The axis along which sorted values, outliers and the like lie.
    pub along: Along,
}

/// The axis of a tensor that a line of elements lies along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// The first axis: lines are columns of a matrix.
    First,
    /// The last axis: lines are rows of a matrix.
    Last,
}

/// How far on the class of the next input is: coprime to the number of classes, so that every input has each once.
const STEP: usize = 4;

impl DomainDraw {
    /// The class of a tensor; none of one that is as declared, and of outputs.
    #[must_use]
    pub fn class(self, case: &Case, tensor: usize) -> Option<Class> {
        if !varies(case.tensors.get(tensor)?) {
            return None;
        }
        if self.alone.is_some_and(|alone| usize::from(alone) != tensor) {
            return None;
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

/// Whether a tensor has values that its definition leaves open.
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
        Draw::Domain(draw) => Some((draw.class(plan.case, plan.tensor)?, draw.along)),
        Draw::Distribution(_) | Draw::Repeating | Draw::PrecisionProbe | Draw::Echo(_) => None,
    }
}

/// Whether one row of a sparse matrix has nearly all of its elements.
pub(super) fn is_lopsided(case: &Case, tensor: usize, recipe: Recipe) -> bool {
    let Draw::Domain(draw) = recipe.draw else { return false };
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
            | Class::Duplicates,
        )
        | None => false,
    }
}

/// The bytes of a tensor of the class that its recipe gives it.
pub(super) fn bytes(
    plan: &Plan<'_>,
    (class, along): (Class, Along),
) -> Result<Vec<u8>, InputError> {
    let lines = Lines::of(plan.made, along);
    let size = plan.made.dtype.address_bytes() as usize;
    let stored = |chunk: &mut dyn FnMut(u64, &mut [u8])| {
        place::place(&plan.layout, plan.made.dtype, chunk)
            .map_err(|reason| plan.layout_error(reason))
    };
    match plan.made.dtype.family() {
        Family::Float => {
            let mut declared = Reals::of(plan)?;
            let shape = RealShape::of(plan, class, lines);
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
                let mut offsets = Wholes::of(plan)?;
                return stored(&mut |first, bytes| offsets.chunk(first, bytes));
            }
            let shape = WholeShape::of(plan, class, lines)?;
            stored(&mut |first, bytes| {
                for (slot, index) in bytes.chunks_exact_mut(size).zip(first..) {
                    slot.copy_from_slice(&shape.at(index).to_le_bytes()[..slot.len()]);
                }
            })
        }
    }
}

/// Elements that lie along one axis.
#[derive(Clone, Copy)]
struct Lines {
    /// Elements of a line.
    length: u64,
    /// Elements, in the order of indices, from one of a line to the next.
    step: u64,
}

impl Lines {
    fn of(made: &TensorCase, along: Along) -> Self {
        let (first, last) = (made.dims.first(), made.dims.last());
        match along {
            Along::Last => Self { length: last.copied().unwrap_or(1).max(1), step: 1 },
            Along::First => {
                let length = first.copied().unwrap_or(1).max(1);
                Self { length, step: (made.elements / length).max(1) }
            }
        }
    }

    /// The line of an element, and its position there.
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
}

/// A random number in [0, 1).
fn part(stream: Stream, index: u64, part: u32) -> f64 {
    let [low, high, ..] = stream.words(index, part);
    unit(u64::from(high) << 32 | u64::from(low))
}

/// How a class makes real numbers.
struct RealShape {
    class: Class,
    lines: Lines,
    stream: Stream,
    dtype: Dtype,
    center: f64,
    spread: f64,
    /// A magnitude that the fill makes often.
    typical: f64,
    reach: Reach,
    /// One random number for the whole tensor, in [0, 1), and a sign.
    whole: (f64, f64),
    domain: Domain<u64>,
    limits: super::bounds::Bounds,
    /// The smallest magnitude above 0 that inputs have.
    least: f64,
}

/// How far values of a format may go.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reach {
    /// Powers of two by which values grow at most.
    large: i32,
    /// The power of two of small values.
    small: i32,
    /// The least and the greatest far offset.
    far: (f64, f64),
    /// How many deviations a line may be moved.
    means: f64,
    /// Powers of two by which an outlier is larger.
    outlier: i32,
}

impl Reach {
    fn of(dtype: Dtype, accuracy: Accuracy) -> Self {
        let narrow =
            |large, small, far| Self { large, small, far, means: 8.0, outlier: large.min(3) };
        match (dtype, accuracy) {
            (Dtype::F8E4M3, _) => narrow(2, -8, (48.0, 64.0)),
            (Dtype::F8E5M2, _) | (_, Accuracy::F8) => narrow(2, -14, (48.0, 64.0)),
            (_, Accuracy::F16) => narrow(1, -20, (24.0, 48.0)),
            (Dtype::F16, _) => narrow(4, -20, (20_000.0, 30_000.0)),
            (
                Dtype::F64
                | Dtype::F32
                | Dtype::Bf16
                | Dtype::I64
                | Dtype::I32
                | Dtype::I16
                | Dtype::I8
                | Dtype::U64
                | Dtype::U32
                | Dtype::U16
                | Dtype::U8
                | Dtype::Bool
                | Dtype::I4
                | Dtype::U4
                | Dtype::E2M1,
                _,
            ) => Self { large: 24, small: -100, far: (1.1e9, 1.4e9), means: 4000.0, outlier: 10 },
        }
    }
}

/// The smallest magnitude of inputs: subnormal numbers belong to the domain of 16- and 8-bit floats only.
fn least_magnitude(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 => f64::MIN_POSITIVE,
        Dtype::F32 | Dtype::Bf16 => power_of_two(-126),
        Dtype::F16
        | Dtype::F8E4M3
        | Dtype::F8E5M2
        | Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::Bool
        | Dtype::I4
        | Dtype::U4
        | Dtype::E2M1 => smallest_positive(dtype),
    }
}

impl RealShape {
    fn of(plan: &Plan<'_>, class: Class, lines: Lines) -> Self {
        let dtype = plan.made.dtype;
        let (center, spread) = distribution::center_and_spread(plan.fill);
        let typical = center.abs().max(spread);
        let [low, high, sign, _] = plan.stream.words(1, WHOLE_TENSOR_PART);
        let random = unit(u64::from(high) << 32 | u64::from(low));
        let mut reach = Reach::of(dtype, plan.case.accuracy);
        let exponent = distribution::exponent_of(typical.max(power_of_two(-60)));
        // What is large already grows less.
        reach.large = reach.large.min(2 * reach.large - exponent).max(0);
        reach.small -= exponent;
        Self {
            class,
            lines,
            stream: plan.stream,
            dtype,
            center,
            spread,
            typical,
            reach,
            whole: (random, if sign & 1 == 0 { 1.0 } else { -1.0 }),
            domain: plan.made.domain.clone(),
            limits: super::bounds::Bounds::of_domain(dtype, &plan.made.domain),
            least: least_magnitude(dtype),
        }
    }

    fn sign(&self, index: u64) -> f64 {
        if self.stream.words(index, CLASS_PART)[2] & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// The element with this index, where `declared` is what the fill makes of it.
    fn at(&self, index: u64, declared: f64) -> f64 {
        let (line, position) = self.lines.place(index);
        let own = || part(self.stream, index, CLASS_PART);
        let of_line = || part(self.stream, line, LINE_PART);
        let power = |share: f64, least: i32, most: i32| {
            power_of_two(least + (share * f64::from(most - least + 1)) as i32)
        };
        let Reach { large, small, far, means, outlier } = self.reach;
        let offset = far.0 + (far.1 - far.0) * self.whole.0;
        match self.class {
            Class::Signs => declared * self.sign(index),
            Class::Zeros if line % 4 == 3 || own() < 0.5 => 0.0,
            Class::Zeros => declared,
            Class::Large => declared * self.sign(index) * power_of_two(large),
            Class::Small => declared * power_of_two(small),
            Class::Wide => declared * power(own(), -large, large),
            Class::Equal => self.whole.1 * self.typical * (0.3 + self.whole.0),
            Class::FarBelow => declared - offset,
            Class::FarAbove => declared + offset,
            Class::LineScales => declared * power(of_line(), -large / 2, large / 2),
            Class::LineMeans => declared + self.spread * means * (2.0 * of_line() - 1.0),
            Class::Outlier if position == self.lines.outlier(line) => {
                self.center + self.sign(index) * self.typical * power(own(), outlier / 2, outlier)
            }
            Class::Outlier => declared,
            Class::OneMaximum => {
                let largest = (of_line() * self.lines.length as f64) as u64;
                let below = if position == largest { 0.0 } else { 12.0 + 2.0 * own() };
                self.center - below
            }
            Class::Sorted => {
                let ascends = (line % 2 == 0) == (self.whole.1 > 0.0);
                let ramp = (position as f64 + own()) / self.lines.length as f64;
                let ramp = if ascends { ramp } else { 1.0 - ramp };
                self.center + self.spread * (6.0 * ramp - 3.0)
            }
            Class::Alternating => {
                // Both of a pair draw from the same index.
                let pair = index - (position % 2) * self.lines.step;
                let magnitude = self.typical * (0.5 + part(self.stream, pair, CLASS_PART));
                if position % 2 == 0 { magnitude } else { -magnitude }
            }
            Class::Duplicates => {
                let which = self.stream.words(index, CLASS_PART)[3] % 4;
                self.typical * (f64::from(which) - 1.5 + 0.1 * self.whole.0)
            }
        }
    }

    /// The nearest number that the domain has, where the magnitude of what it excludes counts.
    fn within_domain(&self, value: f64) -> f64 {
        let value = match self.domain {
            Domain::Any | Domain::Finite | Domain::NonZero | Domain::IndexBelow(_) => value,
            Domain::Positive | Domain::NonNegative => value.abs(),
            Domain::UnitInterval | Domain::Probability => {
                let magnitude = value.abs();
                if magnitude > 1.0 { magnitude.fract() } else { magnitude }
            }
        };
        let excludes_zero = matches!(self.domain, Domain::Positive | Domain::NonZero);
        let value = if value.abs() >= self.least {
            value
        } else if excludes_zero {
            self.least.copysign(value)
        } else if value.abs() * 2.0 < self.least {
            0.0
        } else {
            self.least.copysign(value)
        };
        debug_assert!(self.dtype.is_float(), "only floats have real shapes");
        self.limits.clamp(value)
    }
}

/// How a class makes integers.
struct WholeShape {
    class: Class,
    lines: Lines,
    stream: Stream,
    /// The least and the greatest integer of the domain.
    limits: (i128, i128),
    /// Those of the fill.
    declared: (i128, i128),
    avoids_zero: bool,
    whole: u64,
}

impl WholeShape {
    fn of(plan: &Plan<'_>, class: Class, lines: Lines) -> Result<Self, InputError> {
        let made = plan.made;
        let (low, high) = range(made.dtype);
        let (limits, avoids_zero) = match made.domain {
            Domain::IndexBelow(0) => return Err(plan.no_value()),
            Domain::IndexBelow(below) => ((0, i128::from(below) - 1), false),
            Domain::NonNegative | Domain::UnitInterval | Domain::Probability => {
                ((low.max(0), high), false)
            }
            Domain::Positive => ((low.max(1), high), false),
            Domain::NonZero => ((low, high), true),
            Domain::Any | Domain::Finite => ((low, high), false),
        };
        let limits = match plan.fill {
            Fill::Labels { below: 0 } => return Err(plan.no_value()),
            Fill::Labels { below } => (limits.0.max(0), limits.1.min(i128::from(*below) - 1)),
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
            | Fill::PackedWeights => limits,
        };
        let declared = match plan.fill {
            Fill::Integers { low, high } => (i128::from(*low), i128::from(*high)),
            Fill::Normal { .. }
            | Fill::Uniform { .. }
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
            | Fill::PackedWeights => limits,
        };
        let [low, high, ..] = plan.stream.words(1, WHOLE_TENSOR_PART);
        let whole = u64::from(high) << 32 | u64::from(low);
        let stream = plan.stream;
        Ok(Self { class, lines, stream, limits, declared, avoids_zero, whole })
    }

    /// The bits of the element with this index.
    fn at(&self, index: u64) -> u64 {
        let value = self.number(index).clamp(self.limits.0, self.limits.1);
        let value = if self.avoids_zero && value == 0 { 1 } else { value };
        value as u64
    }

    fn number(&self, index: u64) -> i128 {
        let (low, high) = self.limits;
        let [a, b, c, _] = self.stream.words(index, CLASS_PART);
        let bits = u64::from(b) << 32 | u64::from(a);
        let (line, position) = self.lines.place(index);
        // Sign extension from the 64 bits that `whole` gives.
        let between = |low: i128, high: i128, bits: u64| low + (whole(0, high - low, bits) as i128);
        let declared = between(self.declared.0, self.declared.1, bits);
        match self.class {
            Class::Signs => {
                if c & 1 == 0 {
                    declared
                } else {
                    -declared
                }
            }
            Class::Zeros => {
                if c & 1 == 0 {
                    0
                } else {
                    declared
                }
            }
            Class::Large | Class::LineScales => between(low, high, bits),
            Class::Small => i128::from(c % 4),
            Class::Wide => between(low, high, bits) >> (c % 32),
            Class::Equal => between(low, high, self.whole),
            Class::FarBelow => low + i128::from(c % 4),
            Class::FarAbove => high - i128::from(c % 4),
            Class::LineMeans => declared + between(low / 2, high / 2, self.line_bits(line)),
            Class::Outlier if position == self.lines.outlier(line) => {
                if c & 1 == 0 {
                    low
                } else {
                    high
                }
            }
            Class::Outlier => declared,
            Class::OneMaximum => {
                let largest = whole(0, i128::from(self.lines.length) - 1, self.line_bits(line));
                if position == largest { high } else { low }
            }
            Class::Sorted => {
                let share = i128::from(if line.is_multiple_of(2) == (self.whole & 1 == 0) {
                    position
                } else {
                    self.lines.length - 1 - position
                });
                // The widest range has 2^64 numbers, and no line more than 2^40 elements.
                low + (high - low) * share / i128::from((self.lines.length - 1).max(1))
            }
            Class::Alternating => {
                if position.is_multiple_of(2) {
                    low
                } else {
                    high
                }
            }
            Class::Duplicates => between(low, high, self.whole.rotate_left(16 * (c % 4))),
        }
    }

    fn line_bits(&self, line: u64) -> u64 {
        let [low, high, ..] = self.stream.words(line, LINE_PART);
        u64::from(high) << 32 | u64::from(low)
    }
}

/// The least and the greatest integer of a dtype.
fn range(dtype: Dtype) -> (i128, i128) {
    let bits = dtype.bits();
    match dtype.family() {
        Family::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        Family::Unsigned => (0, (1_i128 << bits) - 1),
        Family::Boolean | Family::Float => (0, 1),
    }
}

/// As declared, for a tensor without a class.
pub(super) fn without_class(recipe: Recipe) -> Recipe {
    Recipe { draw: Draw::Distribution(Distribution::AsDeclared), ..recipe }
}
