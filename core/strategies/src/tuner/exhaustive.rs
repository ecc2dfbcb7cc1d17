//! Every configuration in order: for spaces that are small enough, and to know the truth.

use super::ledger::Ledger;
use super::{Told, Tuner};

/// Goes through the space from its first row to its last.
pub(super) struct Exhaustive<'s> {
    ledger: Ledger<'s>,
    next: usize,
}

impl<'s> Exhaustive<'s> {
    pub(super) fn new(ledger: Ledger<'s>) -> Self {
        Self { ledger, next: 0 }
    }
}

impl Tuner for Exhaustive<'_> {
    fn ask(&mut self, most: usize) -> Vec<usize> {
        let next = &mut self.next;
        self.ledger.questions(most, |ledger| {
            let found = (*next..ledger.space.len()).find(|&index| ledger.is_open(index));
            *next = found?;
            found
        })
    }

    fn tell(&mut self, configuration: usize, told: Told) {
        self.ledger.note(configuration, told);
    }
}
