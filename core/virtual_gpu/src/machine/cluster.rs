//! Clusters: the special registers that describe the position of a block in its cluster.
//!
//! Distributed shared memory and the cluster barrier are not supported; an instruction that uses them is rejected
//! when the module is loaded.

use super::super::module::Function;
use super::launch::{LaunchConfig, LaunchError};

/// The largest number of blocks in a cluster: every device since compute capability 9.0 accepts it for kernels that
/// opt in to more than 8 (CUDA C++ Programming Guide, "Thread Block Clusters").
const MOST_BLOCKS: u64 = 16;

/// The clusters of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clusters {
    /// Blocks in each dimension.
    pub(super) size: [u32; 3],
    /// Whether the launch or the kernel specifies a cluster size; otherwise each block is a cluster.
    pub(super) is_explicit: bool,
}

impl Clusters {
    /// The cluster size of the launch configuration, or else of the kernel.
    pub(super) fn from_launch(
        function: &Function,
        config: &LaunchConfig,
    ) -> Result<Self, LaunchError> {
        let Some(size) = config.cluster.or(function.bounds.cluster) else {
            return Ok(Self { size: [1; 3], is_explicit: false });
        };
        let refuse = |reason: String| Err(LaunchError::Size { what: "a cluster", size, reason });
        if let Some(required) = function.bounds.cluster
            && required != size
        {
            return refuse(format!("the kernel requires {required:?}"));
        }
        let blocks: u64 = size.iter().map(|side| u64::from(*side)).product();
        if blocks == 0 || blocks > MOST_BLOCKS {
            return refuse(format!("a cluster has 1 to {MOST_BLOCKS} blocks"));
        }
        if let Some(most) = function.bounds.max_cluster_rank
            && blocks > u64::from(most)
        {
            return refuse(format!("the kernel allows {most} blocks"));
        }
        if config.grid.iter().zip(size).any(|(grid, side)| grid % side != 0) {
            return refuse(format!("the size does not divide the grid of {:?}", config.grid));
        }
        Ok(Self { size, is_explicit: true })
    }

    /// The cluster index of a block.
    pub(super) fn index(self, block: [u32; 3]) -> [u32; 3] {
        self.each(block, |block, side| block / side)
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
}
