//! Why a module is refused: every problem with its place in the PTX and, where known, in the source.

use std::fmt;

pub use super::isa::refusal::Refusal;
use super::module::SourceLine;
pub use super::ptx::token::Place;

/// One problem of a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LoadError {
    /// Where in the PTX.
    pub place: Place,
    /// Where in the source, if a `.loc` says so.
    pub source_line: Option<SourceLine>,
    /// What is wrong.
    pub problem: Problem,
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

/// What can be wrong with a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not PTX.
    #[error("found {found} where {expected} should be")]
    Syntax {
        /// The token that is there.
        found: String,
        /// What PTX wants there.
        expected: &'static str,
    },
    /// The text is longer than any module may be.
    #[error("the text has {bytes} bytes; a module may have {limit}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Something of which a module may have only so much.
    #[error("more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// Errors stop being reported here.
    #[error("more errors follow; only the first {0} are reported")]
    MoreErrors(usize),
    /// An instruction, or a part of it, that cannot be executed.
    #[error(transparent)]
    Instruction(#[from] Refusal),
    /// A name that nothing declares.
    #[error("{kind} `{name}` is not declared")]
    Undeclared {
        /// What kind of name is wanted.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name that is declared twice in one scope.
    #[error("`{name}` is declared twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// An operand of the wrong kind.
    #[error("operand {position} of `{instruction}` is {found}; {expected} is wanted")]
    Operand {
        /// The instruction as it is written.
        instruction: String,
        /// Which operand, counted from one.
        position: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// Too few or too many operands.
    #[error("`{instruction}` has {found} operands; {expected} are wanted")]
    OperandCount {
        /// The instruction as it is written.
        instruction: String,
        /// How many there are.
        found: usize,
        /// How many there should be, in words.
        expected: String,
    },
    /// A declaration that makes no sense.
    #[error("{what} `{name}` {reason}")]
    Declaration {
        /// What is declared.
        what: &'static str,
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Arguments of a call that do not fit what is called.
    #[error("the call of `{callee}` passes {found}; it takes {expected}")]
    Call {
        /// What is called.
        callee: String,
        /// What is passed.
        found: String,
        /// What it takes.
        expected: String,
    },
}
