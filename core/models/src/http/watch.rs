//! What every wait of one request looks at: whether it is still wanted, and whether it has taken too long.

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

    /// Bytes came. They end the wait for a piece, not that for the beginning: a head in drips would last for ever.
    pub(crate) fn heard(&self) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.wait == WaitPhase::NextPiece {
            waiting.since = Instant::now();
        }
    }

    /// Whether to go on waiting.
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

    /// As [`Self::check`], for what may only fail with I/O errors.
    pub(super) fn check_io(&self) -> io::Result<()> {
        self.check().map_err(io::Error::other)
    }

    /// How long a wait may be.
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
