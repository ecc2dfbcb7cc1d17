//! Why an instruction cannot be taken.

use super::unsupported::Reason;

/// What is wrong with an instruction's name and modifiers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such instruction in PTX, as far as we know.
    #[error("unknown instruction `{instruction}`")]
    Unknown {
        /// The instruction as it is written.
        instruction: String,
    },
    /// PTX has it, this machine does not.
    #[error("`{instruction}` is not supported: {reason}")]
    Unsupported {
        /// The instruction as it is written.
        instruction: String,
        /// Why.
        reason: Reason,
    },
    /// A modifier that does not belong there.
    #[error("`.{modifier}` does not belong to `{instruction}`")]
    Modifier {
        /// The instruction as it is written.
        instruction: String,
        /// The modifier that is too much.
        modifier: String,
    },
    /// A modifier that is wanted and not there.
    #[error("`{instruction}` lacks {wanted}")]
    Missing {
        /// The instruction as it is written.
        instruction: String,
        /// What is wanted.
        wanted: &'static str,
    },
    /// Modifiers that are each right, but not together.
    #[error("`{instruction}`: {rule}")]
    Combination {
        /// The instruction as it is written.
        instruction: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
}
