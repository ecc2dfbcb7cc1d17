//! The blocks of a cluster start, run and end together. In a launch without clusters, each block is a cluster.

use super::grid::{Block, BlockStop};
use super::limit::LimitKind;
use super::run::Launch;

/// The blocks of a cluster that has started.
pub(super) struct ResidentCluster {
    /// By rank.
    pub(super) blocks: Vec<Block>,
}

/// Why the turn of a cluster ended.
pub(super) enum ClusterStop {
    Ended,
    /// A block has used its turn, or waits for a change of memory.
    Suspended,
    /// The launch reached a limit, in a turn of this warp.
    Limited {
        limit: LimitKind,
        rank: usize,
        warp: usize,
    },
}

impl Launch<'_> {
    /// Creates the blocks of a cluster, by its linear index among the clusters of the grid.
    pub(super) fn create_cluster(&mut self, cluster: u64) -> ResidentCluster {
        let ranks = 0..self.scheduled.blocks();
        let blocks =
            ranks.map(|rank| self.create(self.scheduled.block(self.grid, cluster, rank), cluster));
        ResidentCluster { blocks: blocks.collect() }
    }

    /// One turn of each block of a cluster, or several if the blocks wait for each other only.
    pub(super) fn run_cluster(&mut self, cluster: &mut ResidentCluster) -> ClusterStop {
        if let [block] = &mut cluster.blocks[..] {
            return match self.run_block(block) {
                BlockStop::Ended => ClusterStop::Ended,
                BlockStop::Suspended => ClusterStop::Suspended,
                BlockStop::Limited(limit, warp) => ClusterStop::Limited { limit, rank: 0, warp },
            };
        }
        let mut is_suspended = false;
        for rank in self.order.permutation(cluster.blocks.len()) {
            let block = &mut cluster.blocks[rank];
            if block.has_ended {
                continue;
            }
            match self.run_block(block) {
                BlockStop::Ended => block.has_ended = true,
                BlockStop::Suspended => is_suspended = true,
                BlockStop::Limited(limit, warp) => {
                    return ClusterStop::Limited { limit, rank, warp };
                }
            }
            if self.stopped {
                return ClusterStop::Ended;
            }
        }
        if is_suspended { ClusterStop::Suspended } else { ClusterStop::Ended }
    }
}
