//! Errors in the name and the modifiers of an instruction.

use super::unsupported::Reason;

/// An error in the name or the modifiers of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// PTX has no such instruction, or the virtual GPU does not know it.
    #[error("unknown instruction `{instruction}`")]
    Unknown {
        /// The instruction with its modifiers.
        instruction: String,
    },
    /// PTX has the instruction, the virtual GPU does not support it.
    #[error("`{instruction}` is not supported: {reason}")]
    Unsupported {
        /// The instruction with its modifiers.
        instruction: String,
        reason: Reason,
    },
    /// The instruction does not accept a modifier.
    #[error("`{instruction}` does not accept `.{modifier}`")]
    Modifier {
        /// The instruction with its modifiers.
        instruction: String,
        /// The modifier that is not accepted.
        modifier: String,
    },
    /// A required modifier is missing.
    #[error("`{instruction}` requires {wanted}")]
    Missing {
        /// The instruction with its modifiers.
        instruction: String,
        /// A description of the missing modifier.
        wanted: &'static str,
    },
    /// A combination of modifiers that is not valid.
    #[error("`{instruction}`: {rule}")]
    Combination {
        /// The instruction with its modifiers.
        instruction: String,
        /// The rule that is violated.
        rule: &'static str,
    },
}
