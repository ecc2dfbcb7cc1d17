//! Strategies: which candidate to change next, and how, given all that a search has tried.
//!
//! A strategy picks a candidate and one of its open actions; carrying the action out, verifying
//! the result and adding it to the archive is the caller's. A choice follows from the archive and
//! the seed alone, so a search that was stopped goes on as if it had not been.

use std::fmt;
use std::str::FromStr;

use crate::archive::{Archive, Origin};

mod greedy;

/// What to try next, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The candidate to change.
    pub node: usize,
    /// Which of its actions to carry out.
    pub action: usize,
    /// Why, in one sentence for the record.
    pub reason: String,
}

impl Choice {
    /// The chosen action's place in the archive.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { node: self.node, action: self.action }
    }
}

/// Decides what a search tries next.
pub trait Strategy {
    /// The next action to carry out; none when nothing is left that this strategy would try.
    /// [Mark](Archive::mark_tried) it before asking again: the same archive gives the same choice.
    fn choose(&mut self, archive: &Archive) -> Option<Choice>;

    /// Its name on the command line.
    fn name(&self) -> String;
}

/// The strategies that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrategyKind {
    /// The incumbent's most promising action, and nothing else.
    Greedy,
}

impl StrategyKind {
    /// All of them, simplest first, with their usual settings.
    pub const ALL: &[Self] = &[Self::Greedy];

    /// Starts the strategy. The same archive and seed give the same choices.
    #[must_use]
    pub fn start(self, _seed: u64) -> Box<dyn Strategy> {
        match self {
            Self::Greedy => Box::new(greedy::Greedy),
        }
    }

    /// What it does, in one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Greedy => {
                "changes the best candidate, and stops when nothing is left to do with it"
            }
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Greedy => formatter.pad("greedy"),
        }
    }
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no strategy is called `{0}`")]
pub struct UnknownStrategy(pub String);

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let found = Self::ALL.iter().find(|kind| kind.to_string() == name);
        found.copied().ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}
