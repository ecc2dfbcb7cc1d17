//! Simulated annealing with several chains: slower neighbours are accepted with decreasing probability, so that a chain
//! can leave a local optimum.
//!
//! Kirkpatrick, Gelatt, Vecchi, "Optimization by Simulated Annealing", Science 1983. Scores are logarithms of times, so
//! one temperature suits every kernel.

use super::ledger::{ConfigurationState, Ledger, Proposer};
use crate::space::Neighbourhood;

/// Number of independent chains.
const CHAINS: usize = 4;
/// Initial temperature: a configuration 1.5 times slower is accepted about every third time.
const HOTTEST: f64 = 0.4;
/// Final temperature: about the difference of two measurements of one kernel.
const COLDEST: f64 = 0.01;
/// Factor on the temperature per answer: about forty answers from the initial to the final one.
const COOLING: f64 = 0.91;
/// Maximum steps of a chain over known configurations before it restarts elsewhere.
const MOST_KNOWN: usize = 32;

/// A chain with its own temperature.
#[derive(Clone)]
struct Chain {
    here: Option<(usize, f64)>,
    awaited: Option<usize>,
    temperature: f64,
}

/// All chains, asked in turn.
pub(super) struct Annealing {
    chains: Vec<Chain>,
    turn: usize,
}

impl Proposer for Annealing {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        let idle = (0..CHAINS)
            .map(|offset| (self.turn + offset) % CHAINS)
            .find(|&chain| self.chains[chain].awaited.is_none())?;
        self.turn = (idle + 1) % CHAINS;
        let next = self.step(ledger, idle)?;
        self.chains[idle].awaited = Some(next);
        Some(next)
    }

    fn learn(&mut self, ledger: &mut Ledger<'_>, configuration: usize, score: f64) {
        let waiting = |chain: &Chain| chain.awaited == Some(configuration);
        let unused = |chain: &Chain| chain.awaited.is_none() && chain.here.is_none();
        let chain = self.chains.iter().position(waiting);
        if let Some(chain) = chain.or_else(|| self.chains.iter().position(unused)) {
            self.chains[chain].awaited = None;
            self.offer(ledger, chain, configuration, score);
            self.cool(ledger, chain);
        }
    }
}

impl Annealing {
    pub(super) fn new() -> Self {
        let chain = Chain { here: None, awaited: None, temperature: HOTTEST };
        Self { chains: vec![chain; CHAINS], turn: 0 }
    }

    /// Moves a chain over known configurations until it reaches an open one.
    fn step(&mut self, ledger: &mut Ledger<'_>, chain: usize) -> Option<usize> {
        for _ in 0..MOST_KNOWN {
            let Some((here, _)) = self.chains[chain].here else { break };
            let wide = ledger.generator.below(4) == 0;
            let neighbourhood =
                if wide { Neighbourhood::AnyValue } else { Neighbourhood::Adjacent };
            let around = ledger.space.neighbours(here, neighbourhood);
            let Some(&next) = ledger.generator.pick(&around) else { break };
            match ledger.standing(next) {
                ConfigurationState::Open => return Some(next),
                ConfigurationState::Asked => {}
                ConfigurationState::Known(score) => self.offer(ledger, chain, next, score),
            }
        }
        self.chains[chain].here = None;
        ledger.any_open()
    }

    /// The rule of Metropolis: faster always, slower with a probability.
    fn offer(&mut self, ledger: &mut Ledger<'_>, chain: usize, configuration: usize, score: f64) {
        let draw = ledger.generator.fraction();
        let Chain { here, temperature, .. } = &mut self.chains[chain];
        let slower_by = here.map_or(f64::NEG_INFINITY, |(_, own)| score - own);
        // Where both failed the difference is not a number: walk on, anything may be near.
        let rejects = slower_by > 0.0 && draw >= pxfm::f_exp(-slower_by / *temperature);
        if !rejects {
            *here = Some((configuration, score));
        }
    }

    /// Cools a chain; one that is cold starts again, every other one at the best so far.
    fn cool(&mut self, ledger: &mut Ledger<'_>, chain: usize) {
        self.chains[chain].temperature *= COOLING;
        if self.chains[chain].temperature < COLDEST {
            self.chains[chain].temperature = HOTTEST;
            let returns = chain.is_multiple_of(2);
            self.chains[chain].here = if returns { ledger.best() } else { None };
        }
    }
}
