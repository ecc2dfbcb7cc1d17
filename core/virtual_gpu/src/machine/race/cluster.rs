//! The order that clusters establish: scopes that include a cluster, and its barrier (rules 3 and 32).

use super::super::super::isa::cluster::ArrivalOrder;
use super::super::cluster::Clusters;
use super::super::grid_index;
use super::super::run::Worker;
use super::BlockRaces;
use super::clock::{Clock, Key, Known, learn};

/// The clusters of a launch, of several blocks each.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ClusterMap {
    pub(in super::super) clusters: Clusters,
    pub(in super::super) grid: [u32; 3],
}

impl ClusterMap {
    /// The linear index of the cluster of a block.
    pub(super) fn cluster(self, block: u32) -> u32 {
        self.clusters.linear(self.grid, grid_index::at(self.grid, u64::from(block))) as u32
    }
}

/// A block, and its cluster if that has several blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) block: u32,
    pub(super) cluster: Option<u32>,
}

/// What happens before the completion of the barrier of a cluster.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ClusterOrder {
    known: Known,
    /// What precedes it in the order of the phases of barriers.
    phases: Known,
}

impl ClusterOrder {
    /// The order of the arrivals in all blocks of a cluster since the last completion.
    pub(in super::super) fn gather<'b>(blocks: impl Iterator<Item = &'b mut BlockRaces>) -> Self {
        let mut order = Self::default();
        for block in blocks {
            learn(&mut order.known, &std::mem::take(&mut block.arrivals.known));
            if let Some(phases) = &mut block.phases {
                learn(&mut order.phases, &phases.take_cluster_arrivals());
            }
        }
        order
    }
}

impl BlockRaces {
    /// Exchanges the recorded accesses of the shared memory of two blocks.
    pub(in super::super) fn exchange_memory(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.shared, &mut other.shared);
        std::mem::swap(&mut self.visits, &mut other.visits);
        if let (Some(own), Some(other)) = (&mut self.phases, &mut other.phases) {
            own.exchange_memory(other);
        }
    }

    /// Exchanges the orders of the threads of two blocks.
    pub(in super::super) fn exchange_order(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.order, &mut other.order);
        if let (Some(own), Some(other)) = (&mut self.phases, &mut other.phases) {
            own.exchange_order(other);
        }
    }

    /// The barrier of the cluster completes.
    pub(in super::super) fn complete_cluster(&mut self, order: &ClusterOrder) {
        self.released = order.clone();
    }

    /// Lanes continue after the barrier of the cluster.
    pub(in super::super) fn pass_cluster(&mut self, warp: u32, mask: u32) {
        self.order.learn_together(warp, mask, &self.released.known);
        if let Some(phases) = &mut self.phases {
            phases.pass_cluster(warp, &self.released.phases);
        }
    }

    fn arrive_at_cluster(&mut self, warp: u32, mask: u32, order: ArrivalOrder) {
        if let Some(phases) = &mut self.phases {
            phases.arrive_at_cluster(warp);
        }
        let known = match order {
            ArrivalOrder::Release => self.order.snapshot_of_lanes(warp, mask),
            // A fence before a relaxed arrival releases (rule 11).
            ArrivalOrder::Relaxed => self.order.released_by_fences(warp, mask),
        };
        learn(&mut self.arrivals.known, &known);
        // Time 1 is the start of the block, before all of its accesses.
        let mut start = Clock::default();
        start.raise(Key::block(self.order.block), 1);
        if self.order.clusters.is_some() {
            learn(&mut self.arrivals.known, &Some(start.into()));
        }
    }
}

impl Worker<'_, '_> {
    /// Lanes arrive at the barrier of the cluster.
    pub(in super::super) fn race_arrive_at_cluster(&mut self, mask: u32, order: ArrivalOrder) {
        if let Some(races) = &mut self.block.races {
            races.arrive_at_cluster(self.warp.index, mask, order);
        }
    }

    /// Lanes pass the barrier of the cluster, which was complete.
    pub(in super::super) fn race_pass_cluster(&mut self, mask: u32) {
        if let Some(races) = &mut self.block.races {
            races.pass_cluster(self.warp.index, mask);
        }
    }
}
