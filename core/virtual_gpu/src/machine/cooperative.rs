//! Launches whose blocks wait for each other: all of them must be there at once, and meet in a workspace.

use super::super::lower::Program;
use super::super::lower::code::LoweredFunction;
use super::DeviceShape;
use super::content::Content;
use super::launch::{LaunchConfig, LaunchError};
use super::memory::{Access, Memory, Region, RegionKind};
use super::warp::LANES;

/// Bytes of registers and own memory of all threads that are resident: fewer blocks are where each takes much.
const MOST_RESIDENT_BYTES: u64 = 1 << 30;

/// Blocks that wait for each other must all be there.
pub(super) fn check(
    shape: DeviceShape,
    program: &Program,
    shared: u32,
    config: &LaunchConfig,
) -> Result<(), LaunchError> {
    let blocks: u64 = config.grid.iter().map(|size| u64::from(*size)).product();
    let limit = shape.resident_blocks(program, config.block.iter().product(), shared) as u64;
    if config.cooperative && blocks > limit {
        let reason = format!("of a cooperative launch the device holds {limit} blocks at once");
        return Err(LaunchError::Size { what: "a grid", size: config.grid, reason });
    }
    Ok(())
}

/// What `%envreg` gives. A cooperative launch has the address of its workspace in numbers 1 (high) and 2 (low): its
/// size, and the word at which blocks meet, as `cooperative_groups/details/driver_abi.h` reads it.
pub(super) fn environment(memory: &mut Memory, config: &LaunchConfig) -> [u32; 32] {
    let mut environment = [0; 32];
    if config.cooperative {
        let content = Content::new(&[8, 0, 0, 0, 0, 0, 0, 0]);
        let name = "grid workspace".to_owned();
        let region = Region::new(name, RegionKind::Global, Access::ReadWrite, content);
        if let Some(index) = memory.add(region) {
            let address = Memory::address(index);
            environment[1] = (address >> 32) as u32;
            environment[2] = address as u32;
        }
    }
    environment
}

impl DeviceShape {
    /// How many blocks of so many threads and bytes of shared memory the device holds at once.
    pub(super) fn resident_blocks(&self, program: &Program, threads: u32, shared: u32) -> usize {
        let warps = threads.div_ceil(LANES as u32).max(1);
        let by_warps = self.warps_per_multiprocessor / warps;
        let by_shared = self.shared_per_multiprocessor / shared.max(1);
        let each = by_warps.min(by_shared).clamp(1, self.blocks_per_multiprocessor.max(1));
        let on_device = u64::from(each) * u64::from(self.multiprocessors);
        on_device.min(blocks_in_memory(program, threads) as u64).max(1) as usize
    }
}

/// How many blocks of so many threads the host has memory for at once, whatever the device holds.
pub(super) fn blocks_in_memory(program: &Program, threads: u32) -> usize {
    let warps = threads.div_ceil(LANES as u32).max(1);
    (MOST_RESIDENT_BYTES / (u64::from(warps) * warp_bytes(program)).max(1)).max(1) as usize
}

/// Bytes that a warp takes before it calls anything.
fn warp_bytes(program: &Program) -> u64 {
    let bytes = |function: &LoweredFunction| {
        let (words, doubles) = (u64::from(function.words), u64::from(function.doubles));
        4 * LANES as u64 * words + 8 * LANES as u64 * doubles + 40 * u64::from(function.frame_bytes)
    };
    program.functions.get(&program.kernel).map_or(0, bytes)
}
