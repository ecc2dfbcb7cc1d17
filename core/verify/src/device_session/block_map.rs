//! Which block of a grid writes an element, guessed from what a few blocks wrote. A guess is confirmed by running the block.

use std::ops::Range;

/// Most ranges of the first block that are used: a block with a grid-stride loop writes one range in each iteration.
const MOST_RANGES: usize = 1 << 14;

/// Guesses for one element.
const MOST_GUESSES: usize = 4;

/// The blocks along a dimension of the grid, or along a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    blocks: u64,
    /// Difference of the linear indices of neighbours.
    stride: u64,
    /// Elements between a block and its neighbour; none where neighbours write nothing of their own.
    shift: Option<u64>,
}

/// Where each block writes, if every block writes what the first one writes, shifted by a constant for each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockMap {
    axes: Vec<Axis>,
    /// Elements that block (0, 0, 0) writes, ascending.
    base: Vec<Range<u64>>,
}

impl BlockMap {
    /// A map of a grid of which only the first block is known.
    pub(super) fn new(grid: [u32; 3], mut base: Vec<Range<u64>>) -> Self {
        base.truncate(MOST_RANGES);
        let strides = [1, u64::from(grid[0]), u64::from(grid[0]) * u64::from(grid[1])];
        let axes = grid.into_iter().zip(strides).filter(|(blocks, _)| *blocks > 1);
        let axes = axes.map(|(blocks, stride)| Axis { blocks: blocks.into(), stride, shift: None });
        Self { axes: axes.collect(), base }
    }

    /// Number of axes.
    pub(super) fn axes(&self) -> usize {
        self.axes.len()
    }

    /// The linear index of the first block's neighbour along an axis.
    pub(super) fn neighbour(&self, axis: usize) -> Option<u64> {
        Some(self.axes.get(axis)?.stride)
    }

    /// Learns what the neighbour of the first block along an axis writes: `before` and `after` are the elements that were
    /// written before it ran and after it.
    pub(super) fn learn(&mut self, axis: usize, before: &[Range<u64>], after: &[Range<u64>]) {
        let Some(axis) = self.axes.get_mut(axis) else { return };
        let base = self.base.first().map(|range| range.start);
        let shift =
            base.zip(first_new(before, after)).and_then(|(base, new)| new.checked_sub(base));
        axis.shift = shift.filter(|shift| *shift > 0);
    }

    /// Divides the first axis if its blocks cannot all lie on one line: blocks of one dimension that run through the
    /// tiles of a matrix continue on another line of tiles at the end of a row, or of the output. Returns the new axis.
    pub(super) fn divide(&mut self, elements: u64) -> Option<usize> {
        let first = self.axes.first_mut()?;
        let shift = first.shift?;
        let pitch = match &self.base[..] {
            [first, second, ..] => Some(second.start - first.start),
            _ => None,
        };
        let ends = pitch.filter(|pitch| *pitch > shift).into_iter().chain([elements]);
        let length = ends.map(|end| end.div_ceil(shift)).min()?;
        if length < 2 || length >= first.blocks {
            return None;
        }
        let lines = first.blocks.div_ceil(length);
        let stride = first.stride * length;
        first.blocks = length;
        self.axes.push(Axis { blocks: lines, stride, shift: None });
        Some(self.axes.len() - 1)
    }

    /// Linear indices of blocks that may write this element, the likeliest first.
    pub(super) fn guesses(&self, element: u64) -> Vec<u64> {
        let shifted = |axis: &Axis| Some((axis.shift?, axis.blocks, axis.stride));
        let mut axes: Vec<_> = self.axes.iter().filter_map(shifted).collect();
        axes.sort_unstable();
        let mut guesses: Vec<u64> = Vec::new();
        for range in &self.base {
            let Some(mut rest) = element.checked_sub(range.start) else { break };
            let mut block = 0;
            for (shift, blocks, stride) in axes.iter().rev() {
                let index = (rest / shift).min(blocks - 1);
                rest -= index * shift;
                block += index * stride;
            }
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
        let [width, height, depth] = grid.map(u64::from);
        let writes =
            |block| writes([block % width, block / width % height, block / width / height]);
        let mut written = writes(0);
        let mut map = BlockMap::new(grid, written.clone());
        let mut learn = |map: &mut BlockMap, axis| {
            let before = written.clone();
            written.extend(writes(map.neighbour(axis).unwrap()));
            written.sort_by_key(|range| range.start);
            map.learn(axis, &before, &written);
        };
        for axis in 0..map.axes() {
            learn(&mut map, axis);
        }
        let blocks = 0..width * height * depth;
        let elements = blocks.flat_map(writes).map(|range| range.end).max().unwrap();
        if let Some(axis) = map.divide(elements) {
            learn(&mut map, axis);
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
        // Blocks of one dimension run through the tiles by rows, and by columns.
        check([64, 1, 1], |[x, ..]| tile([x % 8, x / 8, 0]), 37 * 128 + 50, 2 * 8 + 3);
        check([64, 1, 1], |[x, ..]| tile([x % 8, x / 8, 0]), 127 * 128 + 127, 63);
        check([64, 1, 1], |[x, ..]| tile([x / 8, x % 8, 0]), 37 * 128 + 50, 3 * 8 + 2);
        check([64, 1, 1], |[x, ..]| tile([x / 8, x % 8, 0]), 127 * 128 + 127, 63);
        // Tiles of a matrix of 100 columns; the last of a row has four.
        let ragged = |[x, ..]: [u64; 3]| {
            let (row, column) = (x / 7 * 16, x % 7 * 16);
            let rows = row..row + 16;
            rows.map(move |row| row * 100 + column..row * 100 + (column + 16).min(100)).collect()
        };
        check([56, 1, 1], ragged, 37 * 100 + 98, 2 * 7 + 6);
        check([56, 1, 1], ragged, 127 * 100 + 3, 7 * 7);
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
