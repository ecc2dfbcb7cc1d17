//! What was counted on a virtual device beside a GPU, at a workload small enough for it, and what that says of the one that
//! was timed.
//!
//! Ratios carry over: sectors of an access, passes over shared memory, active lanes, the mix of instructions. Totals do
//! not. What each unit does in the timed workload is estimated from what a thread does, as a line in the work that is its
//! share; two small workloads give the line, where one is not like the timed one by itself.

use serde::{Deserialize, Serialize};

use super::situation::{Counted, CountedAt, LineCounts, Profile, lines};
use crate::device::DeviceSheet;
use crate::units::{Bytes, Seconds};
use crate::virtual_gpu::cost::expansion::Expansion;
use crate::virtual_gpu::cost::time::{Latencies, LaunchShape, Limit, Modelled, Rates, modelled};
use crate::virtual_gpu::cost::{BlocksRun, Counters};

/// A thread's share of the work differs by no more than this: then one small workload is like the timed one.
const ALIKE: f64 = 1.5;

/// A line through two workloads is not drawn further than this beyond the nearer one.
const FAR: f64 = 16.0;

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
    pub counted: Counted,
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
    /// Whether its whole numbers are drawn as those of the timed workload: where they differ, other lanes meet.
    pub data: Data,
}

/// How the whole numbers among the inputs of two workloads compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Data {
    /// They are drawn alike.
    Alike,
    /// They are not.
    Otherwise,
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
pub struct Beside {
    /// The virtual device.
    pub device: String,
    /// The workload that ran there.
    pub workload: String,
    /// How many times as much work the timed workload is.
    pub scale: f64,
    /// How the whole numbers among the inputs compare.
    pub data_differs: bool,
    /// What the counts alone would take in each unit: they weigh units against each other, and are no times.
    pub weights: Vec<(Limit, Seconds)>,
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
    /// No more than this: what a thread does once is counted as often as it has more to do.
    AtMost,
    /// Nothing.
    None,
}

/// Adds what one launch did to that of its kind, or as a kind of its own.
pub fn add(
    all: &mut Vec<LaunchCounts>,
    (kernel, grid, block): (&str, [u32; 3], [u32; 3]),
    counters: &Counters,
) {
    let same =
        |known: &LaunchCounts| known.kernel == kernel && known.grid == grid && known.block == block;
    let index = match all.iter().position(same) {
        Some(index) => index,
        None => {
            let (counted, lines) = (Counted::default(), Vec::new());
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

fn density(work: f64, threads: f64) -> f64 {
    work / threads.max(1.0)
}

fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |all, side| all.saturating_mul(u64::from(*side)))
}

impl LaunchCounts {
    fn threads(&self) -> f64 {
        product(self.grid) as f64 * product(self.block) as f64 * self.executions as f64
    }

    /// What it did, as counters of so many blocks out of so many.
    fn counters(&self, blocks: BlocksRun) -> Counters {
        let Counted { total, classes, kinds, .. } = &self.counted;
        Counters {
            total: *total,
            classes: classes.clone(),
            kinds: kinds.clone(),
            blocks,
            ..Counters::default()
        }
    }

    /// Itself as the workload that was timed.
    fn itself(&self) -> TargetLaunch {
        let Self { grid, block, executions, .. } = *self;
        TargetLaunch { grid, block, resident: None, executions }
    }

    /// What each unit needs for a launch of the target, if its threads do what these did.
    fn times(&self, of: &TargetLaunch, sheet: &DeviceSheet) -> Option<Vec<(Limit, Seconds)>> {
        // Whether waiting decides is what the time is held against the units for.
        let latencies = Latencies { arithmetic: 0.0, shared: 0.0, global: 0.0 };
        let rates = Rates { latencies, ..sheet.rates()? };
        let threads = product(of.block).max(1);
        // A block of the target stands for as many threads as it has.
        let run = product(self.grid).saturating_mul(self.executions);
        let run = run.saturating_mul(product(self.block));
        let blocks = product(of.grid);
        let counters = self.counters(BlocksRun { run, all: blocks.saturating_mul(threads) });
        let shape = LaunchShape {
            blocks,
            warps_per_block: u32::try_from(threads.div_ceil(32)).unwrap_or(u32::MAX),
            resident_blocks: of.resident.unwrap_or(1),
            // What goes to memory depends on caches, and is the bound's business.
            dram: Some(Bytes(0)),
        };
        let capability = sheet.capability.compute_capability;
        let expansion = Expansion::of((capability.0, capability.1));
        match modelled(&counters, &shape, &rates, expansion) {
            Modelled::Bound(bound) => Some(
                bound
                    .parts
                    .into_iter()
                    .filter(|(limit, _)| is_inside(*limit))
                    .map(|(limit, time)| (limit, time * of.executions as f64))
                    .collect(),
            ),
            Modelled::Withheld(_) => None,
        }
    }
}

/// Whether a unit belongs to the multiprocessors.
const fn is_inside(limit: Limit) -> bool {
    match limit {
        Limit::Launch | Limit::L2 | Limit::Dram => false,
        Limit::Issue
        | Limit::Single
        | Limit::Double
        | Limit::Half
        | Limit::Integer
        | Limit::Special
        | Limit::Tensor
        | Limit::GlobalWavefronts
        | Limit::Shared => true,
    }
}

impl Sample<'_> {
    /// Work for each thread.
    fn density(&self) -> f64 {
        density(self.work, self.launches.iter().map(LaunchCounts::threads).sum())
    }

    /// What each unit needs for all launches of the target; none where it has others.
    fn times(&self, of: &Target<'_>) -> Option<Vec<(Limit, Seconds)>> {
        if self.launches.len() != of.launches.len() {
            return None;
        }
        let mut all = Vec::new();
        for (own, theirs) in self.launches.iter().zip(of.launches) {
            for (limit, time) in own.times(theirs, of.sheet)? {
                add_time(&mut all, limit, time);
            }
        }
        Some(all)
    }

    /// What the counts alone would take in each unit.
    fn weights(&self, sheet: &DeviceSheet) -> Vec<(Limit, Seconds)> {
        let mut all = Vec::new();
        for launch in self.launches {
            for (limit, time) in launch.times(&launch.itself(), sheet).unwrap_or_default() {
                add_time(&mut all, limit, time);
            }
        }
        all
    }
}

fn add_time(all: &mut Vec<(Limit, Seconds)>, limit: Limit, time: Seconds) {
    match all.iter_mut().find(|(known, _)| *known == limit) {
        Some((_, sum)) => *sum = *sum + time,
        None => all.push((limit, time)),
    }
}

impl Target<'_> {
    fn density(&self) -> f64 {
        let threads = self.launches.iter().map(|launch| {
            product(launch.grid) as f64 * product(launch.block) as f64 * launch.executions as f64
        });
        density(self.work, threads.sum())
    }
}

/// The profile of a workload that was timed on a GPU; none where nothing was counted.
#[must_use]
pub fn profile(device: &str, samples: &[Sample<'_>], of: &Target<'_>) -> Option<Profile> {
    let nearest = nearest(samples, of)?;
    let (estimate, units) = estimate(nearest, samples, of);
    let beside = Beside {
        device: device.to_owned(),
        workload: nearest.workload.to_owned(),
        scale: of.work / nearest.work.max(1.0),
        data_differs: nearest.data == Data::Otherwise,
        weights: nearest.weights(of.sheet),
        estimate,
    };
    let mut profile = Profile { units, at: CountedAt::Beside(beside), ..Profile::default() };
    for launch in nearest.launches {
        profile.counted.join(&launch.counted);
        join_lines(&mut profile.lines, &launch.lines);
    }
    Some(profile)
}

/// The sample whose threads have most nearly as much to do; of equals the largest.
fn nearest<'a, 'b>(samples: &'a [Sample<'b>], of: &Target<'_>) -> Option<&'a Sample<'b>> {
    let wanted = of.density();
    let counted = samples.iter().filter(|sample| !sample.launches.is_empty());
    counted.min_by(|a, b| {
        let far = |sample: &Sample<'_>| (sample.density() / wanted).ln().abs();
        a.data.cmp(&b.data).then(far(a).total_cmp(&far(b))).then(b.work.total_cmp(&a.work))
    })
}

fn estimate(
    nearest: &Sample<'_>,
    samples: &[Sample<'_>],
    of: &Target<'_>,
) -> (Estimate, Vec<(Limit, Seconds)>) {
    let Some(times) = nearest.times(of) else { return (Estimate::None, Vec::new()) };
    let (own, wanted) = (nearest.density(), of.density());
    let more = wanted / own;
    let scaled = || times.iter().map(|(limit, time)| (*limit, *time * more)).collect();
    if (1.0 / ALIKE..=ALIKE).contains(&more) {
        return (Estimate::Alike, scaled());
    }
    if (1.0 / FAR..=FAR).contains(&more)
        && let Some((other, line)) = line((own, &times), samples, of)
    {
        return (Estimate::Line { other: other.to_owned() }, line);
    }
    if more > 1.0 { (Estimate::AtMost, scaled()) } else { (Estimate::None, Vec::new()) }
}

/// The times on a line through the nearest sample and the one that is furthest from it.
fn line<'a>(
    (own, times): (f64, &[(Limit, Seconds)]),
    samples: &'a [Sample<'_>],
    of: &Target<'_>,
) -> Option<(&'a str, Vec<(Limit, Seconds)>)> {
    let far = |sample: &&Sample<'_>| (sample.density() / own).ln().abs();
    let counted = samples.iter().filter(|sample| !sample.launches.is_empty());
    let other = counted.max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let theirs = other.density();
    if far(&other) < ALIKE.ln() {
        return None;
    }
    let part = (of.density() - own) / (theirs - own);
    let there = other.times(of)?;
    let mut line = Vec::new();
    for (limit, here) in times {
        let there = there.iter().find(|(known, _)| known == limit).map_or(Seconds(0.0), |it| it.1);
        let time = Seconds(here.0 + (there.0 - here.0) * part);
        // More work that takes less time: something else differs between the two.
        let is_sound = time.0 >= 0.0 && (there.0 - here.0) * (theirs - own) >= 0.0;
        if !is_sound {
            return None;
        }
        line.push((*limit, time));
    }
    Some((other.workload, line))
}

impl Beside {
    /// What a person has to know about numbers that were counted there.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut sentence =
            format!("counted on {} at the workload {}, not on the GPU", self.device, self.workload);
        if self.data_differs {
            sentence += ", where whole numbers are drawn otherwise";
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
