//! Tests of the model with a scripted background worker and evaluator.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use jiff::Timestamp;
use lightbench_core::device::{DeviceSheet, LocalDevice};
use lightbench_core::engine::{Ending, Event, Request, RequestId, RequestRefused};
use lightbench_core::evaluate::Run;
use lightbench_core::history::record::{
    ChecksSummary, CorrectnessSource, DeviceIdentity, Environment, Origin, Outcome, RunId,
    RunRecord, Scope, WorkloadName,
};
use lightbench_core::history::text::Texts;
use lightbench_core::history::timing::RecordedTiming;
use lightbench_core::history::{Provenance, RunNumber, StoredRun};
use lightbench_core::measure::{self, Basis, Clock, Conditions, Summary, Timing};
use lightbench_core::project::{BrokenFile, Part as ProjectPart, Project};
use lightbench_core::report::evidence::RunEvidence;
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::{
    Checks, Failure, Passed, SizeCheck, Step, Uncounted, WorkloadTiming,
};

use super::background_task::{
    BackgroundTask, BackgroundWorker, DetectedMachine, DeviceChoice, Evaluator, HistoryPart,
    RunComparisons, TaskResult,
};
use super::command::Recovery;
use super::last_session::LastSession;
use super::run_details::{ReadRun, RunDetails};
use super::verdict::{Tone, VerdictLine};
use super::*;

/// Records what the background worker and the evaluator received, and scripts what they return.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script(Arc<Mutex<Scripted>>);

#[derive(Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) handed: Vec<BackgroundTask>,
    pub(crate) findings: VecDeque<TaskResult>,
    pub(crate) asked: Vec<Request>,
    pub(crate) events: VecDeque<Event>,
}

impl Script {
    pub(crate) fn get(&self) -> MutexGuard<'_, Scripted> {
        self.0.lock().unwrap()
    }

    pub(crate) fn find(&self, finding: TaskResult) {
        self.get().findings.push_back(finding);
    }

    pub(crate) fn say(&self, event: Event) {
        self.get().events.push_back(event);
    }

    /// The tasks submitted since the last call.
    pub(crate) fn handed(&self) -> Vec<BackgroundTask> {
        std::mem::take(&mut self.get().handed)
    }
}

impl BackgroundWorker for Script {
    fn submit(&self, task: BackgroundTask) {
        self.get().handed.push(task);
    }

    fn next_result(&self) -> Option<TaskResult> {
        self.get().findings.pop_front()
    }
}

impl Evaluator for Script {
    fn ask(&self, request: Request) -> Result<RequestId, RequestRefused> {
        let mut scripted = self.get();
        scripted.asked.push(request);
        Ok(RequestId::from_number(scripted.asked.len() as u64))
    }

    fn next_event(&self) -> Option<Event> {
        self.get().events.pop_front()
    }
}

pub(crate) const NOW: Duration = Duration::from_secs(1);
pub(crate) const WORKLOAD: &str = "llama-70b-prefill";

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/rmsnorm").canonicalize().unwrap()
}

pub(crate) fn project() -> Project {
    Project::load(&folder()).unwrap()
}

fn device(name: &str) -> DeviceChoice {
    let sheet = DeviceSheet::named(name).unwrap();
    let title = format!("virtual {}", sheet.title);
    DeviceChoice {
        name: LocalDevice::Virtual(sheet).into(),
        sheet,
        title,
        calibration: None,
        remarks: Vec::new(),
    }
}

/// A workbench with the RMSNorm sample open, and its script.
pub(crate) fn opened() -> (Workbench, Script) {
    bench_on(&folder())
}

/// A workbench with the given project open.
pub(crate) fn bench_on(folder: &Path) -> (Workbench, Script) {
    let script = Script::default();
    let mut bench = Workbench::new(Settings::default(), Box::new(script.clone()));
    script.find(TaskResult::Machine(Ok(DetectedMachine {
        evaluator: Box::new(script.clone()),
        devices: vec![device("h200"), device("t4")],
        compiler: "NVRTC 13.5".to_owned(),
        without_gpu: Some("no driver".to_owned()),
        profiler: Err("Nsight Compute is not installed".to_owned()),
    })));
    let project = Project::load(folder).unwrap();
    script.find(TaskResult::Project(folder.to_owned(), Box::new(Ok(project))));
    script.find(TaskResult::History(folder.to_owned(), Vec::new(), HistoryPart::Last));
    bench.poll(NOW);
    script.handed();
    (bench, script)
}

/// A time of the selected workload.
pub(crate) fn timing(seconds: f64) -> Timing {
    let around = |part: f64| Seconds(seconds * part);
    let rounds = vec![(0..20).map(|index| around(1.0 + f64::from(index % 5) * 1e-3)).collect()];
    Timing {
        clock: Clock::Events { offset: Seconds(1e-6), floor: Seconds(2e-6), without: None },
        mode: measure::Mode::Cold,
        summary: Summary {
            median: Seconds(seconds),
            interval: (around(0.998), around(1.002)),
            quartiles: (around(0.999), around(1.001)),
            minimum: around(0.997),
            samples: 20,
        },
        basis: Basis::Samples {
            rounds,
            batch: 1,
            stopped: lightbench_core::measure::Stopped::Precise,
        },
        conditions: Conditions::default(),
        taint: Vec::new(),
        launch_floor: None,
    }
}

pub(crate) fn passed(seed: u64, seconds: f64) -> Run {
    let timings = vec![WorkloadTiming {
        workload: WORKLOAD.to_owned(),
        timings: vec![timing(seconds)],
        withheld: None,
        check: SizeCheck::Whole,
        profile: Err(Uncounted::NoVirtualDevice),
        energy: None,
        standing: None,
        baselines: Vec::new(),
    }];
    let verdict = Ok(Passed { checks: Checks::default(), timings });
    Run { candidate: None, seed, verdict, elapsed: Duration::from_secs(2) }
}

/// A workbench that starts with a stored session, with the RMSNorm sample open.
pub(crate) fn reopened(session: LastSession) -> Workbench {
    let script = Script::default();
    let mut bench = Workbench::new(Settings::default(), Box::new(script.clone()));
    bench.last_session = session;
    script.find(TaskResult::Project(folder(), Box::new(Ok(project()))));
    bench.poll(NOW);
    bench
}

/// A run of the history as it is read, without evidence.
pub(crate) fn read(run: &StoredRun, source: Option<String>) -> TaskResult {
    let details = RunEvidence::from_failed(&run.record).map(|evidence| {
        let (samples, provenance) = (Vec::new(), run.provenance);
        Arc::new(RunDetails { evidence, samples, comparisons: BTreeMap::new(), provenance })
    });
    let source = source.map(Into::into);
    TaskResult::Run(folder(), ReadRun { run: Arc::new(run.clone()), source, details })
}

/// A stored run.
pub(crate) fn stored(number: i64, kernel: &str, seed: u64, seconds: Option<f64>) -> StoredRun {
    let project = project();
    let workload = project.workload(WORKLOAD).unwrap();
    let mut texts = Texts::default();
    let timings = seconds.map(|seconds| {
        RecordedTiming::from_timing(
            WorkloadName::from_workload(workload).unwrap(),
            &timing(seconds),
            &mut texts,
        )
        .unwrap()
    });
    let outcome = Outcome::Passed {
        by: CorrectnessSource::Verification(ChecksSummary::new(&project, &Checks::default())),
        timings: timings.into_iter().collect(),
        withheld: BTreeMap::new(),
        energy: BTreeMap::new(),
        numbers: BTreeMap::new(),
    };
    let record = RunRecord {
        id: RunId::of_import(&format!("{number}"), 1),
        made_at: Timestamp::from_second(1_790_000_000 + number * 60).unwrap(),
        project: project.definition.name.clone(),
        definition: Some("0123456789abcdef".to_owned()),
        kernel: kernel.to_owned(),
        candidate: Some(format!("{number:0<64x}")),
        parent: None,
        origin: Origin::Person,
        parameters: BTreeMap::new(),
        sources: Vec::new(),
        device: DeviceIdentity {
            name: "virtual:h200".to_owned(),
            title: "virtual H200".to_owned(),
            uuid: None,
        },
        seed: Some(seed),
        workloads: Vec::new(),
        scope: Scope::Whole,
        outcome,
        environment: Environment::default(),
        elapsed: None,
        evidence: None,
    };
    StoredRun { number: RunNumber(number), provenance: Provenance::Own, label: None, record }
}

/// The verdict requests for kernels, with their seeds.
pub(crate) fn evaluations(script: &Script) -> Vec<(RequestId, String, u64)> {
    let scripted = script.get();
    let asked = scripted.asked.iter().zip(1..);
    asked
        .filter_map(|(request, number)| match request {
            Request::Evaluate(work, conditions) => {
                Some((RequestId::from_number(number), work.kernel.name.clone(), conditions.seed))
            }
            Request::Screen(..)
            | Request::Compare(..)
            | Request::Profile(..)
            | Request::Compile(..)
            | Request::CompileAhead(..)
            | Request::Cancel(_)
            | Request::Stop => None,
        })
        .collect()
}

#[test]
fn from_a_save_to_a_row_of_the_history() {
    let (mut bench, script) = opened();
    let kernel = bench.opened.as_ref().unwrap().kernel.clone();
    let text = format!("{}// another\n", bench.documents.front().unwrap().text);
    let document = bench.documents.front_mut().unwrap();
    document.text.clone_from(&text);
    document.touch(NOW);
    bench.carry_out(Command::Save, NOW);
    let Some(BackgroundTask::Save { file, text: saved, .. }) = script.handed().pop() else {
        panic!("nothing is saved")
    };
    assert_eq!(saved, text);
    script.find(TaskResult::Saved(file.clone(), text.clone(), Ok(())));
    bench.poll(NOW);
    assert!(!bench.documents.any_changed());
    assert!(matches!(script.handed().as_slice(), [BackgroundTask::ReloadProject(_)]));
    let mut read = project();
    read.kernels.iter_mut().find(|known| known.file == file).unwrap().source = text;
    script.find(TaskResult::Project(folder(), Box::new(Ok(read))));
    bench.poll(NOW);
    let asked = evaluations(&script);
    let [(request, name, seed)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*name, kernel);
    script.say(Event::Began {
        request: *request,
        step: Step::Results,
        workload: None,
        expected: None,
    });
    bench.poll(NOW);
    assert!(bench.evaluations.is_busy());
    script.say(Event::Finished {
        request: *request,
        ending: Ending::Evaluated(Box::new(passed(*seed, 1e-4))),
    });
    bench.poll(NOW);
    assert!(script.handed().iter().any(|task| matches!(task, BackgroundTask::Record(_))));
    let line = "Correct, and 3 % faster than before".to_owned();
    let run = Box::new(stored(1, &kernel, *seed, Some(1e-4)));
    let lines = BTreeMap::from([(WORKLOAD.to_owned(), line)]);
    let compared = RunComparisons { times: BTreeMap::new(), lines };
    script.find(TaskResult::Recorded(folder(), run, compared));
    bench.poll(NOW);
    assert_eq!(bench.runs.rows().len(), 1);
    assert_eq!(bench.shown_run().map(|row| row.number), Some(RunNumber(1)));
}

#[test]
fn a_kernel_that_is_half_written_stays_the_one_that_is_worked_on() {
    let (mut bench, script) = opened();
    let (sound, mut half) = (project(), project());
    let kernel = bench.opened.as_ref().unwrap().kernel.clone();
    let at = half.kernels.iter().position(|known| known.name == kernel).unwrap();
    let (file, source) = (half.kernels.remove(at).file, "half".to_owned());
    let problems = half.draft(&kernel, source.clone()).unwrap_err();
    half.broken.push(BrokenFile {
        file,
        part: ProjectPart::Kernel,
        source: Some(source),
        problems,
    });
    let hear = |bench: &mut Workbench, read: Project| {
        script.find(TaskResult::Project(folder(), Box::new(Ok(read))));
        bench.poll(NOW);
    };
    hear(&mut bench, half);
    let opened = bench.opened.as_ref().unwrap();
    assert_eq!((opened.kernel.as_str(), opened.problems.len()), (kernel.as_str(), 1));
    let line = bench.verdict_line();
    assert_eq!(line.tone, Tone::Bad);
    let says = format!("{kernel} cannot be read: line 1: the file has no launch block");
    assert_eq!(line.text, says);
    let front = bench.documents.front().unwrap();
    assert_eq!((front.text.as_str(), front.problems.len()), ("half", 1));
    bench.carry_out(Command::Run, NOW);
    assert!(evaluations(&script).is_empty(), "what is not understood is not run");
    hear(&mut bench, sound);
    assert!(bench.documents.front().unwrap().problems.is_empty());
    assert_eq!(evaluations(&script).len(), 1, "it is another text than before");
}

#[test]
fn a_newer_save_is_asked_about_and_an_older_answer_is_not_taken_for_it() {
    let (mut bench, script) = opened();
    bench.carry_out(Command::Run, NOW);
    bench.carry_out(Command::Run, NOW);
    let asked = evaluations(&script);
    let [(old, ..), (new, ..)] = asked.as_slice() else { panic!("{asked:?}") };
    let because = lightbench_core::engine::CancelReason::SupersededBy(*new);
    script.say(Event::Finished {
        request: *old,
        ending: Ending::Cancelled { because, so_far: None },
    });
    bench.poll(NOW);
    let kernel = bench.opened.as_ref().unwrap().kernel.clone();
    let known = bench.evaluations.kernel(&kernel).unwrap();
    assert_eq!(known.running, Some(*new));
}

#[test]
fn modes_say_how_far_to_go() {
    let check = |mode: Mode, compiles: usize, verdicts: usize| {
        let (mut bench, script) = opened();
        bench.carry_out(Command::SetMode(mode), NOW);
        bench.carry_out(Command::Save, NOW);
        let asked = script.get().asked.len();
        assert_eq!(
            (asked - evaluations(&script).len(), evaluations(&script).len()),
            (compiles, verdicts),
            "{mode:?}"
        );
    };
    check(Mode::Off, 0, 0);
    check(Mode::Compile, 1, 0);
    check(Mode::Verify, 1, 1);
    check(Mode::Full, 1, 1);
}

#[test]
fn ends_without_a_verdict_are_said_and_nothing_hangs() {
    let check = |ending: Ending, expected: &str| {
        let (mut bench, script) = opened();
        bench.carry_out(Command::Run, NOW);
        let (request, ..) = evaluations(&script)[0].clone();
        script.say(Event::Finished { request, ending });
        bench.poll(NOW);
        let kernel = bench.opened.as_ref().unwrap().kernel.clone();
        assert_eq!(bench.evaluations.kernel(&kernel).unwrap().running, None, "{expected}");
        let said = bench.notices.newest().map(|notice| notice.text.clone()).collect::<String>();
        assert!(said.contains(expected), "{said}");
    };
    let environment =
        lightbench_core::evaluate::EvaluateError::Environment("no reference".to_owned());
    check(Ending::Impossible(environment), "no reference");
    check(Ending::Panicked { message: "index out of bounds".to_owned() }, "a defect of Lightbench");
    let failed = Err(Failure::TimedOut {
        at: None,
        step: Step::Results,
        workload: None,
        limit: Duration::from_secs(9),
    }
    .into());
    let run = Run { candidate: None, seed: 0, verdict: failed, elapsed: Duration::ZERO };
    check(Ending::Evaluated(Box::new(run)), "");
}

#[test]
fn runs_are_filtered_sorted_and_compared() {
    let mut runs = Runs::default();
    for (number, kernel, seconds) in [
        (1, "naive", Some(4e-4)),
        (2, "warp", Some(2e-4)),
        (3, "naive", None),
        (4, "vector", Some(1e-4)),
    ] {
        runs.add(&[stored(number, kernel, 0, seconds)]);
    }
    let check = |filter: &str, sort: runs::Sort, expected: &[i64]| {
        let shown = runs.filtered(&runs::RunFilter {
            filter: filter.to_owned(),
            sort,
            ..runs::RunFilter::default()
        });
        let numbers: Vec<i64> =
            shown.iter().map(|place| runs.rows()[*place as usize].number.0).collect();
        assert_eq!(numbers, expected, "{filter} {sort:?}");
    };
    check("", runs::Sort::Newest, &[4, 3, 2, 1]);
    check("NAIVE", runs::Sort::Newest, &[3, 1]);
    check("naive passed h200", runs::Sort::Newest, &[3, 1]);
    check("#2", runs::Sort::Newest, &[2]);
    check("nothing", runs::Sort::Newest, &[]);
    check("", runs::Sort::Fastest, &[4, 2, 1, 3]);
    check("", runs::Sort::Kernel, &[3, 1, 4, 2]);
    let row = |number| runs.get(RunNumber(number)).unwrap();
    assert!(runs.is_best(row(4)) && !runs.is_best(row(2)));
    assert_eq!(runs.best_like(row(1)).map(|row| row.number), Some(RunNumber(4)));
    assert_eq!(runs.before(row(3)).map(|row| row.number), Some(RunNumber(1)));
    assert!((row(4).against(row(2), WORKLOAD).unwrap() + 0.5).abs() < 1e-9);
    assert_eq!(row(3).against(row(2), WORKLOAD), None);
}

#[test]
fn a_history_is_read_in_parts_and_found_again_in_order() {
    let (mut bench, script) = opened();
    let part = |numbers: std::ops::Range<i64>| {
        let run = |number| stored(number, ["naive", "warp"][number as usize % 2], 0, Some(1e-4));
        numbers.rev().map(run).collect::<Vec<_>>()
    };
    script.find(TaskResult::History(folder(), part(6..11), HistoryPart::More(RunNumber(6))));
    bench.poll(NOW);
    let asked = script.handed().into_iter().filter_map(|task| {
        if let BackgroundTask::ReadHistory(_, before) = task { Some(before) } else { None }
    });
    assert_eq!(asked.collect::<Vec<_>>(), [RunNumber(6)]);
    // A run ended meanwhile, so one run arrives twice.
    script.find(TaskResult::History(folder(), part(11..12), HistoryPart::Last));
    script.find(TaskResult::History(folder(), part(1..8), HistoryPart::Last));
    bench.poll(NOW);
    let numbers: Vec<i64> = bench.runs.rows().iter().map(|row| row.number.0).collect();
    assert_eq!(numbers, (1..12).collect::<Vec<_>>());
    let newest = |kernel| bench.runs.newest_of(kernel).map(|row| row.number.0);
    assert_eq!((newest("naive"), newest("warp"), newest("none")), (Some(10), Some(11), None));
}

#[test]
fn what_the_history_knows_of_a_kernel_is_said() {
    let (mut bench, script) = opened();
    let check = |bench: &Workbench, expected: &str| {
        assert_eq!(
            bench.verdict_line(),
            VerdictLine { text: expected.to_owned(), tone: Tone::Quiet }
        );
    };
    check(&bench, "This kernel was not evaluated yet: save it, or press F5");
    script.find(TaskResult::History(
        folder(),
        vec![stored(4, "naive", 7, Some(131e-6))],
        HistoryPart::Last,
    ));
    bench.poll(NOW);
    check(
        &bench,
        "Run 4 (latest) passed, 131 µs measured at llama-70b-prefill. Press F5 to evaluate again",
    );
}

#[test]
fn a_text_that_was_not_saved_comes_back() {
    let (mut bench, script) = opened();
    let file = bench.documents.front().unwrap().file.clone();
    script.find(TaskResult::Journal(folder(), file.clone(), "rescued".to_owned()));
    bench.poll(NOW);
    bench.carry_out(Command::Recover(file.clone(), Recovery::Restore), NOW);
    assert_eq!(bench.documents.get(&file).unwrap().text, "rescued");
    assert!(bench.documents.any_changed() && bench.selection.lost.is_empty());
    bench.carry_out(Command::Quit, NOW);
    assert!(bench.take_effects().contains(&UiEffect::ConfirmQuit));
}
