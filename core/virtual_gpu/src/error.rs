//! Errors in a module: each with its location in the PTX and, where known, in the source.

use std::fmt;

pub use lightbench_ptx::PtxLocation;
use lightbench_ptx::SyntaxError;

pub use super::isa::refusal::Refusal;
use super::module::SourceLine;

/// An error in a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LoadError {
    /// Location in the PTX.
    pub place: PtxLocation,
    /// Location in the source, if there is a `.loc` directive.
    pub source_line: Option<SourceLine>,
    pub problem: Problem,
}

impl From<SyntaxError> for LoadError {
    fn from(SyntaxError { place, found, expected }: SyntaxError) -> Self {
        Self { place, source_line: None, problem: Problem::Syntax { found, expected } }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: ", self.place.line, self.place.column)?;
        write!(formatter, "{}", self.problem)?;
        match &self.source_line {
            Some(line) => write!(formatter, " (from {line})"),
            None => Ok(()),
        }
    }
}

/// The kinds of errors in a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not valid PTX.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// The token that was found.
        found: String,
        /// The token that PTX requires.
        expected: &'static str,
    },
    /// The text is longer than the limit.
    #[error("the text has {bytes} bytes; the limit of a module is {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// A limit of the number of items is exceeded.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The kind of item.
        what: &'static str,
        limit: u64,
    },
    /// Further errors are not reported.
    #[error("more errors follow; only the first {0} are reported")]
    MoreErrors(usize),
    /// An instruction that is unknown, invalid or not supported.
    #[error(transparent)]
    Instruction(#[from] Refusal),
    /// An undeclared name.
    #[error("{kind} `{name}` is not declared")]
    Undeclared {
        /// The kind of name that is required.
        kind: &'static str,
        name: String,
    },
    /// A name that is declared twice in one scope.
    #[error("`{name}` is declared twice")]
    Twice { name: String },
    /// An operand of the wrong kind.
    #[error("operand {position} of `{instruction}` is {found}; expected {expected}")]
    Operand {
        /// The instruction with its modifiers.
        instruction: String,
        /// The operand, counted from one.
        position: usize,
        /// The operand that was found.
        found: String,
        /// The operand that is required.
        expected: String,
    },
    /// A wrong number of operands.
    #[error("`{instruction}` has {found} operands; expected {expected}")]
    OperandCount {
        /// The instruction with its modifiers.
        instruction: String,
        /// The number of operands found.
        found: usize,
        /// The number of operands required, in words.
        expected: String,
    },
    /// An invalid declaration.
    #[error("{what} `{name}` {reason}")]
    Declaration {
        /// The kind of declaration.
        what: &'static str,
        name: String,
        /// Why the declaration is invalid.
        reason: String,
    },
    /// A call whose arguments do not match the callee.
    #[error("the call of `{callee}` passes {found}; it takes {expected}")]
    Call {
        callee: String,
        /// The arguments found.
        found: String,
        /// The parameters of the callee.
        expected: String,
    },
}
