//! Tuners: choose the next configuration of a space to try, from the results of earlier ones.
//!
//! All tuners use the same protocol: the caller asks for configurations, tries them, and tells the result of each, in
//! any order. Asking for several at once lets the caller compile ahead.

use std::fmt;
use std::str::FromStr;

use crate::space::Space;

use annealing::Annealing;
use exhaustive::Exhaustive;
use genetic::Genetic;
use ledger::Ledger;
use local::LocalSearch;
use proposing_tuner::ProposingTuner;
use random::RandomOrder;
use surrogate::Surrogate;

mod annealing;
mod exhaustive;
mod feasibility;
mod genetic;
mod ledger;
mod local;
mod proposing_tuner;
mod random;
mod surrogate;
#[cfg(test)]
mod tests;

/// The result of trying a configuration.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// It ran and took this long, in any unit, as long as all are in the same. A time that is
    /// not a positive number counts as a failure.
    Time(f64),
    /// It was given up because it was clearly slower than the best.
    Abandoned {
        /// A lower bound of its time.
        at_least: f64,
    },
    /// It did not compile, did not run or was wrong.
    Failed,
    /// The device or the machine ended the trial without a result. The configuration is not asked for again; a result
    /// told later counts.
    NotJudged,
}

/// Chooses the configurations to try in one space.
pub trait Tuner {
    /// Up to `most` configurations to try, each returned only once. Empty if nothing is left (or `most` is 0): a tuner
    /// that needs results returns other configurations meanwhile, so tell results before asking again.
    fn ask(&mut self, most: usize) -> Vec<usize>;

    /// Reports the result of a configuration. It need not have been asked for: results of an earlier run may be told
    /// first, and are never asked for again.
    fn tell(&mut self, configuration: usize, told: TrialOutcome);
}

/// All tuners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TunerKind {
    /// Everything, in order.
    Exhaustive,
    /// Everything, in random order.
    Random,
    /// Descends until no neighbour is faster, then jumps, repeatedly.
    LocalSearch,
    /// Chains that accept slower configurations with decreasing probability.
    Annealing,
    /// Crosses and changes the configurations that do well.
    Genetic,
    /// Learns a model of the space and tries the configuration with the largest expected improvement.
    Surrogate,
}

impl TunerKind {
    /// All of them, simplest first.
    pub const ALL: &[Self] = &[
        Self::Exhaustive,
        Self::Random,
        Self::LocalSearch,
        Self::Annealing,
        Self::Genetic,
        Self::Surrogate,
    ];

    /// Starts the tuner. The same space, seed and answers yield the same questions. If `first` names a configuration,
    /// it is asked for first, and the search starts from it.
    #[must_use]
    pub fn start<'s>(
        self,
        space: &'s Space,
        seed: u64,
        first: Option<usize>,
    ) -> Box<dyn Tuner + 's> {
        let ledger = Ledger::new(space, seed, first);
        match self {
            Self::Exhaustive => Box::new(ProposingTuner::new(ledger, Exhaustive::new())),
            Self::Random => Box::new(ProposingTuner::new(ledger, RandomOrder)),
            Self::LocalSearch => Box::new(ProposingTuner::new(ledger, LocalSearch::new())),
            Self::Annealing => Box::new(ProposingTuner::new(ledger, Annealing::new())),
            Self::Genetic => Box::new(ProposingTuner::new(ledger, Genetic::new())),
            Self::Surrogate => Box::new(ProposingTuner::new(ledger, Surrogate::new())),
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Random => "random",
            Self::LocalSearch => "local",
            Self::Annealing => "annealing",
            Self::Genetic => "genetic",
            Self::Surrogate => "surrogate",
        }
    }

    /// A description in one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Exhaustive => "tries every configuration in order",
            Self::Random => "tries configurations in random order",
            Self::LocalSearch => {
                "walks downhill to where no neighbour is faster, jumps a little, and repeats"
            }
            Self::Annealing => {
                "runs several chains that accept slower configurations less and less often"
            }
            Self::Genetic => "crosses and mutates good configurations",
            Self::Surrogate => {
                "learns a Gaussian process and tries where it expects the largest improvement"
            }
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
