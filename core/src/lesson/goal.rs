//! The goals of a step, and whether a run reaches them.

use crate::evaluate::Run;
use crate::measure::Clock;
use crate::speed_of_light::fact::{Fact, FactSource};
use crate::speed_of_light::playbook::Condition;
use crate::verify::verdict::{Passed, WorkloadTiming};

/// A goal of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The kernel is right.
    Passed,
    /// A fact is large or small enough.
    Fact(Condition),
}

/// Whether a goal is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalProgress {
    /// The state.
    pub state: GoalState,
    /// The current value as text; empty if it is unknown.
    pub current: String,
    /// The source of the value.
    pub source: Option<Source>,
}

/// Whether a goal is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalState {
    /// The goal is reached.
    Met,
    /// The goal is missed.
    Missed,
    /// Unknown without a run.
    Unknown,
}

/// The source of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A clock of a device.
    Measured,
    /// A model of a device.
    Modelled,
    /// The virtual GPU counted it while the kernel ran.
    Counted,
    /// Computed from the code, its launch and the device sheet.
    Read,
    /// The verification.
    Verified,
}

impl Source {
    /// The word for the source.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Modelled => "modelled",
            Self::Counted => "counted",
            Self::Read => "read from the code",
            Self::Verified => "verified",
        }
    }
}

impl Goal {
    /// The goal as text.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Passed => "the kernel passes verification".to_owned(),
            Self::Fact(Condition::AtLeast(fact, number)) => fact.bounded("no less than", *number),
            Self::Fact(Condition::AtMost(fact, number)) => fact.bounded("no more than", *number),
        }
    }
}

/// Whether a run reaches a goal on a workload. Only a run that passed has numbers.
#[must_use]
pub fn judge(goal: &Goal, run: Option<&Run>, workload: &str) -> GoalProgress {
    let Some(run) = run else { return GoalProgress::unknown() };
    match (goal, &run.verdict) {
        (Goal::Passed, Ok(_)) => GoalProgress {
            state: GoalState::Met,
            current: "it is".to_owned(),
            source: Some(Source::Verified),
        },
        (Goal::Passed, Err(failure)) => GoalProgress {
            state: GoalState::Missed,
            current: failure.word().replace('_', " "),
            source: Some(Source::Verified),
        },
        (Goal::Fact(_), Err(_)) => GoalProgress::unknown(),
        (Goal::Fact(condition), Ok(passed)) => of_fact(condition, passed, workload),
    }
}

fn of_fact(condition: &Condition, passed: &Passed, workload: &str) -> GoalProgress {
    let Some(timing) = of_workload(passed, workload) else { return GoalProgress::unknown() };
    let fact = condition.fact();
    let Some((value, source)) = known(fact, timing) else { return GoalProgress::unknown() };
    let holds = match condition {
        Condition::AtLeast(_, number) => value >= *number,
        Condition::AtMost(_, number) => value <= *number,
    };
    let state = if holds { GoalState::Met } else { GoalState::Missed };
    GoalProgress { state, current: fact.number(value), source: Some(source) }
}

/// The result of a run for a workload.
pub(super) fn of_workload<'a>(passed: &'a Passed, workload: &str) -> Option<&'a WorkloadTiming> {
    passed.timings.iter().find(|timing| timing.workload == workload)
}

/// A fact with its source.
pub(super) fn known(fact: Fact, timing: &WorkloadTiming) -> Option<(f64, Source)> {
    let facts = &timing.standing.as_ref()?.facts;
    let source = match fact.source() {
        FactSource::Counted => Source::Counted,
        FactSource::Read => Source::Read,
        FactSource::Timed => time_source(timing)?,
    };
    Some((*facts.get(&fact)?, source))
}

/// The source of a workload's time.
pub(super) fn time_source(timing: &WorkloadTiming) -> Option<Source> {
    Some(match timing.cold()?.clock {
        Clock::Events { .. } | Clock::Cupti { .. } => Source::Measured,
        Clock::Modelled => Source::Modelled,
    })
}

impl GoalProgress {
    const fn unknown() -> Self {
        Self { state: GoalState::Unknown, current: String::new(), source: None }
    }

    /// Whether the goal is reached.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.state == GoalState::Met
    }
}
