//! What a report says, in words: every number formatted, nothing escaped yet.

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

/// What a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The project's title.
    pub title: String,
    /// When the report was made.
    pub made_at: String,
    /// One line for each kernel: its newest run and its best time.
    pub kernels: Vec<KernelLine>,
    /// One line for each run, the newest first.
    pub runs: Vec<RunLine>,
    /// One line for each time of the newest timed run of each kernel.
    pub times: Vec<TimeLine>,
    /// What the runs were made with, each once.
    pub environments: Vec<EnvironmentLine>,
    /// Times over runs; none where nothing was timed.
    pub times_picture: Option<Picture>,
    /// Where kernels lie under the roofs of their device, for each workload.
    pub rooflines: Vec<Picture>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelLine {
    /// Its name.
    pub kernel: String,
    /// How many of the runs are its own.
    pub runs: usize,
    /// What came of the newest.
    pub newest: RunLine,
    /// Its best time on this machine; empty without one.
    pub best: String,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// Its number.
    pub number: RunNumber,
    /// When it ended, in UTC.
    pub when: String,
    /// Its kernel.
    pub kernel: String,
    /// The word for what came of it.
    pub verdict: String,
    /// Whether it passed: the colour of the word.
    pub passed: bool,
    /// Its time with its clock; empty without one.
    pub time: String,
    /// Its device.
    pub device: String,
    /// Who made it.
    pub by: String,
    /// What is to be known beside: recorded, best, or why it failed.
    pub remark: String,
}

/// A time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeLine {
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// What was in the caches.
    pub mode: String,
    /// What it was read from.
    pub clock: String,
    /// The median.
    pub median: String,
    /// What holds the median 95 times in 100; empty where nobody knows.
    pub interval: String,
    /// The bound as a part of the time, with what limits; empty where nobody computed it.
    pub standing: String,
    /// What holds the kernel back; empty where nobody found it out.
    pub limiter: String,
    /// What others took for the same work, and the score against each; empty where nobody measured it.
    pub baselines: String,
}

/// What runs were made with.
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
    /// The page of a project's runs, the newest first, of which `best` are the best of their kind.
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

    /// The page of runs whose project is gone: nobody knows what there was to compute.
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

/// The record of the fastest run that can be compared with the newest timed one: the same clock, device and task.
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

/// The time that scores, with what it was read from; empty without one.
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

/// The newest timed run of each kernel, by their names.
pub(super) fn newest_timed(runs: &[StoredRun]) -> Vec<&StoredRun> {
    let mut newest: BTreeMap<&str, &StoredRun> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.record.timings().is_empty()) {
        newest.entry(&run.record.kernel).or_insert(run);
    }
    newest.into_values().collect()
}

/// What a clock makes of a time.
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

/// What an execution costs, below the times that it was never measured with.
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

/// What something else took.
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
