//! The groups of asynchronous operations of a warp.

use std::collections::VecDeque;

/// The times at which operations end, in the order of their groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The end of the operations so far.
    last: u64,
    /// The end of each pending group and of those before it.
    pending: VecDeque<u64>,
}

impl Groups {
    /// Issues an operation that ends at a time.
    pub(super) fn add(&mut self, end: u64) {
        self.last = self.last.max(end);
    }

    /// Commits the operations since the last group as a group.
    pub(super) fn commit(&mut self) {
        self.pending.push_back(self.last);
    }

    /// The end of all operations so far.
    pub(super) const fn end(&self) -> u64 {
        self.last
    }

    /// The time at which at most this number of groups is pending; for zero, the end of all operations.
    pub(super) fn ready(&self, pending: u32) -> u64 {
        if pending == 0 {
            return self.last;
        }
        let waits = self.pending.len().checked_sub(pending as usize + 1);
        waits.map_or(0, |last| self.pending[last])
    }

    /// Forgets all but this number of groups.
    pub(super) fn retire(&mut self, pending: u32) {
        let done = self.pending.len().saturating_sub(pending as usize);
        self.pending.drain(..done);
    }
}
