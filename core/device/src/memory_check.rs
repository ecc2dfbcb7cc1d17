//! A launch that checks whether ranges of device memory hold one byte value throughout.
//!
//! The kernel, `lightbench_holds`, is one of the harness kernels, which are compiled elsewhere and passed to the
//! device.

use super::{Argument, Launch, ModuleId};

/// Maximum ranges per launch.
pub const MAX_RANGES: usize = 64;

/// Checks ranges, each a first address and a length in bytes, for one byte value.
///
/// `changed` points to two 64-bit numbers for each range: before the launch all ones and 0; after it the offset of the
/// first byte that differs, and the offset after the last one.
#[must_use]
pub fn launch(module: ModuleId, ranges: &[(u64, u64)], byte: u8, changed: Argument) -> Launch {
    let ranges = &ranges[..ranges.len().min(MAX_RANGES)];
    let mut table: Vec<u8> = ranges
        .iter()
        .flat_map(|(start, length)| [*start, *length])
        .flat_map(u64::to_le_bytes)
        .collect();
    table.resize(MAX_RANGES * 16, 0);
    let longest = ranges.iter().map(|(_, length)| *length).max().unwrap_or(0);
    let byte = Argument::Bytes(u64::from(byte).to_le_bytes().to_vec());
    let arguments = vec![Argument::Bytes(table), byte, changed];
    let mut launch = Launch::linear(module, "lightbench_holds", longest, arguments);
    launch.grid[1] = u32::try_from(ranges.len().max(1)).unwrap_or(1);
    launch
}
