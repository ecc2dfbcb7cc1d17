//! The order of requests on one thread, as a state machine without the thread.
//!
//! * Requests of a person run before those of the background; within each group, in order of arrival.
//! * A request of a person preempts a running one of the background, which starts again afterwards.
//! * A newer request with the same topic cancels the older one, whether that waits or runs.

use std::collections::VecDeque;

use lightbench_primitives::cancellation::Cancellation;

use super::event::CancelReason;
use super::request::{AskedBy, RequestId, Topic};

/// Most requests that wait at a time.
pub(super) const MAX_WAITING: usize = 256;

/// A request in the queue and its task.
#[derive(Debug)]
pub(super) struct Job<Task> {
    pub(super) id: RequestId,
    pub(super) topic: Topic,
    pub(super) task: Task,
}

/// The requests of one thread.
#[derive(Debug)]
pub(super) struct Queue<Task> {
    /// In the order of execution.
    waiting: VecDeque<Job<Task>>,
    running: Option<Running>,
    stopping: bool,
}

#[derive(Debug)]
struct Running {
    id: RequestId,
    topic: Topic,
    cancellation: Cancellation,
    interruption: Option<Interruption>,
}

/// Why the running request was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interruption {
    Ended(CancelReason),
    Preempted,
}

/// A request that was cancelled while it waited.
pub(super) type Ended = (RequestId, CancelReason);

/// Effect of a new request on the queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) ahead: usize,
    pub(super) ended: Vec<Ended>,
}

/// Why the queue refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueRefusal {
    Full,
    Stopping,
}

/// State of a request at its cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelOutcome {
    /// It waited and is removed.
    Waiting,
    /// It runs, and its cancellation is signalled; its last event follows.
    Running,
    Nothing,
}

/// Whether a request ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    Completed,
    Cancelled,
}

/// What follows after a request has stopped running.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterRun {
    /// It ends with its result.
    Ends,
    /// It ends as cancelled.
    EndsCancelled(CancelReason),
    /// It was preempted and waits again.
    WaitsAgain { ahead: usize },
}

impl<Task> Queue<Task> {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::new(), running: None, stopping: false }
    }

    /// Adds a request and cancels waiting ones of the same topic.
    pub(super) fn push(&mut self, job: Job<Task>) -> Result<Accepted, QueueRefusal> {
        if self.stopping {
            return Err(QueueRefusal::Stopping);
        }
        let same = |older: &Job<Task>| older.topic == job.topic;
        if self.waiting.len() >= MAX_WAITING && !self.waiting.iter().any(same) {
            return Err(QueueRefusal::Full);
        }
        let because = CancelReason::SupersededBy(job.id);
        let mut ended = Vec::new();
        self.waiting.retain(|older| {
            let stays = older.topic != job.topic;
            ended.extend((!stays).then_some((older.id, because)));
            stays
        });
        if let Some(running) = &mut self.running {
            let is_background = running.topic.asked_by == AskedBy::Background;
            if running.topic == job.topic {
                running.interrupt(Interruption::Ended(because));
            } else if job.topic.asked_by == AskedBy::Person && is_background {
                running.interrupt(Interruption::Preempted);
            }
        }
        let place = match job.topic.asked_by {
            AskedBy::Person => self.waiting_for_person(),
            AskedBy::Background => self.waiting.len(),
        };
        self.waiting.insert(place, job);
        Ok(Accepted { ahead: place + usize::from(self.running.is_some()), ended })
    }

    /// Begins the first waiting request; its token is raised to interrupt it.
    pub(super) fn begin(&mut self) -> Option<(Job<Task>, Cancellation)> {
        let job = self.waiting.pop_front()?;
        let cancellation = Cancellation::new();
        let (id, topic) = (job.id, job.topic.clone());
        let token = cancellation.clone();
        self.running = Some(Running { id, topic, cancellation, interruption: None });
        Some((job, token))
    }

    /// The running request has stopped.
    pub(super) fn end(&mut self, job: Job<Task>, ran: RunEnd) -> AfterRun {
        let interruption = self.running.take().and_then(|running| running.interruption);
        match (interruption, ran) {
            // A result for an older text of the kernel is discarded.
            (Some(Interruption::Ended(because @ CancelReason::SupersededBy(_))), _)
            | (Some(Interruption::Ended(because)), RunEnd::Cancelled) => {
                AfterRun::EndsCancelled(because)
            }
            (Some(Interruption::Preempted), RunEnd::Cancelled) if !self.stopping => {
                let ahead = self.waiting_for_person();
                self.waiting.insert(ahead, job);
                AfterRun::WaitsAgain { ahead }
            }
            (Some(Interruption::Preempted), RunEnd::Cancelled) => {
                AfterRun::EndsCancelled(CancelReason::Stopping)
            }
            (None, RunEnd::Cancelled) => AfterRun::EndsCancelled(CancelReason::Requested),
            (_, RunEnd::Completed) => AfterRun::Ends,
        }
    }

    /// Cancels a request.
    pub(super) fn cancel(&mut self, id: RequestId) -> CancelOutcome {
        if let Some(place) = self.waiting.iter().position(|job| job.id == id) {
            self.waiting.remove(place);
            return CancelOutcome::Waiting;
        }
        match &mut self.running {
            Some(running) if running.id == id => {
                running.interrupt(Interruption::Ended(CancelReason::Requested));
                CancelOutcome::Running
            }
            Some(_) | None => CancelOutcome::Nothing,
        }
    }

    /// Cancels all requests; returns those that waited.
    pub(super) fn stop(&mut self) -> Vec<Ended> {
        self.stopping = true;
        if let Some(running) = &mut self.running {
            running.interrupt(Interruption::Ended(CancelReason::Stopping));
        }
        self.waiting.drain(..).map(|job| (job.id, CancelReason::Stopping)).collect()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Number of waiting requests of a person, which come first in the queue.
    fn waiting_for_person(&self) -> usize {
        self.waiting.partition_point(|job| job.topic.asked_by == AskedBy::Person)
    }
}

impl Running {
    /// The first cancellation counts; a preempted request can still be cancelled.
    fn interrupt(&mut self, interruption: Interruption) {
        match self.interruption {
            None | Some(Interruption::Preempted) => self.interruption = Some(interruption),
            Some(Interruption::Ended(_)) => {}
        }
        self.cancellation.cancel();
    }
}
