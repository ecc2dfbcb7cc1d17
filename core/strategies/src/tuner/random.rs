//! Configurations in random order: what every other tuner has to beat.

use super::ledger::Ledger;
use super::{Told, Tuner};

/// Draws without replacement.
pub(super) struct RandomOrder<'s> {
    ledger: Ledger<'s>,
}

impl<'s> RandomOrder<'s> {
    pub(super) fn new(ledger: Ledger<'s>) -> Self {
        Self { ledger }
    }
}

impl Tuner for RandomOrder<'_> {
    fn ask(&mut self, most: usize) -> Vec<usize> {
        self.ledger.questions(most, Ledger::any_open)
    }

    fn tell(&mut self, configuration: usize, told: Told) {
        self.ledger.note(configuration, told);
    }
}
