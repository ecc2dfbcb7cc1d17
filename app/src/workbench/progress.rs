//! How far an evaluation is: the strip of stages above the panels.

use std::time::Duration;

use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::Step;

/// A part of an evaluation as people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// To machine code.
    Compile,
    /// To right or wrong.
    Verify,
    /// To a time.
    Time,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Compile, Self::Verify, Self::Time];

    /// The stage that a step belongs to.
    #[must_use]
    pub const fn of(step: Step) -> Self {
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

    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Verify => "verify",
            Self::Time => "time",
        }
    }
}

/// How far a stage is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum State {
    /// It did not begin.
    #[default]
    Waiting,
    /// It goes on.
    Running {
        /// What exactly: the step, and the workload.
        what: String,
        /// How long this step took the last time.
        expected: Option<Duration>,
        /// When the step began.
        since: Duration,
    },
    /// It ended, and nothing was wrong.
    Done,
    /// It ended with what is wrong.
    Failed,
    /// Nobody asked for it.
    Skipped,
}

/// How far all stages are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    states: [State; 3],
    took: [Duration; 3],
    /// The stage in which something goes on, and since when.
    current: Option<(Stage, Duration)>,
}

impl Progress {
    /// Nothing has begun; the last stages may be none of anybody's business.
    #[must_use]
    pub fn until(last: Stage) -> Self {
        let mut progress = Self::default();
        for stage in Stage::ALL.into_iter().filter(|stage| *stage > last) {
            progress.states[stage as usize] = State::Skipped;
        }
        progress
    }

    /// How far a stage is.
    #[must_use]
    pub const fn state(&self, stage: Stage) -> &State {
        &self.states[stage as usize]
    }

    /// How long a stage has taken.
    #[must_use]
    pub fn took(&self, stage: Stage, now: Duration) -> Duration {
        let running = match self.current {
            Some((current, since)) if current == stage => now.saturating_sub(since),
            Some(_) | None => Duration::ZERO,
        };
        self.took[stage as usize] + running
    }

    /// A step begins.
    pub fn begin(
        &mut self,
        step: Step,
        workload: Option<&str>,
        expected: Option<Seconds>,
        now: Duration,
    ) {
        let stage = Stage::of(step);
        self.leave(now);
        for other in Stage::ALL {
            // Held-out workloads are verified after the others were timed.
            let was_running = matches!(self.states[other as usize], State::Running { .. });
            if other < stage || (other > stage && was_running) {
                self.states[other as usize] = State::Done;
            }
        }
        let what = workload.map_or_else(|| step.to_string(), |name| format!("{step}, {name}"));
        let expected = expected.and_then(|seconds| Duration::try_from_secs_f64(seconds.0).ok());
        self.states[stage as usize] = State::Running { what, expected, since: now };
        self.current = Some((stage, now));
    }

    /// It ended well: everything that was asked for is done.
    pub fn pass(&mut self, now: Duration) {
        self.leave(now);
        for state in self.states.iter_mut().filter(|state| **state != State::Skipped) {
            *state = State::Done;
        }
    }

    /// It ended with something wrong, in the stage where it was or in the first one.
    pub fn fail(&mut self, now: Duration) {
        let stage = self.current.map_or(Stage::Compile, |(stage, _)| stage);
        self.leave(now);
        self.states[stage as usize] = State::Failed;
        for later in Stage::ALL.into_iter().filter(|later| *later > stage) {
            self.states[later as usize] = State::Skipped;
        }
    }

    /// It ended without an answer.
    pub fn stop(&mut self, now: Duration) {
        self.leave(now);
        for state in &mut self.states {
            if matches!(state, State::Running { .. } | State::Waiting) {
                *state = State::Skipped;
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
            State::Waiting => "waiting",
            State::Running { .. } => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Skipped => "skipped",
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
        // Held-out workloads come last, and are a part of verifying.
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
