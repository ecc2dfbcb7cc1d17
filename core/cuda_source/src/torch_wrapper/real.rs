//! Real numbers that host code computes: parameters, literals, and functions of sizes.

use super::integer::{Fact, Integer};

/// A real number as a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Real {
    Literal(f64),
    /// A real parameter of the wrapper, by its position.
    Parameter(usize),
    Integer(Integer),
    Binary(RealOperator, Box<Self>, Box<Self>),
    Call(RealFunction, Box<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealFunction {
    Sqrt,
    ReciprocalSqrt,
    Exp,
    Log,
    Log2,
}

impl RealFunction {
    /// By the name of the C++ function.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "sqrt" | "sqrtf" => Self::Sqrt,
            "rsqrt" | "rsqrtf" => Self::ReciprocalSqrt,
            "exp" | "expf" => Self::Exp,
            "log" | "logf" => Self::Log,
            "log2" | "log2f" => Self::Log2,
            _ => return None,
        })
    }
}

impl Real {
    /// The value, given those of facts and of real parameters.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "host code converts sizes to real numbers")]
    pub fn value(
        &self,
        fact: &dyn Fn(Fact) -> Option<i128>,
        parameter: &dyn Fn(usize) -> Option<f64>,
    ) -> Option<f64> {
        Some(match self {
            Self::Literal(literal) => *literal,
            Self::Parameter(position) => parameter(*position)?,
            Self::Integer(integer) => integer.value(fact)? as f64,
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(fact, parameter)?, right.value(fact, parameter)?);
                match operator {
                    RealOperator::Add => left + right,
                    RealOperator::Subtract => left - right,
                    RealOperator::Multiply => left * right,
                    RealOperator::Divide => left / right,
                }
            }
            Self::Call(function, operand) => {
                let operand = operand.value(fact, parameter)?;
                match function {
                    RealFunction::Sqrt => operand.sqrt(),
                    RealFunction::ReciprocalSqrt => operand.sqrt().recip(),
                    RealFunction::Exp => operand.exp(),
                    RealFunction::Log => operand.ln(),
                    RealFunction::Log2 => operand.log2(),
                }
            }
        })
    }

    /// The value, if it depends on no call.
    #[must_use]
    pub fn constant(&self) -> Option<f64> {
        self.value(&|_| None, &|_| None)
    }

    /// The facts that the value depends on.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        match self {
            Self::Literal(_) | Self::Parameter(_) => Vec::new(),
            Self::Integer(integer) => integer.facts(),
            Self::Binary(_, left, right) => {
                let mut facts = left.facts();
                facts.extend(right.facts());
                facts
            }
            Self::Call(_, operand) => operand.facts(),
        }
    }

    /// Operands of the formula.
    #[must_use]
    pub(super) fn nodes(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Parameter(_) | Self::Integer(_) => 1,
            Self::Binary(_, left, right) => 1 + left.nodes() + right.nodes(),
            Self::Call(_, operand) => 1 + operand.nodes(),
        }
    }
}
