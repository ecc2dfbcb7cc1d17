//! Two runs as a table for a pull request.

use std::time::Duration;

use lightbench_core::history::StoredRun;
use lightbench_core::history::timing::{Clock, Mode};

use super::notices::Weight;
use super::{Wish, Workbench};

impl Workbench {
    /// Both sides of the comparison, where both were read.
    #[must_use]
    pub fn compared(&self) -> Option<[&StoredRun; 2]> {
        let [a, b] = &self.selection.sides;
        Some([a.as_ref()?.run.as_deref()?, b.as_ref()?.run.as_deref()?])
    }

    pub(super) fn copy_comparison(&mut self, now: Duration) {
        match self.compared().map(|[a, b]| markdown(a, b)) {
            Some(text) => self.wishes.push(Wish::Copy(text)),
            None => self.notices.say(Weight::Note, "choose two runs to compare first", now),
        }
    }
}

/// What differs between two runs besides their kernels: what makes their times hard to compare.
#[must_use]
pub fn conditions(a: &StoredRun, b: &StoredRun) -> Vec<String> {
    let (one, other) = (&a.record, &b.record);
    let mut differences = Vec::new();
    let mut compare = |what: &str, one: String, other: String| {
        if one != other {
            differences.push(format!("{what}: {one} and {other}"));
        }
    };
    compare("device", one.device.name.clone(), other.device.name.clone());
    let definition = |record: &lightbench_core::history::RunRecord| {
        record
            .definition
            .as_ref()
            .map_or("unknown", |hash| hash.get(..8).unwrap_or(hash))
            .to_owned()
    };
    compare("task", definition(one), definition(other));
    for name in ["compiler", "driver", "lightbench"] {
        let version = |record: &lightbench_core::history::RunRecord| {
            record.environment.versions.get(name).cloned().unwrap_or_else(|| "unknown".to_owned())
        };
        compare(name, version(one), version(other));
    }
    let clock = |run: &StoredRun| {
        let mut clocks: Vec<String> =
            run.record.timings().iter().map(|timing| clock(&timing.clock)).collect();
        clocks.sort();
        clocks.dedup();
        if clocks.is_empty() { "none".to_owned() } else { clocks.join(", ") }
    };
    compare("clock", clock(a), clock(b));
    differences
}

/// A clock in words.
#[must_use]
pub fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Measured { method } => format!("measured by {method}"),
        Clock::Modelled => "modelled".to_owned(),
        Clock::Unstated => "unstated".to_owned(),
    }
}

fn markdown(a: &StoredRun, b: &StoredRun) -> String {
    let title = |run: &StoredRun| format!("#{} {}", run.number, run.record.kernel);
    let mut text =
        format!("| | {} | {} | change |\n| --- | --- | --- | --- |\n", title(a), title(b));
    text += &format!("| verdict | {} | {} | |\n", a.record.verdict(), b.record.verdict());
    let times = |run: &StoredRun, workload: &str| {
        let mut cold = run
            .record
            .timings()
            .iter()
            .filter(|timing| timing.mode == Mode::Cold && timing.workload.as_str() == workload);
        cold.next().map(|timing| (timing.median.seconds(), clock(&timing.clock)))
    };
    for workload in &b.record.workloads {
        let name = workload.name.as_str();
        let (Some((one, how)), Some((other, how_other))) = (times(a, name), times(b, name)) else {
            continue;
        };
        let change = if how == how_other {
            format!("{:+.1} %", ((other / one).0 - 1.0) * 100.0)
        } else {
            "not comparable".to_owned()
        };
        text += &format!("| {name} | {one} ({how}) | {other} ({how_other}) | {change} |\n");
    }
    for difference in conditions(a, b) {
        text += &format!("\n{difference}\n");
    }
    text
}
