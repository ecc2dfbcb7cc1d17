//! Every worker killed and stopped at several points of every step of a verdict: a correct kernel still passes.

use std::path::PathBuf;

use lightbench_core::engine::{AbComparison, Ending, Event, RequestId};
use lightbench_core::evaluate::EvaluateError;
use lightbench_core::evaluate::compare::Pair;
use lightbench_core::measure::{Mode, Protocol};
use lightbench_core::verify::verdict::Step;
use rustix::process::Signal;

use super::meddler::{children, end_on_panic, signal, workers};
use super::*;
use crate::worker::{is_gone_or_zombie, wait_until};

/// Points of each step at which a worker is harmed.
const POINTS: u32 = 6;

/// How long a worker may be stopped here; 10 s elsewhere.
const STOPPED_LIMIT: Duration = Duration::from_millis(400);

/// Long enough for a machine on which much else is built meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn a_worker_that_is_killed_at_any_point_costs_no_verdict() {
    check(Signal::KILL);
}

#[test]
fn a_worker_that_is_stopped_in_any_step_costs_no_verdict() {
    check(Signal::STOP);
}

/// In a process of its own, all of whose children are workers.
fn check(signal: Signal) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_own_cache();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["engine::killed::process_whose_workers_are_harmed", "--exact", "--ignored"])
        .arg("--nocapture")
        .env("LIGHTBENCH_TEST_SIGNAL", signal.as_raw().to_string())
        .env("LIGHTBENCH_TEST_PROJECT", bench.project())
        .env("LIGHTBENCH_TEST_CACHE", bench.cache())
        .env("TMPDIR", bench.temporary())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("all passed"), "{said}\n{errors}");
}

#[test]
#[ignore = "the process of the tests above"]
fn process_whose_workers_are_harmed() {
    let Ok(number) = std::env::var("LIGHTBENCH_TEST_SIGNAL") else { return };
    let signal = Signal::from_named_raw(number.parse().unwrap()).unwrap();
    let Some(found) = compiler::required() else { return };
    end_on_panic();
    let folder = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let project = Arc::new(Project::load(&folder("LIGHTBENCH_TEST_PROJECT")).unwrap());
    let command = WorkerCommand { stopped_limit: STOPPED_LIMIT, ..command() };
    let engine = engine_with(command, &found.toolchain, &folder("LIGHTBENCH_TEST_CACHE"));
    // A worker that is stopped is waited for: fewer points take as long.
    let points = if signal == Signal::KILL { POINTS } else { 1 };
    let mut trial = Trial { engine, project, evaluations: 0, signal };
    let (_, steps) = trial.evaluated(None);
    let (_, warm) = trial.evaluated(None);
    assert!(steps.len() >= 6, "{steps:?}");
    let mut ends = BTreeMap::new();
    for (step, took) in &warm {
        for point in 0..points {
            let after = took.mul_f64((f64::from(point) + 0.5) / f64::from(points));
            for victim in 0..workers().len().max(1) {
                let (end, _) = trial.evaluated(Some(Harm { step: *step, after, victim }));
                *ends.entry((format!("{step}"), end)).or_insert(0) += 1;
            }
        }
    }
    let took = trial.compared(None);
    for point in 0..points {
        let after = took.mul_f64((f64::from(point) + 0.5) / f64::from(points));
        trial.compared(Some((after, point as usize)));
        *ends.entry(("comparison".to_owned(), "passed")).or_insert(0) += 1;
    }
    println!("{ends:#?}");
    assert!(ends.keys().all(|(_, end)| *end == "passed"), "{ends:#?}");
    println!("{} evaluations, all passed", trial.evaluations);
}

/// What is done to a worker.
#[derive(Clone, Copy)]
struct Harm {
    step: Step,
    /// How long after the step began.
    after: Duration,
    /// Which of the processes, in the order of their numbers.
    victim: usize,
}

struct Trial {
    engine: Engine,
    project: Arc<Project>,
    evaluations: usize,
    signal: Signal,
}

impl Trial {
    /// Harms a worker after so long.
    fn harm(&self, after: Duration, victim: usize) {
        std::thread::sleep(after);
        let mut processes = workers();
        processes.sort_unstable();
        if let Some(process) = processes.get(victim % processes.len().max(1)) {
            signal(*process, self.signal);
            if self.signal == Signal::KILL {
                // On a loaded machine a process outlives the signal for a while: the next evaluation would find the idle
                // worker alive and lose it in addition to its own.
                let process = process.unsigned_abs();
                wait_until("a killed worker ends", PATIENCE, || is_gone_or_zombie(process));
            }
        }
    }

    /// One comparison of two kernels, which must end with times; how long it took.
    fn compared(&mut self, harm: Option<(Duration, usize)>) -> Duration {
        let kernel = |name: &str| work(&self.project, self.project.kernel(name).unwrap());
        let pair = Pair::Kernels([kernel("naive"), kernel("tuned")]);
        let Request::Evaluate(_, conditions) = evaluate(kernel("naive"), DEVICES[0], 1) else {
            unreachable!("it was made a line before")
        };
        let timing = TimingUse::Measure(Protocol::PAIRED);
        let conditions = Conditions { timing, ..conditions };
        let contest = Box::new(AbComparison { pair, mode: Mode::Cold });
        let began = Instant::now();
        let id = self.engine.ask(Request::Compare(contest, conditions)).unwrap();
        if let Some((after, victim)) = harm {
            self.harm(after, victim);
        }
        let ending = self.ending(id);
        go_on();
        assert!(matches!(ending, Ending::Compared(_)), "{ending:?}");
        began.elapsed()
    }

    fn ending(&mut self, id: RequestId) -> Ending {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "a comparison does not end");
            match self.engine.next_event(PATIENCE) {
                Some(Event::Finished { request, ending }) if request == id => return ending,
                Some(
                    Event::Finished { .. }
                    | Event::Began { .. }
                    | Event::Queued { .. }
                    | Event::Noticed(_),
                )
                | None => {}
            }
        }
    }

    /// One evaluation of a text that is not in the compiler's cache: how it ended, and how long each step took at its first time.
    fn evaluated(&mut self, harm: Option<Harm>) -> (&'static str, Vec<(Step, Duration)>) {
        self.evaluations += 1;
        let naive = self.project.kernel("naive").unwrap();
        let source = format!("{}\n// {}\n", naive.source, self.evaluations);
        let kernel = self.project.draft("naive", source).unwrap();
        let request = evaluate(work(&self.project, &kernel), DEVICES[0], self.evaluations as u64);
        let id = self.engine.ask(request).unwrap();
        let (mut steps, mut harm): (Vec<(Step, Duration)>, _) = (Vec::new(), harm);
        let mut began: Option<(Step, Instant)> = None;
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "an evaluation does not end");
            let Some(event) = self.engine.next_event(PATIENCE) else { continue };
            match event {
                Event::Began { request, step, .. } if request == id => {
                    close(&mut steps, began.replace((step, Instant::now())));
                    if let Some(Harm { after, victim, .. }) = harm.take_if(|harm| harm.step == step)
                    {
                        self.harm(after, victim);
                    }
                }
                Event::Finished { request, ending } if request == id => {
                    close(&mut steps, began);
                    go_on();
                    return (word(&ending), steps);
                }
                Event::Began { .. }
                | Event::Finished { .. }
                | Event::Queued { .. }
                | Event::Noticed(_) => {}
            }
        }
    }
}

/// A worker that was stopped while it was idle would be a second harm to the next evaluation.
fn go_on() {
    for process in children() {
        signal(process, Signal::CONT);
    }
}

/// Notes how long a step took, at its first time.
fn close(steps: &mut Vec<(Step, Duration)>, began: Option<(Step, Instant)>) {
    let Some((step, began)) = began else { return };
    if steps.iter().all(|(known, _)| *known != step) {
        steps.push((step, began.elapsed()));
    }
}

fn word(ending: &Ending) -> &'static str {
    if matches!(ending, Ending::Evaluated(run) if run.verdict.is_ok()) {
        return "passed";
    }
    let Ending::Impossible(EvaluateError::Environment(message)) = ending else {
        panic!("harm to a worker is no fault of the kernel: {ending:?}");
    };
    println!("{message}");
    "environment"
}
