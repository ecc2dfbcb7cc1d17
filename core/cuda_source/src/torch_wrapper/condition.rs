//! Conditions of checks and branches in host code.

use lightbench_primitives::dtype::Dtype;

use super::integer::{Fact, Integer};

/// A condition as far as it is understood.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Always(bool),
    Compare(Comparison, Integer, Integer),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
    /// Two tensors have one shape.
    SameShape(usize, usize),
    /// A tensor has a dtype.
    HasDtype(usize, Dtype),
    /// Two tensors have one dtype.
    SameDtype(usize, usize),
    /// Holds for the tensors that a project makes: on the device, contiguous.
    Given,
    /// Not understood.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Whether the comparison of two values holds.
    #[must_use]
    pub const fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    const fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }
}

impl Condition {
    /// A comparison, decided if both sides are literals.
    #[must_use]
    pub fn compared(comparison: Comparison, left: Integer, right: Integer) -> Self {
        match (&left, &right) {
            (Integer::Literal(left), Integer::Literal(right)) => {
                Self::Always(comparison.holds(*left, *right))
            }
            _ => Self::Compare(comparison, left, right),
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always(false), _) | (_, Self::Always(false)) => Self::Always(false),
            (Self::Always(true), other) | (other, Self::Always(true)) => other,
            (left, right) => Self::And(Box::new(left), Box::new(right)),
        }
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always(true), _) | (_, Self::Always(true)) => Self::Always(true),
            (Self::Always(false), other) | (other, Self::Always(false)) => other,
            (left, right) => Self::Or(Box::new(left), Box::new(right)),
        }
    }

    /// The opposite, with negations pushed to the comparisons.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Always(value) => Self::Always(!value),
            Self::Compare(comparison, left, right) => {
                Self::Compare(comparison.negated(), left, right)
            }
            Self::And(left, right) => Self::Or(Box::new(left.negated()), Box::new(right.negated())),
            Self::Or(left, right) => Self::And(Box::new(left.negated()), Box::new(right.negated())),
            Self::Not(inner) => *inner,
            Self::Unknown => Self::Unknown,
            other @ (Self::SameShape(..)
            | Self::HasDtype(..)
            | Self::SameDtype(..)
            | Self::Given) => Self::Not(Box::new(other)),
        }
    }

    /// The condition in the expression language of projects; `None` if it is not one of integers.
    #[must_use]
    pub fn text(&self, name: &dyn Fn(Fact) -> Option<String>) -> Option<String> {
        match self {
            Self::Compare(comparison, left, right) => {
                Some(format!("{} {} {}", left.text(name)?, comparison.symbol(), right.text(name)?))
            }
            Self::And(left, right) => {
                Some(format!("({}) and ({})", left.text(name)?, right.text(name)?))
            }
            Self::Or(left, right) => {
                Some(format!("({}) or ({})", left.text(name)?, right.text(name)?))
            }
            Self::Not(inner) => Some(format!("not ({})", inner.text(name)?)),
            Self::Always(_)
            | Self::SameShape(..)
            | Self::HasDtype(..)
            | Self::SameDtype(..)
            | Self::Given
            | Self::Unknown => None,
        }
    }

    /// The condition with every fact replaced.
    #[must_use]
    pub fn replaced(&self, with: &dyn Fn(Fact) -> Option<Integer>) -> Option<Self> {
        Some(match self {
            Self::Compare(comparison, left, right) => {
                Self::compared(*comparison, left.replaced(with)?, right.replaced(with)?)
            }
            Self::And(left, right) => left.replaced(with)?.and(right.replaced(with)?),
            Self::Or(left, right) => left.replaced(with)?.or(right.replaced(with)?),
            Self::Not(inner) => inner.replaced(with)?.negated(),
            other @ (Self::Always(_)
            | Self::SameShape(..)
            | Self::HasDtype(..)
            | Self::SameDtype(..)
            | Self::Given
            | Self::Unknown) => other.clone(),
        })
    }
}
