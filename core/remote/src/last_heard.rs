//! When the last byte of a connection arrived, which both sides compare with [`crate::SILENCE`].

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When the last byte arrived.
#[derive(Debug)]
pub(crate) struct LastHeard {
    began: Instant,
    milliseconds: AtomicU64,
}

impl LastHeard {
    pub(crate) fn now() -> Self {
        Self { began: Instant::now(), milliseconds: AtomicU64::new(0) }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The time since the last byte.
    pub(crate) fn ago(&self) -> Duration {
        let last = self.milliseconds.load(Ordering::Relaxed);
        Duration::from_millis(self.elapsed().saturating_sub(last))
    }

    pub(crate) fn note(&self) {
        self.milliseconds.store(self.elapsed(), Ordering::Relaxed);
    }
}

/// A stream whose bytes are noted.
pub(crate) struct Heard<'a, Stream> {
    pub(crate) stream: Stream,
    pub(crate) heard: &'a LastHeard,
}

impl<Stream: Read> Read for Heard<'_, Stream> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.heard.note();
        Ok(count)
    }
}
