//! Generates the integers of a class.

use lightbench_primitives::dtype::{Dtype, Family};
use lightbench_primitives::random::{Stream, whole};
use lightbench_project::fill::Fill;
use lightbench_project::tensor::Domain;

use super::super::distribution::WHOLE_TENSOR_PART;
use super::super::reals::unit;
use super::super::{Class, InputError, Plan};
use super::{CLASS_PART, LINE_PART, Lines};

/// Parameters of a class of integers.
pub(super) struct IntegerShape {
    class: Class,
    lines: Lines,
    stream: Stream,
    /// The least and the greatest integer of the domain.
    limits: (i128, i128),
    /// The range of the fill.
    declared: (i128, i128),
    avoids_zero: bool,
    whole: u64,
}

impl IntegerShape {
    pub(super) fn new(plan: &Plan<'_>, class: Class, lines: Lines) -> Result<Self, InputError> {
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
            Domain::Between { low: least, high: most } => {
                let limits = (low.max(least.ceil() as i128), high.min(most.floor() as i128));
                (limits, false)
            }
            Domain::Any | Domain::Finite => ((low, high), false),
        };
        let (limits, declared) = match plan.fill {
            Fill::Labels { below: 0 } => return Err(plan.no_value()),
            Fill::Labels { below } => {
                let limits = (limits.0.max(0), limits.1.min(i128::from(*below) - 1));
                (limits, limits)
            }
            Fill::Integers { low, high } => (limits, (i128::from(*low), i128::from(*high))),
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
            | Fill::PackedWeights => (limits, limits),
        };
        let [low, high, ..] = plan.stream.words(1, WHOLE_TENSOR_PART);
        let whole = u64::from(high) << 32 | u64::from(low);
        let stream = plan.stream;
        Ok(Self { class, lines, stream, limits, declared, avoids_zero, whole })
    }

    /// The bits of the element with this index.
    pub(super) fn at(&self, index: u64) -> u64 {
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
            // Integers have no subnormal numbers: they are never assigned this class.
            Class::Small | Class::Subnormal => i128::from(c % 4),
            Class::Wide => between(low, high, bits) >> (c % 32),
            Class::Equal => between(low, high, self.whole),
            Class::FarBelow => low + i128::from(c % 4),
            Class::FarAbove => high - i128::from(c % 4),
            Class::LineMeans => declared + between(low / 2, high / 2, self.line_bits(line)),
            Class::Outlier if position == self.lines.outlier(line) => {
                if self.lines.is_outlier_opposite(line) == (self.whole & 1 == 0) {
                    low
                } else {
                    high
                }
            }
            Class::Outlier => declared,
            Class::OneMaximum => {
                let largest = self.lines.maximum(line, unit(self.line_bits(line)));
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
