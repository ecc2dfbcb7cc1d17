//! Request queue of one engine thread, shared with the callers of [`super::Engine::ask`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::wake_signal::WakeSignal;

use super::queue::{Accepted, AfterRun, CancelOutcome, Ended, Job, Queue, QueueRefusal, RunEnd};
use super::request::RequestId;

/// Request queue of one engine thread, which is its only reader. The lock is held only while the queue is read or changed.
#[derive(Debug)]
pub(super) struct RequestQueue<Task> {
    queue: Mutex<Queue<Task>>,
    /// A request was added, or the thread is to end.
    changed: WakeSignal,
}

impl<Task> RequestQueue<Task> {
    pub(super) fn new() -> Self {
        Self { queue: Mutex::new(Queue::new()), changed: WakeSignal::new() }
    }

    /// Queues a request; `say` runs before the thread can begin the request, so that its events are in order.
    pub(super) fn push(
        &self,
        job: Job<Task>,
        say: impl FnOnce(Accepted),
    ) -> Result<(), QueueRefusal> {
        let mut queue = self.lock();
        say(queue.push(job)?);
        drop(queue);
        self.changed.raise();
        Ok(())
    }

    pub(super) fn cancel(&self, id: RequestId) -> CancelOutcome {
        self.lock().cancel(id)
    }

    pub(super) fn stop(&self) -> Vec<Ended> {
        let ended = self.lock().stop();
        self.changed.raise();
        ended
    }

    /// Waits for the next request; none when the thread is to end.
    pub(super) fn next(&self) -> Option<(Job<Task>, Cancellation)> {
        loop {
            {
                let mut queue = self.lock();
                if let Some(next) = queue.begin() {
                    return Some(next);
                }
                if queue.is_stopping() {
                    return None;
                }
            }
            self.changed.wait();
        }
    }

    pub(super) fn end(&self, job: Job<Task>, ran: RunEnd) -> AfterRun {
        self.lock().end(job, ran)
    }

    fn lock(&self) -> MutexGuard<'_, Queue<Task>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
