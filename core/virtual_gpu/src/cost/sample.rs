//! Selection of the blocks that run: all blocks, a contiguous range, or a sample spread evenly over the grid that
//! includes the first and the last block.

use std::num::NonZeroU64;

use super::Counts;

/// The blocks of the grid that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSelection {
    /// All blocks.
    All,
    /// At most `most` blocks (but at least two), evenly spread; the others do not run, so that buffers hold a part of
    /// the result. Rejected for kernels in which blocks may wait for each other.
    Sampled {
        /// The largest number of blocks.
        most: NonZeroU64,
    },
    /// A contiguous range of blocks; the others do not run. Rejected for kernels in which blocks may wait for each
    /// other.
    Range {
        /// The linear index of the first block.
        first: u64,
        /// The number of blocks, truncated at the end of the grid.
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
    /// The linear index of the first block of a contiguous range; none for evenly spread blocks.
    pub first: Option<u64>,
}

impl BlockSelection {
    /// The number of blocks of a grid that run.
    #[must_use]
    pub fn select(self, all: u64) -> BlocksRun {
        let (run, first) = match self {
            Self::All => (all, None),
            Self::Sampled { most } => (most.get().max(2).min(all), None),
            Self::Range { first, count } => {
                (count.get().min(all.saturating_sub(first)), Some(first))
            }
        };
        BlocksRun { run, all, first }
    }
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

    /// The linear index of the n-th block that runs.
    #[must_use]
    pub fn nth(self, n: u64) -> u64 {
        if let Some(first) = self.first {
            return first + n;
        }
        if !self.is_sample() || self.run < 2 {
            return n;
        }
        let place = u128::from(n) * u128::from(self.all - 1) / u128::from(self.run - 1);
        u64::try_from(place).unwrap_or(u64::MAX)
    }

    /// The estimate for the whole grid from the counts of the blocks that ran; maxima are not scaled.
    #[must_use]
    pub fn scaled(self, counts: &Counts) -> Counts {
        counts.scaled((self.run, self.all))
    }
}
