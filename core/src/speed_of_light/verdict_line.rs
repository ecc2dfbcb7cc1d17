//! The one sentence about a run: correct or not, how fast, against what came before, how far from the speed of light,
//! what holds it back, what to try next.
//!
//! Every surface shows this sentence. A time that was measured, modelled, predicted or recorded never reads like another.

use super::advice::Advice;
use super::limiter::Limiter;
use super::standing::{NoStanding, Standing};
use crate::units::{Fraction, Seconds};

/// What the sentence is about.
#[derive(Clone, Copy, Debug)]
pub enum VerdictLine<'a> {
    /// The kernel failed: it has no time.
    Failed(&'a str),
    /// It passed everything.
    Correct(Performance<'a>),
    /// It passed a quick look: never a best.
    Screened(Performance<'a>),
}

/// How fast a kernel is, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub struct Performance<'a> {
    /// The time.
    pub time: Time<'a>,
    /// Against the run before.
    pub previous: Option<Comparison>,
    /// Against the best run.
    pub best: Option<Comparison>,
    /// Against the speed of light.
    pub standing: Option<&'a Result<Standing, NoStanding>>,
    /// What holds it back.
    pub limiter: Option<&'a Limiter>,
    /// What to try next.
    pub advice: Option<&'a Advice>,
}

/// A time, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time<'a> {
    /// Nobody took it, for this reason.
    None(&'a str),
    /// It cannot be told from a launch of nothing.
    AtFloor(Seconds),
    /// It was taken.
    Taken(Summary<'a>),
}

/// A time in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The median.
    pub median: Seconds,
    /// The lower end of the interval of the median.
    pub low: Seconds,
    /// The upper end.
    pub high: Seconds,
    /// Whose clock it is.
    pub source: Source<'a>,
}

/// Where a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A clock on the device, by this method.
    Measured(&'a str),
    /// The virtual GPU: a bound of what its model says.
    Modelled,
    /// A model that was trained on other runs.
    Predicted,
    /// Somebody else's number, from there.
    Recorded(&'a str),
}

/// One run against another, as a fair comparison found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// So much of the other's time is saved.
    Faster(Fraction),
    /// So much longer than the other.
    Slower(Fraction),
    /// The interval of the ratio contains 1.
    NoMeasurableDifference,
    /// The two times are not of one kind.
    NotComparable,
}

impl VerdictLine<'_> {
    /// The sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (head, performance) = match self {
            Self::Failed(why) => return full_stop(format!("Not correct: {why}")),
            Self::Correct(performance) => ("Correct", performance),
            Self::Screened(performance) => ("Screened only, not verified", performance),
        };
        full_stop(format!("{head}: {}", performance.words()))
    }
}

impl Performance<'_> {
    fn words(&self) -> String {
        // A time below its bound is a finding, and nothing is said of it as a time.
        if let Some(Err(NoStanding::BelowBound(below))) = self.standing {
            return below.sentence();
        }
        let time = self.time.words();
        let is_time = match self.time {
            Time::Taken(summary) => summary.is_sound(),
            Time::None(_) | Time::AtFloor(_) => false,
        };
        if !is_time {
            return time;
        }
        let mut clauses = vec![time];
        clauses.extend(self.previous.map(|than| than.words("the previous run")));
        clauses.extend(self.best.map(|than| than.words("the best")));
        clauses.extend(self.standing.map(standing));
        let mut parts = vec![clauses.join(", ")];
        parts.extend(self.limiter.map(|limiter| format!("limited by {}", limiter.words())));
        parts.extend(self.advice.map(next));
        parts.join("; ")
    }
}

impl Time<'_> {
    fn words(&self) -> String {
        match self {
            Self::None(why) => format!("not timed, {why}"),
            Self::AtFloor(floor) => {
                format!("at the launch floor of {floor}, and not resolvable")
            }
            Self::Taken(summary) => summary.words(),
        }
    }
}

impl Summary<'_> {
    /// Whether it is a time at all: positive, finite, inside its interval.
    fn is_sound(&self) -> bool {
        let (low, median, high) = (self.low.0, self.median.0, self.high.0);
        low > 0.0 && low <= median && median <= high && high.is_finite()
    }

    fn words(&self) -> String {
        if !self.is_sound() {
            return "what was taken for a time is none".to_owned();
        }
        let median = self.median;
        let interval = match self.half_width() {
            Some(half) => format!("{median} ± {half}"),
            None => median.to_string(),
        };
        match self.source {
            Source::Measured(method) => format!("{interval} measured ({method})"),
            Source::Modelled => format!("at least {interval} as modelled, not measured"),
            Source::Predicted => format!("perhaps {interval} as predicted, not measured"),
            Source::Recorded(source) => format!("{interval} recorded elsewhere ({source})"),
        }
    }

    /// The longer half of the interval; none where it is a point.
    fn half_width(&self) -> Option<Seconds> {
        let (below, above) = (self.median - self.low, self.high - self.median);
        let half = if above > below { above } else { below };
        (half.0 > 0.0).then_some(half)
    }
}

impl Comparison {
    fn words(self, other: &str) -> String {
        match self {
            Self::Faster(by) => format!("{by} faster than {other}"),
            Self::Slower(by) => format!("{by} slower than {other}"),
            Self::NoMeasurableDifference => format!("no measurable difference from {other}"),
            Self::NotComparable => format!("not comparable with {other}"),
        }
    }
}

fn standing(standing: &Result<Standing, NoStanding>) -> String {
    match standing.as_ref().map(Standing::best) {
        Ok(Some(best)) => {
            format!("{} of the speed of light ({}, {})", best.fraction, best.limit, best.basis)
        }
        Ok(None) => "no bound".to_owned(),
        Err(why) => why.to_string(),
    }
}

fn next(advice: &Advice) -> String {
    match advice {
        Advice::Try(_) => format!("next: {}", advice.sentence()),
        Advice::NearEnough { .. } | Advice::Nothing => advice.sentence(),
    }
}

fn full_stop(mut sentence: String) -> String {
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
