//! How long a workload took, as a history keeps it.

use serde::{Deserialize, Serialize};

use super::error::HistoryError;
use super::record::WorkloadName;
use super::text::{TextHash, Texts};
use crate::measure::{self, Basis, Timing};
use crate::speed_of_light::bound_comparison::{BoundComparison, NoBoundComparison};
use crate::speed_of_light::bound_fraction::BoundFraction;
use crate::speed_of_light::limiter::Limiter;
use crate::units::{Fraction, Seconds};
use crate::verify::baseline::{BaselineOutcome, BaselineTiming};

/// The time of one workload. Only a run that passed has any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedTiming {
    /// Which workload.
    pub workload: WorkloadName,
    /// What the numbers were read from.
    pub clock: Clock,
    /// What was in the caches, and how launches followed each other.
    pub mode: Mode,
    /// The median.
    pub median: Duration,
    /// How far samples lie apart; a recorded time from elsewhere may come without.
    pub spread: Option<Spread>,
    /// Every sample, as the text of that name: a JSON array of seconds.
    pub samples: Option<TextHash>,
    /// Why the number is not to be trusted, in sentences: then it is no score.
    #[serde(default)]
    pub taint: Vec<String>,
    /// Where the time lies against the speed of light.
    pub standing: Option<RecordedStanding>,
    /// What holds the kernel back; none where nobody found it out.
    #[serde(default)]
    pub limiter: Option<RecordedLimiter>,
    /// What others took for the same work in the same run; with the cold time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<RecordedBaseline>,
}

impl RecordedTiming {
    /// What is kept of a time; its samples become a text.
    ///
    /// # Errors
    /// A number in it is no time.
    pub fn from_timing(
        workload: WorkloadName,
        timing: &Timing,
        texts: &mut Texts,
    ) -> Result<Self, HistoryError> {
        let summary = &timing.summary;
        let both = |(low, high): (Seconds, Seconds)| {
            Ok::<_, NoTime>((Duration::try_from(low)?, Duration::try_from(high)?))
        };
        let samples = match &timing.basis {
            Basis::Samples { rounds, .. } => {
                let written = serde_json::to_vec(rounds).map_err(HistoryError::Unwritable)?;
                Some(texts.add(written))
            }
            Basis::Model { .. } => None,
        };
        let mut taint: Vec<String> = timing.taint.iter().map(ToString::to_string).collect();
        if timing.is_at_floor() {
            taint.push("it is no longer than what an empty kernel takes".to_owned());
        }
        Ok(Self {
            workload,
            clock: match timing.clock {
                measure::Clock::Events { .. } => Clock::measured("events", timing),
                measure::Clock::Cupti { .. } => Clock::measured("cupti", timing),
                measure::Clock::Modelled => Clock::Modelled,
            },
            mode: match timing.mode {
                measure::Mode::Cold => Mode::Cold,
                measure::Mode::Warm => Mode::Warm,
                measure::Mode::Graph => Mode::Graph,
                measure::Mode::Server => Mode::Server,
            },
            median: Duration::try_from(summary.median)?,
            spread: Some(Spread {
                minimum: Duration::try_from(summary.minimum)?,
                quartiles: both(summary.quartiles)?,
                interval: both(summary.interval)?,
                samples: summary.samples as u64,
            }),
            samples,
            taint,
            standing: None,
            limiter: None,
            baselines: Vec::new(),
        })
    }

    /// The bound as a part of the time, from the numbers that are kept: earlier versions wrote of a modelled time what the
    /// bound is of the least that the model permits.
    #[must_use]
    pub fn share(&self) -> Option<BoundFraction> {
        let (bound, time) = (self.standing.as_ref()?.bound.seconds(), self.median.seconds());
        let interval = self.spread.map_or((time, time), |spread| {
            let (low, high) = spread.interval;
            (low.seconds(), high.seconds())
        });
        Some(BoundFraction::new(bound, time, interval))
    }

    /// Adds what others took. One without a time is kept with its reason.
    ///
    /// # Errors
    /// A number in it is no time.
    pub fn hold_against(&mut self, baselines: &[BaselineTiming]) -> Result<(), NoTime> {
        for baseline in baselines {
            self.baselines.push(RecordedBaseline::from_baseline(baseline)?);
        }
        Ok(())
    }

    /// Adds what holds the kernel back.
    pub fn hold_back(&mut self, limiter: &Limiter) {
        let (words, evidence) = (limiter.words(), limiter.evidence.clone());
        self.limiter = Some(RecordedLimiter { words, evidence });
    }

    /// Adds where the time stands. One that no correct kernel reaches is a finding: it is kept, and not trusted.
    ///
    /// # Errors
    /// The bound is no time.
    pub fn stand(
        &mut self,
        standing: &Result<BoundComparison, NoBoundComparison>,
    ) -> Result<(), NoTime> {
        match standing {
            Ok(standing) => {
                let Some(best) = standing.best() else { return Ok(()) };
                self.standing = Some(RecordedStanding {
                    bound: Duration::try_from(best.bound)?,
                    fraction: best.bound_fraction.middle,
                    limiter: best.limit.to_string(),
                    peaks: best.basis.to_string(),
                });
            }
            // Nothing is wrong with a time below a peak that nothing confirms.
            Err(NoBoundComparison::NoBound | NoBoundComparison::UnconfirmedPeak(_)) => {}
            Err(finding @ (NoBoundComparison::BelowBound(_) | NoBoundComparison::NotATime)) => {
                self.taint.push(finding.to_string());
            }
        }
        Ok(())
    }
}

/// What a time was read from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Clock {
    /// A clock of the device.
    Measured {
        /// How it was read: `cupti`, `events` and their like.
        method: String,
    },
    /// A model of the device; no clock ran.
    Modelled,
    /// Whoever recorded it did not say.
    Unstated,
}

impl Clock {
    /// Whether CUDA events told it, at whatever clock.
    pub(super) fn is_events(&self) -> bool {
        match self {
            Self::Measured { method } => method.starts_with("events"),
            Self::Modelled | Self::Unstated => false,
        }
    }

    /// A time at a locked clock is told by another clock, as it were: nothing holds it against one at a free clock.
    fn measured(method: &str, timing: &Timing) -> Self {
        let method = match timing.conditions.locked {
            Some(locked) => format!("{method}, clock locked at {locked}"),
            None => method.to_owned(),
        };
        Self::Measured { method }
    }
}

/// What was in the caches, and how launches followed each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The caches were emptied before each sample: the score.
    Cold,
    /// The same buffers again and again.
    Warm,
    /// Launches of a graph.
    Graph,
    /// Launches that arrive at random.
    Server,
    /// Whoever recorded it did not say.
    Unstated,
}

/// A time that somebody measured or modelled: finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Seconds", into = "Seconds")]
pub struct Duration(Seconds);

/// A number that is no time.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} s is no time that anything can take")]
pub struct NoTime(pub f64);

impl Duration {
    /// The seconds.
    #[must_use]
    pub const fn seconds(self) -> Seconds {
        self.0
    }
}

impl TryFrom<Seconds> for Duration {
    type Error = NoTime;

    fn try_from(seconds: Seconds) -> Result<Self, NoTime> {
        if seconds.0 > 0.0 && seconds.0.is_finite() {
            Ok(Self(seconds))
        } else {
            Err(NoTime(seconds.0))
        }
    }
}

impl From<Duration> for Seconds {
    fn from(duration: Duration) -> Self {
        duration.0
    }
}

/// How far samples lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest sample.
    pub minimum: Duration,
    /// The first and the third quartile.
    pub quartiles: (Duration, Duration),
    /// What holds the median 95 times in 100; of a model the band that is expected.
    pub interval: (Duration, Duration),
    /// How many samples there were; none of a model.
    pub samples: u64,
}

/// What something else took for the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedBaseline {
    /// What it is called, with its version where it has one.
    pub name: String,
    /// How it was asked, or who says what it took.
    pub source: String,
    /// Whether it ran in the same run, was quoted, or has no time.
    pub taken: BaselineSource,
    /// The cold median; none where there is no time.
    pub median: Option<Duration>,
    /// What holds the median 95 times in 100.
    pub interval: Option<(Duration, Duration)>,
    /// The score of the run against it, see [`crate::speed_of_light::score`]; none where the formula means nothing.
    pub score: Option<f64>,
}

/// Where a baseline's time is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineSource {
    /// It ran under the same protocol.
    #[serde(rename = "here")]
    Measured,
    /// Somebody else's number.
    #[serde(rename = "elsewhere")]
    Recorded,
    /// Nowhere: its source says why.
    #[serde(rename = "nowhere")]
    NotTimed,
}

impl RecordedBaseline {
    fn from_baseline(baseline: &BaselineTiming) -> Result<Self, NoTime> {
        let BaselineTiming { name, outcome } = baseline;
        let none = |taken, source: &String| Self {
            name: name.clone(),
            source: source.clone(),
            taken,
            median: None,
            interval: None,
            score: None,
        };
        Ok(match outcome {
            BaselineOutcome::None(reason) => none(BaselineSource::NotTimed, reason),
            BaselineOutcome::Recorded { seconds, source } => {
                let median = Some(Duration::try_from(*seconds)?);
                Self { median, ..none(BaselineSource::Recorded, source) }
            }
            BaselineOutcome::Measured(measured) => {
                let Some(cold) = measured.cold() else {
                    return Ok(none(BaselineSource::NotTimed, &"it has no cold time".to_owned()));
                };
                let (low, high) = cold.summary.interval;
                Self {
                    name: measured.title(),
                    median: Some(Duration::try_from(cold.summary.median)?),
                    interval: Some((Duration::try_from(low)?, Duration::try_from(high)?)),
                    score: measured.score.and_then(|score| Some(score.ok()?.value())),
                    ..none(BaselineSource::Measured, &measured.used.call)
                }
            }
        })
    }
}

/// What holds a kernel back, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLimiter {
    /// What, and how busy it is.
    pub words: String,
    /// How that is known: what was counted, and where.
    pub evidence: Vec<String>,
}

/// Where a time lies against its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedStanding {
    /// The bound.
    pub bound: Duration,
    /// The bound as a part of the time, as it was written; [`RecordedTiming::share`] is what is shown.
    pub fraction: Fraction,
    /// What limits.
    pub limiter: String,
    /// Whose peaks the bound was made of: a sheet's or measured ones.
    pub peaks: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::record::Outcome;
    use crate::speed_of_light::bound::Limit;
    use crate::speed_of_light::bound_comparison::{BelowBound, ComparedBound};
    use crate::speed_of_light::ceilings::Basis;

    #[test]
    fn a_time_below_its_bound_is_kept_and_not_trusted() {
        let against = |fraction: f64| ComparedBound {
            basis: Basis::Sheet,
            bound: Seconds(1e-5 * fraction),
            limit: Limit::Dram,
            bound_fraction: BoundFraction::new(
                Seconds(fraction),
                Seconds(1.0),
                (Seconds(1.0), Seconds(1.0)),
            ),
        };
        let recorded = |standing: &Result<BoundComparison, NoBoundComparison>| {
            let (mut run, _) = crate::history::fixture::passed("naive", "a", Some(1e-5));
            let Outcome::Passed { timings, .. } = &mut run.outcome else { panic!("it passed") };
            timings[0].stand(standing).unwrap();
            run
        };
        let run =
            recorded(&Ok(BoundComparison { physical: vec![against(0.5)], method: Vec::new() }));
        let standing = run.timings()[0].standing.as_ref().unwrap();
        assert_eq!((standing.fraction, standing.limiter.as_str()), (Fraction(0.5), "DRAM"));
        assert!(run.score().is_some());
        let claimed = Seconds(1e-5);
        let below = BelowBound { claimed, compared: against(2.0), reasons: Vec::new() };
        let run = recorded(&Err(NoBoundComparison::BelowBound(below)));
        assert_eq!((run.timings()[0].taint.len(), run.score()), (1, None));
        assert!(recorded(&Err(NoBoundComparison::NoBound)).score().is_some());
    }

    #[test]
    fn a_locked_clock_is_another_clock() {
        let check = |locked: Option<f64>, clock: measure::Clock, expected: &str| {
            let (rounds, batch) = (vec![vec![Seconds(1e-5); 5]; 8], (1, measure::Stopped::Budget));
            let timing = Timing::measured(clock, measure::Mode::Cold, rounds, batch, &[]);
            let mut timing = timing.unwrap();
            timing.conditions.locked = locked.map(crate::units::Hertz);
            let name = crate::history::fixture::passed("naive", "a", Some(1e-5)).0.timings()[0]
                .workload
                .clone();
            let recorded =
                RecordedTiming::from_timing(name, &timing, &mut Texts::default()).unwrap();
            assert_eq!(recorded.clock, Clock::Measured { method: expected.to_owned() });
        };
        let (offset, floor) = (Seconds(1e-6), Seconds(1e-6));
        let cupti = measure::Clock::Cupti { offset, floor, version: 130_001 };
        let events = measure::Clock::Events { offset, floor, without: None };
        check(None, cupti, "cupti");
        check(None, events, "events");
        check(Some(1.41e9), events, "events, clock locked at 1.41 GHz");
    }

    #[test]
    fn only_finite_times_above_zero_are_times() {
        let check = |seconds: f64, is_time: bool| {
            assert_eq!(Duration::try_from(Seconds(seconds)).is_ok(), is_time, "{seconds}");
        };
        check(1e-6, true);
        check(f64::MIN_POSITIVE, true);
        check(0.0, false);
        check(-1.0, false);
        check(f64::NAN, false);
        check(f64::INFINITY, false);
        assert!(serde_json::from_str::<Duration>("null").is_err(), "JSON's way to write NaN");
        assert!(serde_json::from_str::<Duration>("-1.0").is_err());
        assert_eq!(serde_json::from_str::<Duration>("0.5").unwrap().seconds(), Seconds(0.5));
    }
}
