//! Whether somebody asked to stop: looked at in every wait.

use std::fmt;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time between two looks.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// A question that every wait asks; clones ask the same one.
#[derive(Clone)]
pub struct StopSignal(Arc<dyn Fn() -> bool + Send + Sync>);

/// Somebody asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopRequested;

impl StopSignal {
    /// Asks `is_wanted`, which may be a flag of anybody's.
    #[must_use]
    pub fn from_fn(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_wanted))
    }

    /// Nobody will.
    #[must_use]
    pub fn never() -> Self {
        Self::from_fn(|| false)
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        (self.0)()
    }

    /// Sleeps, unless somebody asks to stop.
    pub(crate) fn wait(&self, duration: Duration) -> Result<(), StopRequested> {
        let end = Instant::now() + duration;
        loop {
            if self.is_raised() {
                return Err(StopRequested);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            sleep(left.min(SLICE));
        }
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("StopSignal").field(&self.is_raised()).finish()
    }
}
