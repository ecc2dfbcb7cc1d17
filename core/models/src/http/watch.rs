//! Cancellation and time limits of one request, checked in every wait.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{ModelErrorKind, WaitPhase};
use crate::settings::TimeLimits;
use crate::stop_signal::StopSignal;

/// The watch over one request; clones watch the same one.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    stop: StopSignal,
    limits: TimeLimits,
    began: Instant,
    waiting: Mutex<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    wait: WaitPhase,
    since: Instant,
}

impl Watch {
    /// Begins now.
    pub(crate) fn new(stop: StopSignal, limits: TimeLimits) -> Self {
        let began = Instant::now();
        let waiting = Mutex::new(Waiting { wait: WaitPhase::Connection, since: began });
        Self(Arc::new(Watched { stop, limits, began, waiting }))
    }

    /// From now on something else is waited for.
    pub(crate) fn enter(&self, wait: WaitPhase) {
        *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner) =
            Waiting { wait, since: Instant::now() };
    }

    /// Records received bytes. They reset the limit for a piece, but not that for the head: a slow head would last
    /// forever.
    pub(crate) fn heard(&self) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.wait == WaitPhase::NextPiece {
            waiting.since = Instant::now();
        }
    }

    /// Returns an error if the request is cancelled or a limit is exceeded.
    pub(crate) fn check(&self) -> Result<(), ModelErrorKind> {
        if self.0.stop.is_raised() {
            return Err(ModelErrorKind::Cancelled);
        }
        let waiting = *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (waited_for, since) in [(waiting.wait, waiting.since), (WaitPhase::Whole, self.0.began)]
        {
            let limit = self.limit(waited_for);
            if since.elapsed() > limit {
                return Err(ModelErrorKind::TimedOut { waited_for, limit });
            }
        }
        Ok(())
    }

    /// As [`Self::check`], for functions that return I/O errors.
    pub(super) fn check_io(&self) -> io::Result<()> {
        self.check().map_err(io::Error::other)
    }

    /// Time limit of a phase.
    pub(super) fn limit(&self, wait: WaitPhase) -> Duration {
        let limits = &self.0.limits;
        match wait {
            WaitPhase::Connection => limits.connection,
            WaitPhase::Beginning => limits.beginning,
            WaitPhase::NextPiece => limits.piece,
            WaitPhase::Whole => limits.whole,
        }
    }

    /// Since the request began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }
}
