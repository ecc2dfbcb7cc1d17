//! What the interpreter collects while it runs: conditions on sizes, work, and the names that must keep their values.

use std::collections::{BTreeMap, BTreeSet};

use crate::dimension::{Dimension, Sizes};

/// The largest integer that is a setting of an operation: products of three fit.
const LARGEST_FIXED: i128 = 1 << 36;

/// A condition that sizes must fulfil.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// The size is at least 1.
    Positive(Dimension),
    /// The first is a multiple of the number.
    Multiple(Dimension, i128),
}

impl Condition {
    /// Whether sizes fulfil it.
    #[must_use]
    pub fn holds(&self, sizes: &Sizes) -> bool {
        match self {
            Self::Positive(dimension) => dimension.value(sizes).is_some_and(|value| value >= 1),
            Self::Multiple(dimension, of) => {
                dimension.value(sizes).is_some_and(|value| value % of == 0)
            }
        }
    }

    /// The axes that it depends on.
    #[must_use]
    pub fn axes(&self) -> BTreeSet<String> {
        match self {
            Self::Positive(dimension) | Self::Multiple(dimension, _) => dimension.axes(),
        }
    }
}

/// Kinds of operations that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Additions and multiplications.
    Arithmetic,
    /// Multiply-adds of matrix products and convolutions, two for each.
    Contraction,
    /// Exponentials, square roots and the like.
    Special,
    /// Comparisons.
    Compare,
}

/// Why a model cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Refusal {
    /// The line, from 1.
    pub line: usize,
    /// What is there, and what is expected.
    pub reason: String,
}

/// Why the interpreter stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// These names must have the values of the task; the interpreter starts again.
    Fix(BTreeSet<String>),
    /// These two sizes must be equal.
    Equal(String, String),
    /// The model cannot be followed.
    Refused(Refusal),
}

/// The result of a step.
pub(crate) type Step<T> = Result<T, Stop>;

/// What was collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    /// The line that is interpreted.
    pub(crate) line: usize,
    pub(crate) conditions: BTreeSet<Condition>,
    pub(crate) work: BTreeMap<Work, Dimension>,
    /// Lengths of sums.
    pub(crate) sums: BTreeSet<Dimension>,
    /// What the user should know, with lines.
    pub(crate) notes: BTreeSet<(usize, String)>,
    /// Steps so far.
    pub(crate) steps: usize,
}

impl Trace {
    pub(crate) fn refuse<T>(&self, reason: impl Into<String>) -> Step<T> {
        Err(Stop::Refused(Refusal { line: self.line, reason: reason.into() }))
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.insert((self.line, text.into()));
    }

    /// The value of a size, whose axes must keep those of the task.
    pub(crate) fn fixed(&self, dimension: &Dimension) -> Step<i128> {
        match dimension.constant() {
            Some(value) if value.abs() <= LARGEST_FIXED => Ok(value),
            Some(value) => self.refuse(format!("the integer {value} is too large")),
            None => Err(Stop::Fix(dimension.axes())),
        }
    }

    /// A size that was computed; none is one that became too large to follow.
    pub(crate) fn size(&self, dimension: Option<Dimension>) -> Step<Dimension> {
        match dimension {
            Some(dimension) => Ok(dimension),
            None => self.refuse("a size that is no sum of a few products of axes"),
        }
    }

    pub(crate) fn plus(&self, left: &Dimension, right: &Dimension) -> Step<Dimension> {
        self.size(left.plus(right))
    }

    pub(crate) fn minus(&self, left: &Dimension, right: &Dimension) -> Step<Dimension> {
        self.size(left.minus(right))
    }

    pub(crate) fn times(&self, left: &Dimension, right: &Dimension) -> Step<Dimension> {
        self.size(left.times(right))
    }

    pub(crate) fn product(&self, all: &[Dimension]) -> Step<Dimension> {
        let mut product = Dimension::from(1);
        for each in all {
            product = self.times(&product, each)?;
        }
        Ok(product)
    }

    /// Two sizes that must be equal.
    pub(crate) fn same(&self, left: &Dimension, right: &Dimension, what: &str) -> Step<()> {
        if left == right {
            return Ok(());
        }
        if let (Some(left), Some(right)) = (left.plain_axis(), right.plain_axis()) {
            return Err(Stop::Equal(left.to_owned(), right.to_owned()));
        }
        let mut axes = left.axes();
        axes.extend(right.axes());
        if axes.is_empty() {
            return self.refuse(format!("{what}: {left} and {right} differ"));
        }
        Err(Stop::Fix(axes))
    }

    pub(crate) fn positive(&mut self, dimension: &Dimension, what: &str) -> Step<()> {
        match dimension.constant() {
            Some(value) if value < 1 => self.refuse(format!("{what} is {value}")),
            Some(_) => Ok(()),
            None => {
                self.conditions.insert(Condition::Positive(dimension.clone()));
                Ok(())
            }
        }
    }

    /// The quotient by a number, which must divide the size.
    pub(crate) fn divided(&mut self, size: &Dimension, by: i128, what: &str) -> Step<Dimension> {
        if let Some(quotient) = size.divide_exactly(&Dimension::from(by)) {
            return Ok(quotient);
        }
        if size.constant().is_some() || by < 1 {
            return self.refuse(format!("{what}: {size} is no multiple of {by}"));
        }
        self.conditions.insert(Condition::Multiple(size.clone(), by));
        self.size(size.floor_divide(by))
    }

    /// Counts operations.
    pub(crate) fn count(&mut self, kind: Work, count: &Dimension) -> Step<()> {
        let known = self.work.remove(&kind).unwrap_or_default();
        let sum = self.plus(&known, count)?;
        self.work.insert(kind, sum);
        Ok(())
    }

    /// Counts so many operations for each element.
    pub(crate) fn count_each(&mut self, kind: Work, each: i128, shape: &[Dimension]) -> Step<()> {
        let elements = self.product(shape)?;
        let count = self.times(&elements, &Dimension::from(each))?;
        self.count(kind, &count)
    }

    /// Notes the length of a sum.
    pub(crate) fn sum_of(&mut self, length: &Dimension) {
        if length.constant().is_none_or(|length| length > 1) {
            self.sums.insert(length.clone());
        }
    }

    /// The shape of an element-by-element operation.
    pub(crate) fn broadcast(
        &self,
        left: &[Dimension],
        right: &[Dimension],
    ) -> Step<Vec<Dimension>> {
        let rank = left.len().max(right.len());
        let one = Dimension::from(1);
        let from_end = |shape: &[Dimension], place: usize| {
            shape.len().checked_sub(place + 1).map_or_else(|| one.clone(), |at| shape[at].clone())
        };
        let mut shape = Vec::new();
        for place in (0..rank).rev() {
            let (first, second) = (from_end(left, place), from_end(right, place));
            shape.push(if first == one {
                second
            } else {
                if second != one {
                    self.same(&first, &second, "shapes that do not broadcast")?;
                }
                first
            });
        }
        Ok(shape)
    }
}
