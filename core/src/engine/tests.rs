//! The engine without processes: performers that do what a test tells them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use lightbench_primitives::cancellation::Cancellation;

use super::executor::Executor;
use super::*;
use crate::compile::Build;
use crate::device::{DeviceName, DeviceSheet};
use crate::evaluate::{EvaluateError, PolicyUse, Watcher};
use crate::project::Project;
use crate::verify::verdict::Step;

mod unread;
mod waiting;

const PATIENCE: Duration = Duration::from_secs(20);

/// What a performer does for a kernel of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Ends at once.
    End,
    /// Runs until it is cancelled.
    Run,
    /// Runs until the test lets it go, whatever anybody says.
    Hold,
    Panic,
    /// Begins [`STEPS`] steps, and ends.
    Steps,
}

/// Steps of a request that reports much progress.
const STEPS: usize = 99;

impl Act {
    fn of(kernel: &str) -> Self {
        match kernel.split('-').next() {
            Some("run") => Self::Run,
            Some("hold") => Self::Hold,
            Some("panic") => Self::Panic,
            Some("steps") => Self::Steps,
            Some(_) | None => Self::End,
        }
    }
}

struct Scripted {
    /// Hangs up when it is dropped.
    go: Receiver<()>,
}

impl Executor for Scripted {
    fn execute(
        &mut self,
        task: &Task,
        cancellation: &Cancellation,
        watcher: Watcher<'_>,
    ) -> Ending {
        watcher(Step::Compile, None);
        watcher(Step::Results, Some("odd"));
        let kernel = &task.work().kernel.name;
        match Act::of(kernel) {
            Act::End => {}
            Act::Run => {
                let deadline = Instant::now() + PATIENCE;
                while !cancellation.is_cancelled() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Act::Hold => self.go.recv_timeout(PATIENCE).unwrap(),
            Act::Panic => panic!("as the test wants it"),
            Act::Steps => {
                (0..STEPS).for_each(|step| watcher(Step::Results, Some(&step.to_string())));
            }
        }
        if cancellation.is_cancelled() && Act::of(kernel) == Act::Run {
            return Ending::Cancelled { because: CancelReason::Requested, so_far: None };
        }
        // The end that needs no project to be made.
        Ending::Impossible(EvaluateError::Request(kernel.clone()))
    }

    fn notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }
}

/// An engine with two devices, and what it said.
struct Bench {
    engine: Engine,
    go: Sender<()>,
    said: Vec<Event>,
}

const DEVICES: [&str; 2] = ["virtual:h200", "virtual:t4"];

impl Bench {
    fn new() -> Self {
        Self::with_wake(None)
    }

    fn with_wake(wake: Option<Wake>) -> Self {
        let (go, receiver) = bounded(64);
        let hire = || -> ExecutorFactory {
            let go = receiver.clone();
            Box::new(move || Box::new(Scripted { go: go.clone() }))
        };
        let devices = DEVICES.map(|name| (name.to_owned(), hire())).into();
        let engine = Engine::with(devices, hire(), wake).unwrap();
        Self { engine, go, said: Vec::new() }
    }

    /// Evaluates a kernel of that name on the first device.
    fn ask(&self, kernel: &str, asked_by: AskedBy) -> RequestId {
        self.engine.ask(evaluate(DEVICES[0], kernel, asked_by)).unwrap()
    }

    fn person(&self, kernel: &str) -> RequestId {
        self.ask(kernel, AskedBy::Person)
    }

    /// Reads until an event is the one that is looked for.
    fn until(&mut self, what: &str, found: impl Fn(&Event) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !self.said.iter().any(&found) {
            let left = deadline.checked_duration_since(Instant::now());
            let left = left.unwrap_or_else(|| panic!("{what}: {:#?}", self.said));
            self.said.extend(self.engine.next_event(left));
        }
    }

    fn until_begun(&mut self, id: RequestId) {
        let begun = |event: &Event| matches!(event, Event::Began { request, step: Step::Results, .. } if *request == id);
        self.until("it begins", begun);
    }

    /// How a request ended, in a word.
    fn end(&mut self, id: RequestId) -> String {
        let ended =
            |event: &Event| matches!(event, Event::Finished { request, .. } if *request == id);
        self.until("it ends", ended);
        let ends: Vec<String> = self.said.iter().filter_map(|event| word(event, id)).collect();
        assert_eq!(ends.len(), 1, "{id} ends once: {ends:?}");
        ends[0].clone()
    }

    /// Stops, and gives the numbers of the requests in the order in which they ended.
    fn stopped(mut self) -> Vec<u64> {
        let stop = self.engine.ask(Request::Stop).unwrap();
        assert_eq!(self.end(stop), "stopped");
        assert!(self.engine.next_event(Duration::ZERO).is_none(), "nothing is said after the end");
        let order = self.said.iter().filter_map(|event| match event {
            Event::Finished { request, .. } => Some(request.0),
            Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_) => None,
        });
        order.collect()
    }
}

fn word(event: &Event, id: RequestId) -> Option<String> {
    let Event::Finished { request, ending } = event else { return None };
    (*request == id).then(|| match ending {
        Ending::Impossible(error) => format!("done {error}"),
        Ending::Cancelled { because: CancelReason::SupersededBy(by), .. } => {
            format!("superseded by {}", by.0)
        }
        Ending::Cancelled { because: CancelReason::Requested, .. } => "cancelled".to_owned(),
        Ending::Cancelled { because: CancelReason::Stopping, .. } => "stopping".to_owned(),
        Ending::Panicked { message } => format!("panicked: {message}"),
        Ending::Stopped => "stopped".to_owned(),
        Ending::Evaluated(_)
        | Ending::Screened(_)
        | Ending::CompiledAhead { .. }
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_) => unreachable!(),
    })
}

fn project() -> Arc<Project> {
    static PROJECT: std::sync::OnceLock<Arc<Project>> = std::sync::OnceLock::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/scale");
    Arc::clone(PROJECT.get_or_init(|| Arc::new(Project::load(&folder).unwrap())))
}

fn work(kernel: &str, asked_by: AskedBy) -> Work {
    let project = project();
    let mut own = project.kernels[0].clone();
    own.name = kernel.to_owned();
    Work { project, kernel: Arc::new(own), chosen: BTreeMap::new(), asked_by }
}

fn evaluate(device: &str, kernel: &str, asked_by: AskedBy) -> Request {
    let device = DeviceName::parse(device).unwrap();
    let sheet = DeviceSheet::named("h200").unwrap();
    let policy = PolicyUse::Refuse;
    let timing = crate::verify::verdict::TimingUse::Skip;
    let conditions =
        Conditions { device, sheet, calibration: None, workload: None, seed: 1, policy, timing };
    Request::Evaluate(work(kernel, asked_by), conditions)
}

#[test]
fn a_request_is_queued_begins_and_ends() {
    let mut bench = Bench::new();
    let id = bench.person("a");
    assert_eq!(bench.end(id), "done a");
    let kinds: Vec<String> = bench
        .said
        .iter()
        .map(|event| match event {
            Event::Queued { ahead, .. } => format!("queued behind {ahead}"),
            Event::Began { step, workload, .. } => format!("{step} {workload:?}"),
            Event::Finished { .. } => "finished".to_owned(),
            Event::Noticed(_) => "noticed".to_owned(),
        })
        .collect();
    assert_eq!(kinds, ["queued behind 0", "compile None", "results Some(\"odd\")", "finished"]);
    assert_eq!(bench.stopped(), [1, 2]);
}

#[test]
fn a_persons_request_goes_first() {
    let mut bench = Bench::new();
    let held = bench.person("hold");
    bench.until_begun(held);
    let background = bench.ask("b", AskedBy::Background);
    let person = bench.person("c");
    bench.go.send(()).unwrap();
    assert_eq!(bench.end(background), "done b");
    assert_eq!(bench.end(person), "done c");
    assert_eq!(bench.stopped(), [held.0, person.0, background.0, 4]);
}

#[test]
fn background_work_is_put_off_for_a_person_and_begins_again() {
    let mut bench = Bench::new();
    let background = bench.ask("run-b", AskedBy::Background);
    bench.until_begun(background);
    let person = bench.person("c");
    assert_eq!(bench.end(person), "done c");
    let again = |said: &[Event]| {
        let begun = said.iter().filter(|event| {
            matches!(event, Event::Began { request, step: Step::Results, .. } if *request == background)
        });
        begun.count()
    };
    let deadline = Instant::now() + PATIENCE;
    while again(&bench.said) < 2 && Instant::now() < deadline {
        let event = bench.engine.next_event(PATIENCE);
        bench.said.extend(event);
    }
    assert_eq!(again(&bench.said), 2);
    bench.engine.ask(Request::Cancel(background)).unwrap();
    assert_eq!(bench.end(background), "cancelled");
}

#[test]
fn a_newer_request_for_the_same_kernel_supersedes_the_older_one() {
    let mut bench = Bench::new();
    let running = bench.person("run-a");
    bench.until_begun(running);
    let waiting = bench.person("run-a");
    let newest = bench.person("run-a");
    assert_eq!(bench.end(running), format!("superseded by {}", waiting.0));
    assert_eq!(bench.end(waiting), format!("superseded by {}", newest.0));
    bench.engine.ask(Request::Cancel(newest)).unwrap();
    assert_eq!(bench.end(newest), "cancelled");
}

#[test]
fn a_verdict_about_something_older_is_not_told() {
    let mut bench = Bench::new();
    let older = bench.person("hold-a");
    bench.until_begun(older);
    let newer = bench.person("hold-a");
    bench.go.send(()).unwrap();
    bench.go.send(()).unwrap();
    assert_eq!(bench.end(older), format!("superseded by {}", newer.0));
    assert_eq!(bench.end(newer), "done hold-a");
}

#[test]
fn another_kernel_parameter_or_asker_is_another_thing() {
    let mut bench = Bench::new();
    let held = bench.person("hold");
    bench.until_begun(held);
    let same = bench.ask("hold", AskedBy::Background);
    let mut other = work("hold", AskedBy::Person);
    other.chosen.insert("BLOCK".to_owned(), 64);
    let Request::Evaluate(_, conditions) = evaluate(DEVICES[0], "x", AskedBy::Person) else {
        unreachable!()
    };
    let other = bench.engine.ask(Request::Evaluate(other, conditions)).unwrap();
    for _ in 0..3 {
        bench.go.send(()).unwrap();
    }
    for id in [held, same, other] {
        assert_eq!(bench.end(id), "done hold");
    }
}

#[test]
fn two_devices_and_the_compiler_work_at_the_same_time() {
    let mut bench = Bench::new();
    let first = bench.person("hold-a");
    let second = evaluate(DEVICES[1], "hold-b", AskedBy::Person);
    let second = bench.engine.ask(second).unwrap();
    let sheet = DeviceSheet::named("h200").unwrap();
    let for_what = CompileFor { sheet, workload: "odd".to_owned(), build: Build::Optimised };
    let compile = Request::Compile(work("hold-c", AskedBy::Person), for_what);
    let compile = bench.engine.ask(compile).unwrap();
    for id in [first, second, compile] {
        bench.until_begun(id);
    }
    for _ in 0..3 {
        bench.go.send(()).unwrap();
    }
    for (id, kernel) in [(first, "hold-a"), (second, "hold-b"), (compile, "hold-c")] {
        assert_eq!(bench.end(id), format!("done {kernel}"));
    }
}

#[test]
fn a_panic_is_an_end_and_the_thread_goes_on() {
    let mut bench = Bench::new();
    let (first, second) = (bench.person("panic"), bench.person("b"));
    assert_eq!(bench.end(first), "panicked: as the test wants it");
    assert_eq!(bench.end(second), "done b");
}

#[test]
fn stopping_ends_what_runs_and_what_waits() {
    let mut bench = Bench::new();
    let running = bench.person("run-a");
    bench.until_begun(running);
    let waiting = bench.person("b");
    let stop = bench.engine.ask(Request::Stop).unwrap();
    assert_eq!(bench.end(stop), "stopped");
    assert_eq!(bench.end(running), "stopping");
    assert_eq!(bench.end(waiting), "stopping");
    let refused = bench.engine.ask(evaluate(DEVICES[0], "c", AskedBy::Person));
    assert_eq!(refused, Err(RequestRefused::Stopping));
    assert_eq!(bench.engine.ask(Request::Stop), Err(RequestRefused::Stopping));
}

#[test]
fn requests_that_cannot_be_taken_are_refused_at_once() {
    let mut bench = Bench::new();
    let ask = |device: &str, kernel: &str| {
        bench.engine.ask(evaluate(device, kernel, AskedBy::Background))
    };
    assert_eq!(ask("virtual:l4", "a"), Err(RequestRefused::NoSuchDevice("virtual:l4".to_owned())));
    let held = ask(DEVICES[0], "hold").unwrap();
    let mut taken = Vec::new();
    let full = loop {
        match ask(DEVICES[0], &format!("run-{}", taken.len())) {
            Ok(id) => taken.push(id),
            Err(refused) => break refused,
        }
    };
    assert_eq!(full, RequestRefused::Full(MAX_WAITING));
    bench.engine.ask(Request::Cancel(taken[0])).unwrap();
    assert_eq!(bench.end(taken[0]), "cancelled");
    let gone = bench.engine.ask(Request::Cancel(taken[0]));
    assert_eq!(gone, Err(RequestRefused::UnknownRequest(taken[0])));
    bench.go.send(()).unwrap();
    assert_eq!(bench.end(held), "done hold");
}

#[test]
fn nobody_waits_for_a_reader_and_memory_is_bounded() {
    let bench = Bench::new();
    let mut asked = 0;
    let refused = loop {
        match bench.engine.ask(evaluate(DEVICES[0], &format!("a-{asked}"), AskedBy::Person)) {
            Ok(_) => asked += 1,
            Err(RequestRefused::Full(_)) => std::thread::yield_now(),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, RequestRefused::Unread(_)), "{refused}");
    let stop = bench.engine.ask(Request::Stop).unwrap();
    let mut ends = 0;
    loop {
        match bench.engine.next_event(PATIENCE) {
            Some(Event::Finished { request, .. }) if request == stop => break,
            Some(Event::Finished { .. }) => ends += 1,
            Some(Event::Queued { .. } | Event::Began { .. } | Event::Noticed(_)) => {}
            None => panic!("the engine does not stop"),
        }
    }
    assert_eq!(ends, asked, "every request has its end");
}

#[test]
fn dropping_the_engine_ends_its_threads() {
    let bench = Bench::new();
    let id = bench.person("run-a");
    assert!(id.0 > 0);
    let outbox = Arc::clone(&bench.engine.lanes.outbox);
    drop(bench);
    assert_eq!(Arc::strong_count(&outbox), 1, "no thread holds it any more");
}

#[test]
fn the_time_of_a_step_is_expected_the_next_time() {
    let mut bench = Bench::new();
    for expected in [false, true] {
        let id = bench.person("a");
        assert_eq!(bench.end(id), "done a");
        let known = bench.said.iter().any(|event| {
            matches!(event, Event::Began { request, step: Step::Compile, expected: Some(_), .. } if *request == id)
        });
        assert_eq!(known, expected);
    }
}

#[test]
fn whoever_reads_is_woken_for_each_event() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let wake = Wake(Box::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    }));
    let Bench { engine, .. } = Bench::with_wake(Some(wake));
    engine.ask(evaluate(DEVICES[0], "a", AskedBy::Person)).unwrap();
    let mut said = 0;
    while let Some(event) = engine.next_event(PATIENCE) {
        said += 1;
        if let Event::Finished { .. } = event {
            break;
        }
    }
    drop(engine);
    assert_eq!(count.load(Ordering::SeqCst), said);
}
