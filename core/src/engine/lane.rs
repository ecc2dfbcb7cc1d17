//! One thread: it takes requests from its queue, has them carried out, and says what came of them.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use lightbench_primitives::cancellation::Cancellation;

use super::event::{Because, Ending, Event};
use super::expected::Expected;
use super::inbox::Inbox;
use super::outbox::Outbox;
use super::performer::{Performer, Task};
use super::queue::{Afterwards, Job, Ran};
use super::request::{RequestId, Topic};
use crate::units::Seconds;
use crate::verify::verdict::Step;

/// One thread. Dropping it stops the thread, and waits for the little time that killing its processes takes.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) inbox: Arc<Inbox<Task>>,
    outbox: Arc<Outbox>,
    thread: Option<JoinHandle<()>>,
}

/// Makes a performer, on the thread where it will live; again after a panic, which may have left the old one in pieces.
pub(super) type Hire = Box<dyn Fn() -> Box<dyn Performer> + Send>;

impl Lane {
    /// Starts the thread. `last_words` is dropped when it ends.
    pub(super) fn start(
        name: &str,
        hire: Hire,
        outbox: Arc<Outbox>,
        last_words: impl Drop + Send + 'static,
    ) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::new());
        let serving = Serving {
            inbox: Arc::clone(&inbox),
            outbox: Arc::clone(&outbox),
            expected: Expected::default(),
        };
        let thread = Builder::new().name(format!("engine-{name}")).spawn(move || {
            let last_words = last_words;
            serving.serve(&hire);
            drop(last_words);
        })?;
        Ok(Self { inbox, outbox, thread: Some(thread) })
    }

    /// Ends what waits, and tells what runs.
    pub(super) fn stop(&self) {
        for (request, because) in self.inbox.stop() {
            self.outbox.say(cancelled(request, because));
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // What it panicked about was said.
            let _panicked = thread.join();
        }
    }
}

/// The end of a request that did not run.
pub(super) fn cancelled(request: RequestId, because: Because) -> Event {
    Event::Finished { request, ending: Ending::Cancelled { because, so_far: None } }
}

/// What the thread has.
struct Serving {
    inbox: Arc<Inbox<Task>>,
    outbox: Arc<Outbox>,
    expected: Expected,
}

impl Serving {
    fn serve(mut self, hire: &Hire) {
        let mut performer: Option<Box<dyn Performer>> = None;
        while let Some((job, cancellation)) = self.inbox.next() {
            let work = AssertUnwindSafe(|| {
                let mut hired = performer.take().unwrap_or_else(hire);
                let ending = self.carry_out(hired.as_mut(), &job, &cancellation);
                for notice in hired.notices() {
                    self.outbox.say(Event::Noticed(notice));
                }
                performer = Some(hired);
                ending
            });
            let ending = catch_unwind(work)
                .unwrap_or_else(|panic| Ending::Panicked { message: message(panic.as_ref()) });
            self.conclude(job, ending);
        }
    }

    fn carry_out(
        &mut self,
        performer: &mut dyn Performer,
        job: &Job<Task>,
        cancellation: &Cancellation,
    ) -> Ending {
        let Job { id, topic, task } = job;
        let (outbox, expected) = (&self.outbox, &mut self.expected);
        let mut current: Option<(Step, Option<String>, Instant)> = None;
        let mut began = |step: Step, workload: Option<&str>| {
            learn(expected, topic, current.take());
            let expected = expected.of(topic, step, workload);
            let workload = workload.map(str::to_owned);
            current = Some((step, workload.clone(), Instant::now()));
            outbox.say(Event::Began { request: *id, step, workload, expected });
        };
        let ending = performer.perform(task, cancellation, &mut began);
        if came_to_an_end(&ending) {
            learn(&mut self.expected, topic, current);
        }
        ending
    }

    fn conclude(&self, job: Job<Task>, ending: Ending) {
        let request = job.id;
        let ran = match &ending {
            Ending::Cancelled { .. } => Ran::UntilCancelled,
            Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::Examined(_)
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Compiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped => Ran::ToItsEnd,
        };
        self.outbox.say(match self.inbox.end(job, ran) {
            Afterwards::Ends => Event::Finished { request, ending },
            Afterwards::EndsUnwanted(because) => {
                let so_far = match ending {
                    Ending::Cancelled { so_far, .. } => so_far,
                    Ending::Evaluated(_)
                    | Ending::Screened(_)
                    | Ending::Examined(_)
                    | Ending::Compared(_)
                    | Ending::Profiled(_)
                    | Ending::Compiled(_)
                    | Ending::Impossible(_)
                    | Ending::Panicked { .. }
                    | Ending::Stopped => None,
                };
                Event::Finished { request, ending: Ending::Cancelled { because, so_far } }
            }
            Afterwards::WaitsAgain { ahead } => Event::Queued { request, ahead },
        });
    }
}

fn learn(expected: &mut Expected, topic: &Topic, ended: Option<(Step, Option<String>, Instant)>) {
    if let Some((step, workload, began)) = ended {
        let took = Seconds(began.elapsed().as_secs_f64());
        expected.learn(topic, (step, workload.as_deref()), took);
    }
}

/// Whether the last step that began went through: only then is its time what it takes.
fn came_to_an_end(ending: &Ending) -> bool {
    match ending {
        Ending::Evaluated(run) => run.verdict.is_ok(),
        Ending::Screened(all) => all.iter().all(|screening| screening.verdict.is_ok()),
        Ending::Examined(all) => all.iter().all(Option::is_some),
        Ending::Compared(_) => true,
        Ending::Profiled(profiled) => profiled.hardware.is_some(),
        Ending::Compiled(facts) => facts.is_ok(),
        Ending::Impossible(_)
        | Ending::Cancelled { .. }
        | Ending::Panicked { .. }
        | Ending::Stopped => false,
    }
}

/// What a panic says of itself: the two forms that the standard library makes.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
