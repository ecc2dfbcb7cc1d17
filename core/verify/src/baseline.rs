//! Times of baselines for the same work: libraries measured here under the same protocol, and times recorded elsewhere.

use lightbench_device::LibraryUsed;
use lightbench_measure::timing::{Mode, Timing};
use lightbench_speed_of_light::score::{NoScore, Score};
use lightbench_units::Seconds;

/// A baseline of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineTiming {
    /// Its name.
    pub name: String,
    /// Its time, if known.
    pub outcome: BaselineOutcome,
}

/// The time of a baseline, if known.
#[derive(Clone, Debug, PartialEq)]
pub enum BaselineOutcome {
    /// It ran here, on the same buffers, with the same flush and clock, and its results were right.
    Measured(Box<MeasuredBaseline>),
    /// A time recorded elsewhere.
    Recorded {
        /// The time.
        seconds: Seconds,
        /// Where the time was published.
        source: String,
    },
    /// There is no time, for this reason.
    None(String),
}

/// A library that ran here.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredBaseline {
    /// The library, its version and the call.
    pub used: LibraryUsed,
    /// One for each state of the caches that was tried.
    pub timings: Vec<Timing>,
    /// The largest error of any output on any workload, as a fraction of what is accepted.
    pub worst_error: f64,
    /// How far the candidate has come from this baseline to the bound; none before that was found out.
    pub score: Option<Result<Score, NoScore>>,
}

impl MeasuredBaseline {
    /// The cold time: the one that scores.
    #[must_use]
    pub fn cold(&self) -> Option<&Timing> {
        self.timings.iter().find(|timing| timing.mode == Mode::Cold)
    }

    /// Its name and version.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.used.name, self.used.version)
    }
}

impl BaselineTiming {
    /// The library that ran here, if one did.
    #[must_use]
    pub fn measured(&self) -> Option<&MeasuredBaseline> {
        match &self.outcome {
            BaselineOutcome::Measured(measured) => Some(measured),
            BaselineOutcome::Recorded { .. } | BaselineOutcome::None(_) => None,
        }
    }
}
