//! Resources and counters of a kernel in one workload, as a history stores them.

use lightbench_compile::facts::LaunchFacts;
use lightbench_compile::occupancy::Occupancy;
use lightbench_speed_of_light::performance_data::{CounterLocation, Profile};
use lightbench_units::{Bytes, Fraction};
use serde::{Deserialize, Serialize};

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// Resources and counters of a kernel; unknown numbers are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedNumbers {
    /// Registers per thread. This and the following resources are those of the launch with the most threads.
    pub registers: Option<u32>,
    /// Spilled bytes per thread: spill stores plus spill loads.
    pub spilled: Option<Bytes>,
    /// Shared memory of a block.
    pub shared: Option<Bytes>,
    /// Theoretical occupancy.
    pub occupancy: Option<Fraction>,
    /// Counters of a virtual device.
    pub counted: Option<RecordedCounts>,
}

/// Counters of a virtual device over all launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCounts {
    /// Where.
    pub at: CountedLocation,
    /// Instructions that warps executed.
    pub warp_instructions: u64,
    /// Average number of active threads of a warp.
    pub active_lanes: Option<f64>,
    /// Distinct bytes of global memory: the least DRAM traffic with empty caches.
    pub touched: Option<Bytes>,
    /// Bytes of the sectors that loads, stores and atomics requested: the largest L2 traffic.
    pub asked: Bytes,
    /// Wavefronts over shared memory beyond the minimum: bank conflicts.
    pub bank_conflicts: u64,
    /// Branches that parted a warp.
    pub divergent_branches: u64,
}

/// The workload and device of counters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedLocation {
    /// The timed workload.
    #[serde(rename = "there")]
    SameWorkload,
    /// A smaller workload, on a virtual device that stands in for the GPU.
    #[serde(rename = "beside")]
    SmallerWorkload {
        /// The virtual device.
        device: String,
        /// The workload.
        workload: String,
    },
}

impl CountedLocation {
    /// The location of a profile's counters.
    #[must_use]
    pub fn from_source(at: &CounterLocation) -> Self {
        match at {
            CounterLocation::SameWorkload => Self::SameWorkload,
            CounterLocation::Extrapolated(beside) => Self::SmallerWorkload {
                device: beside.device.clone(),
                workload: beside.workload.clone(),
            },
        }
    }
}

impl RecordedNumbers {
    /// The numbers of a workload, from its main launch and its counters.
    #[must_use]
    pub fn from_launch(launch: Option<&LaunchFacts>, profile: Option<&Profile>) -> Self {
        let resources = launch.and_then(|launch| launch.kernel.resources);
        let occupancy = launch.and_then(|launch| launch.occupancy.as_ref());
        Self {
            registers: resources.map(|own| own.registers),
            spilled: resources.map(|own| own.spill_stores + own.spill_loads),
            shared: launch
                .and_then(|launch| launch.demand.as_ref())
                .map(|demand| demand.static_shared + demand.dynamic_shared),
            occupancy: occupancy.and_then(|occupancy| match occupancy {
                Occupancy::Resident(resident) => Some(resident.fraction()),
                Occupancy::CannotLaunch(_) => None,
            }),
            counted: profile.map(RecordedCounts::from_profile),
        }
    }
}

impl RecordedCounts {
    fn from_profile(profile: &Profile) -> Self {
        let total = &profile.counted.total;
        let sectors = total.global_load_sectors + total.global_store_sectors + total.atomic_sectors;
        Self {
            at: CountedLocation::from_source(&profile.at),
            warp_instructions: total.warp_instructions,
            active_lanes: total.active_lanes(),
            touched: profile.counted.touched.whole().map(|(read, written)| read + written),
            asked: Bytes(SECTOR * sectors),
            bank_conflicts: total.shared_bank_conflicts,
            divergent_branches: total.divergent_branches,
        }
    }
}

#[cfg(test)]
mod tests {
    use lightbench_speed_of_light::performance_data::{DistinctBytes, KernelCounters};
    use lightbench_virtual_gpu::cost::Counts;

    use super::*;

    #[test]
    fn what_was_counted_is_kept_and_what_was_not_is_none() {
        let total = Counts {
            warp_instructions: 10,
            thread_instructions: 160,
            global_load_sectors: 4,
            global_store_sectors: 2,
            atomic_sectors: 1,
            shared_bank_conflicts: 3,
            ..Counts::default()
        };
        let counted =
            KernelCounters { total, touched: DistinctBytes::Part, ..KernelCounters::default() };
        let profile = Profile { counted, ..Profile::default() };
        let numbers = RecordedNumbers::from_launch(None, Some(&profile));
        let counted = numbers.counted.clone().unwrap();
        assert_eq!((counted.at, counted.asked), (CountedLocation::SameWorkload, Bytes(7 * 32)));
        assert_eq!((counted.active_lanes, counted.touched), (Some(16.0), None));
        assert_eq!((numbers.registers, numbers.occupancy), (None, None));
        let written = serde_json::to_string(&numbers).unwrap();
        assert_eq!(serde_json::from_str::<RecordedNumbers>(&written).unwrap(), numbers);
        assert_eq!(RecordedNumbers::from_launch(None, None), RecordedNumbers::default());
    }
}
