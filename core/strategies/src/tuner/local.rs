//! Iterated local search: descend until no neighbour is faster, jump a little, repeat.
//!
//! Lourenço, Martin, Stützle, "Iterated Local Search", 2003; as a tuner of kernels it is the greedy ILS of Kernel Tuner
//! (van Werkhoven 2019), which performs well on restricted spaces.

use super::ledger::{ConfigurationState, Ledger, Proposer};
use crate::space::Neighbourhood;

/// Maximum fruitless jumps from one optimum before the search restarts elsewhere.
const MOST_FRUITLESS: usize = 6;
/// Maximum consecutive optima reached through known configurations only, before the search restarts elsewhere.
const MOST_KNOWN: usize = 32;

/// One walker.
pub(super) struct LocalSearch {
    /// The current configuration with its score; `None` before the first result.
    here: Option<(usize, f64)>,
    /// The best optimum since the last start.
    home: Option<(usize, f64)>,
    /// Neighbours of the current configuration that are still to be examined; the next is last.
    queue: Vec<usize>,
    /// A jump's target, while its answer is awaited.
    landing: Option<usize>,
    fruitless: usize,
}

impl Proposer for LocalSearch {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        for _ in 0..MOST_KNOWN {
            if self.landing.is_some_and(|target| ledger.is_asked(target)) {
                return None;
            }
            if self.here.is_none() {
                break;
            }
            if let Some(open) = self.next_of_queue(ledger) {
                return Some(open);
            }
            if self.awaits_a_neighbour(ledger) {
                return None;
            }
            let jump = self.leave_optimum(ledger);
            if jump.is_some_and(|target| ledger.is_open(target)) {
                return jump;
            }
        }
        self.start_elsewhere(ledger)
    }

    fn learn(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64) {
        if self.landing == Some(configuration) {
            self.landing = None;
            self.walk_to(ledger, configuration, score);
        } else {
            self.consider(ledger, configuration, score);
        }
    }
}

impl LocalSearch {
    pub(super) fn new() -> Self {
        Self { here: None, home: None, queue: Vec::new(), landing: None, fruitless: 0 }
    }

    /// The next open neighbour; known faster neighbours become the current configuration.
    fn next_of_queue(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        while let Some(next) = self.queue.pop() {
            match ledger.standing(next) {
                ConfigurationState::Open => return Some(next),
                ConfigurationState::Asked => {}
                ConfigurationState::Known(score) => self.consider(ledger, next, score),
            }
        }
        None
    }

    /// Jumps from the best optimum, with a distance that grows with the number of fruitless jumps. Returns the target
    /// if it must be asked for.
    fn leave_optimum(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let here = self.here?;
        if self.home.is_none_or(|(_, best)| here.1 < best) {
            self.home = Some(here);
            self.fruitless = 0;
        } else {
            self.fruitless += 1;
        }
        if self.fruitless > MOST_FRUITLESS {
            return self.start_elsewhere(ledger);
        }
        let mut target = self.home.map_or(here.0, |(home, _)| home);
        for _ in 0..2 + self.fruitless / 2 {
            let around = ledger.space.neighbours(target, Neighbourhood::AnyValue);
            target = ledger.generator.pick(&around).copied().unwrap_or(target);
        }
        match ledger.standing(target) {
            ConfigurationState::Known(score) => {
                self.walk_to(ledger, target, score);
                None
            }
            ConfigurationState::Open | ConfigurationState::Asked => {
                self.landing = Some(target);
                Some(target)
            }
        }
    }

    fn start_elsewhere(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        self.home = None;
        self.fruitless = 0;
        self.landing = ledger.any_open();
        self.landing
    }

    fn awaits_a_neighbour(&self, ledger: &Ledger<'_>) -> bool {
        let Some((here, _)) = self.here else { return false };
        let around = ledger.space.neighbours(here, Neighbourhood::AnyValue);
        around.into_iter().any(|neighbour| ledger.is_asked(neighbour))
    }

    fn consider(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64) {
        if self.here.is_none_or(|(_, own)| score < own) {
            self.walk_to(ledger, configuration, score);
        }
    }

    fn walk_to(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64) {
        self.here = Some((configuration, score));
        let space = ledger.space;
        let mut near = space.neighbours(configuration, Neighbourhood::Adjacent);
        let mut far = space.neighbours(configuration, Neighbourhood::AnyValue);
        far.retain(|neighbour| !near.contains(neighbour));
        ledger.generator.shuffle(&mut near);
        ledger.generator.shuffle(&mut far);
        far.append(&mut near);
        self.queue = far;
    }
}
