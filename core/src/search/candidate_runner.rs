//! The interface through which a search runs candidates, and the controls with which a user pauses or stops it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::{Cancellation, WaitError};
use lightbench_primitives::wake_signal::WakeSignal;
use serde::{Deserialize, Serialize};

use super::entry::FailureRecord;
use crate::evaluate::compare::ComparedWorkload;
use crate::evaluate::{Run, Screening};
use crate::project::Kernel;
use crate::units::Seconds;

/// Longest pause at a gentle pace.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Runs the candidates of a search.
pub trait CandidateRunner {
    /// Screens candidates; results in the same order. A candidate whose first execution of a workload takes longer than
    /// `abandon` is dropped as slow.
    ///
    /// # Errors
    /// The search was stopped, or cannot continue.
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted>;

    /// Compiles a candidate without running it; returns its resources in words, or the failure.
    ///
    /// # Errors
    /// As [`CandidateRunner::screen`].
    fn compile(
        &mut self,
        kernel: &Arc<Kernel>,
    ) -> Result<Result<String, FailureRecord>, Interrupted>;

    /// Evaluates a candidate with every check.
    ///
    /// # Errors
    /// As [`CandidateRunner::screen`].
    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted>;

    /// Times two candidates that passed, with alternating launches.
    ///
    /// # Errors
    /// As [`CandidateRunner::screen`].
    fn compare(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted>;

    /// Number of candidates to screen in one call.
    fn batch(&self) -> usize;

    /// Waits while the search is paused or slowed.
    ///
    /// # Errors
    /// The search was stopped.
    fn rest(&mut self) -> Result<(), Interrupted>;

    /// Variants that the user turned down since the last call, and why.
    fn turned_down(&mut self) -> Vec<(usize, String)>;
}

/// Why a search ends before its budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
    /// The machine or the request is at fault; the reason.
    #[error("{0}")]
    Impossible(String),
}

/// Share of the device time that a search uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// All time that requests of persons leave.
    #[default]
    Full,
    /// After each request, a pause of the same length, at most ten seconds.
    Gentle,
}

/// Pauses, slows and stops a search, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
    /// Raised to stop the search.
    pub cancellation: Cancellation,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// The state has changed. Only the search waits for it.
    changed: WakeSignal,
}

#[derive(Clone, Debug, Default)]
struct State {
    paused: bool,
    pace: Pace,
    turned_down: Vec<(usize, String)>,
}

impl Control {
    /// Controls whose search also stops when `cancellation` is raised.
    #[must_use]
    pub fn from_cancellation(cancellation: &Cancellation) -> Self {
        Self { shared: Arc::default(), cancellation: cancellation.child() }
    }

    /// Pauses the search before its next step.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// Continues a paused search.
    pub fn resume(&self) {
        self.lock().paused = false;
        self.shared.changed.raise();
    }

    /// Sets the share of the device time.
    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
        self.shared.changed.raise();
    }

    /// Turns down a variant, except the first.
    pub fn turn_down(&self, variant: usize, why: String) {
        self.lock().turned_down.push((variant, why));
    }

    /// Stops the search.
    pub fn stop(&self) {
        self.cancellation.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the variants that a person turned down since the last call, and why.
    pub(crate) fn take_turned_down(&self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.lock().turned_down)
    }

    /// Waits while the search is paused; at a gentle pace also for as long as `worked`.
    pub(crate) fn rest(&self, worked: Duration) -> Result<(), Interrupted> {
        let resting_until = Instant::now() + worked.min(LONGEST_PAUSE);
        loop {
            if self.cancellation.is_cancelled() {
                return Err(Interrupted::Stopped);
            }
            let State { paused, pace, .. } = *self.lock();
            let rests = pace == Pace::Gentle && Instant::now() < resting_until;
            if !paused && !rests {
                return Ok(());
            }
            let deadline = (!paused).then_some(resting_until);
            match self.cancellation.receive(self.shared.changed.receiver(), deadline) {
                // Whatever ended the wait, the next round reads the present state.
                Ok(())
                | Err(WaitError::Cancelled | WaitError::TimedOut | WaitError::Disconnected) => {}
            }
        }
    }
}
