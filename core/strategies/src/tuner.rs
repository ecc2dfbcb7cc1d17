//! Tuners: which configuration of a space to try next, given what the earlier ones told.
//!
//! All speak one small protocol: the caller asks for configurations, tries them, and tells what
//! came of each, in any order. Asking for several at once lets the caller compile ahead.

use std::fmt;
use std::str::FromStr;

use crate::space::Space;

mod exhaustive;
mod ledger;
mod random;

/// What came of trying a configuration.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It ran and took this long, in any unit, as long as all are in the same. A time that is
    /// not a positive number counts as a failure.
    Time(f64),
    /// It was given up because it was clearly slower than the best.
    Abandoned {
        /// It takes at least this long.
        at_least: f64,
    },
    /// It did not compile, did not run or was wrong.
    Failed,
}

/// Decides what to try next in one space.
pub trait Tuner {
    /// Up to `most` configurations to try, none of which was ever asked for before. Empty means
    /// that nothing is left (or that `most` is 0): a tuner that would rather wait for answers
    /// asks for others meanwhile, so it is best to tell before asking again.
    fn ask(&mut self, most: usize) -> Vec<usize>;

    /// What came of a configuration. It need not have been asked for: results of an earlier run
    /// may be told before the first question, and are never asked for again.
    fn tell(&mut self, configuration: usize, told: Told);
}

/// The tuners that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TunerKind {
    /// Everything, in order.
    Exhaustive,
    /// Everything, in random order.
    Random,
}

impl TunerKind {
    /// All of them, simplest first.
    pub const ALL: &[Self] = &[Self::Exhaustive, Self::Random];

    /// Starts the tuner. The same space, seed and answers give the same questions. Where `first`
    /// names a configuration, it is asked for before all others, and is where the search begins.
    #[must_use]
    pub fn start<'s>(
        self,
        space: &'s Space,
        seed: u64,
        first: Option<usize>,
    ) -> Box<dyn Tuner + 's> {
        let ledger = ledger::Ledger::new(space, seed, first);
        match self {
            Self::Exhaustive => Box::new(exhaustive::Exhaustive::new(ledger)),
            Self::Random => Box::new(random::RandomOrder::new(ledger)),
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Random => "random",
        }
    }

    /// What it does, in one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Exhaustive => "tries every configuration in order",
            Self::Random => "tries configurations in random order",
        }
    }
}

impl fmt::Display for TunerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that no tuner has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no tuner is called `{0}`")]
pub struct UnknownTuner(pub String);

impl FromStr for TunerKind {
    type Err = UnknownTuner;

    fn from_str(name: &str) -> Result<Self, UnknownTuner> {
        let found = Self::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| UnknownTuner(name.to_owned()))
    }
}
