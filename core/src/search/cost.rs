//! The cost that a search minimises: the geometric mean of the times of its workloads.

use super::entry::{Basis, FailureRecord, ScreeningResult, WorkloadTime};
use crate::compile::CompileError;
use crate::compile::facts::FactsError;
use crate::measure::timing::Clock;
use crate::units::Seconds;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::sentence;
use crate::verify::verdict::{Failure, Passed, Screened, ScreeningTiming};

/// Geometric mean of the times of these workloads, in seconds; none if one of them has no time, so that a candidate cannot
/// gain by running fewer workloads.
#[must_use]
pub fn cost(times: &[WorkloadTime], workloads: &[String]) -> Option<f64> {
    if workloads.is_empty() {
        return None;
    }
    let mut sum = 0.0;
    for workload in workloads {
        let time = times.iter().find(|time| time.workload == *workload)?.seconds.0;
        if !(time > 0.0 && time.is_finite()) {
            return None;
        }
        sum += time.ln();
    }
    Some((sum / workloads.len() as f64).exp())
}

/// For each workload that both have, the time in `new` divided by the time in `old`.
pub fn ratios<'a>(
    new: &'a [WorkloadTime],
    old: &'a [WorkloadTime],
) -> impl Iterator<Item = (&'a str, f64)> {
    new.iter().filter_map(|new| {
        let old = old.iter().find(|old| old.workload == new.workload)?;
        Some((new.workload.as_str(), new.seconds.0 / old.seconds.0))
    })
}

impl ScreeningResult {
    /// The stored result of a screening.
    #[must_use]
    pub fn from_verdict(verdict: &Result<Screened, NotPassed>) -> Self {
        let screened = match verdict {
            Ok(screened) => screened,
            Err(reason @ NotPassed::Failed(_)) => {
                return Self::Failed(FailureRecord::from_reason(reason));
            }
            Err(reason @ NotPassed::NotJudged(_)) => {
                return Self::NotJudged(FailureRecord::from_reason(reason));
            }
        };
        let mut slow = false;
        let mut times = Vec::new();
        for timing in &screened.timings {
            let (seconds, basis) = match &timing.timing {
                ScreeningTiming::Taken(time) => (time.summary.median, basis(&time.clock)),
                ScreeningTiming::Abandoned { after } => {
                    slow = true;
                    (*after, Basis::Measured)
                }
                ScreeningTiming::Withheld { between: Some(between), .. } => {
                    (geometric_mean(*between), Basis::Modelled)
                }
                ScreeningTiming::Withheld { between: None, .. } => continue,
            };
            times.push(WorkloadTime { workload: timing.workload.clone(), seconds, basis });
        }
        if slow { Self::Slow { times } } else { Self::Right { times } }
    }

    /// Times of a candidate without failures; where its first execution was slow, the time of that execution.
    #[must_use]
    pub fn times(&self) -> &[WorkloadTime] {
        match self {
            Self::Right { times } | Self::Slow { times } => times,
            Self::Failed(_) | Self::NotJudged(_) => &[],
        }
    }
}

impl FailureRecord {
    /// The stored form of a failure. Of held-out workloads it discloses only that one failed.
    #[must_use]
    pub fn from_reason(reason: &NotPassed) -> Self {
        let told = sentence::not_passed("it", reason);
        let sentence = match reason {
            NotPassed::Failed(Failure::Compile(error)) => match error.as_ref() {
                FactsError::Compile(CompileError::Rejected(rejection)) => {
                    format!("{told}: {}", rejection.first_errors())
                }
                error @ (FactsError::Compile(_)
                | FactsError::Plan(_)
                | FactsError::Include(_)
                | FactsError::Arguments { .. }
                | FactsError::NoSuchKernel { .. }) => format!("{told}: {error}"),
            },
            NotPassed::Failed(_) | NotPassed::NotJudged(_) => told,
        };
        Self { kind: reason.word().to_owned(), sentence }
    }

    /// Whether the candidate needs a feature that the device does not support.
    #[must_use]
    pub fn is_not_supported(&self) -> bool {
        self.kind == NotJudged::NOT_SUPPORTED
    }

    /// Whether the candidate itself failed. Journals of earlier versions recorded an evaluation that the device or the machine
    /// ended as a failure; this returns false for it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        !NotJudged::WORDS.contains(&self.kind.as_str())
    }
}

/// Times of a candidate that passed.
#[must_use]
pub fn times(passed: &Passed) -> Vec<WorkloadTime> {
    let each = passed.timings.iter().filter_map(|timing| {
        let (seconds, basis) = match timing.cold() {
            Some(time) => (time.summary.median, basis(&time.clock)),
            None => (geometric_mean(timing.profile.as_ref().ok()?.between?), Basis::Modelled),
        };
        Some(WorkloadTime { workload: timing.workload.clone(), seconds, basis })
    });
    each.collect()
}

fn basis(clock: &Clock) -> Basis {
    match clock {
        Clock::Events { .. } | Clock::Cupti { .. } => Basis::Measured,
        Clock::Modelled => Basis::Modelled,
    }
}

/// Geometric mean of the ends of a modelled interval.
fn geometric_mean((low, high): (Seconds, Seconds)) -> Seconds {
    Seconds((low.0 * high.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pairs: &[(&str, f64)]) -> Vec<WorkloadTime> {
        let time = |(workload, seconds): &(&str, f64)| WorkloadTime {
            workload: (*workload).to_owned(),
            seconds: Seconds(*seconds),
            basis: Basis::Measured,
        };
        pairs.iter().map(time).collect()
    }

    fn check(pairs: &[(&str, f64)], workloads: &[&str], expected: Option<f64>) {
        let workloads: Vec<String> = workloads.iter().map(|name| (*name).to_owned()).collect();
        let found = cost(&times(pairs), &workloads);
        match (found, expected) {
            (Some(found), Some(expected)) => assert!((found / expected - 1.0).abs() < 1e-12),
            (found, expected) => assert_eq!(found, expected, "{pairs:?}"),
        }
    }

    #[test]
    fn the_cost_is_the_geometric_mean_of_all_workloads_or_nothing() {
        check(&[("a", 1e-3), ("b", 4e-3)], &["a", "b"], Some(2e-3));
        check(&[("a", 1e-3), ("c", 9.0)], &["a"], Some(1e-3));
        check(&[("a", 1e-3)], &["a", "b"], None);
        check(&[("a", 0.0)], &["a"], None);
        check(&[("a", f64::NAN)], &["a"], None);
        check(&[("a", 1e-3)], &[], None);
    }
}
