//! Launches whose blocks may wait for each other: cooperative ones, whose blocks must all be resident at once and
//! synchronise through a workspace, and clusters.

use super::super::lower::Program;
use super::super::lower::code::LoweredFunction;
use super::super::module::Function;
use super::DeviceShape;
use super::cluster::Clusters;
use super::grid_index;
use super::launch::{LaunchConfig, LaunchError};
use super::memory::{Access, Memory, Region, RegionKind};
use super::peers::VARIABLE_BITS;
use super::region_bytes::RegionBytes;
use super::shared::SPACING_BITS;
use super::warp::LANES;

/// The largest size of the registers and the local memory of all resident threads, in bytes. It limits the number of
/// resident blocks.
const MOST_RESIDENT_BYTES: u64 = 1 << 30;

/// The largest number of blocks in a cluster: every device since compute capability 9.0 accepts it for kernels that
/// opt in to more than 8 (CUDA C++ Programming Guide, "Thread Block Clusters").
const MOST_BLOCKS: u64 = 16;

/// The largest number of shared variables of a kernel that runs in clusters of several blocks.
const MOST_VARIABLES: usize = (1 << (VARIABLE_BITS - SPACING_BITS)) - 1;

/// Checks that all blocks of a cooperative launch can be resident at once.
pub(super) fn check(
    shape: DeviceShape,
    program: &Program,
    shared: u32,
    config: &LaunchConfig,
) -> Result<(), LaunchError> {
    let blocks = grid_index::count(config.grid);
    let limit = shape.resident_blocks(program, config.block.iter().product(), shared) as u64;
    if config.cooperative && blocks > limit {
        let reason = format!(
            "a cooperative launch may have at most {limit} blocks, which are resident at once"
        );
        return Err(LaunchError::Size { what: "a grid", size: config.grid, reason });
    }
    Ok(())
}

/// The values of `%envreg`. A cooperative launch has the address of its workspace in registers 1 (high) and 2 (low):
/// the size, and the barrier word of the grid, as `cooperative_groups/details/driver_abi.h` reads them.
pub(super) fn environment(memory: &mut Memory, config: &LaunchConfig) -> [u32; 32] {
    let mut environment = [0; 32];
    if config.cooperative {
        let content = RegionBytes::new(&[8, 0, 0, 0, 0, 0, 0, 0]);
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

impl Clusters {
    /// The cluster size of the launch configuration, or else of the kernel.
    pub(super) fn from_launch(
        function: &Function,
        config: &LaunchConfig,
    ) -> Result<Self, LaunchError> {
        let Some(size) = config.cluster.or(function.bounds.cluster) else {
            return Ok(Self::SINGLE);
        };
        let refuse = |reason: String| Err(LaunchError::Size { what: "a cluster", size, reason });
        if let Some(required) = function.bounds.cluster
            && required != size
        {
            return refuse(format!("the kernel requires {required:?}"));
        }
        let blocks = grid_index::count(size);
        if blocks == 0 || blocks > MOST_BLOCKS {
            return refuse(format!("a cluster has 1 to {MOST_BLOCKS} blocks"));
        }
        if let Some(most) = function.bounds.max_cluster_rank
            && blocks > u64::from(most)
        {
            return refuse(format!("the kernel allows {most} blocks"));
        }
        if config.grid.iter().zip(size).any(|(grid, side)| grid % side != 0) {
            return refuse(format!("the size does not divide the grid of {:?}", config.grid));
        }
        Ok(Self { size, is_explicit: true })
    }

    /// Checks that the addresses of shared variables leave room for the rank of a block.
    pub(super) fn check_variables(self, variables: usize) -> Result<(), LaunchError> {
        if self.blocks() > 1 && variables > MOST_VARIABLES {
            let what =
                "a cluster of several blocks for a kernel with more than 127 shared variables";
            return Err(LaunchError::Unavailable(what));
        }
        Ok(())
    }
}

impl DeviceShape {
    /// The number of blocks of this size that are resident on the device at once.
    pub(super) fn resident_blocks(&self, program: &Program, threads: u32, shared: u32) -> usize {
        let warps = threads.div_ceil(LANES as u32).max(1);
        let by_warps = self.warps_per_multiprocessor / warps;
        let by_shared = self.shared_per_multiprocessor / shared.max(1);
        let each = by_warps.min(by_shared).clamp(1, self.blocks_per_multiprocessor.max(1));
        let on_device = u64::from(each) * u64::from(self.multiprocessors);
        on_device.min(blocks_in_memory(program, threads) as u64).max(1) as usize
    }
}

/// The number of blocks of this size for which the host has memory.
pub(super) fn blocks_in_memory(program: &Program, threads: u32) -> usize {
    let warps = threads.div_ceil(LANES as u32).max(1);
    (MOST_RESIDENT_BYTES / (u64::from(warps) * warp_bytes(program)).max(1)).max(1) as usize
}

/// The size of a warp before its first call, in bytes.
fn warp_bytes(program: &Program) -> u64 {
    let bytes = |function: &LoweredFunction| {
        let (words, doubles) = (u64::from(function.words), u64::from(function.doubles));
        4 * LANES as u64 * words + 8 * LANES as u64 * doubles + 40 * u64::from(function.frame_bytes)
    };
    program.functions.get(&program.kernel).map_or(0, bytes)
}
