//! A queue of events from threads that never wait to a reader that may not read for hours, such as a hidden window.
//!
//! A bounded channel would block its senders or drop events when it is full. This queue keeps every result. Events that
//! only report a state, such as progress, have a key; of those it keeps the first [`COALESCE_FROM`], and then only the
//! newest of each key.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cancellation::{Cancellation, WaitError};
use crate::wake_signal::WakeSignal;

/// Unread events with a key from which on a newer event replaces the unread one with the same key.
pub const COALESCE_FROM: usize = 256;

/// An event that a [`CoalescingQueue`] carries.
pub trait QueuedEvent {
    /// Identifies the state that an event reports.
    type Key: std::fmt::Debug + Ord;

    /// The state that the event reports, if a newer event about the same state makes it superfluous; none for a result, which
    /// is never left out.
    fn coalescing_key(&self) -> Option<Self::Key>;
}

/// A queue of events in the order of their arrival. At most [`COALESCE_FROM`] events with a key are unread, and one for each
/// key beyond; the number of unread results is not limited.
#[derive(Debug)]
pub struct CoalescingQueue<Event: QueuedEvent> {
    unread: Mutex<Unread<Event>>,
    arrived: WakeSignal,
}

#[derive(Debug)]
struct Unread<Event: QueuedEvent> {
    /// By their number in the order of arrival.
    events: BTreeMap<u64, Event>,
    next_number: u64,
    /// The newest unread event of each key.
    newest: BTreeMap<Event::Key, u64>,
    /// Number of unread events with a key.
    with_key: usize,
}

impl<Event: QueuedEvent> CoalescingQueue<Event> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        let unread = Unread {
            events: BTreeMap::new(),
            next_number: 0,
            newest: BTreeMap::new(),
            with_key: 0,
        };
        Self { unread: Mutex::new(unread), arrived: WakeSignal::new() }
    }

    /// Appends an event and wakes a waiting reader.
    pub fn push(&self, event: Event) {
        self.lock().push(event);
        self.arrived.raise();
    }

    /// The oldest unread event. This does not wait.
    pub fn try_next(&self) -> Option<Event> {
        let mut unread = self.lock();
        let event = unread.pop()?;
        if !unread.events.is_empty() {
            // Signals count as one: another waiting reader gets the next event.
            self.arrived.raise();
        }
        Some(event)
    }

    /// The oldest unread event; waits for one at most `patience`.
    pub fn next(&self, patience: Duration) -> Option<Event> {
        let deadline = Instant::now().checked_add(patience);
        loop {
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            match deadline {
                Some(deadline) => {
                    if !self.arrived.wait_until(deadline) {
                        return self.try_next();
                    }
                }
                None => self.arrived.wait(),
            }
        }
    }

    /// The oldest unread event; waits for one until `cancellation` is raised, and then returns none.
    pub fn next_unless(&self, cancellation: &Cancellation) -> Option<Event> {
        loop {
            if let Some(event) = self.try_next() {
                return Some(event);
            }
            match cancellation.receive(self.arrived.receiver(), None) {
                Ok(()) => {}
                Err(WaitError::Cancelled | WaitError::TimedOut | WaitError::Disconnected) => {
                    return self.try_next();
                }
            }
        }
    }

    /// Number of unread events.
    pub fn len(&self) -> usize {
        self.lock().events.len()
    }

    /// Whether no event is unread.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of unread events without a key.
    pub fn unread_results(&self) -> usize {
        let unread = self.lock();
        unread.events.len() - unread.with_key
    }

    fn lock(&self) -> MutexGuard<'_, Unread<Event>> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Event: QueuedEvent> Default for CoalescingQueue<Event> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Event: QueuedEvent> Unread<Event> {
    fn push(&mut self, event: Event) {
        let number = self.next_number;
        self.next_number += 1;
        if let Some(key) = event.coalescing_key() {
            let older = self.newest.insert(key, number);
            match older.filter(|_| self.with_key >= COALESCE_FROM) {
                Some(older) => {
                    self.events.remove(&older);
                }
                None => self.with_key += 1,
            }
        }
        self.events.insert(number, event);
    }

    fn pop(&mut self) -> Option<Event> {
        let (number, event) = self.events.pop_first()?;
        if let Some(key) = event.coalescing_key() {
            self.with_key -= 1;
            if self.newest.get(&key) == Some(&number) {
                self.newest.remove(&key);
            }
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::thread;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum TestEvent {
        Progress { run: u32, step: u32 },
        Verdict { run: u32 },
    }

    use TestEvent::{Progress, Verdict};

    impl QueuedEvent for TestEvent {
        type Key = u32;

        fn coalescing_key(&self) -> Option<u32> {
            match self {
                Progress { run, .. } => Some(*run),
                Verdict { .. } => None,
            }
        }
    }

    fn unread(queue: &CoalescingQueue<TestEvent>) -> Vec<TestEvent> {
        std::iter::from_fn(|| queue.try_next()).collect()
    }

    #[test]
    fn every_event_is_read_in_order_while_the_reader_keeps_up() {
        let queue = CoalescingQueue::new();
        for round in 0..100 {
            let events = [
                Progress { run: 1, step: round },
                Progress { run: 2, step: round },
                Verdict { run: 3 },
                Progress { run: 1, step: round + 1 },
            ];
            events.into_iter().for_each(|event| queue.push(event));
            assert_eq!((queue.len(), queue.unread_results()), (4, 1));
            assert_eq!(unread(&queue), events);
        }
        assert!(queue.is_empty());
    }

    /// A hidden window: four threads send 10,000 events while the reader does not read.
    #[test]
    fn a_reader_that_does_not_read_blocks_no_sender_and_loses_no_result() {
        const SENDERS: u32 = 4;
        const RUNS: u32 = 10;
        const STEPS: u32 = 249;
        let queue = CoalescingQueue::new();
        thread::scope(|scope| {
            for sender in 0..SENDERS {
                let queue = &queue;
                let send = move || {
                    for run in (0..RUNS).map(|run| run * SENDERS + sender) {
                        (0..STEPS).for_each(|step| queue.push(Progress { run, step }));
                        queue.push(Verdict { run });
                        let bound = COALESCE_FROM + (2 * RUNS * SENDERS) as usize;
                        assert!(queue.len() <= bound, "{} events", queue.len());
                    }
                };
                thread::Builder::new().spawn_scoped(scope, send).unwrap();
            }
        });
        assert_eq!(queue.unread_results(), (SENDERS * RUNS) as usize);
        let mut newest = BTreeMap::new();
        let mut results: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for event in unread(&queue) {
            match event {
                Progress { run, step } => {
                    assert!(newest.insert(run, step).is_none_or(|older| older < step), "{event:?}");
                }
                Verdict { run } => {
                    assert_eq!(
                        newest.get(&run),
                        Some(&(STEPS - 1)),
                        "the newest progress of {run}"
                    );
                    results.entry(run % SENDERS).or_default().push(run);
                }
            }
        }
        for (sender, runs) in results {
            let sent: Vec<u32> = (0..RUNS).map(|run| run * SENDERS + sender).collect();
            assert_eq!(runs, sent, "all results of a sender, in order");
        }
        assert!(queue.is_empty());
    }

    /// Runs a reader on a thread of its own while `send` runs.
    fn read_beside<Value: Send>(read: impl FnOnce() -> Value + Send, send: impl FnOnce()) -> Value {
        thread::scope(|scope| {
            let reader = thread::Builder::new().spawn_scoped(scope, read).unwrap();
            send();
            reader.join().unwrap()
        })
    }

    #[test]
    fn a_waiting_reader_is_woken_by_an_event_and_by_cancellation() {
        let queue = CoalescingQueue::new();
        let event = Verdict { run: 1 };
        assert_eq!(read_beside(|| queue.next(PATIENCE), || queue.push(event)), Some(event));
        assert_eq!(read_beside(|| queue.next(Duration::MAX), || queue.push(event)), Some(event));
        let token = Cancellation::new();
        assert_eq!(read_beside(|| queue.next_unless(&token), || queue.push(event)), Some(event));
        assert_eq!(read_beside(|| queue.next_unless(&token), || token.cancel()), None);
        queue.push(event);
        assert_eq!(
            queue.next_unless(&token),
            Some(event),
            "an event comes before the cancellation"
        );
        assert_eq!(queue.next(Duration::ZERO), None);
    }

    /// The signals of two events count as one, and must still wake both readers.
    #[test]
    fn two_waiting_readers_get_one_event_each() {
        let queue = CoalescingQueue::new();
        let events = [Verdict { run: 1 }, Verdict { run: 2 }];
        let mut read = thread::scope(|scope| {
            let reader = || thread::Builder::new().spawn_scoped(scope, || queue.next(PATIENCE));
            let readers = [reader().unwrap(), reader().unwrap()];
            events.into_iter().for_each(|event| queue.push(event));
            readers.map(|reader| reader.join().unwrap())
        });
        read.sort_by_key(|event| format!("{event:?}"));
        assert_eq!(read, events.map(Some));
    }
}
