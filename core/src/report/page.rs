//! The content of a report as text: every number formatted, nothing escaped yet.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lightbench_primitives::display_text::visible;
use serde::Serialize;

use super::figures::{Picture, rooflines, times as picture_of_times};
use crate::figure::Origin;
use crate::history::record::{Outcome, RunRecord, WorkloadName};
use crate::history::timing::{BaselineSource, Clock, Mode, RecordedBaseline, RecordedTiming};
use crate::history::{Provenance, RunNumber, StoredRun, better};
use crate::measure::Energy;
use crate::project::Project;

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The project's title.
    pub title: String,
    /// When the report was made.
    pub made_at: String,
    /// One line for each kernel: its latest run and its best time.
    pub kernels: Vec<KernelLine>,
    /// One line for each run, latest first.
    pub runs: Vec<RunLine>,
    /// One line for each time of the latest timed run of each kernel.
    pub times: Vec<TimeLine>,
    /// The environments of the runs, each once.
    pub environments: Vec<EnvironmentLine>,
    /// The figure of times over runs; `None` if nothing was timed.
    pub times_picture: Option<Picture>,
    /// The rooflines, one for each workload.
    pub rooflines: Vec<Picture>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelLine {
    /// The name of the kernel.
    pub kernel: String,
    /// The number of runs of the kernel.
    pub runs: usize,
    /// The verdict of the latest run.
    pub newest: RunLine,
    /// The best time on this machine; empty without one.
    pub best: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// The number of the run.
    pub number: RunNumber,
    /// When it ended, in UTC.
    pub when: String,
    /// The kernel.
    pub kernel: String,
    /// The word of the verdict.
    pub verdict: String,
    /// Whether it passed: the colour of the word.
    pub passed: bool,
    /// The time with its clock; empty without one.
    pub time: String,
    /// The device.
    pub device: String,
    /// The origin of the candidate.
    pub by: String,
    /// A remark: recorded, best, or the reason of the failure.
    pub remark: String,
}

/// A time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeLine {
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The cache state.
    pub mode: String,
    /// The clock.
    pub clock: String,
    /// The median.
    pub median: String,
    /// The 95 % interval of the median; empty if it is unknown.
    pub interval: String,
    /// The fraction of the bound, with the resource that sets the bound; empty if it is unknown.
    pub standing: String,
    /// The limiter; empty if it is unknown.
    pub limiter: String,
    /// What others took for the same work, and the score against each; empty where not measured.
    pub baselines: String,
}

/// The environment of runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EnvironmentLine {
    /// The device.
    pub device: String,
    /// Versions, in one line.
    pub versions: String,
    /// Which runs.
    pub runs: String,
}

impl Page {
    /// The page of a project's runs, latest first; `best` are the best runs.
    #[must_use]
    pub fn new(
        project: &Project,
        made_at: Timestamp,
        runs: &[StoredRun],
        best: &[RunNumber],
    ) -> Self {
        let page = Self::titled(&project.definition.title, made_at, runs, best);
        Self { rooflines: rooflines(project, runs), ..page }
    }

    /// The page of runs whose project is missing: it has no rooflines.
    #[must_use]
    pub fn titled(title: &str, made_at: Timestamp, runs: &[StoredRun], best: &[RunNumber]) -> Self {
        Self {
            title: shown(title),
            made_at: when(made_at),
            kernels: kernels(runs, best),
            runs: runs.iter().map(|run| line(run, best)).collect(),
            times: times(runs),
            environments: environments(runs),
            times_picture: picture_of_times(runs),
            rooflines: Vec::new(),
        }
    }
}

pub(super) fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn when(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

fn kernels(runs: &[StoredRun], best: &[RunNumber]) -> Vec<KernelLine> {
    let mut by_kernel: BTreeMap<&str, Vec<&StoredRun>> = BTreeMap::new();
    for run in runs {
        by_kernel.entry(&run.record.kernel).or_default().push(run);
    }
    by_kernel
        .into_iter()
        .filter_map(|(kernel, runs)| {
            Some(KernelLine {
                kernel: shown(kernel),
                runs: runs.len(),
                newest: line(runs.first()?, best),
                best: fastest(&runs).map(time).unwrap_or_default(),
            })
        })
        .collect()
}

/// The fastest run with the same clock, device and task as the latest timed one.
fn fastest<'a>(runs: &[&'a StoredRun]) -> Option<&'a RunRecord> {
    let own = runs.iter().filter(|run| run.is_standard());
    let timed: Vec<_> = own.filter_map(|run| Some((run.record.score()?, *run))).collect();
    let (newest, _) = timed.first()?;
    let alike = timed.iter().filter(|(score, _)| score.basis == newest.basis);
    let first = alike
        .min_by(|(a, one), (b, other)| better((a.seconds, one.number), (b.seconds, other.number)));
    first.map(|(_, run)| &run.record)
}

fn line(run: &StoredRun, best: &[RunNumber]) -> RunLine {
    let record = &run.record;
    let mut remarks = Vec::new();
    match run.provenance {
        Provenance::Own => {}
        Provenance::Recorded => remarks.push("recorded".to_owned()),
    }
    if best.contains(&run.number) {
        remarks.push("best".to_owned());
    }
    let passed = match &record.outcome {
        Outcome::Passed { .. } => true,
        Outcome::Failed { sentence, .. } => {
            remarks.push(shown(sentence));
            false
        }
    };
    RunLine {
        number: run.number,
        when: when(record.made_at),
        kernel: shown(&record.kernel),
        verdict: record.verdict().replace('_', " "),
        passed,
        time: time(record),
        device: shown(&record.device.title),
        by: shown(&record.origin.to_string()),
        remark: remarks
            .into_iter()
            .filter(|remark| !remark.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The time that scores, with its clock; empty without one.
fn time(record: &RunRecord) -> String {
    let cold = record.timings().iter().find(|timing| timing.mode == Mode::Cold);
    match (record.score(), cold) {
        (Some(score), Some(cold)) => format!("{}, {}", score.seconds, clock(&cold.clock)),
        (_, _) => String::new(),
    }
}

fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Measured { method } => format!("measured ({})", visible(method)),
        Clock::Modelled => "modelled".to_owned(),
        Clock::Unstated => "recorded".to_owned(),
    }
}

/// The latest timed run of each kernel, by name.
pub(super) fn newest_timed(runs: &[StoredRun]) -> Vec<&StoredRun> {
    let mut newest: BTreeMap<&str, &StoredRun> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.record.timings().is_empty()) {
        newest.entry(&run.record.kernel).or_insert(run);
    }
    newest.into_values().collect()
}

/// The origin of a time by its clock.
pub(super) const fn clock_origin(clock: &Clock) -> Origin {
    match clock {
        Clock::Measured { .. } => Origin::Measured,
        Clock::Modelled => Origin::Modelled,
        Clock::Unstated => Origin::Recorded,
    }
}

fn times(runs: &[StoredRun]) -> Vec<TimeLine> {
    let lines = newest_timed(runs).into_iter().flat_map(|run| {
        let (record, kernel) = (&run.record, &run.record.kernel);
        let times = record.timings().iter().map(move |timing| time_line(kernel, timing));
        times.chain(record.energy().map(move |(name, energy)| energy_line(kernel, name, energy)))
    });
    lines.collect()
}

/// The energy of an execution, as a separate line below the times.
fn energy_line(kernel: &str, workload: &WorkloadName, energy: &Energy) -> TimeLine {
    let (low, high) = energy.interval;
    TimeLine {
        kernel: shown(kernel),
        workload: shown(workload.as_str()),
        mode: "energy".to_owned(),
        clock: format!("measured (NVML, {} in all)", energy.power),
        median: energy.each.to_string(),
        interval: format!("{low} to {high}"),
        standing: String::new(),
        limiter: String::new(),
        baselines: String::new(),
    }
}

fn time_line(kernel: &str, timing: &RecordedTiming) -> TimeLine {
    let interval = timing.spread.map(|spread| {
        let (low, high) = spread.interval;
        format!("{} to {}", low.seconds(), high.seconds())
    });
    let standing = timing.standing.as_ref().zip(timing.share()).map(|(standing, share)| {
        format!("{} of {}, {}", share.middle, visible(&standing.peaks), visible(&standing.limiter))
    });
    TimeLine {
        kernel: shown(kernel),
        workload: shown(timing.workload.as_str()),
        mode: match timing.mode {
            Mode::Cold => "cold",
            Mode::Warm => "warm",
            Mode::Graph => "graph",
            Mode::Server => "server",
            Mode::Unstated => "",
        }
        .to_owned(),
        clock: clock(&timing.clock),
        median: timing.median.seconds().to_string(),
        interval: interval.unwrap_or_default(),
        standing: standing.unwrap_or_default(),
        limiter: timing.limiter.as_ref().map(|limiter| shown(&limiter.words)).unwrap_or_default(),
        baselines: timing.baselines.iter().map(baseline).collect::<Vec<_>>().join("; "),
    }
}

/// The time of a baseline.
fn baseline(baseline: &RecordedBaseline) -> String {
    let (name, source) = (shown(&baseline.name), shown(&baseline.source));
    let Some(median) = baseline.median else { return format!("{name}: no time, {source}") };
    let median = median.seconds();
    match (baseline.taken, baseline.score) {
        (BaselineSource::Measured, Some(score)) => format!("{name} {median}, score {score:.3}"),
        (BaselineSource::Measured | BaselineSource::NotTimed, _) => format!("{name} {median}"),
        (BaselineSource::Recorded, _) => format!("{name} {median}, recorded elsewhere"),
    }
}

fn environments(runs: &[StoredRun]) -> Vec<EnvironmentLine> {
    let mut found: BTreeMap<(String, String), Vec<RunNumber>> = BTreeMap::new();
    for run in runs {
        let versions = run.record.environment.versions.iter();
        let versions: Vec<_> = versions
            .map(|(name, version)| format!("{} {}", visible(name), visible(version)))
            .collect();
        let key = (shown(&run.record.device.title), versions.join(", "));
        found.entry(key).or_default().push(run.number);
    }
    let lines = found.into_iter().map(|((device, versions), numbers)| {
        let (first, last) = (numbers.iter().min(), numbers.iter().max());
        let runs = match (first, last) {
            (Some(first), Some(last)) if first < last => {
                format!("{} between {first} and {last}", numbers.len())
            }
            (Some(only), _) => only.to_string(),
            (None, _) => String::new(),
        };
        EnvironmentLine { device, versions, runs }
    });
    lines.collect()
}
