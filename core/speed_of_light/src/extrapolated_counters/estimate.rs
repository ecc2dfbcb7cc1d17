//! Estimates the busy time of each unit in the timed workload from small workloads: scaled per thread, on a line through
//! two workloads, or as an upper limit.

use lightbench_device::DeviceSheet;
use lightbench_units::{Bytes, Seconds};
use lightbench_virtual_gpu::cost::expansion::Expansion;
use lightbench_virtual_gpu::cost::time::{
    LaunchShape, LaunchStart, LimitingResource, Modelled, modelled,
};
use lightbench_virtual_gpu::cost::{BlocksRun, Counters};

use super::super::full_warps::is_sparse;
use super::super::performance_data::KernelCounters;
use super::{Estimate, LaunchCounts, Sample, Target, TargetLaunch, product};

/// If the work per thread differs by at most this factor, one small workload represents the timed one.
const ALIKE: f64 = 1.5;

/// The largest extrapolation of a line through two workloads, relative to the nearer one.
const FAR: f64 = 16.0;

/// The estimated busy times of units in the timed workload.
pub(super) fn estimate(
    nearest: &SmallWorkload<'_>,
    small: &[SmallWorkload<'_>],
    target: &Target<'_>,
) -> (Estimate, Vec<(LimitingResource, Seconds)>) {
    let more = target.density() / nearest.density();
    let alike = nearest.times_by_work(target).filter(|_| (1.0 / ALIKE..=ALIKE).contains(&more));
    if let Some(times) = alike {
        return (Estimate::Alike, times);
    }
    if (1.0 / FAR..=FAR).contains(&more)
        && let Some((other, line)) = line(nearest, small, target)
        && is_within(&line, at_most(small, target).as_deref())
    {
        return (Estimate::Line { other: other.to_owned() }, line);
    }
    match at_most(small, target) {
        Some(times) => (Estimate::AtMost, times),
        None => (Estimate::None, Vec::new()),
    }
}

/// The times on a line through the nearest sample and the one that is furthest from it.
fn line<'a>(
    nearest: &SmallWorkload<'_>,
    small: &'a [SmallWorkload<'_>],
    target: &Target<'_>,
) -> Option<(&'a str, Vec<(LimitingResource, Seconds)>)> {
    let own = nearest.density();
    let far = |small: &SmallWorkload<'_>| (small.density() / own).ln().abs();
    let other = small.iter().max_by(|a, b| far(a).total_cmp(&far(b)))?;
    if far(other) < ALIKE.ln() {
        return None;
    }
    let theirs = other.density();
    let part = (target.density() - own) / (theirs - own);
    let there = other.times(target)?;
    let mut line = Vec::new();
    for (limit, here) in nearest.times(target)? {
        let there = there.iter().find(|(known, _)| *known == limit).map_or(0.0, |it| it.1.0);
        let time = here.0 + (there - here.0) * part;
        // More work that takes less time: something else differs between the two.
        let is_sound = time >= 0.0 && (there - here.0) * (theirs - own) >= 0.0;
        if !is_sound {
            return None;
        }
        line.push((limit, Seconds(time)));
    }
    Some((other.sample.workload, line))
}

/// Upper limits of busy times: the minimum over all samples with less work per thread than the target.
fn at_most(
    small: &[SmallWorkload<'_>],
    target: &Target<'_>,
) -> Option<Vec<(LimitingResource, Seconds)>> {
    let fewer = small.iter().filter(|small| small.density() <= target.density());
    let mut least: Option<Vec<(LimitingResource, Seconds)>> = None;
    for times in fewer.filter_map(|small| small.times_by_work(target)) {
        least = Some(match least {
            None => times,
            Some(known) => lesser(known, &times),
        });
    }
    least
}

/// Whether all busy times are within the upper limits.
fn is_within(
    times: &[(LimitingResource, Seconds)],
    most: Option<&[(LimitingResource, Seconds)]>,
) -> bool {
    let most_of = |limit| most?.iter().find(|(known, _)| *known == limit).map(|(_, time)| *time);
    times.iter().all(|(limit, time)| most_of(*limit).is_none_or(|most| *time <= most))
}

fn lesser(
    known: Vec<(LimitingResource, Seconds)>,
    times: &[(LimitingResource, Seconds)],
) -> Vec<(LimitingResource, Seconds)> {
    let both = known.into_iter().map(|(limit, time)| {
        let other = times.iter().find(|(known, _)| *known == limit).map_or(Seconds(0.0), |it| it.1);
        (limit, if other < time { other } else { time })
    });
    both.collect()
}

/// A launch of a small workload; converted to full warps if most threads were inactive.
pub(super) struct SmallLaunch {
    counted: KernelCounters,
    /// The total over all launches.
    threads: f64,
    own_launch: TargetLaunch,
    pub(super) is_sparse: bool,
}

impl SmallLaunch {
    fn from_launch(launch: &LaunchCounts) -> Self {
        let LaunchCounts { grid, block, executions, counted, .. } = launch;
        let itself =
            TargetLaunch { grid: *grid, block: *block, resident: None, executions: *executions };
        let is_sparse = is_sparse(launch);
        let lanes = counted.total.active_lanes().filter(|_| is_sparse);
        let (counted, share) = match lanes {
            Some(lanes) => (counted.as_full_warps(), lanes / 32.0),
            None => (counted.clone(), 1.0),
        };
        Self { counted, threads: itself.threads() * share, own_launch: itself, is_sparse }
    }

    /// The busy time of each unit for a launch of the target, if its threads execute what these threads executed.
    fn times(
        &self,
        target: &TargetLaunch,
        sheet: &DeviceSheet,
    ) -> Option<Vec<(LimitingResource, Seconds)>> {
        let rates = sheet.rates()?;
        let (threads, blocks) = (product(target.block).max(1), product(target.grid));
        let KernelCounters { total, classes, kinds, .. } = &self.counted;
        let counters = Counters {
            total: *total,
            classes: classes.clone(),
            kinds: kinds.clone(),
            // Threads take the place of blocks, because the block sizes may differ.
            blocks: BlocksRun {
                run: (self.threads.round() as u64).max(1),
                all: blocks.saturating_mul(threads),
            },
            ..Counters::default()
        };
        let shape = LaunchShape {
            blocks,
            warps_per_block: u32::try_from(threads.div_ceil(32)).unwrap_or(u32::MAX),
            resident_blocks: target.resident.unwrap_or(1),
            // DRAM traffic depends on caches and is part of the bound.
            dram: Some(Bytes(0)),
            begins: LaunchStart::AfterOthers,
        };
        let capability = sheet.capability.compute_capability;
        let expansion = Expansion::from_compute_capability((capability.0, capability.1));
        let Modelled::Bound(bound) = modelled(&counters, &shape, &rates, expansion) else {
            return None;
        };
        let inside = bound.parts.into_iter().filter(|(limit, _)| is_inside(*limit));
        Some(inside.map(|(limit, time)| (limit, time * target.executions as f64)).collect())
    }
}

/// Whether a unit belongs to the multiprocessors.
const fn is_inside(limit: LimitingResource) -> bool {
    match limit {
        LimitingResource::Launch | LimitingResource::L2 | LimitingResource::Dram => false,
        LimitingResource::Issue
        | LimitingResource::Single
        | LimitingResource::Double
        | LimitingResource::Half
        | LimitingResource::Integer
        | LimitingResource::Special
        | LimitingResource::Tensor
        | LimitingResource::GlobalWavefronts
        | LimitingResource::Shared
        | LimitingResource::Atomics => true,
    }
}

impl TargetLaunch {
    /// The total over all launches.
    fn threads(&self) -> f64 {
        product(self.grid) as f64 * product(self.block) as f64 * self.executions as f64
    }
}

impl Target<'_> {
    /// Work for each thread.
    pub(super) fn density(&self) -> f64 {
        self.work / self.launches.iter().map(TargetLaunch::threads).sum::<f64>().max(1.0)
    }
}

/// A sample, prepared for the comparison with the target.
pub(super) struct SmallWorkload<'a> {
    pub(super) sample: &'a Sample<'a>,
    pub(super) launches: Vec<SmallLaunch>,
}

impl<'a> SmallWorkload<'a> {
    pub(super) fn new(sample: &'a Sample<'a>) -> Self {
        Self { sample, launches: sample.launches.iter().map(SmallLaunch::from_launch).collect() }
    }

    /// Work for each thread.
    pub(super) fn density(&self) -> f64 {
        self.sample.work / self.launches.iter().map(|each| each.threads).sum::<f64>().max(1.0)
    }

    /// The busy time of each unit for all launches of the target, scaled by threads; `None` if the numbers of launches
    /// differ.
    fn times(&self, target: &Target<'_>) -> Option<Vec<(LimitingResource, Seconds)>> {
        if self.launches.len() != target.launches.len() {
            return None;
        }
        let mut all = Vec::new();
        for (own, theirs) in self.launches.iter().zip(target.launches) {
            for (limit, time) in own.times(theirs, target.sheet)? {
                add_time(&mut all, limit, time);
            }
        }
        Some(all)
    }

    /// The busy time of each unit, scaled by work.
    fn times_by_work(&self, target: &Target<'_>) -> Option<Vec<(LimitingResource, Seconds)>> {
        let more = target.density() / self.density();
        let times = self.times(target)?.into_iter();
        Some(times.map(|(limit, time)| (limit, time * more)).collect())
    }

    /// The busy time of each unit in the small workload.
    pub(super) fn weights(&self, sheet: &DeviceSheet) -> Vec<(LimitingResource, Seconds)> {
        let mut all = Vec::new();
        for launch in &self.launches {
            for (limit, time) in launch.times(&launch.own_launch, sheet).unwrap_or_default() {
                add_time(&mut all, limit, time);
            }
        }
        all
    }
}

fn add_time(all: &mut Vec<(LimitingResource, Seconds)>, limit: LimitingResource, time: Seconds) {
    match all.iter_mut().find(|(known, _)| *known == limit) {
        Some((_, sum)) => *sum = *sum + time,
        None => all.push((limit, time)),
    }
}
