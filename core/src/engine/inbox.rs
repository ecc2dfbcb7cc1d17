//! The queue of one thread, shared with those who ask.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use lightbench_primitives::cancellation::Cancellation;

use super::queue::{Afterwards, Ended, Job, Met, NoRoom, Queue, Ran, Taken};
use super::request::RequestId;

/// The queue of one thread. Nobody holds its lock for longer than a look takes.
#[derive(Debug)]
pub(super) struct Inbox<Task> {
    queue: Mutex<Queue<Task>>,
    changed: Condvar,
}

impl<Task> Inbox<Task> {
    pub(super) fn new() -> Self {
        Self { queue: Mutex::new(Queue::new()), changed: Condvar::new() }
    }

    /// Takes a request; `say` tells of it before the thread can begin it.
    pub(super) fn push(&self, job: Job<Task>, say: impl FnOnce(Taken)) -> Result<(), NoRoom> {
        let mut queue = self.lock();
        say(queue.push(job)?);
        drop(queue);
        self.changed.notify_one();
        Ok(())
    }

    pub(super) fn cancel(&self, id: RequestId) -> Met {
        self.lock().cancel(id)
    }

    pub(super) fn stop(&self) -> Vec<Ended> {
        let ended = self.lock().stop();
        self.changed.notify_one();
        ended
    }

    /// The next request, waited for; none when the thread is to end.
    pub(super) fn next(&self) -> Option<(Job<Task>, Cancellation)> {
        let mut queue = self.lock();
        loop {
            if let Some(next) = queue.begin() {
                return Some(next);
            }
            if queue.is_stopping() {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn end(&self, job: Job<Task>, ran: Ran) -> Afterwards {
        self.lock().end(job, ran)
    }

    fn lock(&self) -> MutexGuard<'_, Queue<Task>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
