//! The blocks of a cluster start, run and end together. In a launch without clusters, each block is a cluster.

use super::grid::{Block, BlockStop};
use super::limit::LimitKind;
use super::peers::Peers;
use super::run::Launch;
use super::warp::SplitState;

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
        let ranks = 0..self.clusters.blocks();
        let blocks =
            ranks.map(|rank| self.create(self.clusters.block(self.grid, cluster, rank), cluster));
        ResidentCluster { blocks: blocks.collect() }
    }

    /// One turn of each block of a cluster, or several if its blocks wait only for each other.
    pub(super) fn run_cluster(&mut self, cluster: &mut ResidentCluster) -> ClusterStop {
        loop {
            let mut is_suspended = false;
            for rank in self.order.permutation(cluster.blocks.len()) {
                if cluster.blocks[rank].has_ended {
                    continue;
                }
                match self.with_peers(cluster, rank, Self::run_block) {
                    BlockStop::Ended => cluster.blocks[rank].has_ended = true,
                    BlockStop::Suspended => is_suspended = true,
                    BlockStop::AtClusterBarrier => {}
                    BlockStop::Limited(limit, warp) => {
                        return ClusterStop::Limited { limit, rank, warp };
                    }
                }
                if self.stopped {
                    return ClusterStop::Ended;
                }
            }
            let is_released = self.release_cluster_barrier(cluster);
            if is_suspended {
                return ClusterStop::Suspended;
            }
            if cluster.blocks.iter().all(|block| block.has_ended) {
                self.check_visits(cluster);
                return ClusterStop::Ended;
            }
            if !is_released && !self.resolve_cluster(cluster) {
                return ClusterStop::Ended;
            }
        }
    }

    /// Gives a block access to the memory of the others for as long as it runs.
    fn with_peers<T>(
        &mut self,
        cluster: &mut ResidentCluster,
        rank: usize,
        run: impl FnOnce(&mut Self, &mut Block) -> T,
    ) -> T {
        let mut block = cluster.blocks.remove(rank);
        self.peers = Peers::new(rank as u32, std::mem::take(&mut cluster.blocks));
        let result = run(self, &mut block);
        cluster.blocks = std::mem::take(&mut self.peers.blocks);
        cluster.blocks.insert(rank, block);
        result
    }

    /// No thread of a cluster can continue: lets lanes continue that wait for others of their warp, or reports why.
    fn resolve_cluster(&mut self, cluster: &mut ResidentCluster) -> bool {
        let waits = |block: &Block| {
            let mut splits = block.warps.iter().flat_map(|warp| &warp.splits);
            splits.any(|split| matches!(split.state, SplitState::WarpSync(_)))
        };
        match cluster.blocks.iter().position(waits) {
            Some(rank) => self.with_peers(cluster, rank, Self::resolve),
            None => {
                self.report_cluster_deadlock(cluster);
                false
            }
        }
    }
}
