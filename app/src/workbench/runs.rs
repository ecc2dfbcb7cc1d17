//! The history as the window shows it: one small row per run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::{FailureKind, Outcome, ScoreBasis};
use lightbench_core::history::timing::{Clock, Mode};
use lightbench_core::history::{Provenance, RunNumber, StoredRun, better};
use lightbench_core::report::document::timing::ReportedClock;
use lightbench_core::speed_of_light::bound_fraction::BoundFraction;
use lightbench_core::units::Seconds;

use super::families::{Descent, Families, Family};

/// One run.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its number in the history.
    pub number: RunNumber,
    /// When the run ended.
    pub made_at: Timestamp,
    pub kernel: Arc<str>,
    /// The name of the device.
    pub device: Arc<str>,
    /// Which machine ran it.
    pub provenance: Provenance,
    /// The failure; `None` if the run passed.
    pub failure: Option<FailureKind>,
    /// A sentence about the failure.
    pub sentence: Option<Box<str>>,
    /// Times with a cold cache, one per measured workload.
    pub times: Box<[RowTime]>,
    /// The score over all workloads, and the basis that makes it comparable.
    pub score: Option<(Seconds, BasisNumber)>,
    /// The prefix of the candidate's hash.
    pub candidate: Option<Arc<str>>,
    /// The lineage of the candidate.
    pub descent: Descent,
    /// The user's label.
    pub label: Option<Arc<str>>,
    /// Whether other runs can be compared with this one.
    pub standing: Comparability,
}

/// Whether other runs can be compared with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparability {
    /// Fully verified on this machine, and passed.
    Standard,
    /// Failed, only screened, or recorded elsewhere.
    Other,
}

/// The time of one workload.
#[derive(Clone, Debug)]
pub struct RowTime {
    pub workload: Arc<str>,
    pub median: Seconds,
    /// The 95 % confidence interval of the median; for a modelled time the expected band.
    pub interval: Option<(Seconds, Seconds)>,
    /// The source of the time.
    pub source: TimeSource,
    /// The physical bound: no correct kernel is faster.
    pub bound: Option<Seconds>,
    /// The fraction of the bound: bound ÷ time.
    pub share: Option<BoundFraction>,
    /// What limits the kernel, as text.
    pub limiter: Option<Arc<str>>,
    /// Whether the time is reliable.
    pub trust: Trust,
}

/// The source of a time. The sources are formatted differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeSource {
    /// Measured by a device clock on this machine.
    Measured,
    /// Computed by a performance model.
    Modelled,
    /// Recorded elsewhere, or of unknown source.
    Recorded,
}

impl TimeSource {
    /// The source as text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Recorded => "recorded",
        }
    }

    /// The source of a time by this clock.
    #[must_use]
    pub const fn new(clock: &ReportedClock, provenance: Provenance) -> Self {
        match (clock, provenance) {
            (_, Provenance::Recorded) => Self::Recorded,
            (ReportedClock::Events { .. } | ReportedClock::Cupti { .. }, Provenance::Own) => {
                Self::Measured
            }
            (ReportedClock::Modelled, Provenance::Own) => Self::Modelled,
        }
    }

    /// The source of a time in a record.
    #[must_use]
    pub const fn from_clock(clock: &Clock, provenance: Provenance) -> Self {
        match (clock, provenance) {
            (_, Provenance::Recorded) | (Clock::Unstated, _) => Self::Recorded,
            (Clock::Measured { .. }, Provenance::Own) => Self::Measured,
            (Clock::Modelled, Provenance::Own) => Self::Modelled,
        }
    }
}

/// Whether a time is reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// No known defect.
    Sound,
    /// The device was disturbed, or the time is below the bound.
    Tainted,
}

/// A basis of comparison, numbered within this window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BasisNumber(u32);

/// Every run, the newest last.
///
/// Each frame asks for many rows and their predecessors; no query scans all rows.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    rows: Vec<RunRow>,
    /// The newest run of each kernel.
    newest: BTreeMap<Arc<str>, RunNumber>,
    /// Runs of a kernel on a device that passed, the newest last.
    alike: BTreeMap<(Arc<str>, Arc<str>), Vec<Attempt>>,
    names: BTreeSet<Arc<str>>,
    bases: BTreeMap<ScoreBasis, BasisNumber>,
    best: BTreeMap<BasisNumber, (Seconds, RunNumber)>,
    families: Families,
    /// Incremented by each change.
    version: u64,
}

/// A run, and the prefix of its candidate's hash.
type Attempt = (RunNumber, Option<Arc<str>>);

/// Filter, order and grouping of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    /// Words that must all occur in a row.
    pub filter: String,
    pub sort: Sort,
    pub grouping: Grouping,
    /// Families whose runs are folded.
    pub folded: BTreeSet<Family>,
}

/// How rows are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// One list.
    #[default]
    None,
    /// By the oldest ancestor of the candidate.
    Lineage,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The newest first.
    #[default]
    Newest,
    /// The fastest first, runs without a time last.
    Fastest,
    /// By kernel, the newest of each first.
    Kernel,
}

impl Runs {
    /// Removes all runs, because another project opens.
    pub fn clear(&mut self) {
        *self = Self { version: self.version + 1, ..Self::default() };
    }

    /// Adds runs; known runs are unchanged.
    pub fn add(&mut self, runs: &[StoredRun]) {
        let mut fresh: Vec<RunRow> = Vec::with_capacity(runs.len());
        for run in runs {
            if self.get(run.number).is_some() {
                continue;
            }
            let row = self.row(run);
            if let Some((seconds, basis)) = row.standard_score() {
                let own = (seconds, row.number);
                let best = self.best.entry(basis).or_insert(own);
                *best = std::cmp::min_by(own, *best, |one, other| better(*one, *other));
            }
            fresh.push(row);
        }
        fresh.sort_unstable_by_key(|row| row.number);
        fresh.dedup_by_key(|row| row.number);
        if fresh.is_empty() {
            return;
        }
        self.remember(&fresh);
        // Parts arrive whole, before or after the known runs: this is one move.
        let at = self.rows.partition_point(|known| known.number < fresh[0].number);
        self.rows.splice(at..at, fresh);
        self.rows.sort_by_key(|row| row.number);
        self.version += 1;
    }

    /// Indexes runs by kernel, and by kernel and device.
    fn remember(&mut self, fresh: &[RunRow]) {
        let mut alike: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in fresh {
            let newest = self.newest.entry(Arc::clone(&row.kernel)).or_insert(row.number);
            *newest = row.number.max(*newest);
            if row.failure.is_some() {
                continue;
            }
            let key = (Arc::clone(&row.kernel), Arc::clone(&row.device));
            alike.entry(key).or_default().push((row.number, row.candidate.clone()));
        }
        for (key, runs) in alike {
            let known = self.alike.entry(key).or_default();
            let at = known.partition_point(|(number, _)| *number < runs[0].0);
            known.splice(at..at, runs);
            known.sort_by_key(|(number, _)| *number);
        }
    }

    fn row(&mut self, run: &StoredRun) -> RunRow {
        let record = &run.record;
        let mut times = Vec::new();
        for timing in record.timings().iter().filter(|timing| timing.mode == Mode::Cold) {
            let standing = timing.standing.as_ref();
            times.push(RowTime {
                workload: self.name(timing.workload.as_str()),
                median: timing.median.seconds(),
                interval: timing.spread.map(|spread| {
                    let (low, high) = spread.interval;
                    (low.seconds(), high.seconds())
                }),
                source: TimeSource::from_clock(&timing.clock, run.provenance),
                bound: standing.map(|standing| standing.bound.seconds()),
                share: timing.share(),
                limiter: timing.limiter.as_ref().map(|limiter| self.name(&limiter.words)),
                trust: if timing.taint.is_empty() { Trust::Sound } else { Trust::Tainted },
            });
        }
        let (failure, sentence) = match &record.outcome {
            Outcome::Passed { .. } => (None, None),
            Outcome::Failed { word, sentence, .. } => (Some(*word), Some(sentence.clone().into())),
        };
        let score = record.score().map(|score| (score.seconds, self.basis(score.basis)));
        let kernel = self.name(&record.kernel);
        RunRow {
            number: run.number,
            made_at: record.made_at,
            device: self.name(&record.device.name),
            provenance: run.provenance,
            failure,
            sentence,
            times: times.into(),
            score,
            candidate: record.candidate.as_ref().map(|hash| {
                let end = hash.char_indices().nth(10).map_or(hash.len(), |(at, _)| at);
                Arc::from(&hash[..end])
            }),
            descent: self.families.add(run, &kernel),
            label: run.label.as_ref().map(|label| self.name(label.as_str())),
            standing: if run.is_standard() {
                Comparability::Standard
            } else {
                Comparability::Other
            },
            kernel,
        }
    }

    /// Sets or removes the label of a run.
    pub fn label(&mut self, number: RunNumber, label: Option<&Label>) {
        let label = label.map(|label| self.name(label.as_str()));
        let Ok(at) = self.rows.binary_search_by_key(&number, |row| row.number) else { return };
        self.rows[at].label = label;
        self.version += 1;
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.names.insert(Arc::clone(&new));
        new
    }

    fn basis(&mut self, basis: ScoreBasis) -> BasisNumber {
        let next = BasisNumber(u32::try_from(self.bases.len()).unwrap_or(u32::MAX));
        *self.bases.entry(basis).or_insert(next)
    }

    /// A run by its number.
    #[must_use]
    pub fn get(&self, number: RunNumber) -> Option<&RunRow> {
        let at = self.rows.binary_search_by_key(&number, |row| row.number).ok()?;
        self.rows.get(at)
    }

    /// The lineage of candidates.
    pub(super) const fn families(&self) -> &Families {
        &self.families
    }

    /// All rows, the newest last.
    #[must_use]
    pub fn rows(&self) -> &[RunRow] {
        &self.rows
    }

    /// Changes whenever rows change.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Whether a run is the fastest of all runs comparable with it.
    #[must_use]
    pub fn is_best(&self, row: &RunRow) -> bool {
        let best = row.score.and_then(|(_, basis)| self.best.get(&basis));
        best.is_some_and(|(_, number)| *number == row.number)
    }

    /// The fastest run comparable with this one.
    #[must_use]
    pub fn best_like(&self, row: &RunRow) -> Option<&RunRow> {
        let (_, basis) = row.score?;
        self.get(self.best.get(&basis)?.1)
    }

    /// The previous run of the same kernel on the same device that passed, with another candidate.
    #[must_use]
    pub fn before(&self, row: &RunRow) -> Option<&RunRow> {
        let alike = self.alike.get(&(Arc::clone(&row.kernel), Arc::clone(&row.device)))?;
        let earlier = &alike[..alike.partition_point(|(number, _)| *number < row.number)];
        // Usually the same candidate ran only once or twice in a row.
        let other = earlier.iter().rev().find(|(_, candidate)| *candidate != row.candidate);
        self.get(other?.0)
    }

    /// Whether any run has a predecessor to compare with.
    #[must_use]
    pub fn has_earlier(&self) -> bool {
        let differ = |pair: &[Attempt]| pair[0].1 != pair[1].1;
        self.alike.values().any(|alike| alike.windows(2).any(differ))
    }

    /// The newest run of a kernel.
    #[must_use]
    pub fn newest_of(&self, kernel: &str) -> Option<&RunRow> {
        self.get(*self.newest.get(kernel)?)
    }

    /// The rows that pass the filter, in order.
    #[must_use]
    pub fn filtered(&self, view: &RunFilter) -> Vec<u32> {
        let words: Vec<String> = view.filter.split_whitespace().map(str::to_lowercase).collect();
        let mut shown: Vec<u32> = self
            .rows
            .iter()
            .zip(0..)
            .filter(|(row, _)| words.iter().all(|word| row.contains_word(word)))
            .map(|(_, place)| place)
            .collect();
        shown.reverse();
        let row = |place: &u32| &self.rows[*place as usize];
        match view.sort {
            Sort::Newest => {}
            Sort::Fastest => {
                let seconds =
                    |place: &u32| row(place).score.map_or(f64::INFINITY, |score| score.0.0);
                shown.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
            }
            Sort::Kernel => shown.sort_by(|a, b| row(a).kernel.cmp(&row(b).kernel)),
        }
        shown
    }
}

impl RunRow {
    /// Whether a lower-case word occurs in the row.
    fn contains_word(&self, word: &str) -> bool {
        let number = word.strip_prefix('#').and_then(|number| number.parse().ok());
        self.kernel.to_lowercase().contains(word)
            || self.device.contains(word)
            || self.verdict().contains(word)
            || number == Some(self.number.0)
            || self.candidate.as_deref().is_some_and(|hash| hash.starts_with(word))
            || self.label.as_ref().is_some_and(|label| label.to_lowercase().contains(word))
    }

    /// Its score, if other runs can be compared with it.
    pub(super) fn standard_score(&self) -> Option<(Seconds, BasisNumber)> {
        self.score.filter(|_| self.standing == Comparability::Standard)
    }

    /// The word for the result.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        self.failure.map_or("passed", FailureKind::as_str)
    }

    /// The time of a workload.
    #[must_use]
    pub fn time(&self, workload: &str) -> Option<&RowTime> {
        self.times.iter().find(|time| &*time.workload == workload)
    }

    /// The relative time difference to another run on a workload; `None` if the times are not comparable.
    #[must_use]
    pub fn against(&self, other: &Self, workload: &str) -> Option<f64> {
        let (mine, theirs) = (self.time(workload)?, other.time(workload)?);
        let alike = mine.source == theirs.source && self.device == other.device;
        alike.then(|| (mine.median / theirs.median).0 - 1.0)
    }
}
