//! A part of a grid that stands for all of it: some blocks, evenly spread, the first and the last among them.

use std::num::NonZeroU64;

use super::Counts;

/// Which blocks of the grid run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All of them.
    All,
    /// At most so many (but two at least), evenly spread; the others never run, so that buffers hold a part of the
    /// result. Refused for kernels in which blocks may wait for each other.
    Sampled {
        /// How many.
        most: NonZeroU64,
    },
    /// A contiguous range of blocks; the others never run. Refused for kernels in which blocks may wait for each other.
    Range {
        /// The linear index of the first block.
        first: u64,
        /// How many blocks, cut at the end of the grid.
        count: NonZeroU64,
    },
}

/// How many blocks ran, and how many the grid has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlocksRun {
    /// Those that ran, or were to run before a fault ended the launch.
    pub run: u64,
    /// Those of the grid.
    pub all: u64,
    /// The linear index of the first block where a contiguous range runs; none where blocks are spread evenly.
    pub first: Option<u64>,
}

impl Blocks {
    /// How many of a grid's blocks run.
    #[must_use]
    pub fn of(self, all: u64) -> BlocksRun {
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
    /// Whether blocks were left out.
    #[must_use]
    pub const fn is_sample(self) -> bool {
        self.run < self.all
    }

    /// The part that ran.
    #[must_use]
    pub fn fraction(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.run as f64 / self.all as f64 }
    }

    /// The number in the grid of the n-th block that runs.
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

    /// Counts of the blocks that ran as an estimate for the whole grid; largest values stay as they are.
    #[must_use]
    pub fn scaled(self, counts: &Counts) -> Counts {
        counts.scaled((self.run, self.all))
    }
}
