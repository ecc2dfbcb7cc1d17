//! Converts the counters of a workload with mostly inactive threads to those of full warps.
//!
//! A kernel that assigns a row to each thread is verified on a few rows. Counters of a warp with three active threads show
//! whether each thread accesses a sector of its own, but not that a full warp accesses 32 sectors.

use lightbench_virtual_gpu::cost::InstructionClass;

use super::extrapolated_counters::LaunchCounts;
use super::performance_data::KernelCounters;

/// In a grid with fewer blocks than this, inactive threads may come from the end of the grid.
const FEW_BLOCKS: u64 = 8;

/// Below this number of active threads, most of a warp is inactive.
const FEW_LANES: f64 = 16.0;

/// At and above this number of sectors per active thread, each thread accesses a sector of its own.
const OWN_SECTOR: f64 = 0.9;

/// Threads of a warp.
const LANES: f64 = 32.0;

/// Whether most threads of a launch are inactive and the launch is too small to determine the cause. In kernels with
/// atomics, single threads may wait for other blocks.
pub(super) fn is_sparse(launch: &LaunchCounts) -> bool {
    let blocks = launch.grid.iter().fold(1, |all: u64, side| all.saturating_mul(u64::from(*side)));
    let lanes = launch.counted.total.active_lanes();
    let waits = launch.counted.total.atomics > 0;
    blocks < FEW_BLOCKS && !waits && lanes.is_some_and(|lanes| lanes < FEW_LANES)
}

impl KernelCounters {
    /// As many active lanes in whole warps.
    #[must_use]
    pub fn as_full_warps(&self) -> Self {
        let share = self.total.active_lanes().map_or(1.0, |lanes| lanes / LANES);
        let part = |count: u64| (count as f64 * share).ceil() as u64;
        let mut whole = self.clone();
        let total = &mut whole.total;
        total.warp_instructions = part(total.warp_instructions);
        total.active_threads = total.thread_instructions;
        total.shared_requests = part(total.shared_requests);
        total.shared_wavefronts = part(total.shared_wavefronts);
        total.shared_bank_conflicts = part(total.shared_bank_conflicts);
        let old = &self.total;
        let (loads, load_passes) = self.accesses(
            InstructionClass::GlobalLoad,
            (old.global_load_requests, old.global_load_sectors, old.global_load_lines),
        );
        let (stores, store_passes) = self.accesses(
            InstructionClass::GlobalStore,
            (old.global_store_requests, old.global_store_sectors, old.global_store_lines),
        );
        total.global_load_requests = loads;
        total.global_store_requests = stores;
        total.global_wavefronts = (load_passes + store_passes).min(old.global_wavefronts);
        for counts in whole.classes.values_mut() {
            counts.warp_instructions = part(counts.warp_instructions);
        }
        for count in whole.kinds.values_mut() {
            *count = part(*count);
        }
        whole
    }

    /// The requests of full warps and their passes through L1, four lines in each pass.
    fn accesses(
        &self,
        class: InstructionClass,
        (requests, sectors, lines): (u64, u64, u64),
    ) -> (u64, u64) {
        let lanes = self.classes.get(&class).and_then(|counts| counts.active_lanes());
        let lanes = lanes.unwrap_or(LANES);
        let have_own = sectors as f64 >= OWN_SECTOR * lanes * requests as f64 && lanes >= 2.0;
        if have_own {
            return (sectors.div_ceil(32), lines.div_ceil(4));
        }
        let fewer = (requests as f64 * lanes / LANES).ceil() as u64;
        (fewer, fewer)
    }
}
