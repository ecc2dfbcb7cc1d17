//! Makes a tuner of any proposer: it never asks for a configuration twice, and asks as long as any is left.

use super::ledger::{Ledger, Proposer};
use super::{TrialOutcome, Tuner};

/// A proposer and the ledger that it proposes from.
pub(super) struct ProposingTuner<'s, P> {
    ledger: Ledger<'s>,
    proposer: P,
}

impl<'s, P: Proposer> ProposingTuner<'s, P> {
    pub(super) fn new(ledger: Ledger<'s>, proposer: P) -> Self {
        Self { ledger, proposer }
    }
}

impl<P: Proposer> Tuner for ProposingTuner<'_, P> {
    fn ask(&mut self, most: usize) -> Vec<usize> {
        let mut asked = Vec::new();
        while asked.len() < most && self.ledger.open().len() > 0 {
            let first = self.ledger.take_first();
            let proposed = first.or_else(|| self.proposer.propose(&mut self.ledger));
            // A proposer that waits for results gets one random question, so that the caller is not idle; only one,
            // because waiting is better than guessing.
            let next = proposed
                .filter(|&next| self.ledger.is_open(next))
                .or_else(|| asked.is_empty().then(|| self.ledger.any_open()).flatten());
            let Some(next) = next else { break };
            self.ledger.ask_for(next);
            asked.push(next);
        }
        asked
    }

    fn tell(&mut self, configuration: usize, told: TrialOutcome) {
        if let Some(score) = self.ledger.note(configuration, told) {
            self.proposer.learn(&mut self.ledger, configuration, score);
        }
    }
}
