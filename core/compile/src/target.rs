//! Target of machine code: a compute capability, portable or specific to one architecture.

use std::fmt;

use lightbench_device::ComputeCapability;
use serde::{Deserialize, Serialize};

/// Whether the code may use architecture-specific features (suffix `a`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Portability {
    /// `sm_90`: runs on every later minor version too.
    #[default]
    Portable,
    /// `sm_90a`: has warp-group matrix instructions and tensor-memory access, and runs nowhere else.
    Specific,
}

/// The architecture to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The compute capability.
    pub capability: ComputeCapability,
    /// Portable or architecture-specific.
    pub portability: Portability,
}

impl Target {
    /// The capability as one number, as compilers list it: 90 for 9.0.
    #[must_use]
    pub fn number(self) -> u32 {
        self.capability.major() * 10 + self.capability.minor()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.capability.architecture())?;
        match self.portability {
            Portability::Portable => Ok(()),
            // Architectures before Hopper have no specific variant; the compiler would refuse the suffix.
            Portability::Specific if self.capability.major() < 9 => Ok(()),
            Portability::Specific => formatter.write_str("a"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_the_name_that_the_compiler_accepts() {
        let check = |major, minor, portability, expected: &str| {
            let capability = ComputeCapability(major, minor);
            assert_eq!(Target { capability, portability }.to_string(), expected);
        };
        check(9, 0, Portability::Portable, "sm_90");
        check(9, 0, Portability::Specific, "sm_90a");
        check(7, 5, Portability::Specific, "sm_75");
        check(12, 0, Portability::Specific, "sm_120a");
    }
}
