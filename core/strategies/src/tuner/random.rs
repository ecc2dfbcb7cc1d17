//! Configurations in random order: the reference for all other tuners.

use super::ledger::{Ledger, Proposer};

/// Draws without replacement.
pub(super) struct RandomOrder;

impl Proposer for RandomOrder {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        ledger.any_open()
    }

    fn learn(&mut self, _: &mut Ledger<'_>, _: usize, _: f64) {}
}
