//! What runs the candidates of a search, and how it is held back.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;
use serde::{Deserialize, Serialize};

use crate::evaluate::compare::ComparedWorkload;
use crate::evaluate::{Examined, Run, Screening};
use crate::project::Kernel;
use crate::units::Seconds;

/// Interval at which a pause looks for a change of its controls.
const PATIENCE: Duration = Duration::from_millis(50);

/// At a gentle pace, a pause is at most this long.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Runs the candidates of a search.
pub trait Laboratory {
    /// A quick look at each, in their order. A first execution of a workload that takes longer than `abandon` says is slow
    /// enough to know.
    ///
    /// # Errors
    /// Somebody stopped it, or it cannot go on.
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted>;

    /// What is known of each without running it, in their order; none of one that cannot be built.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn examine(&mut self, kernels: &[Arc<Kernel>]) -> Result<Vec<Option<Examined>>, Interrupted>;

    /// Every check.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted>;

    /// Times two that passed side by side; nothing where no clock tells them apart.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn side_by_side(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted>;

    /// How many looks are best taken together.
    fn batch(&self) -> usize;

    /// Waits while it is to pause.
    ///
    /// # Errors
    /// Somebody stopped it meanwhile.
    fn rest(&mut self) -> Result<(), Interrupted>;

    /// Variants that a person turned down since this was asked the last time, and why.
    fn turned_down(&mut self) -> Vec<(usize, String)>;
}

/// Why a search does not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
    /// The machine or the request is at fault.
    #[error("{0}")]
    Impossible(String),
}

/// How much of the device a search takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// All that nobody else asks for.
    #[default]
    Full,
    /// It rests for as long as it worked.
    Gentle,
}

/// Holds a search back, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
    /// Raised to stop.
    pub cancellation: Cancellation,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
struct State {
    paused: bool,
    pace: Pace,
    turned_down: Vec<(usize, String)>,
}

impl Control {
    /// One that is stopped with this.
    #[must_use]
    pub fn under(cancellation: &Cancellation) -> Self {
        Self { shared: Arc::default(), cancellation: cancellation.child() }
    }

    /// It waits before the next step.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// It goes on.
    pub fn resume(&self) {
        self.lock().paused = false;
        self.shared.changed.notify_all();
    }

    /// How much of the device it takes.
    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
    }

    /// A variant, not the first, is not wanted, for this reason.
    pub fn turn_down(&self, variant: usize, why: String) {
        self.lock().turned_down.push((variant, why));
    }

    /// It ends.
    pub fn stop(&self) {
        self.cancellation.cancel();
        self.shared.changed.notify_all();
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
        let mut state = self.lock();
        loop {
            if self.cancellation.is_cancelled() {
                return Err(Interrupted::Stopped);
            }
            let rests = state.pace == Pace::Gentle && Instant::now() < resting_until;
            if !state.paused && !rests {
                return Ok(());
            }
            let waited = self.shared.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
