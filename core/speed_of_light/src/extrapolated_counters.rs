//! Extrapolates the counters of small workloads, run on a virtual device, to the workload that a GPU timed.
//!
//! Ratios carry over: sectors of a request, passes over shared memory, active threads of a warp, the instruction mix.
//! Totals do not. The busy time of each unit in the timed workload is estimated from the counters of a thread; if the work
//! per thread differs, a line through two small workloads gives the estimate.

mod estimate;

use lightbench_device::DeviceSheet;
use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::cost::time::LimitingResource;
use serde::{Deserialize, Serialize};

use self::estimate::{SmallWorkload, estimate};
use super::performance_data::{CounterLocation, KernelCounters, LineCounts, Profile, lines};

/// The counters of all launches of one kernel with one grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchCounts {
    /// The kernel's symbol.
    pub kernel: String,
    /// Blocks of one launch.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// The number of launches.
    pub executions: u64,
    /// The counters of all these launches.
    pub counted: KernelCounters,
    /// The counters of each source line.
    pub lines: Vec<LineCounts>,
}

/// A small workload that was counted.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The name of the workload.
    pub workload: &'a str,
    /// The least that any correct kernel does there.
    pub work: f64,
    /// The launches, in order.
    pub launches: &'a [LaunchCounts],
    /// The distance between the distributions of its integer inputs and those of the timed workload, because integer inputs
    /// can determine which threads share addresses. Zero if the distributions are equal.
    pub data: f64,
}

/// The workload that was timed.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The least that any correct kernel does there.
    pub work: f64,
    /// The launches, in order.
    pub launches: &'a [TargetLaunch],
    /// The device sheet.
    pub sheet: &'a DeviceSheet,
}

/// A launch of the timed workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetLaunch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Resident blocks of a multiprocessor, if the compiler reports the resources.
    pub resident: Option<u32>,
    /// The number of launches.
    pub executions: u64,
}

/// The origin of counters that are extrapolated to a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtrapolatedCounters {
    /// The virtual device.
    pub device: String,
    /// The workload that ran there.
    pub workload: String,
    /// The work of the timed workload divided by the work of this workload.
    pub scale: f64,
    /// Whether its integer inputs have another distribution.
    pub data_differs: bool,
    /// Whether most of its threads were inactive, so that its counters are converted to full warps.
    pub whole_warps: bool,
    /// The busy time of each unit in the small workload, as weights of the units; they are no times of the timed workload.
    pub weights: Vec<(LimitingResource, Seconds)>,
    /// How the busy times of units in the timed workload are estimated.
    pub estimate: Estimate,
}

/// How the busy times of units in the timed workload are estimated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Estimate {
    /// The work per thread is about the same in both workloads.
    Alike,
    /// A line through this workload too.
    Line {
        /// The name of the workload.
        other: String,
    },
    /// An upper limit: work that a thread does once is multiplied as if it grew with the work per thread. The least limit
    /// of all workloads.
    AtMost,
    /// No estimate.
    None,
}

/// Adds the counters of a launch to those of the same kernel, grid and block, or as a new entry.
pub fn add_launch(
    all: &mut Vec<LaunchCounts>,
    (kernel, grid, block): (&str, [u32; 3], [u32; 3]),
    counters: &Counters,
) {
    let same =
        |known: &LaunchCounts| known.kernel == kernel && known.grid == grid && known.block == block;
    let index = match all.iter().position(same) {
        Some(index) => index,
        None => {
            let (counted, lines) = (KernelCounters::default(), Vec::new());
            let kernel = kernel.to_owned();
            all.push(LaunchCounts { kernel, grid, block, executions: 0, counted, lines });
            all.len() - 1
        }
    };
    let known = &mut all[index];
    known.executions += 1;
    known.counted.add(counters);
    join_lines(&mut known.lines, &lines(counters));
}

/// Adds the counters of source lines.
pub(super) fn join_lines(all: &mut Vec<LineCounts>, more: &[LineCounts]) {
    for added in more {
        let same = |known: &&mut LineCounts| known.line == added.line && known.file == added.file;
        match all.iter_mut().find(same) {
            Some(line) => line.counts.add(&added.counts),
            None => all.push(added.clone()),
        }
    }
}

fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |all, side| all.saturating_mul(u64::from(*side)))
}

/// The profile of a workload that a GPU timed; `None` if no sample has counters.
#[must_use]
pub fn profile(device: &str, samples: &[Sample<'_>], target: &Target<'_>) -> Option<Profile> {
    let counted = samples.iter().filter(|sample| !sample.launches.is_empty());
    let small: Vec<SmallWorkload<'_>> = counted.map(SmallWorkload::new).collect();
    let nearest = nearest(&small, target)?;
    let (estimate, units) = estimate(nearest, &small, target);
    let beside = ExtrapolatedCounters {
        device: device.to_owned(),
        workload: nearest.sample.workload.to_owned(),
        scale: target.work / nearest.sample.work.max(1.0),
        data_differs: nearest.sample.data > 0.0,
        whole_warps: nearest.launches.iter().any(|launch| launch.is_sparse),
        weights: nearest.weights(target.sheet),
        estimate,
    };
    let mut profile =
        Profile { units, at: CounterLocation::Extrapolated(beside), ..Profile::default() };
    for launch in nearest.sample.launches {
        profile.counted.join(&launch.counted);
        join_lines(&mut profile.lines, &launch.lines);
    }
    Some(profile)
}

/// The sample with the closest input distribution, then the closest work per thread; of equal samples the largest.
fn nearest<'a, 'b>(
    small: &'a [SmallWorkload<'b>],
    target: &Target<'_>,
) -> Option<&'a SmallWorkload<'b>> {
    let wanted = target.density();
    let far = |small: &SmallWorkload<'_>| (small.density() / wanted).ln().abs();
    small.iter().min_by(|a, b| {
        let by_data = a.sample.data.total_cmp(&b.sample.data);
        let by_size = b.sample.work.total_cmp(&a.sample.work);
        by_data.then(far(a).total_cmp(&far(b))).then(by_size)
    })
}

impl ExtrapolatedCounters {
    /// The origin and the limitations of the counters, as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut sentence = format!(
            "extrapolated from counters of {} on the workload {}, not counted on the GPU",
            self.device, self.workload
        );
        if self.data_differs {
            sentence += "; its integer inputs have another distribution";
        }
        if self.whole_warps {
            sentence +=
                "; most threads were inactive there, so the counters are converted to full warps";
        }
        match &self.estimate {
            Estimate::Alike => sentence += "; the work per thread is about the same",
            Estimate::Line { other } => {
                sentence += &format!("; busy times from a line through it and {other}");
            }
            Estimate::AtMost | Estimate::None => {}
        }
        sentence
    }
}
