//! Progress of an evaluation, as the strip of stages above the panels shows it.

use std::time::Duration;

use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::Step;

/// A stage of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Compile,
    Verify,
    Time,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 3] = [Self::Compile, Self::Verify, Self::Time];

    /// The stage of a step.
    #[must_use]
    pub const fn from_step(step: Step) -> Self {
        match step {
            Step::Compile => Self::Compile,
            Step::StaticEvidence
            | Step::Load
            | Step::Results
            | Step::Distributions
            | Step::PrecisionProbe
            | Step::StateProbe
            | Step::Determinism
            | Step::HeldOut => Self::Verify,
            Step::Measure | Step::Profile => Self::Time,
        }
    }

    /// The source as one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Verify => "verify",
            Self::Time => "time",
        }
    }
}

/// State of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StageState {
    /// Not started.
    #[default]
    Waiting,
    Running {
        /// The step and the workload.
        what: String,
        /// How long this step took last time.
        expected: Option<Duration>,
        /// When the step began.
        since: Duration,
    },
    /// Ended without a failure.
    Done,
    Failed,
    /// Not requested.
    Skipped,
}

/// State of all stages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    states: [StageState; 3],
    took: [Duration; 3],
    /// The running stage, and when it started.
    current: Option<(Stage, Duration)>,
}

impl Progress {
    /// A new evaluation of the stages up to `last`.
    #[must_use]
    pub fn until(last: Stage) -> Self {
        let mut progress = Self::default();
        for stage in Stage::ALL.into_iter().filter(|stage| *stage > last) {
            progress.states[stage as usize] = StageState::Skipped;
        }
        progress
    }

    /// State of a stage.
    #[must_use]
    pub const fn state(&self, stage: Stage) -> &StageState {
        &self.states[stage as usize]
    }

    /// Time spent in a stage.
    #[must_use]
    pub fn took(&self, stage: Stage, now: Duration) -> Duration {
        let running = match self.current {
            Some((current, since)) if current == stage => now.saturating_sub(since),
            Some(_) | None => Duration::ZERO,
        };
        self.took[stage as usize] + running
    }

    /// Starts a step.
    pub fn begin(
        &mut self,
        step: Step,
        workload: Option<&str>,
        expected: Option<Seconds>,
        now: Duration,
    ) {
        let stage = Stage::from_step(step);
        self.leave(now);
        for other in Stage::ALL {
            // Held-out workloads are verified after the others were timed.
            let was_running = matches!(self.states[other as usize], StageState::Running { .. });
            if other < stage || (other > stage && was_running) {
                self.states[other as usize] = StageState::Done;
            }
        }
        let what = workload.map_or_else(|| step.to_string(), |name| format!("{step}, {name}"));
        let expected = expected.and_then(|seconds| Duration::try_from_secs_f64(seconds.0).ok());
        self.states[stage as usize] = StageState::Running { what, expected, since: now };
        self.current = Some((stage, now));
    }

    /// Ends the evaluation: everything requested has passed.
    pub fn pass(&mut self, now: Duration) {
        self.leave(now);
        for state in self.states.iter_mut().filter(|state| **state != StageState::Skipped) {
            *state = StageState::Done;
        }
    }

    /// Ends the evaluation with a failure, in the running stage or the first one.
    pub fn fail(&mut self, now: Duration) {
        let stage = self.current.map_or(Stage::Compile, |(stage, _)| stage);
        self.leave(now);
        self.states[stage as usize] = StageState::Failed;
        for later in Stage::ALL.into_iter().filter(|later| *later > stage) {
            self.states[later as usize] = StageState::Skipped;
        }
    }

    /// Ends the evaluation without a result.
    pub fn stop(&mut self, now: Duration) {
        self.leave(now);
        for state in &mut self.states {
            if matches!(state, StageState::Running { .. } | StageState::Waiting) {
                *state = StageState::Skipped;
            }
        }
    }

    fn leave(&mut self, now: Duration) {
        if let Some((stage, since)) = self.current.take() {
            self.took[stage as usize] += now.saturating_sub(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn words(progress: &Progress) -> Vec<&'static str> {
        let word = |stage| match progress.state(stage) {
            StageState::Waiting => "waiting",
            StageState::Running { .. } => "running",
            StageState::Done => "done",
            StageState::Failed => "failed",
            StageState::Skipped => "skipped",
        };
        Stage::ALL.map(word).to_vec()
    }

    #[test]
    fn stages_follow_steps() {
        let mut progress = Progress::until(Stage::Time);
        progress.begin(Step::Compile, None, None, at(0));
        assert_eq!(words(&progress), ["running", "waiting", "waiting"]);
        progress.begin(Step::Results, Some("w"), Some(Seconds(0.5)), at(100));
        progress.begin(Step::Determinism, Some("w"), None, at(300));
        assert_eq!(words(&progress), ["done", "running", "waiting"]);
        assert_eq!(progress.took(Stage::Verify, at(350)), at(250));
        progress.begin(Step::Measure, Some("w"), None, at(400));
        // Held-out workloads come last and belong to verification.
        progress.begin(Step::HeldOut, None, None, at(600));
        assert_eq!(words(&progress), ["done", "running", "done"]);
        progress.pass(at(700));
        assert_eq!(words(&progress), ["done", "done", "done"]);
        assert_eq!(
            Stage::ALL.map(|stage| progress.took(stage, at(9999))),
            [at(100), at(400), at(200)]
        );
    }

    #[test]
    fn what_was_not_asked_for_stays_out() {
        let mut progress = Progress::until(Stage::Verify);
        progress.begin(Step::Compile, None, None, at(0));
        assert_eq!(words(&progress), ["running", "waiting", "skipped"]);
        progress.begin(Step::Results, None, None, at(1));
        progress.fail(at(2));
        assert_eq!(words(&progress), ["done", "failed", "skipped"]);
        let mut progress = Progress::until(Stage::Time);
        progress.begin(Step::Compile, None, None, at(0));
        progress.stop(at(2));
        assert_eq!(words(&progress), ["skipped", "skipped", "skipped"]);
    }
}
