//! The inputs of a case: the same bytes for the same recipe on every machine and device.

use serde::{Deserialize, Serialize};

use super::case::Case;
use crate::project::manifest::Distribution;

/// All that decides the inputs of a case: what is recorded, and enough to replay them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Recipe {
    /// From the operating system, or given by a person.
    pub seed: u64,
    /// How the values are drawn.
    pub draw: Draw,
}

/// How the values of inputs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Every tensor that allows this distribution has it; the others are as declared.
    Distribution(Distribution),
    /// Odd integers that need every bit of the task's accuracy, times 0 and ±1 with few that are not 0: exact in the
    /// accuracy of the task, lost in a lower one.
    PrecisionProbe,
}

/// The bytes of each tensor, by its index in the case; none for outputs. Gaps between elements hold poison.
#[must_use]
pub fn generate(case: &Case, recipe: Recipe) -> Vec<Option<Vec<u8>>> {
    let _ = (case, recipe);
    Vec::new()
}
