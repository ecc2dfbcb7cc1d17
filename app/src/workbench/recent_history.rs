//! The newest runs of a recently opened project, for the picture on the start page.

use lightbench_core::history::StoredRun;
use lightbench_core::history::record::Outcome;
use lightbench_core::units::Seconds;

use super::runs::TimeSource;

/// The newest runs of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecentHistory {
    /// The number of all runs.
    pub count: u64,
    /// The newest runs, oldest first.
    pub runs: Vec<RecentRun>,
}

/// A run in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecentRun {
    Failed,
    /// It passed, and its time is missing or cannot be compared with that of the newest timed run.
    Passed,
    /// It passed with this geometric mean of times.
    Timed(Seconds, TimeSource),
}

/// Runs in a picture.
pub const SHOWN: usize = 40;

impl RecentHistory {
    /// The runs of a history, newest first.
    #[must_use]
    pub fn new(count: u64, newest: &[StoredRun]) -> Self {
        let basis = newest.iter().find_map(|run| Some((run.record.score()?.basis, run.provenance)));
        let shown = |stored: &StoredRun| match &stored.record.outcome {
            Outcome::Failed { .. } => RecentRun::Failed,
            Outcome::Passed { .. } => {
                let score = stored.record.score();
                let alike = score.filter(|score| {
                    basis.as_ref() == Some(&(score.basis.clone(), stored.provenance))
                });
                let clock = stored.record.timings().first().map(|timing| &timing.clock);
                match alike.zip(clock) {
                    Some((score, clock)) => RecentRun::Timed(
                        score.seconds,
                        TimeSource::from_clock(clock, stored.provenance),
                    ),
                    None => RecentRun::Passed,
                }
            }
        };
        Self { count, runs: newest.iter().rev().map(shown).collect() }
    }

    /// The fastest run of the picture.
    #[must_use]
    pub fn best(&self) -> Option<(Seconds, TimeSource)> {
        let timed = self.runs.iter().filter_map(|run| match run {
            RecentRun::Timed(time, source) => Some((*time, *source)),
            RecentRun::Failed | RecentRun::Passed => None,
        });
        timed.min_by(|a, b| a.0.0.total_cmp(&b.0.0))
    }

    /// `12 runs, best 235 µs modelled`.
    #[must_use]
    pub fn words(&self) -> String {
        let runs =
            if self.count == 1 { "1 run".to_owned() } else { format!("{} runs", self.count) };
        match self.best() {
            Some((time, source)) => format!("{runs}, best {time} {}", source.word()),
            None => runs,
        }
    }
}
