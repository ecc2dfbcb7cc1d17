//! The order of turns of blocks, warps and diverged lanes: fixed, or random from a seed.

/// The order of turns of blocks, warps and diverged lanes.
#[derive(Clone, Debug)]
pub(super) enum TurnOrder {
    /// Blocks and warps in ascending order, lanes converged as long as possible.
    Fixed,
    /// Any order that a GPU may use, chosen by a random number generator.
    Seeded(Random),
}

impl TurnOrder {
    /// The number of steps of a warp's turn; `whole` in the fixed order.
    pub(super) fn turn_length(&mut self, whole: i64) -> i64 {
        match self {
            Self::Fixed => whole,
            // From one instruction to thousands, short turns as often as long ones.
            Self::Seeded(random) => 1 << random.below(13),
        }
    }

    /// Whether converged lanes may diverge at any instruction.
    pub(super) const fn splits_lanes(&self) -> bool {
        match self {
            Self::Fixed => false,
            Self::Seeded(_) => true,
        }
    }

    /// The number of rounds of waiting after which a block yields; `whole` in the fixed order.
    pub(super) const fn rounds_before_yield(&self, whole: u32) -> u32 {
        match self {
            Self::Fixed => whole,
            Self::Seeded(_) => 1,
        }
    }

    /// An index below `count`: `fixed` in the fixed order, or any.
    pub(super) fn pick(&mut self, fixed: usize, count: usize) -> usize {
        match self {
            Self::Fixed => fixed,
            Self::Seeded(random) => random.below(count.max(1) as u64) as usize,
        }
    }

    /// The order in which `count` items take turns.
    pub(super) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        if let Self::Seeded(random) = self {
            for last in (1..count).rev() {
                all.swap(last, random.below(last as u64 + 1) as usize);
            }
        }
        all
    }

    /// A subset of converged lanes to split off, if they are to diverge now: threads of a warp make progress
    /// independently since compute capability 7.0 (CUDA C++ Programming Guide, "Independent Thread Scheduling").
    pub(super) fn split_lanes(&mut self, lanes: u32) -> Option<u32> {
        let Self::Seeded(random) = self else { return None };
        if lanes.count_ones() < 2 || random.below(4) != 0 {
            return None;
        }
        // Halves, single lanes and arbitrary subsets all occur.
        let some = match random.below(3) {
            0 => lanes & 0xffff << random.below(17),
            1 => lanes & random.next() as u32,
            _ => lanes & 1 << random.below(32),
        };
        (some != 0 && some != lanes).then_some(some)
    }
}

/// A random number generator: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014),
/// SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below a limit that is small compared with 2^64.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, TurnOrder};

    #[test]
    fn every_order_of_a_seed_is_the_same_and_complete() {
        let (mut one, mut other) =
            (TurnOrder::Seeded(Random::new(7)), TurnOrder::Seeded(Random::new(7)));
        let rounds: Vec<_> = (0..20).map(|_| one.permutation(9)).collect();
        assert_eq!(rounds, (0..20).map(|_| other.permutation(9)).collect::<Vec<_>>());
        for mut round in rounds {
            round.sort_unstable();
            assert_eq!(round, (0..9).collect::<Vec<_>>());
        }
    }

    #[test]
    fn lanes_part_into_some_and_the_others() {
        let mut order = TurnOrder::Seeded(Random::new(1));
        let parts: Vec<u32> = (0..100).filter_map(|_| order.split_lanes(0xf0f0)).collect();
        assert!(parts.iter().all(|some| some & !0xf0f0 == 0 && *some != 0 && *some != 0xf0f0));
        assert!(!parts.is_empty() && TurnOrder::Fixed.split_lanes(0xf0f0).is_none());
    }
}
