//! What a virtual device beside a GPU counted while it checked small workloads, said of one that the GPU timed.

use super::{RunReport, Verification};
use crate::device::DeviceSheet;
use crate::speed_of_light::beside::{self, Data, Sample, Target, TargetLaunch};
use crate::speed_of_light::situation::Profile;
use crate::verify::case::Case;
use crate::verify::program::{LaunchStep, Step};
use crate::verify::stations::Beside;
use crate::verify::subject::Trial;
use crate::verify::verdict::Uncounted;

impl Verification<'_> {
    /// The profile of a workload that was timed; `seen` is what was reported of the small ones.
    pub(super) fn counted_beside(
        &self,
        trial: &Trial,
        seen: &[RunReport],
    ) -> Result<Profile, Uncounted> {
        let (device, sheet) = match self.stations.beside() {
            Beside::Open { device, sheet } => (device, sheet),
            Beside::Refused(reason) => return Err(Uncounted::Refused(reason.to_owned())),
            Beside::None => return Err(Uncounted::NoVirtualDevice),
        };
        let small: Vec<_> = self.subject.trials.iter().zip(seen).collect();
        carried((device, sheet), &small, trial).ok_or(Uncounted::NothingSmall)
    }
}

/// The profile of a workload that was timed, from what was reported of small ones on a virtual device.
pub(crate) fn carried(
    (device, sheet): (&str, &DeviceSheet),
    small: &[(&Trial, &RunReport)],
    timed: &Trial,
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
    beside::profile(device, &samples, &target)
}

/// Whole numbers choose addresses and branches, others hardly do.
fn data(small: &Case, timed: &Case) -> Data {
    let is_alike = small
        .tensors
        .iter()
        .zip(&timed.tensors)
        .all(|(small, timed)| small.dtype.is_float() || small.role.fill() == timed.role.fill());
    if is_alike { Data::Alike } else { Data::Otherwise }
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
            Step::Fill { .. } => {}
            Step::Repeat { count, steps, .. } => collect(steps, times.saturating_mul(*count), all),
        }
    }
}
