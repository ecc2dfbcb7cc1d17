//! Who goes next on one thread: the rules of waiting, without the thread.
//!
//! * A person's requests go before those of the background; within each, the older one first.
//! * A background request that runs when a person asks is stopped, and begins again after the person's.
//! * A newer request about the same thing ends the older one, whether it waits or runs.

use std::collections::VecDeque;

use lightbench_primitives::cancellation::Cancellation;

use super::event::Because;
use super::request::{AskedBy, RequestId, Topic};

/// Requests that may wait at a time.
pub(super) const MOST_WAITING: usize = 256;

/// One request and what is to be done for it.
#[derive(Debug)]
pub(super) struct Job<Task> {
    pub(super) id: RequestId,
    pub(super) topic: Topic,
    pub(super) task: Task,
}

/// The requests of one thread.
#[derive(Debug)]
pub(super) struct Queue<Task> {
    /// In the order in which they will run.
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

/// Why what runs was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interruption {
    Ended(Because),
    PutOff,
}

/// A request that ended without having run to its end.
pub(super) type Ended = (RequestId, Because);

/// What a new request led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) ahead: usize,
    pub(super) ended: Vec<Ended>,
}

/// Why a request does not wait here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    Full,
    Stopping,
}

/// What a cancellation met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It waited: this is its end.
    Waiting,
    /// It runs, and was told; its end comes.
    Running,
    Nothing,
}

/// Whether what ran came to its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    ToItsEnd,
    UntilCancelled,
}

/// What becomes of a request that has stopped running.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Afterwards {
    /// It ends as it ran.
    Ends,
    /// It ends, but nobody wanted it any more.
    EndsUnwanted(Because),
    /// It waits again.
    WaitsAgain { ahead: usize },
}

impl<Task> Queue<Task> {
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::new(), running: None, stopping: false }
    }

    /// A new request takes its place.
    pub(super) fn push(&mut self, job: Job<Task>) -> Result<Taken, NoRoom> {
        if self.stopping {
            return Err(NoRoom::Stopping);
        }
        let same = |older: &Job<Task>| older.topic == job.topic;
        if self.waiting.len() >= MOST_WAITING && !self.waiting.iter().any(same) {
            return Err(NoRoom::Full);
        }
        let because = Because::SupersededBy(job.id);
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
                running.interrupt(Interruption::PutOff);
            }
        }
        let place = match job.topic.asked_by {
            AskedBy::Person => self.persons(),
            AskedBy::Background => self.waiting.len(),
        };
        self.waiting.insert(place, job);
        Ok(Taken { ahead: place + usize::from(self.running.is_some()), ended })
    }

    /// The next one, if there is one, with the token that stops it.
    pub(super) fn begin(&mut self) -> Option<(Job<Task>, Cancellation)> {
        let job = self.waiting.pop_front()?;
        let cancellation = Cancellation::new();
        let (id, topic) = (job.id, job.topic.clone());
        let token = cancellation.clone();
        self.running = Some(Running { id, topic, cancellation, interruption: None });
        Some((job, token))
    }

    /// What ran does not run any more.
    pub(super) fn end(&mut self, job: Job<Task>, ran: Ran) -> Afterwards {
        let interruption = self.running.take().and_then(|running| running.interruption);
        match (interruption, ran) {
            // A verdict about something older is nobody's verdict.
            (Some(Interruption::Ended(because @ Because::SupersededBy(_))), _)
            | (Some(Interruption::Ended(because)), Ran::UntilCancelled) => {
                Afterwards::EndsUnwanted(because)
            }
            (Some(Interruption::PutOff), Ran::UntilCancelled) if !self.stopping => {
                let ahead = self.persons();
                self.waiting.insert(ahead, job);
                Afterwards::WaitsAgain { ahead }
            }
            (Some(Interruption::PutOff), Ran::UntilCancelled) => {
                Afterwards::EndsUnwanted(Because::Stopping)
            }
            (None, Ran::UntilCancelled) => Afterwards::EndsUnwanted(Because::Asked),
            (_, Ran::ToItsEnd) => Afterwards::Ends,
        }
    }

    /// A request is not wanted any more.
    pub(super) fn cancel(&mut self, id: RequestId) -> Met {
        if let Some(place) = self.waiting.iter().position(|job| job.id == id) {
            self.waiting.remove(place);
            return Met::Waiting;
        }
        match &mut self.running {
            Some(running) if running.id == id => {
                running.interrupt(Interruption::Ended(Because::Asked));
                Met::Running
            }
            Some(_) | None => Met::Nothing,
        }
    }

    /// Nothing is wanted any more; gives those that waited.
    pub(super) fn stop(&mut self) -> Vec<Ended> {
        self.stopping = true;
        if let Some(running) = &mut self.running {
            running.interrupt(Interruption::Ended(Because::Stopping));
        }
        self.waiting.drain(..).map(|job| (job.id, Because::Stopping)).collect()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// How many of a person's requests wait: they are the first ones.
    fn persons(&self) -> usize {
        self.waiting.partition_point(|job| job.topic.asked_by == AskedBy::Person)
    }
}

impl Running {
    /// What ended it first is why it ends; what was only put off can still be ended.
    fn interrupt(&mut self, interruption: Interruption) {
        match self.interruption {
            None | Some(Interruption::PutOff) => self.interruption = Some(interruption),
            Some(Interruption::Ended(_)) => {}
        }
        self.cancellation.cancel();
    }
}
