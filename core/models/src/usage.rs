//! Numbers of tokens that an exchange with a model used.

use serde::{Deserialize, Serialize};

/// Tokens used by an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input: Count,
    /// Tokens of its answer.
    pub output: Count,
}

/// A number of tokens, reported or estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Reported by the server.
    Reported(u64),
    /// Guessed from the length of the text.
    Estimated(u64),
}

impl Default for Count {
    fn default() -> Self {
        Self::Reported(0)
    }
}

impl Count {
    /// The number alone.
    #[must_use]
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Reported(tokens) | Self::Estimated(tokens) => tokens,
        }
    }

    /// The reported value, else the estimate.
    pub(crate) fn value_or(reported: Option<u64>, estimate: u64) -> Self {
        reported.map_or(Self::Estimated(estimate), Self::Reported)
    }
}
