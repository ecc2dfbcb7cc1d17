//! The time of a workload, as a history stores it.

use lightbench_measure::{Basis, Timing};
use lightbench_speed_of_light::bound_comparison::{BoundComparison, NoBoundComparison};
use lightbench_speed_of_light::bound_fraction::BoundFraction;
use lightbench_speed_of_light::limiter::Limiter;
use lightbench_units::{Fraction, Seconds};
use lightbench_verify::baseline::{BaselineOutcome, BaselineTiming};
use serde::{Deserialize, Serialize};

use super::error::HistoryError;
use super::record::WorkloadName;
use super::text::{TextHash, Texts};

/// The time of one workload. Only a run that passed has times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedTiming {
    /// Which workload.
    pub workload: WorkloadName,
    /// The clock.
    pub clock: Clock,
    /// The state of the caches and the sequence of launches.
    pub mode: Mode,
    /// The median.
    pub median: Duration,
    /// The spread of the samples; a recorded time may have none.
    pub spread: Option<Spread>,
    /// The name of the text with all samples: a JSON array of seconds.
    pub samples: Option<TextHash>,
    /// The reasons why the time is unreliable, as sentences; such a time does not score.
    #[serde(default)]
    pub taint: Vec<String>,
    /// The comparison with the speed of light.
    pub standing: Option<RecordedStanding>,
    /// The limiter; `None` if it was not determined.
    #[serde(default)]
    pub limiter: Option<RecordedLimiter>,
    /// Times of baselines for the same work in the same run; stored with the cold time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<RecordedBaseline>,
}

impl RecordedTiming {
    /// The stored form of a time; its samples become a text.
    ///
    /// # Errors
    /// A number is not a valid time.
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
            taint.push("it is not longer than the time of an empty kernel".to_owned());
        }
        Ok(Self {
            workload,
            clock: match timing.clock {
                lightbench_measure::Clock::Events { .. } => Clock::measured("events", timing),
                lightbench_measure::Clock::Cupti { .. } => Clock::measured("cupti", timing),
                lightbench_measure::Clock::Modelled => Clock::Modelled,
            },
            mode: match timing.mode {
                lightbench_measure::Mode::Cold => Mode::Cold,
                lightbench_measure::Mode::Warm => Mode::Warm,
                lightbench_measure::Mode::Graph => Mode::Graph,
                lightbench_measure::Mode::Server => Mode::Server,
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

    /// The fraction of the bound, from the stored numbers: for modelled times, earlier versions stored the bound divided by
    /// the least time of the model.
    #[must_use]
    pub fn share(&self) -> Option<BoundFraction> {
        let (bound, time) = (self.standing.as_ref()?.bound.seconds(), self.median.seconds());
        let interval = self.spread.map_or((time, time), |spread| {
            let (low, high) = spread.interval;
            (low.seconds(), high.seconds())
        });
        Some(BoundFraction::new(bound, time, interval))
    }

    /// Adds the times of baselines. A baseline without a time is stored with its reason.
    ///
    /// # Errors
    /// A number is not a valid time.
    pub fn hold_against(&mut self, baselines: &[BaselineTiming]) -> Result<(), NoTime> {
        for baseline in baselines {
            self.baselines.push(RecordedBaseline::from_baseline(baseline)?);
        }
        Ok(())
    }

    /// Adds the limiter.
    pub fn hold_back(&mut self, limiter: &Limiter) {
        let (words, evidence) = (limiter.words(), limiter.evidence.clone());
        self.limiter = Some(RecordedLimiter { words, evidence });
    }

    /// Adds the comparison with the bounds. A time below a confirmed bound is a finding: it is stored as unreliable.
    ///
    /// # Errors
    /// The bound is not a valid time.
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
            // A time below an unconfirmed peak is not an error.
            Err(NoBoundComparison::NoBound | NoBoundComparison::UnconfirmedPeak(_)) => {}
            Err(finding @ (NoBoundComparison::BelowBound(_) | NoBoundComparison::NotATime)) => {
                self.taint.push(finding.to_string());
            }
        }
        Ok(())
    }
}

/// The clock of a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Clock {
    /// A clock of the device.
    Measured {
        /// The method: `cupti`, `events` and similar.
        method: String,
    },
    /// A model of the device; no clock ran.
    Modelled,
    /// The recording does not state the clock.
    Unstated,
}

impl Clock {
    /// Whether CUDA events measured it, at any clock rate.
    pub(super) fn is_events(&self) -> bool {
        match self {
            Self::Measured { method } => method.starts_with("events"),
            Self::Modelled | Self::Unstated => false,
        }
    }

    /// A time at a locked clock rate has another method name, so that it is never compared with a time at a free clock
    /// rate.
    fn measured(method: &str, timing: &Timing) -> Self {
        let method = match timing.conditions.locked {
            Some(locked) => format!("{method}, clock locked at {locked}"),
            None => method.to_owned(),
        };
        Self::Measured { method }
    }
}

/// The state of the caches and the sequence of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The caches were emptied before each sample: the score.
    Cold,
    /// Repeated launches on the same buffers.
    Warm,
    /// Launches of a graph.
    Graph,
    /// Launches that arrive at random.
    Server,
    /// The recording does not state the clock.
    Unstated,
}

impl Mode {
    /// The mode of the measurement, if the recording states it.
    #[must_use]
    pub const fn known(self) -> Option<lightbench_measure::Mode> {
        match self {
            Self::Cold => Some(lightbench_measure::Mode::Cold),
            Self::Warm => Some(lightbench_measure::Mode::Warm),
            Self::Graph => Some(lightbench_measure::Mode::Graph),
            Self::Server => Some(lightbench_measure::Mode::Server),
            Self::Unstated => None,
        }
    }
}

/// A measured or modelled time: finite and positive.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Seconds", into = "Seconds")]
pub struct Duration(Seconds);

/// A number that is not a valid time.
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

/// The spread of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest sample.
    pub minimum: Duration,
    /// The first and the third quartile.
    pub quartiles: (Duration, Duration),
    /// The 95 % confidence interval of the median; for a model, the modelled range.
    pub interval: (Duration, Duration),
    /// The number of samples; zero for a model.
    pub samples: u64,
}

/// The time of a baseline for the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedBaseline {
    /// The name, with the version if it has one.
    pub name: String,
    /// The library call, or the source of the number.
    pub source: String,
    /// Whether it was measured in the same run, was quoted, or has no time.
    pub taken: BaselineSource,
    /// The cold median; `None` without a time.
    pub median: Option<Duration>,
    /// The 95 % confidence interval of the median.
    pub interval: Option<(Duration, Duration)>,
    /// The score of the run against it, see [`lightbench_speed_of_light::score`]; `None` outside the domain of the formula.
    pub score: Option<f64>,
}

/// The source of a baseline's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineSource {
    /// Measured in the same run with the same protocol.
    #[serde(rename = "here")]
    Measured,
    /// A number from another source.
    #[serde(rename = "elsewhere")]
    Recorded,
    /// No time; the source states the reason.
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

/// The limiter of a kernel as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLimiter {
    /// The limiter, and how busy it is.
    pub words: String,
    /// The evidence: the counters and their location.
    pub evidence: Vec<String>,
}

/// A time compared with its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedStanding {
    /// The bound.
    pub bound: Duration,
    /// The fraction of the bound as it was stored; [`RecordedTiming::share`] is the displayed value.
    pub fraction: Fraction,
    /// The resource that sets the bound.
    pub limiter: String,
    /// The basis of the bound: device-sheet peaks or measured ceilings.
    pub peaks: String,
}

#[cfg(test)]
mod tests {
    use lightbench_speed_of_light::bound::Limit;
    use lightbench_speed_of_light::bound_comparison::{BelowBound, ComparedBound};
    use lightbench_speed_of_light::ceilings::Basis;

    use super::*;
    use crate::record::Outcome;

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
            let (mut run, _) = crate::fixture::passed("naive", "a", Some(1e-5));
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
        let check = |locked: Option<f64>, clock: lightbench_measure::Clock, expected: &str| {
            let (rounds, batch) =
                (vec![vec![Seconds(1e-5); 5]; 8], (1, lightbench_measure::Stopped::Budget));
            let timing =
                Timing::measured(clock, lightbench_measure::Mode::Cold, rounds, batch, &[]);
            let mut timing = timing.unwrap();
            timing.conditions.locked = locked.map(lightbench_units::Hertz);
            let name =
                crate::fixture::passed("naive", "a", Some(1e-5)).0.timings()[0].workload.clone();
            let recorded =
                RecordedTiming::from_timing(name, &timing, &mut Texts::default()).unwrap();
            assert_eq!(recorded.clock, Clock::Measured { method: expected.to_owned() });
        };
        let (offset, floor) = (Seconds(1e-6), Seconds(1e-6));
        let cupti = lightbench_measure::Clock::Cupti { offset, floor, version: 130_001 };
        let events = lightbench_measure::Clock::Events { offset, floor, without: None };
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
