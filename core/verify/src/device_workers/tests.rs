//! How the process of a device worker can end or fail, simulated by a scripted device.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Instant;

use crate::device_session::SessionFailure;
use lightbench_device::scripted::{ScriptedDevice, ScriptedLaunch};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::compare::Comparator;
use lightbench_project::launch::Buffer;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_project::manifest::{Accuracy, Distribution};
use lightbench_tensors::case::Case;
use lightbench_tensors::fixture;
use lightbench_tensors::inputs::{InputMode, InputSpec};
use lightbench_worker::end::WorkerRole;
use lightbench_worker::server;

use super::*;
use crate::device_protocol;
use crate::device_session::{BufferPlacement, CountsUse, DeviceSession, GridPart, Scrutiny};
use crate::program::{ArgumentCase, LaunchStep, Program, Step};
use crate::reference_source::ReferenceSource;

const SCRIPT: &str = "LIGHTBENCH_TEST_SCRIPT";
const LIMIT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(300);

/// One script for each side, by its name.
type Scripts = BTreeMap<String, Vec<ScriptedLaunch>>;

/// Opens a scripted device with the script of the side.
fn open(opening: &OpenRequest) -> Result<DeviceSession, SessionFailure> {
    let scripts = std::env::var(SCRIPT).unwrap();
    let mut scripts: Scripts = serde_json::from_str(&scripts).unwrap();
    let script = scripts.remove(&format!("{:?}", opening.side)).unwrap();
    DeviceSession::with_device(Box::new(ScriptedDevice::new(script)), opening)
}

/// This very test program as a worker. What the test harness prints goes nowhere; descriptor 3 is the parent's pipe.
fn command(candidate: &[ScriptedLaunch], reference: &[ScriptedLaunch]) -> WorkerCommand {
    let program = std::env::current_exe().unwrap();
    let name = "device_workers::tests::scripted_worker";
    let script = "exec \"$0\" \"$@\" 3>&1 1>/dev/null";
    let arguments = ["-c", script, program.to_str().unwrap(), name];
    let harness = ["--exact", "--ignored", "--nocapture"];
    let mut command = WorkerCommand::new("/bin/sh", arguments.into_iter().chain(harness));
    let scripts: Scripts = [("Candidate", candidate), ("Reference", reference)]
        .map(|(side, script)| (side.to_owned(), script.to_vec()))
        .into();
    let scripts = serde_json::to_string(&scripts).unwrap();
    command.environment.push((SCRIPT.into(), scripts.into()));
    command
}

#[test]
#[ignore = "the worker's part of the tests below"]
fn scripted_worker() {
    if std::env::var_os(SCRIPT).is_none() {
        return;
    }
    let to_parent = File::options().write(true).open("/dev/fd/3").unwrap();
    rustix::stdio::dup2_stdout(&to_parent).unwrap();
    server::serve(vec![device_protocol::offer_with(open)]).unwrap();
}

/// Four integers.
fn case() -> Case {
    fixture::case(
        Accuracy::Exact,
        vec![fixture::output(Dtype::I32, &[4], Comparator::IntegerExact)],
    )
}

fn program() -> Program {
    let launch = LaunchStep {
        kernel: "k".to_owned(),
        grid: [1; 3],
        block: [4, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        residence: None,
        arguments: vec![ArgumentCase::Buffer(Buffer::Tensor(0))],
    };
    Program {
        module: 0,
        scratch: Vec::new(),
        constants: Vec::new(),
        steps: vec![Step::Launch(launch)],
    }
}

const RECIPE: InputSpec =
    InputSpec { seed: 1, draw: InputMode::Distribution(Distribution::AsDeclared) };

fn run_request() -> RunRequest {
    RunRequest {
        case: case(),
        program: program(),
        recipe: RECIPE,
        memory: BufferPlacement::Fresh(lightbench_device::Placement::Left),
        scrutiny: Scrutiny::Memory,
        counts: CountsUse::Drop,
        outputs: None,
        part: GridPart::Whole,
    }
}

fn judge_request() -> JudgeRequest {
    JudgeRequest {
        case: case(),
        reference: ReferenceSource::Program(program()),
        supplied: Vec::new(),
        recipe: RECIPE,
        outputs: PathBuf::new(),
        part: GridPart::Whole,
        admission: None,
    }
}

fn writes(values: [i32; 4]) -> ScriptedLaunch {
    ScriptedLaunch::Write(vec![(0, values.iter().flat_map(|value| value.to_le_bytes()).collect())])
}

/// Open device workers.
fn workers(candidate: &[ScriptedLaunch], reference: &[ScriptedLaunch]) -> DeviceWorkers {
    let device = DeviceName::parse("virtual:h200").unwrap();
    let mut workers = DeviceWorkers::new(&command(candidate, reference), &device, None).unwrap();
    reopen(&mut workers);
    workers
}

fn reopen(workers: &mut DeviceWorkers) {
    let module = ModuleImage { ptx: String::new(), cubin: None };
    let reference = CompiledReference::Modules(vec![module.clone()]);
    workers.open(&[module], &reference, None, 1, &Cancellation::new()).unwrap();
}

fn ran(workers: &mut DeviceWorkers, limit: Duration) -> Result<RunReport, DeviceWorkerError> {
    workers.run(run_request(), limit, &Cancellation::new())
}

#[test]
fn results_are_handed_over_and_judged() {
    let check = |found, expected, wrong: &[u64]| {
        let mut workers = workers(&[writes(found)], &[writes(expected)]);
        assert_eq!(ran(&mut workers, LIMIT).unwrap().faults, []);
        let judged = workers.judge(judge_request(), LIMIT, &Cancellation::new()).unwrap();
        let counts: Vec<u64> = judged
            .comparisons
            .iter()
            .flat_map(|each| &each.wrong)
            .map(|wrong| wrong.count)
            .collect();
        assert_eq!(counts, wrong, "{found:?} for {expected:?}");
    };
    check([1, 2, 3, 4], [1, 2, 3, 4], &[]);
    check([1, 2, 3, 5], [1, 2, 3, 4], &[1]);
}

#[test]
fn what_was_not_written_is_wrong() {
    let half = ScriptedLaunch::Write(vec![(0, vec![0; 8])]);
    let mut workers = workers(&[half], &[writes([0; 4])]);
    ran(&mut workers, LIMIT).unwrap();
    let judged = workers.judge(judge_request(), LIMIT, &Cancellation::new()).unwrap();
    let wrong = judged.comparisons[0].wrong.as_ref().unwrap();
    assert_eq!((wrong.count, wrong.kind), (2, WrongKind::Unwritten));
}

/// Checks the error of a device worker that ends; afterwards both workers run again.
fn check_end(act: &ScriptedLaunch, limit: Duration, expected: &str) {
    let mut workers = workers(std::slice::from_ref(act), &[]);
    let error = ran(&mut workers, limit).unwrap_err();
    let found = match &error {
        DeviceWorkerError::TimedOut(_) => "timed out",
        DeviceWorkerError::Lost(_) => "lost",
        DeviceWorkerError::Ended(end) if end.is_crash() => "crashed",
        DeviceWorkerError::Ended(_) => "killed",
        DeviceWorkerError::Cancelled => "cancelled",
        DeviceWorkerError::Failed(_) => "failed",
        DeviceWorkerError::ReferenceUnavailable(_) => "reference unavailable",
        DeviceWorkerError::ReferenceTooLarge(_) => "reference too large",
        DeviceWorkerError::Environment(_) => "environment",
    };
    assert_eq!(found, expected, "{act:?}: {error}");
    reopen(&mut workers);
}

#[test]
fn a_launch_that_never_ends_is_stopped_at_the_limit() {
    check_end(&ScriptedLaunch::Hang, SHORT, "timed out");
}

#[test]
fn a_process_that_ends_by_itself_has_crashed() {
    check_end(&ScriptedLaunch::Die, LIMIT, "crashed");
}

#[test]
fn a_driver_that_fails_is_a_lost_device() {
    check_end(&ScriptedLaunch::Fail, LIMIT, "lost");
}

#[test]
fn a_fault_is_a_report_and_ends_the_process() {
    let mut workers = workers(&[ScriptedLaunch::Trap], &[]);
    let report = ran(&mut workers, LIMIT).unwrap();
    let kinds: Vec<String> =
        report.faults.iter().map(|fault| format!("{:?}", fault.kind)).collect();
    assert_eq!(kinds, ["Trap"]);
    // A new process, which has no open device.
    assert!(matches!(
        ran(&mut workers, LIMIT),
        Err(DeviceWorkerError::Failed(SessionFailure::Order(_)))
    ));
}

#[test]
fn a_reference_that_hangs_can_be_cancelled() {
    let mut workers = workers(&[writes([1; 4])], &[ScriptedLaunch::Hang]);
    ran(&mut workers, LIMIT).unwrap();
    let cancellation = Cancellation::new();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            cancellation.cancel();
        });
        workers.judge(judge_request(), LIMIT, &cancellation).unwrap_err()
    });
    assert!(matches!(error, DeviceWorkerError::Cancelled), "{error}");
    reopen(&mut workers);
}

#[test]
fn a_process_that_died_while_nobody_needed_it_is_replaced() {
    let mut workers = workers(&[writes([1; 4])], &[]);
    let process = process(&mut workers.candidate);
    let number = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
    let deadline = Instant::now() + LIMIT;
    let ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        // The first thread is a zombie before the others are gone, and the process ends with the last of them.
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
        threads <= 1 && stat.map_or(true, |stat| stat.contains(") Z "))
    };
    while !ended() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    reopen(&mut workers);
    assert_eq!(workers.take_replaced(), [Death::Signal { number: 9 }]);
    assert_eq!(workers.take_replaced(), []);
    ran(&mut workers, LIMIT).unwrap();
}

/// Sends a signal to a process during a request that would never end.
fn ran_while_signalled(
    workers: &mut DeviceWorkers,
    signal: rustix::process::Signal,
) -> DeviceWorkerError {
    let process = process(&mut workers.candidate);
    let number = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            rustix::process::kill_process(number, signal).unwrap();
        });
        ran(workers, LIMIT).unwrap_err()
    })
}

#[test]
fn a_process_that_somebody_kills_or_stops_has_not_crashed() {
    use rustix::process::Signal;
    let check = |signal: Signal, is_crash: bool, expected: Option<Death>| {
        let mut command = command(&[ScriptedLaunch::Hang], &[]);
        command.stopped_limit = SHORT;
        let device = DeviceName::parse("virtual:h200").unwrap();
        let mut workers = DeviceWorkers::new(&command, &device, None).unwrap();
        reopen(&mut workers);
        let began = Instant::now();
        let error = ran_while_signalled(&mut workers, signal);
        let DeviceWorkerError::Ended(end) = &error else { panic!("{error:?}") };
        assert_eq!(end.is_crash(), is_crash, "{end}");
        assert_eq!(Some(end.death), expected, "{end:?}");
        assert!(began.elapsed() < LIMIT, "{end}");
        reopen(&mut workers);
    };
    let killed = |signal: Signal| Some(Death::Signal { number: signal.as_raw() });
    check(Signal::KILL, false, killed(Signal::KILL));
    check(Signal::TERM, false, killed(Signal::TERM));
    check(Signal::STOP, false, Some(Death::Stopped { after: SHORT }));
    // The one of its own signals that Rust's runtime does not handle first.
    check(Signal::ILL, true, killed(Signal::ILL));
}

#[test]
fn the_reference_that_is_killed_is_named_so() {
    let mut workers = workers(&[writes([1; 4])], &[ScriptedLaunch::Die]);
    ran(&mut workers, LIMIT).unwrap();
    let error = workers.judge(judge_request(), LIMIT, &Cancellation::new()).unwrap_err();
    let DeviceWorkerError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.role, WorkerRole::Reference, "{end}");
}

#[test]
fn a_process_that_died_between_two_orders_is_an_end_and_not_a_wrong_order() {
    let mut workers = workers(&[writes([1; 4])], &[]);
    let process = process(&mut workers.candidate);
    let number = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
    std::thread::sleep(SHORT);
    let error = ran(&mut workers, LIMIT).unwrap_err();
    let DeviceWorkerError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.death, Death::Signal { number: 9 });
}

/// The number of the process, which is started if none runs.
fn process(worker: &mut DeviceWorker) -> u32 {
    let DeviceWorker::Local(handle) = worker else { panic!("it runs on this machine") };
    handle.worker(&Cancellation::new()).unwrap().id()
}
