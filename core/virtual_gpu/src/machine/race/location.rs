//! What strong writes to one place have published to those who observe them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{Clock, Known, Thread, learn};
use super::order::{ByReach, Reach};

/// Clocks for the readers of each block, and for all.
#[derive(Clone, Debug, Default)]
pub(super) struct Published {
    blocks: BTreeMap<u32, Known>,
    device: Known,
}

impl Published {
    /// What a write with a scope publishes of what was released in each scope.
    pub(super) fn add(&mut self, block: u32, reach: Reach, released: &ByReach<Known>) {
        if released.block.is_some() {
            learn(self.blocks.entry(block).or_default(), &released.block);
        }
        if reach == Reach::Device {
            learn(&mut self.device, &released.device);
        }
    }

    /// What a read with a scope sees: what was published for its block, and for all.
    pub(super) fn visible(&self, block: u32, reach: Reach) -> ByReach<Known> {
        let device = if reach == Reach::Device { self.device.clone() } else { None };
        ByReach { block: self.blocks.get(&block).cloned().flatten(), device }
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.device.is_none()
    }
}

/// A place that is written strongly.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) bytes: u32,
    pub(super) released: Published,
    /// What rule 14 adds.
    pub(super) sequential: Published,
    /// Release operations on it, for later writes of the same threads (rule 11).
    operations: BTreeMap<Thread, (Reach, Arc<Clock>)>,
}

impl Location {
    /// Whether observing it tells nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.released.is_empty() && self.sequential.is_empty()
    }

    /// Whether it will not tell anything later either.
    pub(super) fn is_forgettable(&self) -> bool {
        self.is_empty() && self.operations.is_empty()
    }

    /// A write that is no read-modify-write begins a new chain (rule 13).
    pub(super) fn restart(&mut self) {
        self.released = Published::default();
        self.sequential = Published::default();
    }

    /// A strong write of a thread that released here before publishes that again (rule 11).
    pub(super) fn repeat(&mut self, by: Thread, reach: Reach) {
        let Some((scope, clock)) = self.operations.get(&by) else { return };
        let device = (*scope == Reach::Device).then(|| Arc::clone(clock));
        let all = ByReach { block: Some(Arc::clone(clock)), device };
        self.released.add(by.block(), reach, &all);
    }

    pub(super) fn remember(&mut self, thread: Thread, reach: Reach, clock: Arc<Clock>) {
        self.operations.insert(thread, (reach, clock));
    }
}
