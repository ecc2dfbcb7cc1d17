//! The figures of a report: times over runs, and for each workload the roofline of its device with the kernels.

use std::collections::BTreeMap;

use serde::Serialize;

use super::page::{clock_origin, newest_timed, shown};
use crate::device::DeviceSheet;
use crate::figure::{
    self, BandwidthRun, Emphasis, Figure, NoRoofline, Page as Place, Roofs, RunPoint, TimedRun,
    Trail, svg,
};
use crate::history::definition_hash::definition_hash;
use crate::history::record::WorkloadName;
use crate::history::timing::{BaselineSource, Mode, RecordedTiming};
use crate::history::{Provenance, StoredRun};
use crate::project::Project;
use crate::speed_of_light::ceilings::{Basis, Ceilings};
use crate::speed_of_light::minimal_work::MinimalWork;
use crate::speed_of_light::roofline::{Level, NoPoint, Traffic};
use crate::units::Bytes;

const WIDTH: f64 = 760.0;

/// A figure with its caption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// The caption.
    pub caption: String,
    /// The picture, as SVG for the inside of a page; every text in it is escaped.
    pub svg: String,
}

/// The figure of all times that score; `None` if nothing was timed.
pub(super) fn times(runs: &[StoredRun]) -> Option<Picture> {
    let timed: Vec<TimedRun> = runs
        .iter()
        .rev()
        .filter_map(|run| {
            let score = run.record.score()?;
            let cold = run.record.timings().iter().find(|timing| timing.mode == Mode::Cold)?;
            Some(TimedRun {
                run: run.number.0,
                kernel: shown(&run.record.kernel),
                time: score.seconds,
                interval: None,
                origin: origin(run, cold),
            })
        })
        .collect();
    let figure = figure::over_runs(&timed).ok().filter(|_| !timed.is_empty())?;
    let caption = "Cold medians of runs, logarithmic; the newest to the right".to_owned();
    Some(Picture { caption, svg: svg(&figure, (WIDTH, 320.0), Place::Inline) })
}

/// Workloads by device, with the latest timed run of each kernel.
type TimedWorkloads<'a> =
    BTreeMap<(&'a str, &'a WorkloadName), Vec<(&'a StoredRun, &'a RecordedTiming)>>;

/// The rooflines of a project. Runs of another definition are left out, and so are devices without a device sheet.
pub(super) fn rooflines(project: &Project, runs: &[StoredRun]) -> Vec<Picture> {
    let definition = definition_hash(project);
    let same = newest_timed(runs)
        .into_iter()
        .filter(|run| run.record.definition.as_ref() == Some(&definition));
    let mut standing: TimedWorkloads<'_> = BTreeMap::new();
    for run in same {
        for timing in run.record.timings().iter().filter(|timing| timing.mode == Mode::Cold) {
            let key = (run.record.device.title.as_str(), &timing.workload);
            standing.entry(key).or_default().push((run, timing));
        }
    }
    let pictures = standing.iter().filter_map(|((device, workload), runs)| {
        picture(project, (device, workload.as_str()), runs)
    });
    pictures.collect()
}

fn picture(
    project: &Project,
    (device, workload): (&str, &str),
    runs: &[(&StoredRun, &RecordedTiming)],
) -> Option<Picture> {
    let found = project.workloads.iter().find(|each| each.name == workload)?;
    let work = MinimalWork::new(&project.definition, found);
    let ceilings = Ceilings::new(DeviceSheet::titled(device)?, None, Basis::Sheet);
    let (figure, height) = drawn(&work, &ceilings, runs)?;
    let caption = format!("{} on {}", shown(workload), shown(device));
    Some(Picture { caption, svg: svg(&figure, (WIDTH, height), Place::Inline) })
}

/// A roofline; where there is nothing to compute, how fast bytes were moved.
fn drawn(
    work: &MinimalWork,
    ceilings: &Ceilings,
    runs: &[(&StoredRun, &RecordedTiming)],
) -> Option<(Figure, f64)> {
    let moved = work.moved();
    let points = runs.iter().map(|(run, timing)| RunPoint {
        run: run.number.0,
        name: format!("{}, run {}", shown(&run.record.kernel), run.number),
        label: Some(shown(&run.record.kernel)),
        time: timing.median.seconds(),
        interval: timing
            .spread
            .map(|spread| (spread.interval.0.seconds(), spread.interval.1.seconds())),
        traffic: vec![(Level::Dram, moved, Traffic::Compulsory)],
        origin: origin(run, timing),
        emphasis: Emphasis::Normal,
    });
    let points: Vec<RunPoint> = points.chain(baselines(runs, moved)).collect();
    let pipes = figure::pipes_of(work, ceilings);
    let roofs = Roofs { ceilings, pipes: &pipes, levels: &[Level::Dram] };
    match figure::roofline(roofs, work, &points, Trail::Hidden) {
        Ok(figure) => Some((figure, 400.0)),
        Err(NoRoofline::NoPoint(NoPoint::NoOperations)) => {
            let movers = points.iter().map(|point| BandwidthRun {
                run: point.run,
                name: point.label.clone().unwrap_or_default(),
                rate: moved / point.time,
                origin: point.origin,
                emphasis: Emphasis::Normal,
            });
            let figure = figure::bandwidth(ceilings, &movers.collect::<Vec<_>>()).ok()?;
            Some((figure, 100.0))
        }
        Err(
            NoRoofline::NoPoint(NoPoint::NoBytes | NoPoint::NotATime) | NoRoofline::Undrawable(_),
        ) => None,
    }
}

/// Baselines that ran, each where its newest run is.
fn baselines(runs: &[(&StoredRun, &RecordedTiming)], moved: Bytes) -> Vec<RunPoint> {
    let mut points: Vec<RunPoint> = Vec::new();
    let mut newest_first: Vec<_> = runs.iter().collect();
    newest_first.sort_by_key(|(run, _)| std::cmp::Reverse(run.number));
    for (run, timing) in newest_first {
        for baseline in timing.baselines.iter().filter(|it| it.taken == BaselineSource::Measured) {
            let (name, Some(median)) = (shown(&baseline.name), baseline.median) else { continue };
            if points.iter().any(|point| point.label.as_ref() == Some(&name)) {
                continue;
            }
            points.push(RunPoint {
                run: run.number.0,
                name: format!("{name}, beside run {}", run.number),
                label: Some(name),
                time: median.seconds(),
                interval: baseline.interval.map(|(low, high)| (low.seconds(), high.seconds())),
                traffic: vec![(Level::Dram, moved, Traffic::Compulsory)],
                origin: origin(run, timing),
                emphasis: Emphasis::Normal,
            });
        }
    }
    points
}

/// The origin of a time: times of other machines are recorded, independent of their clock.
fn origin(run: &StoredRun, timing: &RecordedTiming) -> figure::Origin {
    match run.provenance {
        Provenance::Recorded => figure::Origin::Recorded,
        Provenance::Own => clock_origin(&timing.clock),
    }
}
