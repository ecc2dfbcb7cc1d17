//! Cancellation of a request, checked in every wait.

use std::fmt;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time between two looks.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// A cancellation check; clones share it.
#[derive(Clone)]
pub struct StopSignal(Arc<dyn Fn() -> bool + Send + Sync>);

/// The request was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopRequested;

impl StopSignal {
    /// Cancels when `is_wanted` returns true; it may read any flag.
    #[must_use]
    pub fn from_fn(is_wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_wanted))
    }

    /// A signal that is never raised.
    #[must_use]
    pub fn never() -> Self {
        Self::from_fn(|| false)
    }

    /// Whether cancellation was requested.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        (self.0)()
    }

    /// Sleeps until the time is over or cancellation is requested.
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
