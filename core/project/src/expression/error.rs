//! Errors of expressions, with their position in the text.

use std::{fmt, ops::Range};

use thiserror::Error;

use super::{Kind, MAX_BYTES, MAX_DEPTH};

/// A reason with the bytes of the expression's text that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    /// Bytes in the text of the expression; empty at the end of an unfinished one.
    pub span: Range<usize>,
    pub reason: Reason,
}

impl ExpressionError {
    pub(super) fn new(span: Range<usize>, reason: Reason) -> Self {
        Self { span, reason }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (expected {})", self.reason, self.reason.expected())
    }
}

impl std::error::Error for ExpressionError {}

/// The kind of an expression error.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "each variant's message is its documentation")]
pub enum Reason {
    #[error("the expression is empty")]
    Empty,
    #[error("the expression has {bytes} bytes")]
    TooLong { bytes: usize },
    #[error("the expression is nested too deeply")]
    TooDeep,
    #[error("unexpected character {0:?}")]
    UnexpectedCharacter(char),
    #[error("`{found}` is not an operator here")]
    ForeignOperator { found: &'static str, instead: &'static str },
    #[error("the number is too large")]
    NumberTooLarge,
    #[error("a number ends in letters")]
    NumberWithLetters,
    #[error("the string is not closed")]
    UnclosedText,
    #[error("the expression ends too early")]
    UnexpectedEnd { expected: &'static str },
    #[error("unexpected {found}")]
    Unexpected { found: String, expected: &'static str },
    #[error("comparisons cannot be chained")]
    ChainedComparison,
    #[error("unknown function `{name}`")]
    UnknownFunction { name: String, nearest: Option<String>, known: Vec<String> },
    #[error("`{function}` is given {found} arguments")]
    WrongArgumentCount { function: &'static str, found: usize, expected: usize },
    #[error("unknown name `{name}`")]
    UnknownName { name: String, nearest: Option<String>, known: Vec<String> },
    #[error("`{name}` is a device fact")]
    DeviceFactHere { name: String },
    #[error("`max_active_blocks` is not known yet")]
    OccupancyHere,
    #[error("no step launches `{name}`")]
    UnknownKernel { name: String, nearest: Option<String>, known: Vec<String> },
    #[error("`{name}` is not an integer")]
    RealName { name: String },
    #[error("decimal numbers are for work formulas only")]
    DecimalHere,
    #[error("`{function}` is for work formulas only")]
    RealFunctionHere { function: &'static str },
    #[error("this is a {found}")]
    WrongKind { found: Kind, expected: Kind },
    #[error("division by zero: {left} {operator} 0")]
    DivisionByZero { left: String, operator: &'static str },
    #[error("{left} / {right} is not an integer")]
    Inexact { left: i128, right: i128 },
    #[error("{left} {operator} {right} overflows")]
    Overflow { left: String, operator: &'static str, right: String },
    #[error("the exponent {exponent} is out of range")]
    BadExponent { exponent: i128 },
    #[error("`{function}` of {value}")]
    OutOfDomain { function: &'static str, value: String },
    #[error("`{name}` has no value here")]
    NoValue { name: String },
    #[error("the blocks of `{kernel}` that fit on a multiprocessor are unknown")]
    NoOccupancy { kernel: String },
}

impl Reason {
    /// Whether the formula lacks a value that a device or a compiled kernel can still give.
    pub const fn lacks_value(&self) -> bool {
        matches!(self, Self::NoValue { .. } | Self::NoOccupancy { .. })
    }

    /// The expected text.
    pub fn expected(&self) -> String {
        match self {
            Self::Empty => "a number, a name or a formula".to_owned(),
            Self::TooLong { .. } => format!("at most {MAX_BYTES} bytes"),
            Self::TooDeep => format!("at most {MAX_DEPTH} levels"),
            Self::UnexpectedCharacter(_) | Self::NumberWithLetters => {
                "numbers, names, operators and parentheses".to_owned()
            }
            Self::ForeignOperator { instead, .. } => format!("`{instead}`"),
            Self::NumberTooLarge => "a number below 2^127".to_owned(),
            Self::UnclosedText => "a closing quote".to_owned(),
            Self::UnexpectedEnd { expected } | Self::Unexpected { expected, .. } => (*expected).to_owned(),
            Self::ChainedComparison => "one comparison; join two with `and`".to_owned(),
            Self::UnknownFunction { known, .. } | Self::UnknownName { known, .. } | Self::UnknownKernel { known, .. } => {
                one_of(known)
            }
            Self::WrongArgumentCount { expected, .. } => match expected {
                1 => "1 argument".to_owned(),
                count => format!("{count} arguments"),
            },
            Self::DeviceFactHere { .. } => "a formula that is independent of the device".to_owned(),
            Self::OccupancyHere => {
                "a formula that is known before the kernel is compiled; grids, arguments and scratch may use occupancy"
                    .to_owned()
            }
            Self::RealName { .. } | Self::DecimalHere | Self::RealFunctionHere { .. } => "integers".to_owned(),
            Self::WrongKind { expected, .. } => format!("a {expected}"),
            Self::DivisionByZero { .. } => "a divisor other than 0".to_owned(),
            Self::Inexact { .. } => "a division without remainder; `//` rounds down and `ceil_div` up".to_owned(),
            Self::Overflow { .. } => "a value that fits".to_owned(),
            Self::BadExponent { .. } => "an exponent from 0 to 127".to_owned(),
            Self::OutOfDomain { .. } => "a larger argument".to_owned(),
            Self::NoValue { .. } => "a device that states the value".to_owned(),
            Self::NoOccupancy { .. } => {
                "the kernel's registers, which the assembler counts; `lightbench doctor --fetch assembler` installs it"
                    .to_owned()
            }
        }
    }

    /// The suggested replacement, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownName { nearest, .. }
            | Self::UnknownFunction { nearest, .. }
            | Self::UnknownKernel { nearest, .. } => {
                nearest.as_ref().map(|nearest| format!("write `{nearest}`"))
            }
            Self::ForeignOperator { instead, .. } => Some(format!("write `{instead}`")),
            Self::Inexact { .. } => Some("write `//` or `ceil_div(a, b)`".to_owned()),
            Self::ChainedComparison => Some("write `a < b and b < c`".to_owned()),
            Self::Empty
            | Self::TooLong { .. }
            | Self::TooDeep
            | Self::UnexpectedCharacter(_)
            | Self::NumberWithLetters
            | Self::NumberTooLarge
            | Self::UnclosedText
            | Self::UnexpectedEnd { .. }
            | Self::Unexpected { .. }
            | Self::WrongArgumentCount { .. }
            | Self::DeviceFactHere { .. }
            | Self::OccupancyHere
            | Self::RealName { .. }
            | Self::DecimalHere
            | Self::RealFunctionHere { .. }
            | Self::WrongKind { .. }
            | Self::DivisionByZero { .. }
            | Self::Overflow { .. }
            | Self::BadExponent { .. }
            | Self::OutOfDomain { .. }
            | Self::NoValue { .. }
            | Self::NoOccupancy { .. } => None,
        }
    }
}

fn one_of(known: &[String]) -> String {
    if known.is_empty() {
        "no name is available".to_owned()
    } else {
        format!("one of {}", known.join(", "))
    }
}
