//! What a search minimises: the geometric mean of the times of all workloads that count.

use super::entry::{Basis, Failed, Look, WorkloadTime};
use crate::measure::timing::Clock;
use crate::units::Seconds;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::sentence;
use crate::verify::verdict::{Glance, Passed, Screened};

/// The geometric mean of the times of these workloads, in seconds; none where one of them has no time, so that no
/// candidate is better for running less.
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

/// Of each workload that both have, the time of `new` as a part of that of `old`.
pub fn ratios<'a>(
    new: &'a [WorkloadTime],
    old: &'a [WorkloadTime],
) -> impl Iterator<Item = (&'a str, f64)> {
    new.iter().filter_map(|new| {
        let old = old.iter().find(|old| old.workload == new.workload)?;
        Some((new.workload.as_str(), new.seconds.0 / old.seconds.0))
    })
}

impl Look {
    /// What a quick look came to.
    #[must_use]
    pub fn of(verdict: &Result<Screened, NotPassed>) -> Self {
        let screened = match verdict {
            Ok(screened) => screened,
            Err(reason @ NotPassed::Failed(_)) => return Self::Failed(Failed::of(reason)),
            Err(reason @ NotPassed::NotJudged(_)) => return Self::NotJudged(Failed::of(reason)),
        };
        let mut slow = false;
        let mut times = Vec::new();
        for timing in &screened.timings {
            let (seconds, basis) = match &timing.glance {
                Glance::Taken(time) => (time.summary.median, basis(&time.clock)),
                Glance::Abandoned { after } => {
                    slow = true;
                    (*after, Basis::Measured)
                }
                Glance::Withheld { between: Some(between), .. } => {
                    (middle(*between), Basis::Modelled)
                }
                Glance::Withheld { between: None, .. } => continue,
            };
            times.push(WorkloadTime { workload: timing.workload.clone(), seconds, basis });
        }
        if slow { Self::Slow { times } } else { Self::Right { times } }
    }

    /// The times of what is right.
    #[must_use]
    pub fn times(&self) -> &[WorkloadTime] {
        match self {
            Self::Right { times } => times,
            Self::Slow { .. } | Self::Failed(_) | Self::NotJudged(_) => &[],
        }
    }
}

impl Failed {
    /// What is recorded of a failure; of held-out workloads there is one bit in it.
    #[must_use]
    pub fn of(reason: &NotPassed) -> Self {
        let sentence = sentence::not_passed("it", reason);
        Self { kind: reason.word().to_owned(), sentence }
    }

    /// Whether the candidate needs a feature that the device does not have.
    #[must_use]
    pub fn is_not_supported(&self) -> bool {
        self.kind == NotJudged::NOT_SUPPORTED
    }

    /// Whether it says something of the candidate. An evaluation that the device or the machine ended does not; journals of
    /// earlier versions recorded it as a failure of this kind.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        !NotJudged::WORDS.contains(&self.kind.as_str())
    }
}

/// The times of a candidate that passed.
#[must_use]
pub fn times(passed: &Passed) -> Vec<WorkloadTime> {
    let each = passed.timings.iter().filter_map(|timing| {
        let (seconds, basis) = match timing.cold() {
            Some(time) => (time.summary.median, basis(&time.clock)),
            None => (middle(timing.profile.as_ref().ok()?.between?), Basis::Modelled),
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

/// The geometric middle, as that of a modelled time.
fn middle((low, high): (Seconds, Seconds)) -> Seconds {
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
