//! The clusters of a grid that run: all of them, some that are spread evenly, or a range. A cluster always runs as a
//! whole, because its blocks may wait for each other.

use super::super::cost::{BlockSelection, BlocksRun};
use super::cluster::Clusters;
use super::grid_index;

/// The clusters of a launch that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SelectedClusters {
    clusters: Clusters,
    grid: [u32; 3],
    /// The clusters that run.
    run: u64,
    /// The clusters of the grid.
    all: u64,
    /// The linear index of the first cluster of a range; none for evenly spread clusters.
    first: Option<u64>,
}

impl SelectedClusters {
    pub(super) fn new(selection: BlockSelection, clusters: Clusters, grid: [u32; 3]) -> Self {
        let all = grid_index::count(clusters.count(grid));
        let (run, first) = match selection {
            BlockSelection::All => (all, None),
            BlockSelection::Sampled { most } => {
                let most = most.get() / u64::from(clusters.blocks().max(1));
                (most.max(2).min(all), None)
            }
            BlockSelection::Range { first, count } => {
                (count.get().min(all.saturating_sub(first)), Some(first))
            }
        };
        Self { clusters, grid, run, all, first }
    }

    /// The number of clusters that run.
    pub(super) const fn count(self) -> u64 {
        self.run
    }

    /// The linear index of the n-th cluster that runs.
    pub(super) fn nth(self, n: u64) -> u64 {
        if let Some(first) = self.first {
            return first + n;
        }
        if self.run == self.all || self.run < 2 {
            return n;
        }
        let place = u128::from(n) * u128::from(self.all - 1) / u128::from(self.run - 1);
        u64::try_from(place).unwrap_or(u64::MAX)
    }

    pub(super) fn blocks(self) -> BlocksRun {
        let each = u64::from(self.clusters.blocks());
        BlocksRun { run: self.run * each, all: self.all * each }
    }

    /// The linear indices of at most this many blocks that run: the first block of the middle cluster of each of equal
    /// parts, because the first and the last cluster of a grid are often special.
    pub(super) fn middles(self, most: u32) -> impl Iterator<Item = u64> {
        let parts = u64::from(most).min(self.run);
        let middle = move |part| self.nth((2 * part + 1) * self.run / (2 * parts));
        (0..parts).map(middle).map(move |cluster| {
            grid_index::linear(self.grid, self.clusters.block(self.grid, cluster, 0))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::super::super::cost::BlockSelection;
    use super::super::cluster::Clusters;
    use super::SelectedClusters;

    fn sampled(most: u64) -> BlockSelection {
        BlockSelection::Sampled { most: NonZeroU64::new(most).unwrap() }
    }

    fn range(first: u64, count: u64) -> BlockSelection {
        BlockSelection::Range { first, count: NonZeroU64::new(count).unwrap() }
    }

    #[track_caller]
    fn check(selection: BlockSelection, size: [u32; 3], grid: [u32; 3], expected: &[u64]) {
        let clusters = Clusters { size, is_explicit: true };
        let selected = SelectedClusters::new(selection, clusters, grid);
        let found: Vec<u64> = (0..selected.count()).map(|n| selected.nth(n)).collect();
        assert_eq!(found, expected, "{selection:?}");
        assert_eq!(selected.blocks().run, expected.len() as u64 * u64::from(clusters.blocks()));
    }

    #[test]
    fn samples_are_even_and_have_both_ends() {
        check(sampled(3), [1; 3], [101, 1, 1], &[0, 50, 100]);
        check(sampled(1), [1; 3], [10, 1, 1], &[0, 9]);
        check(sampled(10), [1; 3], [3, 1, 1], &[0, 1, 2]);
        check(sampled(4), [1; 3], [1, 1, 1], &[0]);
        check(sampled(2), [1; 3], [u32::MAX; 3], &[0, u64::MAX - 1]);
        check(sampled(6), [2, 1, 1], [202, 1, 1], &[0, 50, 100]);
        check(sampled(6), [8, 1, 1], [80, 1, 1], &[0, 9]);
    }

    #[test]
    fn a_range_ends_with_the_grid() {
        check(range(3, 2), [1; 3], [10, 1, 1], &[3, 4]);
        check(range(8, 5), [1; 3], [10, 1, 1], &[8, 9]);
        check(range(12, 5), [1; 3], [10, 1, 1], &[]);
        check(range(1, 2), [2, 1, 1], [10, 1, 1], &[1, 2]);
        check(range(0, 2), [2, 2, 1], [4, 4, 1], &[0, 1]);
        check(range(2, 1), [2, 2, 1], [4, 4, 1], &[2]);
        check(range(4, 3), [2, 1, 1], [10, 1, 1], &[4]);
    }

    #[test]
    fn recorded_blocks_begin_a_cluster_in_the_middle_of_each_part() {
        let clusters = Clusters { size: [2, 2, 1], is_explicit: true };
        let selected = SelectedClusters::new(BlockSelection::All, clusters, [4, 8, 1]);
        assert_eq!(selected.middles(2).collect::<Vec<_>>(), [8, 24]);
        assert_eq!(selected.middles(100).count(), 8);
    }
}
