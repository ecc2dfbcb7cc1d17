//! Counters of small workloads, counted by the virtual device beside a GPU, extrapolated to a workload that the GPU
//! timed.

use std::mem::discriminant;

use lightbench_device::DeviceSheet;
use lightbench_project::fill::Fill;
use lightbench_speed_of_light::extrapolated_counters;
use lightbench_speed_of_light::extrapolated_counters::{Sample, Target, TargetLaunch};
use lightbench_speed_of_light::performance_data::Profile;
use lightbench_tensors::case::Case;

use super::{RunReport, Verification};
use crate::compiled_candidate::CompiledWorkload;
use crate::device_workers::VirtualChecker;
use crate::program::{LaunchStep, Step};
use crate::verdict::Uncounted;

impl Verification<'_> {
    /// The profile of a timed workload; `seen` has the reports of the small workloads.
    pub(super) fn profile_from_checker(
        &self,
        trial: &CompiledWorkload,
        seen: &[RunReport],
    ) -> Result<Profile, Uncounted> {
        let (device, sheet) = match self.workers.virtual_checker() {
            VirtualChecker::Open { device, sheet } => (device, sheet),
            VirtualChecker::Refused(reason) => return Err(Uncounted::Refused(reason.to_owned())),
            VirtualChecker::None => return Err(Uncounted::NoVirtualDevice),
        };
        let small: Vec<_> = self.subject.workloads.iter().zip(seen).collect();
        extrapolated_profile((device, sheet), &small, trial).ok_or(Uncounted::NothingSmall)
    }
}

/// The profile of a timed workload, extrapolated from the reports of small workloads on a virtual device.
pub fn extrapolated_profile(
    (device, sheet): (&str, &DeviceSheet),
    small: &[(&CompiledWorkload, &RunReport)],
    timed: &CompiledWorkload,
) -> Option<Profile> {
    let samples: Vec<Sample<'_>> = small
        .iter()
        .filter(|(_, report)| !report.counted.is_empty())
        .map(|(small, report)| Sample {
            workload: &small.case.workload,
            work: small.work,
            launches: &report.counted,
            data: data(&small.case, &timed.case),
        })
        .collect();
    let mut launches = Vec::new();
    collect(&timed.candidate.steps, 1, &mut launches);
    let launches: Vec<TargetLaunch> = launches.into_iter().map(|(_, launch)| launch).collect();
    let target = Target { work: timed.work, launches: &launches, sheet };
    extrapolated_counters::profile(device, &samples, &target)
}

/// A distance larger than that between any two ranges of integers.
const OTHERWISE: f64 = 100.0;

/// How far apart the inputs of two workloads are. Integers choose addresses and branches; floating-point numbers rarely
/// do.
fn data(small: &Case, timed: &Case) -> f64 {
    let tensors = small.tensors.iter().zip(&timed.tensors);
    let whole = tensors.filter(|(small, _)| !small.dtype.is_float());
    whole.map(|(small, timed)| apart(small.role.fill(), timed.role.fill())).sum()
}

/// Ranges of integers by how many times as wide one is; what is made in another way is further apart.
fn apart(small: Option<&Fill<u64>>, timed: Option<&Fill<u64>>) -> f64 {
    let (Some(small), Some(timed)) = (small, timed) else { return 0.0 };
    if small == timed {
        return 0.0;
    }
    if let (Some(small), Some(timed)) = (width(small), width(timed)) {
        return (small / timed).ln().abs().max(0.01);
    }
    if discriminant(small) == discriminant(timed) { 1.0 } else { OTHERWISE }
}

/// How many values a range of integers has.
fn width(fill: &Fill<u64>) -> Option<f64> {
    let Fill::Integers { low, high } = fill else { return None };
    Some((*high as f64 - *low as f64 + 1.0).max(1.0))
}

/// The launches of a program by kernel and grid, in the order of the first of each kind, as they are counted.
fn collect<'a>(steps: &'a [Step], times: u64, all: &mut Vec<(&'a LaunchStep, TargetLaunch)>) {
    for step in steps {
        match step {
            Step::Launch(launch) => {
                let same = |(known, _): &&mut (&LaunchStep, TargetLaunch)| {
                    known.kernel == launch.kernel
                        && known.grid == launch.grid
                        && known.block == launch.block
                };
                match all.iter_mut().find(same) {
                    Some((_, known)) => known.executions = known.executions.saturating_add(times),
                    None => all.push((
                        launch,
                        TargetLaunch {
                            grid: launch.grid,
                            block: launch.block,
                            resident: launch.residence.map(|residence| residence.blocks),
                            executions: times,
                        },
                    )),
                }
            }
            Step::Fill { .. } | Step::Library(_) => {}
            Step::Repeat { count, steps, .. } => collect(steps, times.saturating_mul(*count), all),
        }
    }
}
