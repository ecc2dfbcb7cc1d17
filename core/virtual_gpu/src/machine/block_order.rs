//! The order in which blocks start. CUDA guarantees none (CUDA C++ Programming Guide, "Thread Hierarchy": blocks
//! may run in any order); a kernel whose blocks wait for blocks with lower indices depends on one.

use super::turn_order::Random;

/// The order in which the blocks of a grid start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrder {
    /// Ascending indices, as GPUs start them; the only order with several host threads.
    #[default]
    Ascending,
    /// Descending indices.
    Descending,
    /// A random order.
    Random { seed: u64 },
}

/// Blocks that have not started.
pub(super) struct BlockStarts {
    next: u64,
    pub(super) total: u64,
    order: BlockOrder,
    shuffled: Option<Vec<usize>>,
    /// The number of resident blocks.
    pub(super) max_resident: usize,
}

impl BlockStarts {
    pub(super) const fn new(
        total: u64,
        order: BlockOrder,
        shuffled: Option<Vec<usize>>,
        most: usize,
    ) -> Self {
        Self { next: 0, total, order, shuffled, max_resident: most }
    }

    pub(super) const fn left(&self) -> u64 {
        self.total - self.next
    }

    /// The index of the block that starts next.
    pub(super) fn take(&mut self) -> Option<u64> {
        let next = (self.next < self.total).then_some(self.next)?;
        self.next += 1;
        match (self.order, &self.shuffled) {
            (BlockOrder::Ascending, Some(shuffled)) => {
                shuffled.get(next as usize).map(|block| *block as u64)
            }
            (BlockOrder::Ascending, None) => Some(next),
            (BlockOrder::Descending, _) => Some(self.total - 1 - next),
            (BlockOrder::Random { seed }, _) => Some(scattered(next, self.total, seed)),
        }
    }
}

/// A permutation of the numbers below `total` that needs no memory for grids of 2^31 blocks: steps of a width that is
/// coprime with `total`.
fn scattered(index: u64, total: u64, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (mut width, first) = (random.below(total) | 1, random.below(total));
    while greatest_common_divisor(width, total) != 1 {
        width += 2;
    }
    let number = u128::from(index) * u128::from(width) + u128::from(first);
    (number % u128::from(total)) as u64
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::{BlockOrder, BlockStarts};

    #[test]
    fn every_order_starts_each_block_once() {
        let orders = [BlockOrder::Ascending, BlockOrder::Descending];
        let random = (0..20).map(|seed| BlockOrder::Random { seed });
        for order in orders.into_iter().chain(random) {
            for total in [1, 2, 7, 64, 90, 1000] {
                let mut starts = BlockStarts::new(total, order, None, 1);
                let mut all: Vec<u64> = std::iter::from_fn(|| starts.take()).collect();
                assert_eq!(starts.left(), 0);
                all.sort_unstable();
                assert_eq!(all, (0..total).collect::<Vec<_>>(), "{order:?} of {total}");
            }
        }
    }

    #[test]
    fn random_orders_differ_from_the_usual_one_and_from_each_other() {
        let order = |seed| {
            let mut starts = BlockStarts::new(64, BlockOrder::Random { seed }, None, 1);
            std::iter::from_fn(|| starts.take()).collect::<Vec<u64>>()
        };
        let orders: std::collections::BTreeSet<Vec<u64>> = (0..20).map(order).collect();
        assert_eq!(orders.len(), 20);
        assert!(!orders.contains(&(0..64).collect::<Vec<u64>>()));
    }

    #[test]
    fn a_descending_order_begins_with_the_last_block() {
        let mut starts = BlockStarts::new(5, BlockOrder::Descending, None, 1);
        assert_eq!((starts.take(), starts.take()), (Some(4), Some(3)));
    }
}
