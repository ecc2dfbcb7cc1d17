//! Strategies: choose the next candidate to change, and the action, from all results of a search.
//!
//! A strategy chooses a candidate and one of its open actions; the caller performs the action, verifies the result and
//! adds it to the archive. A choice depends only on the archive and the seed, so a resumed search continues as if it
//! had not been interrupted.

use std::fmt;
use std::str::FromStr;

use crate::archive::{Action, Archive, Node, Origin};
use crate::generator::Generator;

mod best_of;
mod epsilon;
mod greedy;
mod islands;
mod map_elites;
mod plan;
mod random;
#[cfg(test)]
mod tests;
mod tree;

/// The usual number of attempts in a round of [`StrategyKind::BestOf`].
const USUAL_ATTEMPTS: usize = 4;

/// The chosen action, with the reason.
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

/// Chooses the actions of a search.
pub trait Strategy {
    /// The next action to perform; `None` if the strategy has no action left to try. [Mark](Archive::mark_tried) the
    /// action before asking again: the same archive yields the same choice. A running attempt counts as one without
    /// gain until its candidate is added.
    fn choose(&mut self, archive: &Archive) -> Option<Choice>;

    /// Its name on the command line.
    fn name(&self) -> String;
}

/// All strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StrategyKind {
    /// Any open action, as the reference for the other strategies.
    Random,
    /// (1+1): only the incumbent's most promising action.
    Greedy,
    /// A number of attempts from one candidate before moving on to the best.
    BestOf(usize),
    /// Populations that evolve apart, with some migration.
    Islands,
    /// The best of every kind is kept, and all kinds are developed.
    MapElites,
    /// Upper confidence bounds on the tree of edits.
    Tree,
    /// All open actions by expected gain, best first.
    Plan,
    /// Candidates that differ enough from each other.
    EpsilonNet,
}

impl StrategyKind {
    /// All of them, simplest first, with their usual settings.
    pub const ALL: &[Self] = &[
        Self::Random,
        Self::Greedy,
        Self::BestOf(USUAL_ATTEMPTS),
        Self::Islands,
        Self::MapElites,
        Self::Tree,
        Self::Plan,
        Self::EpsilonNet,
    ];

    /// Starts the strategy. The same archive and seed yield the same choices.
    #[must_use]
    pub fn start(self, seed: u64) -> Box<dyn Strategy> {
        match self {
            Self::Random => Box::new(random::Random { seed }),
            Self::Greedy => Box::new(greedy::Greedy),
            Self::BestOf(attempts) => Box::new(best_of::BestOf { attempts }),
            Self::Islands => Box::new(islands::Islands { seed }),
            Self::MapElites => Box::new(map_elites::MapElites { seed }),
            Self::Tree => Box::new(tree::Tree),
            Self::Plan => Box::new(plan::Plan),
            Self::EpsilonNet => Box::new(epsilon::EpsilonNet),
        }
    }

    /// A description in one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Random => "draws any open action of any candidate",
            Self::Greedy => "changes the best candidate, and stops when it has no open actions",
            Self::BestOf(_) => "tries several changes of one candidate, then moves on to the best",
            Self::Islands => "evolves separate populations, between which some candidates migrate",
            Self::MapElites => {
                "keeps the best candidate of every kind by its static descriptors, and develops all kinds"
            }
            Self::Tree => "descends the tree of edits towards large gains or little knowledge",
            Self::Plan => {
                "orders all open actions by expected gain, and learns from the measured gains"
            }
            Self::EpsilonNet => "develops only candidates that differ enough from better ones",
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.start(0).name())
    }
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no strategy is called `{0}`")]
pub struct UnknownStrategy(pub String);

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    /// Parses a name; `best-of` accepts its number of attempts after another hyphen.
    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let attempts = match name.strip_prefix("best-of") {
            Some("") => Some(USUAL_ATTEMPTS),
            Some(number) => number.strip_prefix('-').and_then(|number| number.parse().ok()),
            None => None,
        };
        let counted = attempts.filter(|&attempts| attempts > 0).map(Self::BestOf);
        let named = || Self::ALL.iter().copied().find(|kind| kind.to_string() == name);
        counted.or_else(named).ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}

fn choice(node: &Node, action: usize, reason: String) -> Choice {
    Choice { node: node.id, action, reason }
}

/// Draws one of a candidate's open actions, with a probability that increases with its expected gain and decreases with
/// its attempts. The third power is KernelBlaster's: selective, without excluding any action.
fn draw_action<'n>(node: &'n Node, generator: &mut Generator) -> Option<(usize, &'n Action)> {
    let open: Vec<(usize, &Action)> = node.open_actions().collect();
    let weight = |(_, action): &(usize, &Action)| {
        let factor = pxfm::f_exp(action.expected().clamp(-MOST_LOG_GAIN, MOST_LOG_GAIN));
        factor * factor * factor / (1.0 + action.tried as f64)
    };
    let weights: Vec<f64> = open.iter().map(weight).collect();
    generator.weighted(&weights).map(|place| open[place])
}

/// Predictions beyond a factor of 100 count as that, so that weights stay numbers.
const MOST_LOG_GAIN: f64 = 4.6;
