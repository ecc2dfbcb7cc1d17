//! An engine thread: takes requests from its queue, executes them and sends their events.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use lightbench_primitives::cancellation::Cancellation;

use super::event::{CancelReason, Ending, Event};
use super::event_queue::EventQueue;
use super::executor::{Executor, Task};
use super::queue::{AfterRun, Job, RunEnd};
use super::request::{RequestId, Topic};
use super::request_queue::RequestQueue;
use super::step_times::StepTimes;
use crate::units::Seconds;
use crate::verify::verdict::Step;

/// Handle of an engine thread. Dropping it cancels its requests, kills its processes and joins the thread.
#[derive(Debug)]
pub(super) struct EngineThread {
    pub(super) inbox: Arc<RequestQueue<Task>>,
    outbox: Arc<EventQueue>,
    thread: Option<JoinHandle<()>>,
}

/// Makes an executor on its thread; called again after a panic, which may leave the previous one inconsistent.
pub(super) type ExecutorFactory = Box<dyn Fn() -> Box<dyn Executor> + Send>;

impl EngineThread {
    /// Starts the thread, which drops `last_words` at its end.
    pub(super) fn start(
        name: &str,
        hire: ExecutorFactory,
        outbox: Arc<EventQueue>,
        last_words: impl Drop + Send + 'static,
    ) -> io::Result<Self> {
        let inbox = Arc::new(RequestQueue::new());
        let serving = ThreadLoop {
            inbox: Arc::clone(&inbox),
            outbox: Arc::clone(&outbox),
            expected: StepTimes::default(),
        };
        let thread = Builder::new().name(format!("engine-{name}")).spawn(move || {
            let last_words = last_words;
            serving.run(&hire);
            drop(last_words);
        })?;
        Ok(Self { inbox, outbox, thread: Some(thread) })
    }

    /// Cancels the requests that wait and the one that runs.
    pub(super) fn stop(&self) {
        for (request, because) in self.inbox.stop() {
            self.outbox.push(cancelled(request, because));
        }
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A panic was sent as an event.
            let _panicked = thread.join();
        }
    }
}

/// The last event of a request that never ran.
pub(super) fn cancelled(request: RequestId, because: CancelReason) -> Event {
    Event::Finished { request, ending: Ending::Cancelled { because, so_far: None } }
}

/// State of the thread.
struct ThreadLoop {
    inbox: Arc<RequestQueue<Task>>,
    outbox: Arc<EventQueue>,
    expected: StepTimes,
}

impl ThreadLoop {
    fn run(mut self, hire: &ExecutorFactory) {
        let mut performer: Option<Box<dyn Executor>> = None;
        while let Some((job, cancellation)) = self.inbox.next() {
            let work = AssertUnwindSafe(|| {
                let mut hired = performer.take().unwrap_or_else(hire);
                let ending = self.carry_out(hired.as_mut(), &job, &cancellation);
                for notice in hired.notices() {
                    self.outbox.push(Event::Noticed(notice));
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
        performer: &mut dyn Executor,
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
            outbox.push(Event::Began { request: *id, step, workload, expected });
        };
        let ending = performer.execute(task, cancellation, &mut began);
        if is_last_step_complete(&ending) {
            learn(&mut self.expected, topic, current);
        }
        ending
    }

    fn conclude(&self, job: Job<Task>, ending: Ending) {
        let request = job.id;
        let ran = match &ending {
            Ending::Cancelled { .. } => RunEnd::Cancelled,
            Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::CompiledAhead { .. }
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Compiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped => RunEnd::Completed,
        };
        self.outbox.push(match self.inbox.end(job, ran) {
            AfterRun::Ends => Event::Finished { request, ending },
            AfterRun::EndsCancelled(because) => {
                let so_far = match ending {
                    Ending::Cancelled { so_far, .. } => so_far,
                    Ending::Evaluated(_)
                    | Ending::Screened(_)
                    | Ending::CompiledAhead { .. }
                    | Ending::Compared(_)
                    | Ending::Profiled(_)
                    | Ending::Compiled(_)
                    | Ending::Impossible(_)
                    | Ending::Panicked { .. }
                    | Ending::Stopped => None,
                };
                Event::Finished { request, ending: Ending::Cancelled { because, so_far } }
            }
            AfterRun::WaitsAgain { ahead } => Event::Queued { request, ahead },
        });
    }
}

fn learn(expected: &mut StepTimes, topic: &Topic, ended: Option<(Step, Option<String>, Instant)>) {
    if let Some((step, workload, began)) = ended {
        let took = Seconds(began.elapsed().as_secs_f64());
        expected.learn(topic, (step, workload.as_deref()), took);
    }
}

/// Whether the last step that began has completed, so that its duration can be stored.
fn is_last_step_complete(ending: &Ending) -> bool {
    match ending {
        Ending::Evaluated(run) => run.verdict.is_ok(),
        Ending::Screened(all) => all.iter().all(|screening| screening.verdict.is_ok()),
        Ending::CompiledAhead { complete } => *complete,
        Ending::Compared(_) => true,
        Ending::Profiled(profiled) => profiled.hardware.is_some(),
        Ending::Compiled(facts) => facts.is_ok(),
        Ending::Impossible(_)
        | Ending::Cancelled { .. }
        | Ending::Panicked { .. }
        | Ending::Stopped => false,
    }
}

/// The message of a panic: `&str` or `String`, the payloads of `panic!`.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
