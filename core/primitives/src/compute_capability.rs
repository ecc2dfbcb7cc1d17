//! Compute capabilities, by NVIDIA's numbering.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ComputeCapability(pub u32, pub u32);

impl ComputeCapability {
    /// The first number: the architecture.
    #[must_use]
    pub const fn major(self) -> u32 {
        self.0
    }

    /// The second number.
    #[must_use]
    pub const fn minor(self) -> u32 {
        self.1
    }

    /// The compiler's name: `sm_90`.
    #[must_use]
    pub fn architecture(self) -> String {
        format!("sm_{}{}", self.0, self.1)
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.0, self.1))
    }
}
