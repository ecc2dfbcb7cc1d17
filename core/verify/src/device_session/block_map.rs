//! Which block of a grid writes an element, guessed from what a few blocks wrote. A guess is confirmed by running the block.

use std::ops::Range;

/// Most ranges of the first block that are used: a block with a grid-stride loop writes one range in each iteration.
const MOST_RANGES: usize = 1 << 14;

/// Guesses for one element.
const MOST_GUESSES: usize = 4;

/// Where each block writes, if every block writes what the first one writes, shifted by a constant for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockMap {
    grid: [u32; 3],
    /// Elements that block (0, 0, 0) writes, ascending.
    base: Vec<Range<u64>>,
    /// Elements between a block and its neighbour; none where neighbours write nothing of their own.
    shifts: [Option<u64>; 3],
}

impl BlockMap {
    /// A map of a grid of which only the first block is known.
    pub(super) fn new(grid: [u32; 3], mut base: Vec<Range<u64>>) -> Self {
        base.truncate(MOST_RANGES);
        Self { grid, base, shifts: [None; 3] }
    }

    /// Learns what the neighbour of the first block in a dimension writes: `before` and `after` are the elements that were
    /// written before it ran and after it.
    pub(super) fn learn(&mut self, dimension: usize, before: &[Range<u64>], after: &[Range<u64>]) {
        let base = self.base.first().map(|range| range.start);
        let shift =
            base.zip(first_new(before, after)).and_then(|(base, new)| new.checked_sub(base));
        if let Some(known) = self.shifts.get_mut(dimension) {
            *known = shift.filter(|shift| *shift > 0);
        }
    }

    /// Linear indices of blocks that may write this element, the likeliest first.
    pub(super) fn guesses(&self, element: u64) -> Vec<u64> {
        let mut order = [0, 1, 2];
        order.sort_by_key(|dimension| std::cmp::Reverse(self.shifts[*dimension]));
        let mut guesses: Vec<u64> = Vec::new();
        for range in &self.base {
            let Some(mut rest) = element.checked_sub(range.start) else { break };
            let mut index = [0_u64; 3];
            for dimension in order {
                if let Some(shift) = self.shifts[dimension] {
                    index[dimension] = (rest / shift).min(u64::from(self.grid[dimension]) - 1);
                    rest -= index[dimension] * shift;
                }
            }
            let [x, y, z] = index;
            let [width, height, _] = self.grid.map(u64::from);
            let block = (z * height + y) * width + x;
            if rest < range.end - range.start && !guesses.contains(&block) {
                guesses.push(block);
                if guesses.len() == MOST_GUESSES {
                    break;
                }
            }
        }
        guesses
    }
}

/// The first element of `after` that is not in `before`; both ascending.
fn first_new(before: &[Range<u64>], after: &[Range<u64>]) -> Option<u64> {
    let mut known = before.iter().peekable();
    for range in after {
        let mut start = range.start;
        while let Some(old) = known.peek().filter(|_| start < range.end) {
            if old.end <= start {
                known.next();
            } else if old.start <= start {
                start = old.end;
            } else {
                break;
            }
        }
        if start < range.end {
            return Some(start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose block writes these elements.
    fn check(
        grid: [u32; 3],
        writes: impl Fn([u64; 3]) -> Vec<Range<u64>>,
        element: u64,
        block: u64,
    ) {
        let mut written = writes([0, 0, 0]);
        let mut map = BlockMap::new(grid, written.clone());
        for (dimension, neighbour) in [[1, 0, 0], [0, 1, 0], [0, 0, 1]].into_iter().enumerate() {
            if grid[dimension] > 1 {
                let before = written.clone();
                written.extend(writes(neighbour));
                written.sort_by_key(|range| range.start);
                map.learn(dimension, &before, &written);
            }
        }
        assert!(map.guesses(element).contains(&block), "{map:?}: {:?}", map.guesses(element));
    }

    #[test]
    fn common_mappings_are_found() {
        // One thread for each element.
        check(
            [1000, 1, 1],
            |[x, ..]| std::iter::once(x * 256..(x + 1) * 256).collect(),
            255_999,
            999,
        );
        // A grid-stride loop: 8 blocks of 32 threads over 1024 elements.
        let strided =
            |[x, ..]: [u64; 3]| (0..4).map(move |turn| turn * 256 + x * 32).map(|at| at..at + 32);
        check([8, 1, 1], |index| strided(index).collect(), 1023, 7);
        check([8, 1, 1], |index| strided(index).collect(), 256 + 3 * 32, 3);
        // Tiles of 16 × 16 of a matrix of 128 columns, columns along x.
        let tile = |[x, y, _]: [u64; 3]| {
            (0..16).map(|row| (y * 16 + row) * 128 + x * 16).map(|at| at..at + 16).collect()
        };
        check([8, 8, 1], tile, 127 * 128 + 127, 63);
        check([8, 8, 1], tile, 37 * 128 + 50, 2 * 8 + 3);
        // The same with rows along x.
        check([8, 8, 1], |[x, y, z]| tile([y, x, z]), 37 * 128 + 50, 3 * 8 + 2);
    }

    #[test]
    fn what_is_new_is_found() {
        let ranges = |pairs: &[(u64, u64)]| -> Vec<Range<u64>> {
            pairs.iter().map(|(start, end)| *start..*end).collect()
        };
        let check = |before: &[(u64, u64)], after: &[(u64, u64)], expected| {
            assert_eq!(first_new(&ranges(before), &ranges(after)), expected);
        };
        check(&[], &[], None);
        check(&[(0, 4)], &[(0, 4)], None);
        check(&[(0, 4)], &[(0, 4), (8, 12)], Some(8));
        check(&[(0, 4)], &[(0, 6)], Some(4));
        check(&[(8, 12)], &[(6, 12)], Some(6));
        check(&[(0, 4), (8, 12)], &[(0, 12)], Some(4));
        // Ranges that touch are as good as one.
        check(&[(0, 4), (4, 8)], &[(0, 4), (4, 8), (16, 20)], Some(16));
    }
}
