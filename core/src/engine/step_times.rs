//! Durations of steps when they ran last, from which the window predicts the progress of a request.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::request::Topic;
use crate::units::Seconds;
use crate::verify::verdict::Step;

/// Most steps that are stored; the table is cleared before one more is added.
const MAX_KNOWN: usize = 4096;

/// Last duration of each step, on one engine thread.
#[derive(Debug, Default)]
pub(super) struct StepTimes {
    known: BTreeMap<StepKey, Seconds>,
}

/// A step of a kernel, for all values of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StepKey {
    project: PathBuf,
    kernel: String,
    step: Step,
    workload: Option<String>,
}

impl StepTimes {
    /// Last duration of a step; none for held-out workloads, whose sizes a duration would disclose.
    pub(super) fn of(&self, topic: &Topic, step: Step, workload: Option<&str>) -> Option<Seconds> {
        self.known.get(&known(topic, step, workload)?).copied()
    }

    /// Stores the duration of a step that has ended.
    pub(super) fn learn(
        &mut self,
        topic: &Topic,
        (step, workload): (Step, Option<&str>),
        took: Seconds,
    ) {
        let Some(known) = known(topic, step, workload) else { return };
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&known) {
            self.known.clear();
        }
        self.known.insert(known, took);
    }
}

fn known(topic: &Topic, step: Step, workload: Option<&str>) -> Option<StepKey> {
    if step == Step::HeldOut {
        return None;
    }
    let (project, kernel) = (topic.project.clone(), topic.kernel.clone());
    Some(StepKey { project, kernel, step, workload: workload.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::request::AskedBy;

    fn topic(kernel: &str) -> Topic {
        Topic {
            project: "project".into(),
            kernel: kernel.to_owned(),
            chosen: BTreeMap::new(),
            asked_by: AskedBy::Person,
        }
    }

    #[test]
    fn the_last_time_is_what_is_expected() {
        let mut expected = StepTimes::default();
        let check = |expected: &StepTimes, kernel, step, seconds: Option<f64>| {
            assert_eq!(expected.of(&topic(kernel), step, Some("w")), seconds.map(Seconds));
        };
        check(&expected, "a", Step::Results, None);
        expected.learn(&topic("a"), (Step::Results, Some("w")), Seconds(1.0));
        expected.learn(&topic("a"), (Step::Results, Some("w")), Seconds(2.0));
        check(&expected, "a", Step::Results, Some(2.0));
        check(&expected, "a", Step::Distributions, None);
        check(&expected, "b", Step::Results, None);
    }

    #[test]
    fn the_time_of_held_out_workloads_is_not_told() {
        let mut expected = StepTimes::default();
        expected.learn(&topic("a"), (Step::HeldOut, None), Seconds(1.0));
        assert_eq!(expected.of(&topic("a"), Step::HeldOut, None), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut expected = StepTimes::default();
        for kernel in 0..2 * MAX_KNOWN {
            expected.learn(&topic(&kernel.to_string()), (Step::Load, None), Seconds(1.0));
        }
        assert!(expected.known.len() <= MAX_KNOWN);
    }
}
