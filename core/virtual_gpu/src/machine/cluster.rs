//! Clusters: their size, and the position of a block in its cluster.

use super::grid_index;

/// The clusters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clusters {
    /// Blocks in each dimension.
    pub(super) size: [u32; 3],
    /// Whether the launch or the kernel specifies a cluster size; otherwise each block is a cluster.
    pub(super) is_explicit: bool,
}

impl Clusters {
    /// Clusters of one block, which the launch does not specify.
    pub(super) const SINGLE: Self = Self { size: [1; 3], is_explicit: false };

    /// The cluster index of a block.
    pub(super) fn index(self, block: [u32; 3]) -> [u32; 3] {
        self.each(block, |block, side| block / side)
    }

    /// The linear index of the cluster of a block among the clusters of the grid.
    pub(super) fn linear(self, grid: [u32; 3], block: [u32; 3]) -> u64 {
        grid_index::linear(self.count(grid), self.index(block))
    }

    /// The number of clusters in each dimension of a grid.
    pub(super) fn count(self, grid: [u32; 3]) -> [u32; 3] {
        self.index(grid)
    }

    /// The index of a block within its cluster.
    pub(super) fn place(self, block: [u32; 3]) -> [u32; 3] {
        self.each(block, |block, side| block % side)
    }

    /// The rank of a block in its cluster, the first dimension fastest.
    pub(super) fn rank(self, block: [u32; 3]) -> u32 {
        let ([x, y, z], [width, height, _]) = (self.place(block), self.size);
        (z * height + y) * width + x
    }

    /// The index of a block in the grid: the block with this rank in a cluster, given by its linear index among the
    /// clusters of the grid.
    pub(super) fn block(self, grid: [u32; 3], cluster: u64, rank: u32) -> [u32; 3] {
        let (of, within) =
            (grid_index::at(self.count(grid), cluster), grid_index::at(self.size, u64::from(rank)));
        [0, 1, 2].map(|axis: usize| of[axis] * self.size[axis] + within[axis])
    }

    /// The number of clusters that are resident where this number of blocks is.
    pub(super) fn resident_clusters(self, blocks: usize) -> usize {
        (blocks / self.blocks().max(1) as usize).max(1)
    }

    /// The number of blocks in a cluster.
    pub(super) fn blocks(self) -> u32 {
        self.size.iter().product()
    }

    fn each(self, values: [u32; 3], part: impl Fn(u32, u32) -> u32) -> [u32; 3] {
        // No dimension is 0: `from_launch` rejects it.
        [0, 1, 2].map(|axis: usize| part(values[axis], self.size[axis].max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::Clusters;

    #[test]
    fn blocks_count_in_their_cluster() {
        let clusters = Clusters { size: [2, 3, 1], is_explicit: true };
        assert_eq!(clusters.count([4, 9, 5]), [2, 3, 5]);
        assert_eq!(clusters.index([3, 7, 4]), [1, 2, 4]);
        assert_eq!(clusters.place([3, 7, 4]), [1, 1, 0]);
        assert_eq!(clusters.rank([3, 7, 4]), 3);
        assert_eq!(clusters.blocks(), 6);
    }

    #[test]
    fn every_block_has_one_cluster_and_one_rank() {
        let (clusters, grid) = (Clusters { size: [2, 3, 1], is_explicit: true }, [4, 9, 2]);
        let mut blocks = Vec::new();
        for cluster in 0..12 {
            for rank in 0..clusters.blocks() {
                let block = clusters.block(grid, cluster, rank);
                assert_eq!(clusters.rank(block), rank);
                assert_eq!(clusters.linear(grid, block), cluster);
                blocks.push(block);
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 72);
    }
}
