//! Selection of the blocks that run: all blocks, a contiguous range, or a sample spread evenly over the grid that
//! includes the first and the last block. Clusters run as a whole.

use std::num::NonZeroU64;

use super::Counts;

/// The blocks of the grid that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSelection {
    /// All blocks.
    All,
    /// At most `most` blocks (but at least two clusters), evenly spread; the others do not run, so that buffers hold a
    /// part of the result. Rejected for kernels in which clusters may wait for each other.
    Sampled {
        /// The largest number of blocks.
        most: NonZeroU64,
    },
    /// A contiguous range of clusters, which are single blocks in a launch without clusters; the others do not run.
    /// Rejected for kernels in which clusters may wait for each other.
    Range {
        /// The linear index of the first cluster.
        first: u64,
        /// The number of clusters, truncated at the end of the grid.
        count: NonZeroU64,
    },
}

/// The number of blocks that ran, and of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlocksRun {
    /// The selected blocks, including those that did not run because a fault ended the launch.
    pub run: u64,
    /// The blocks of the grid.
    pub all: u64,
}

impl BlocksRun {
    /// Whether some blocks of the grid did not run.
    #[must_use]
    pub const fn is_sample(self) -> bool {
        self.run < self.all
    }

    /// The fraction of the grid that ran.
    #[must_use]
    pub fn fraction(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.run as f64 / self.all as f64 }
    }

    /// The estimate for the whole grid from the counts of the blocks that ran; maxima are not scaled.
    #[must_use]
    pub fn scaled(self, counts: &Counts) -> Counts {
        counts.scaled((self.run, self.all))
    }
}
