//! The history as the window shows it: one small row for each run, however many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use lightbench_core::history::label::Label;
use lightbench_core::history::record::{Basis, FailureWord, Outcome};
use lightbench_core::history::timing::{Clock, Mode};
use lightbench_core::history::{Provenance, RunNumber, StoredRun, better};
use lightbench_core::speed_of_light::share::Share;
use lightbench_core::units::Seconds;

use super::families::{Descent, Families, Family};

/// One run.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its place in the history.
    pub number: RunNumber,
    /// When it ended.
    pub made_at: Timestamp,
    /// The kernel.
    pub kernel: Arc<str>,
    /// The device by its name.
    pub device: Arc<str>,
    /// Who ran it.
    pub provenance: Provenance,
    /// In which way it failed; none if it passed.
    pub failure: Option<FailureWord>,
    /// What came of it in one sentence, where it failed.
    pub sentence: Option<Box<str>>,
    /// Cold times, one for each workload that was measured.
    pub times: Box<[RowTime]>,
    /// One number for all of them, and with which others it may be compared.
    pub score: Option<(Seconds, BasisNumber)>,
    /// The beginning of the candidate's hash.
    pub candidate: Option<Arc<str>>,
    /// What the candidate descends from.
    pub descent: Descent,
    /// What somebody calls it.
    pub label: Option<Arc<str>>,
    /// Whether others may be compared with it.
    pub standing: Standing,
}

/// Whether others may be compared with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This machine verified everything, and it passed.
    Standard,
    /// It failed, was screened only, or is from elsewhere.
    Other,
}

/// The time of one workload.
#[derive(Clone, Debug)]
pub struct RowTime {
    /// The workload.
    pub workload: Arc<str>,
    /// The median.
    pub median: Seconds,
    /// Where the median is 95 times in 100; of a model the band that is expected.
    pub interval: Option<(Seconds, Seconds)>,
    /// Where the number comes from.
    pub source: TimeSource,
    /// The time that no correct kernel beats.
    pub bound: Option<Seconds>,
    /// That as a part of the time.
    pub share: Option<Share>,
    /// What held the kernel back, in words.
    pub limiter: Option<Arc<str>>,
    /// Whether something makes it not to be trusted.
    pub trust: Trust,
}

/// Where a number comes from. None of them may look like another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeSource {
    /// A clock of a device of this machine.
    Measured,
    /// A model of a device.
    Modelled,
    /// Another machine, or nobody knows.
    Recorded,
}

impl TimeSource {
    /// How it is said.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Recorded => "recorded",
        }
    }

    /// Of a time of the history.
    #[must_use]
    pub const fn of(clock: &Clock, provenance: Provenance) -> Self {
        match (clock, provenance) {
            (_, Provenance::Recorded) | (Clock::Unstated, _) => Self::Recorded,
            (Clock::Measured { .. }, Provenance::Own) => Self::Measured,
            (Clock::Modelled, Provenance::Own) => Self::Modelled,
        }
    }
}

/// Whether a number is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nothing speaks against it.
    Sound,
    /// The device was not itself, or the number is below the bound.
    Tainted,
}

/// What numbers must have in common to be compared, by a number of this window's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BasisNumber(u32);

/// Every run, the newest last.
///
/// A frame asks for many rows, and for what was before each: nothing that it asks looks through all of them.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    rows: Vec<Row>,
    /// The newest run of each kernel.
    newest: BTreeMap<Arc<str>, RunNumber>,
    /// Runs of a kernel on a device, the newest last.
    alike: BTreeMap<(Arc<str>, Arc<str>), Vec<Attempt>>,
    names: BTreeSet<Arc<str>>,
    bases: BTreeMap<Basis, BasisNumber>,
    best: BTreeMap<BasisNumber, (Seconds, RunNumber)>,
    families: Families,
    /// Changes so far: another number means other rows.
    version: u64,
}

/// A run, and the beginning of its candidate's hash.
type Attempt = (RunNumber, Option<Arc<str>>);

/// Which rows are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Words that must all stand in a row.
    pub filter: String,
    /// In which order.
    pub sort: Sort,
    /// Whether families stand together.
    pub grouping: Grouping,
    /// Families of which only the head is shown.
    pub folded: BTreeSet<Family>,
}

/// Whether rows stand together that have something in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// One list.
    #[default]
    None,
    /// Runs whose candidates go back to the same one.
    Lineage,
}

/// In which order rows are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The newest first.
    #[default]
    Newest,
    /// The fastest first, those without a time last.
    Fastest,
    /// By kernel, the newest of each first.
    Kernel,
}

impl Runs {
    /// No runs: those of another project come, which nobody may take for the same.
    pub fn clear(&mut self) {
        *self = Self { version: self.version + 1, ..Self::default() };
    }

    /// Adds runs; one that is there already is left as it is.
    pub fn add(&mut self, runs: &[StoredRun]) {
        let mut fresh: Vec<Row> = Vec::with_capacity(runs.len());
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
        // Parts come whole from before or after what is known: this is one move.
        let at = self.rows.partition_point(|known| known.number < fresh[0].number);
        self.rows.splice(at..at, fresh);
        self.rows.sort_by_key(|row| row.number);
        self.version += 1;
    }

    /// Finds runs again by their kernel, and by kernel and device; they are sorted.
    fn remember(&mut self, fresh: &[Row]) {
        let mut alike: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in fresh {
            let newest = self.newest.entry(Arc::clone(&row.kernel)).or_insert(row.number);
            *newest = row.number.max(*newest);
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

    fn row(&mut self, run: &StoredRun) -> Row {
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
                source: TimeSource::of(&timing.clock, run.provenance),
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
        Row {
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
            standing: if run.is_standard() { Standing::Standard } else { Standing::Other },
            kernel,
        }
    }

    /// Somebody calls a run so from now on; nothing where it has no label any more.
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

    fn basis(&mut self, basis: Basis) -> BasisNumber {
        let next = BasisNumber(u32::try_from(self.bases.len()).unwrap_or(u32::MAX));
        *self.bases.entry(basis).or_insert(next)
    }

    /// A run by its number.
    #[must_use]
    pub fn get(&self, number: RunNumber) -> Option<&Row> {
        let at = self.rows.binary_search_by_key(&number, |row| row.number).ok()?;
        self.rows.get(at)
    }

    /// Which candidates descend from which.
    pub(super) const fn families(&self) -> &Families {
        &self.families
    }

    /// All of them, the newest last.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Another number means other rows.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Whether a run is the fastest of those that may be compared with it.
    #[must_use]
    pub fn is_best(&self, row: &Row) -> bool {
        let best = row.score.and_then(|(_, basis)| self.best.get(&basis));
        best.is_some_and(|(_, number)| *number == row.number)
    }

    /// The fastest run that may be compared with this one.
    #[must_use]
    pub fn best_like(&self, row: &Row) -> Option<&Row> {
        let (_, basis) = row.score?;
        self.get(self.best.get(&basis)?.1)
    }

    /// The newest run before this one of the same kernel on the same device with another candidate.
    #[must_use]
    pub fn before(&self, row: &Row) -> Option<&Row> {
        let alike = self.alike.get(&(Arc::clone(&row.kernel), Arc::clone(&row.device)))?;
        let earlier = &alike[..alike.partition_point(|(number, _)| *number < row.number)];
        // Most often the same candidate ran once or twice in a row.
        let other = earlier.iter().rev().find(|(_, candidate)| *candidate != row.candidate);
        self.get(other?.0)
    }

    /// Whether some run has another one before it that it can be held against.
    #[must_use]
    pub fn has_earlier(&self) -> bool {
        let differ = |pair: &[Attempt]| pair[0].1 != pair[1].1;
        self.alike.values().any(|alike| alike.windows(2).any(differ))
    }

    /// The newest run of a kernel.
    #[must_use]
    pub fn newest_of(&self, kernel: &str) -> Option<&Row> {
        self.get(*self.newest.get(kernel)?)
    }

    /// The places of the rows that are shown, in order.
    #[must_use]
    pub fn shown(&self, view: &View) -> Vec<u32> {
        let words: Vec<String> = view.filter.split_whitespace().map(str::to_lowercase).collect();
        let mut shown: Vec<u32> = self
            .rows
            .iter()
            .zip(0..)
            .filter(|(row, _)| words.iter().all(|word| row.says(word)))
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

impl Row {
    /// Whether a word in small letters stands in it.
    fn says(&self, word: &str) -> bool {
        let number = word.strip_prefix('#').and_then(|number| number.parse().ok());
        self.kernel.to_lowercase().contains(word)
            || self.device.contains(word)
            || self.verdict().contains(word)
            || number == Some(self.number.0)
            || self.candidate.as_deref().is_some_and(|hash| hash.starts_with(word))
            || self.label.as_ref().is_some_and(|label| label.to_lowercase().contains(word))
    }

    /// Its score, where others may be compared with it.
    pub(super) fn standard_score(&self) -> Option<(Seconds, BasisNumber)> {
        self.score.filter(|_| self.standing == Standing::Standard)
    }

    /// The word for what came of it.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        self.failure.map_or("passed", FailureWord::as_str)
    }

    /// The time of a workload.
    #[must_use]
    pub fn time(&self, workload: &str) -> Option<&RowTime> {
        self.times.iter().find(|time| &*time.workload == workload)
    }

    /// How much longer it takes than another run on a workload, as a part of the other's time; none where the two must
    /// not be compared.
    #[must_use]
    pub fn against(&self, other: &Self, workload: &str) -> Option<f64> {
        let (mine, theirs) = (self.time(workload)?, other.time(workload)?);
        let alike = mine.source == theirs.source && self.device == other.device;
        alike.then(|| (mine.median / theirs.median).0 - 1.0)
    }
}
