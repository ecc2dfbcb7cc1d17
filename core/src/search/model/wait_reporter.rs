//! Reports of the wait for one reply, and its cancellation.
//!
//! A model is asked on the thread of the search, and its stop sign is polled about fifty times a second while it waits. The
//! poll also reports the wait, which needs no other thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::models::StopSignal;
use crate::search::budget::Cost;
use crate::search::operators::{OperatorWait, WaitControl};

/// Reports the waits for one proposal.
pub(super) struct WaitReporter {
    pub(super) attention: WaitControl,
    /// The name of the operator that waits.
    pub(super) operator: String,
    /// Cost of the search before this proposal.
    pub(super) before: Cost,
}

impl WaitReporter {
    /// A stop sign that is also up when the search is cancelled, and that reports the wait about once a second. `received`
    /// counts the bytes of the reply; `more` is the cost of this proposal so far.
    pub(super) fn over(
        &self,
        stop: StopSignal,
        received: &Arc<AtomicUsize>,
        more: Cost,
    ) -> StopSignal {
        let WaitControl { cancellation, hear } = self.attention.clone();
        let (operator, received) = (self.operator.clone(), Arc::clone(received));
        let cost = Cost {
            tokens: self.before.tokens.saturating_add(more.tokens),
            money: self.before.money + more.money,
        };
        let (began, told) = (Instant::now(), AtomicU64::new(0));
        StopSignal::from_fn(move || {
            let waited = began.elapsed();
            if told.swap(waited.as_secs(), Ordering::Relaxed) != waited.as_secs() {
                let (operator, received) = (operator.clone(), received.load(Ordering::Relaxed));
                hear(&OperatorWait { operator, waited, received, cost });
            }
            stop.is_raised() || cancellation.is_cancelled()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use lightbench_primitives::cancellation::Cancellation;

    use super::*;

    #[test]
    fn a_wait_is_told_once_a_second_and_ends_with_its_search() {
        let heard: Arc<Mutex<Vec<OperatorWait>>> = Arc::default();
        let (told, cancellation) = (Arc::clone(&heard), Cancellation::new());
        let attention = WaitControl {
            cancellation: cancellation.clone(),
            hear: Arc::new(move |waiting| told.lock().unwrap().push(waiting.clone())),
        };
        let before = Cost { tokens: 100, money: 0.5 };
        let watch = WaitReporter { attention, operator: "model:a".to_owned(), before };
        let received = Arc::new(AtomicUsize::new(70));
        let more = Cost { tokens: 11, money: 0.25 };
        let stop = watch.over(StopSignal::never(), &received, more);
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(1200) {
            assert!(!stop.is_raised());
            std::thread::sleep(Duration::from_millis(20));
        }
        let heard = heard.lock().unwrap();
        let [waiting] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!((waiting.operator.as_str(), waiting.received), ("model:a", 70));
        assert_eq!(waiting.cost, Cost { tokens: 111, money: 0.75 });
        assert!(waiting.waited >= Duration::from_secs(1), "{waiting:?}");
        cancellation.cancel();
        assert!(stop.is_raised());
    }
}
