//! Wakes a thread that waits for a change of shared state.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

/// A signal that is raised by any thread and received by one waiting thread; clones share it.
///
/// Signals that no thread has received yet count as one, so that raising it never waits. The waiting thread looks at the
/// shared state after each signal, and may find it unchanged.
#[derive(Clone, Debug)]
pub struct WakeSignal {
    sender: Sender<()>,
    receiver: Receiver<()>,
}

impl WakeSignal {
    /// A signal that is not raised.
    #[must_use]
    pub fn new() -> Self {
        let (sender, receiver) = bounded(1);
        Self { sender, receiver }
    }

    /// Wakes a waiting thread, or the next one that waits.
    pub fn raise(&self) {
        // Full: the previous signal has not been received, and wakes the same thread.
        let _pending = self.sender.try_send(());
    }

    /// Waits for the signal.
    pub fn wait(&self) {
        // An error is impossible: this value owns a sender.
        let _received = self.receiver.recv();
    }

    /// Waits for the signal, at most until `deadline`; returns whether it was raised.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.receiver.recv_deadline(deadline).is_ok()
    }

    /// Waits for the signal, at most for `limit`; returns whether it was raised.
    #[must_use]
    pub fn wait_for(&self, limit: Duration) -> bool {
        self.receiver.recv_timeout(limit).is_ok()
    }

    /// The channel of the signal, to wait for it and for something else at once.
    #[must_use]
    pub fn receiver(&self) -> &Receiver<()> {
        &self.receiver
    }
}

impl Default for WakeSignal {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_count_as_one_until_they_are_received() {
        let signal = WakeSignal::new();
        assert!(!signal.wait_until(Instant::now()));
        for _ in 0..3 {
            signal.raise();
        }
        assert!(signal.wait_until(Instant::now()));
        assert!(!signal.wait_for(Duration::ZERO));
    }
}
