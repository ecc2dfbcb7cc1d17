//! Roles of models in a search: a coder alone, or a judge or a planner before the coder.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which questions a model operator asks for one proposal, in which roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// One question, whose answer is a kernel.
    #[default]
    Proposer,
    /// A judge names exactly one bottleneck, one method and one plan; then the kernel is written. As CudaForge does.
    CoderAndJudge,
    /// A plan in steps comes first.
    PlannerThenCoder,
}

impl Roles {
    /// All values, the default first.
    pub const ALL: [Self; 3] = [Self::Proposer, Self::CoderAndJudge, Self::PlannerThenCoder];

    /// The name on the command line and in journals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proposer => "proposer",
            Self::CoderAndJudge => "coder-and-judge",
            Self::PlannerThenCoder => "planner-then-coder",
        }
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that none of [`Roles::ALL`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of proposer, coder-and-judge, planner-then-coder")]
pub struct UnknownRoles;

impl FromStr for Roles {
    type Err = UnknownRoles;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|roles| roles.name() == name).ok_or(UnknownRoles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_are_written() {
        for roles in Roles::ALL {
            assert_eq!(roles.to_string().parse(), Ok(roles));
        }
        assert_eq!("judge".parse::<Roles>(), Err(UnknownRoles));
    }
}
