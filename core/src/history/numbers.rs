//! What a kernel needs and did in one workload, as a history keeps it: what people hold side by side.

use serde::{Deserialize, Serialize};

use crate::compile::facts::LaunchFacts;
use crate::compile::occupancy::Occupancy;
use crate::speed_of_light::performance_data::{CounterLocation, Profile};
use crate::units::{Bytes, Fraction};

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// What a kernel needs and did. What nobody knows is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedNumbers {
    /// Registers of a thread, in the launch with the most threads, as all that follows.
    pub registers: Option<u32>,
    /// Bytes that a thread stores to local memory and loads back for want of registers.
    pub spilled: Option<Bytes>,
    /// Shared memory of a block.
    pub shared: Option<Bytes>,
    /// Warps that fit, as a part of the slots.
    pub occupancy: Option<Fraction>,
    /// What a virtual device counted.
    pub counted: Option<RecordedCounts>,
}

/// What a virtual device counted, in all launches together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCounts {
    /// Where.
    pub at: CountedLocation,
    /// Instructions that warps executed.
    pub warp_instructions: u64,
    /// Lanes that were active in the mean, of 32.
    pub active_lanes: Option<f64>,
    /// Distinct bytes of global memory: what DRAM has to move at least where nothing of it was in a cache.
    pub touched: Option<Bytes>,
    /// Bytes of the sectors that loads, stores and atomics asked for: what L2 has to move at most.
    pub asked: Bytes,
    /// Wavefronts over shared memory beyond those that the data need.
    pub bank_conflicts: u64,
    /// Branches that parted a warp.
    pub divergent_branches: u64,
}

/// Where something was counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedLocation {
    /// In the workload that was timed.
    #[serde(rename = "there")]
    SameWorkload,
    /// In a smaller one beside a GPU.
    #[serde(rename = "beside")]
    SmallerWorkload {
        /// On which virtual device.
        device: String,
        /// In which workload.
        workload: String,
    },
}

impl CountedLocation {
    /// The place of a profile.
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
    /// The numbers of a workload, from its main launch and what was counted.
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
    use super::*;
    use crate::speed_of_light::performance_data::{DistinctBytes, KernelCounters};
    use crate::virtual_gpu::cost::Counts;

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
