//! The verdict sentence of a run: correctness, time, comparisons with earlier runs, fraction of the speed of light,
//! limiter, and advice.
//!
//! Every surface shows this sentence. Measured, modelled, predicted and recorded times have different wording.

use lightbench_measure::timing::{Clock, Timing};
use lightbench_units::Seconds;

use super::achieved::Achieved;
use super::advice::Advice;
use super::bound_comparison::{BelowBound, BoundComparison, NoBoundComparison};
use super::bound_fraction::BoundFraction;
use super::limiter::Limiter;
use super::time_comparison::TimeComparison;

/// The result that the sentence describes.
#[derive(Clone, Copy, Debug)]
pub enum VerdictLine<'a> {
    /// The kernel failed: it has no time.
    Failed(&'a str),
    /// The kernel passed every check.
    Correct(Performance<'a>),
    /// The kernel passed every check; at this size, sampled blocks were checked.
    Sampled(Performance<'a>),
    /// The kernel passed every other check; at this size, nothing was checked.
    NotChecked(Performance<'a>),
    /// The kernel passed screening; it is never a best.
    Screened(Performance<'a>),
}

/// The known performance of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Performance<'a> {
    /// The time.
    pub time: Time<'a>,
    /// Against the run before.
    pub previous: Option<TimeComparison>,
    /// Against the best run.
    pub best: Option<TimeComparison>,
    /// Compared with the baseline of this name.
    pub baseline: Option<(&'a str, TimeComparison)>,
    /// The achieved rate.
    pub achieved: Option<&'a Achieved>,
    /// Compared with the speed of light.
    pub standing: Option<&'a Result<BoundComparison, NoBoundComparison>>,
    /// The limiter.
    pub limiter: Option<&'a Limiter>,
    /// The advice.
    pub advice: Option<&'a Advice>,
}

/// A time, or the reason for its absence.
#[derive(Clone, Copy, Debug)]
pub enum Time<'a> {
    /// No time, for this reason.
    None(&'a str),
    /// A measured or modelled time.
    Taken(&'a Timing),
    /// The range predicted by a model that was trained on other runs.
    Predicted(Seconds, Seconds),
    /// A recorded time from another source.
    Recorded {
        /// The time.
        time: Seconds,
        /// The source.
        source: &'a str,
    },
}

impl VerdictLine<'_> {
    /// The sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (head, performance) = match self {
            Self::Failed(why) => return full_stop(format!("Not correct: {why}")),
            // Two things that do not fit each other are not both called facts.
            Self::Correct(performance) | Self::Sampled(performance)
                if performance.is_too_fast() =>
            {
                ("Correct where it was verified", performance)
            }
            Self::Correct(performance) => ("Correct", performance),
            Self::Sampled(performance) => ("Correct in sampled blocks", performance),
            Self::NotChecked(performance) => ("Not checked at this size", performance),
            Self::Screened(performance) => ("Screened only, not verified", performance),
        };
        full_stop(format!("{head}: {}", performance.words()))
    }
}

impl Performance<'_> {
    /// The finding, if the time is below its bound; the sentence then contains no time.
    const fn too_fast(&self) -> Option<&BelowBound> {
        match self.standing {
            Some(Err(NoBoundComparison::BelowBound(below))) => Some(below),
            Some(_) | None => None,
        }
    }

    const fn is_too_fast(&self) -> bool {
        self.too_fast().is_some()
    }

    fn words(&self) -> String {
        if let Some(below) = self.too_fast() {
            return below.sentence();
        }
        let Ok(time) = self.time.words() else {
            return "the measured value is not a valid time".to_owned();
        };
        match self.time {
            Time::None(_) => return time,
            Time::Taken(timing) if timing.is_at_floor() => return time,
            Time::Taken(_) | Time::Predicted(..) | Time::Recorded { .. } => {}
        }
        let mut clauses = vec![time];
        clauses.extend(self.previous.map(|than| than.words("the previous run")));
        clauses.extend(self.best.map(|than| than.words("the best")));
        clauses.extend(self.baseline.map(|(name, than)| than.words(name)));
        clauses.extend(self.achieved.map(|achieved| match self.time {
            Time::Taken(timing) if timing.clock == Clock::Modelled => {
                format!("achieves about {achieved}")
            }
            Time::None(_) | Time::Taken(_) | Time::Predicted(..) | Time::Recorded { .. } => {
                format!("achieves {achieved}")
            }
        }));
        clauses.extend(self.standing.map(|stands| standing(stands, self.time)));
        let mut parts = vec![clauses.join(", ")];
        parts.extend(self.limiter.map(Limiter::clause));
        parts.extend(self.advice.map(next));
        parts.join("; ")
    }
}

/// A time that is not a positive, finite number.
struct InvalidTime;

impl Time<'_> {
    fn words(&self) -> Result<String, InvalidTime> {
        Ok(match self {
            Self::None(why) => format!("not timed, {why}"),
            Self::Taken(timing) => taken(timing)?,
            Self::Predicted(low, high) => {
                ordered([*low, *low, *high])?;
                format!("predicted {low} to {high}, not measured")
            }
            Self::Recorded { time, source } => {
                ordered([*time, *time, *time])?;
                format!("{time} recorded elsewhere ({source})")
            }
        })
    }
}

fn taken(timing: &Timing) -> Result<String, InvalidTime> {
    let (median, (low, high)) = (timing.summary.median, timing.summary.interval);
    ordered([low, median, high])?;
    let state = timing.mode.word();
    let mut words = match timing.clock {
        Clock::Modelled => format!("{low} to {high} as modelled, not measured"),
        Clock::Events { floor, .. } | Clock::Cupti { floor, .. } if timing.is_at_floor() => {
            format!("at the launch floor of {floor}, not resolvable")
        }
        Clock::Events { .. } | Clock::Cupti { .. } => {
            let (below, above) = (median - low, high - median);
            let half = if above > below { above } else { below };
            let mut words =
                format!("{median} ± {half} {state}, measured by {}", timing.clock.words());
            if let Some(floor) = timing.near_floor() {
                words += &format!(", of which an empty launch of this shape takes {floor}");
            }
            words
        }
    };
    match timing.conditions.other_processes {
        0 => {}
        1 => words.push_str(", while another process used the device"),
        others => words.push_str(&format!(", while {others} other processes used the device")),
    }
    for taint in &timing.taint {
        words.push_str(", although ");
        words.push_str(&taint.to_string());
    }
    Ok(words)
}

/// Refuses times that are not positive, not finite or not in order.
fn ordered([low, median, high]: [Seconds; 3]) -> Result<(), InvalidTime> {
    let is_time = low.0 > 0.0 && low <= median && median <= high && high.0.is_finite();
    is_time.then_some(()).ok_or(InvalidTime)
}

/// The fraction of a modelled time has a range.
fn standing(standing: &Result<BoundComparison, NoBoundComparison>, time: Time<'_>) -> String {
    let standing = match standing {
        Ok(standing) => standing,
        Err(why) => return why.to_string(),
    };
    let Some(best) = standing.best() else { return "no bound".to_owned() };
    let sheet = standing.on_sheet_peaks();
    let sheet = sheet.map(|against| format!("; {} by the sheet", against.bound_fraction.middle));
    let beaten = standing.exceeded_ceiling();
    let beaten = beaten.map(|against| format!("; above the measured ceiling of {}", against.limit));
    let (about, range) = match time {
        Time::Taken(timing) => precision_and_range(&best.bound_fraction, timing),
        Time::None(_) | Time::Predicted(..) | Time::Recorded { .. } => ("", String::new()),
    };
    let range = if range.is_empty() { range } else { format!("{range}; ") };
    format!(
        "{about}{} of the speed of light ({range}{}, {}{}{})",
        best.bound_fraction.middle,
        best.limit,
        best.basis,
        sheet.unwrap_or_default(),
        beaten.unwrap_or_default()
    )
}

/// `76.8 % of the speed of light`, `about 50.1 % of the speed of light (34.7 % to 72.2 %)`.
#[must_use]
pub fn bound_fraction_text(share: &BoundFraction, timing: &Timing) -> String {
    let (about, range) = precision_and_range(share, timing);
    let range = if range.is_empty() { range } else { format!(" ({range})") };
    format!("{about}{} of the speed of light{range}", share.middle)
}

/// The precision and the range of a fraction, if the sentence does not give them with the time.
fn precision_and_range(share: &BoundFraction, timing: &Timing) -> (&'static str, String) {
    match timing.clock {
        Clock::Modelled => ("about ", share.range()),
        Clock::Events { .. } | Clock::Cupti { .. } => ("", String::new()),
    }
}

fn next(advice: &Advice) -> String {
    match advice {
        Advice::Try(_) => format!("next: {}", advice.sentence()),
        Advice::NearEnough { .. } | Advice::NearLeast { .. } | Advice::Nothing => advice.sentence(),
    }
}

fn full_stop(mut sentence: String) -> String {
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
