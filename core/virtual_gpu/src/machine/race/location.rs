//! The releases at one memory location that an acquire can observe.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{Clock, Known, Thread, learn};
use super::cluster::Home;
use super::happens_before::{ByReach, Reach};

/// Published clocks, for readers of each block, of each cluster, and for all readers.
#[derive(Clone, Debug, Default)]
pub(super) struct Published {
    blocks: BTreeMap<u32, Known>,
    clusters: BTreeMap<u32, Known>,
    device: Known,
}

impl Published {
    /// Adds the clocks that a write with a scope publishes, of each release scope.
    pub(super) fn add(&mut self, home: Home, reach: Reach, released: &ByReach<Known>) {
        if released.block.is_some() {
            learn(self.blocks.entry(home.block).or_default(), &released.block);
        }
        if let Some(cluster) = home.cluster
            && reach >= Reach::Cluster
            && released.cluster.is_some()
        {
            learn(self.clusters.entry(cluster).or_default(), &released.cluster);
        }
        if reach == Reach::Device {
            learn(&mut self.device, &released.device);
        }
    }

    /// The clocks that a read with a scope observes: those published for its block, for its cluster, and for all.
    pub(super) fn visible(&self, home: Home, reach: Reach) -> ByReach<Known> {
        let device = if reach == Reach::Device { self.device.clone() } else { None };
        let cluster = home.cluster.filter(|_| reach >= Reach::Cluster);
        let cluster = cluster.and_then(|cluster| self.clusters.get(&cluster).cloned().flatten());
        ByReach { block: self.blocks.get(&home.block).cloned().flatten(), cluster, device }
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.clusters.is_empty() && self.device.is_none()
    }
}

/// A location of strong writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub(super) bytes: u32,
    pub(super) released: Published,
    /// The clocks of rule 14.
    pub(super) sequential: Published,
    /// Release operations on the location, for later writes of the same threads (rule 11).
    operations: BTreeMap<Thread, (Reach, Arc<Clock>)>,
}

impl Location {
    /// Whether observing the location establishes no order.
    pub(super) fn is_empty(&self) -> bool {
        self.released.is_empty() && self.sequential.is_empty()
    }

    /// Whether no later observation can establish order either.
    pub(super) fn is_forgettable(&self) -> bool {
        self.is_empty() && self.operations.is_empty()
    }

    /// A write that is not a read-modify-write begins a new chain (rule 13).
    pub(super) fn restart(&mut self) {
        self.released = Published::default();
        self.sequential = Published::default();
    }

    /// A strong write of a thread that released here before publishes that release again (rule 11).
    pub(super) fn repeat(&mut self, by: Thread, home: Home, reach: Reach) {
        let Some((scope, clock)) = self.operations.get(&by) else { return };
        let mut all = ByReach::default();
        all.set(*scope, clock);
        self.released.add(home, reach, &all);
    }

    pub(super) fn remember(&mut self, thread: Thread, reach: Reach, clock: Arc<Clock>) {
        self.operations.insert(thread, (reach, clock));
    }
}
