//! The limits of the grid and of the block of a launch.

use super::super::module::Function;
use super::grid_index;

/// Limits of all devices since compute capability 3.0 (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
const MOST_THREADS: u64 = 1024;
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];
const LARGEST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// A size beyond its limit.
pub(super) struct InvalidSize {
    pub(super) what: &'static str,
    pub(super) size: [u32; 3],
    pub(super) reason: String,
}

/// Checks the numbers of blocks and of threads of a block.
pub(super) fn check(
    function: &Function,
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<(), InvalidSize> {
    let refuse = |what, size, reason: String| Err(InvalidSize { what, size, reason });
    let beyond = |size: [u32; 3], limit: [u32; 3]| {
        size.iter().zip(limit).any(|(size, limit)| *size == 0 || *size > limit)
    };
    if beyond(grid, LARGEST_GRID) {
        return refuse("a grid", grid, format!("each side is between 1 and {LARGEST_GRID:?}"));
    }
    let threads = grid_index::count(block);
    if beyond(block, LARGEST_BLOCK) || threads > MOST_THREADS {
        let reason = format!("a block has 1 to {MOST_THREADS} threads, at most {LARGEST_BLOCK:?}");
        return refuse("a block", block, reason);
    }
    if let Some(required) = function.bounds.required_threads
        && required != block
    {
        return refuse("a block", block, format!("the kernel requires {required:?}"));
    }
    if let Some(most) = function.bounds.max_threads {
        let most = grid_index::count(most);
        if threads > most {
            return refuse("a block", block, format!("the kernel allows {most} threads"));
        }
    }
    Ok(())
}
