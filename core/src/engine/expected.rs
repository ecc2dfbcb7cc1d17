//! How long steps took the last time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::request::Topic;
use crate::units::Seconds;
use crate::verify::verdict::Step;

/// Steps that are remembered; beyond it everything is forgotten, and known again after the next time.
const MOST_KNOWN: usize = 4096;

/// How long steps took the last time, on one thread.
#[derive(Debug, Default)]
pub(super) struct Expected {
    known: BTreeMap<Known, Seconds>,
}

/// A step of a kernel, whatever its parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    project: PathBuf,
    kernel: String,
    step: Step,
    workload: Option<String>,
}

impl Expected {
    /// How long a step took the last time; never how long a held-out workload did.
    pub(super) fn of(&self, topic: &Topic, step: Step, workload: Option<&str>) -> Option<Seconds> {
        self.known.get(&known(topic, step, workload)?).copied()
    }

    /// A step has ended.
    pub(super) fn learn(
        &mut self,
        topic: &Topic,
        (step, workload): (Step, Option<&str>),
        took: Seconds,
    ) {
        let Some(known) = known(topic, step, workload) else { return };
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&known) {
            self.known.clear();
        }
        self.known.insert(known, took);
    }
}

fn known(topic: &Topic, step: Step, workload: Option<&str>) -> Option<Known> {
    if step == Step::HeldOut {
        return None;
    }
    let (project, kernel) = (topic.project.clone(), topic.kernel.clone());
    Some(Known { project, kernel, step, workload: workload.map(str::to_owned) })
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
        let mut expected = Expected::default();
        let check = |expected: &Expected, kernel, step, seconds: Option<f64>| {
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
        let mut expected = Expected::default();
        expected.learn(&topic("a"), (Step::HeldOut, None), Seconds(1.0));
        assert_eq!(expected.of(&topic("a"), Step::HeldOut, None), None);
    }

    #[test]
    fn memory_is_bounded() {
        let mut expected = Expected::default();
        for kernel in 0..2 * MOST_KNOWN {
            expected.learn(&topic(&kernel.to_string()), (Step::Load, None), Seconds(1.0));
        }
        assert!(expected.known.len() <= MOST_KNOWN);
    }
}
