//! Indices of elements of three-dimensional grids.

/// The number of elements of a grid.
pub(super) fn count(grid: [u32; 3]) -> u64 {
    grid.iter().fold(1, |count: u64, side| count.saturating_mul(u64::from(*side)))
}

/// The linear index of an element of a grid, the first dimension fastest.
pub(super) fn linear(grid: [u32; 3], index: [u32; 3]) -> u64 {
    let ([width, height, _], [x, y, z]) = (grid.map(u64::from), index.map(u64::from));
    (z * height + y) * width + x
}

/// The element of a grid with a linear index.
pub(super) fn at(grid: [u32; 3], linear: u64) -> [u32; 3] {
    let [width, height, _] = grid.map(|side| u64::from(side.max(1)));
    [linear % width, linear / width % height, linear / (width * height)].map(|side| side as u32)
}
