//! Every configuration in order: for small spaces, and as ground truth.

use super::ledger::{Ledger, Proposer};

/// Iterates over the space from its first row to its last.
pub(super) struct Exhaustive {
    next: usize,
}

impl Exhaustive {
    pub(super) fn new() -> Self {
        Self { next: 0 }
    }
}

impl Proposer for Exhaustive {
    fn propose(&mut self, ledger: &mut Ledger<'_>) -> Option<usize> {
        self.next = (self.next..ledger.space.len()).find(|&index| ledger.is_open(index))?;
        Some(self.next)
    }

    fn learn(&mut self, _: &mut Ledger<'_>, _: usize, _: f64) {}
}
