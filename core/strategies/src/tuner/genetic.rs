//! A genetic algorithm: good configurations are crossed and mutated and replace the worst.
//!
//! Holland, "Adaptation in Natural and Artificial Systems", 1975; steady-state replacement as in Whitley, "The GENITOR
//! Algorithm", 1989, because it does not need a complete generation before the next question.

use super::ledger::{Ledger, Proposer};
use crate::space::Neighbourhood;

/// Size of the population.
const POPULATION: usize = 16;
/// Number of members drawn for each parent; the best of them is chosen.
const TOURNAMENT: usize = 3;
/// Attempts to breed an open, valid child before a random configuration is taken.
const TRIES: usize = 32;

/// The population, best first.
pub(super) struct Genetic {
    members: Vec<(usize, f64)>,
    /// Number of proposed members of the first, random generation.
    drawn: usize,
}

impl Proposer for Genetic {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let bred = if self.drawn < POPULATION { None } else { self.breed_open(ledger) };
        self.drawn += usize::from(bred.is_none());
        bred.or_else(|| ledger.any_open())
    }

    fn learn(&mut self, _: &mut Ledger<'_>, configuration: usize, score: f64) {
        if score.is_finite() {
            let place = self.members.partition_point(|&(_, better)| better <= score);
            self.members.insert(place, (configuration, score));
            self.members.truncate(POPULATION);
        }
    }
}

impl Genetic {
    pub(super) fn new() -> Self {
        Self { members: Vec::new(), drawn: 0 }
    }

    fn breed_open(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        (0..TRIES).find_map(|_| self.breed(ledger).filter(|&child| ledger.is_open(child)))
    }

    /// A child of two members; if crossing and mutation yield an invalid configuration, a neighbour of one of them.
    fn breed(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let (mother, father) = (self.tournament(ledger)?, self.tournament(ledger)?);
        let space = ledger.space;
        let mut child = space.get(mother).to_vec();
        for (dimension, &other) in space.get(father).iter().enumerate() {
            if ledger.generator.below(2) == 0 {
                child[dimension] = other;
            }
            if ledger.generator.below(child.len()) == 0 {
                child[dimension] = self.mutate(ledger, dimension, child[dimension]);
            }
        }
        space.index_of(&child).or_else(|| {
            let around = space.neighbours(mother, Neighbourhood::AnyValue);
            ledger.generator.pick(&around).copied()
        })
    }

    /// The next value up or down, or as often any value.
    fn mutate(&mut self, ledger: &mut Ledger<'_>, dimension: usize, place: u16) -> u16 {
        let values = ledger.space.dimensions()[dimension].values.len();
        match ledger.generator.below(4) {
            0 => place.saturating_sub(1),
            1 => (usize::from(place) + 1).min(values - 1) as u16,
            _ => ledger.generator.below(values) as u16,
        }
    }

    fn tournament(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let count = self.members.len();
        let drawn = (0..TOURNAMENT).map(|_| ledger.generator.below(count)).min();
        drawn.and_then(|place| self.members.get(place)).map(|&(member, _)| member)
    }
}
