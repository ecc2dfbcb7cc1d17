//! What was counted on a virtual device beside a GPU, at a workload small enough for it, and what that says of the one that
//! was timed.
//!
//! Ratios carry over: sectors of an access, passes over shared memory, active lanes, the mix of instructions. Totals do
//! not. What each unit does in the timed workload is estimated from what a thread does, as a line in the work that is its
//! share; two small workloads give the line, where one is not like the timed one by itself.

mod estimate;

use lightbench_device::DeviceSheet;
use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::cost::time::LimitingResource;
use serde::{Deserialize, Serialize};

use self::estimate::{SmallWorkload, estimate};
use super::performance_data::{CounterLocation, KernelCounters, LineCounts, Profile, lines};

/// What the launches of one kernel with one grid did together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchCounts {
    /// The kernel's symbol.
    pub kernel: String,
    /// Blocks of one launch.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// How often it was launched.
    pub executions: u64,
    /// What all of them did.
    pub counted: KernelCounters,
    /// What lines of source did.
    pub lines: Vec<LineCounts>,
}

/// A small workload that was counted.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Its name.
    pub workload: &'a str,
    /// The least that any correct kernel does there.
    pub work: f64,
    /// What was launched, in order.
    pub launches: &'a [LaunchCounts],
    /// How far the whole numbers among its inputs are from those of the timed workload: where they are drawn otherwise,
    /// other lanes meet. Zero if they are drawn alike.
    pub data: f64,
}

/// The workload that was timed.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The least that any correct kernel does there.
    pub work: f64,
    /// What is launched, in order.
    pub launches: &'a [TargetLaunch],
    /// The numbers of the device.
    pub sheet: &'a DeviceSheet,
}

/// A launch of the workload that was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetLaunch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks that a multiprocessor holds at once, where the compiler says it.
    pub resident: Option<u32>,
    /// How often it is launched.
    pub executions: u64,
}

/// Where and how something was counted that is said of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtrapolatedCounters {
    /// The virtual device.
    pub device: String,
    /// The workload that ran there.
    pub workload: String,
    /// How many times as much work the timed workload is.
    pub scale: f64,
    /// Whether its whole numbers are drawn otherwise.
    pub data_differs: bool,
    /// Whether most of its lanes had nothing to do, so that it is taken for whole warps.
    pub whole_warps: bool,
    /// What the counts alone would take in each unit: they weigh units against each other, and are no times.
    pub weights: Vec<(LimitingResource, Seconds)>,
    /// What is known of the times of units in the timed workload.
    pub estimate: Estimate,
}

/// What is known of the times of units in the timed workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Estimate {
    /// A thread has about as much to do in both workloads.
    Alike,
    /// A line through this workload too.
    Line {
        /// Its name.
        other: String,
    },
    /// No more than this: what a thread does once is counted as often as it has more to do. Of all workloads that say so
    /// the least.
    AtMost,
    /// Nothing.
    None,
}

/// Adds what one launch did to that of its kind, or as a kind of its own.
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

/// Adds what lines did.
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

/// The profile of a workload that was timed on a GPU; none where nothing was counted.
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

/// The sample whose data is most alike and whose threads have most nearly as much to do; of equals the largest.
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
    /// What a person has to know about numbers that were counted there.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut sentence =
            format!("counted on {} at the workload {}, not on the GPU", self.device, self.workload);
        if self.data_differs {
            sentence += "; whole numbers are drawn otherwise there";
        }
        if self.whole_warps {
            sentence += "; few lanes had anything to do there, and are taken for whole warps";
        }
        match &self.estimate {
            Estimate::Alike => sentence += "; a thread there has about as much to do",
            Estimate::Line { other } => {
                sentence += &format!("; times of units on a line through it and {other}");
            }
            Estimate::AtMost | Estimate::None => {}
        }
        sentence
    }
}
