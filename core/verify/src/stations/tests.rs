//! What a station's process can do to its parent, played by a scripted device.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Instant;

use lightbench_device::scripted::{ScriptedDevice, ScriptedLaunch};
use lightbench_primitives::dtype::Dtype;
use lightbench_project::compare::Comparator;
use lightbench_project::launch::Buffer;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_project::manifest::{Accuracy, Distribution};
use lightbench_tensors::case::Case;
use lightbench_tensors::fixture;
use lightbench_tensors::inputs::{InputMode, InputSpec};
use lightbench_worker::server;

use super::*;
use crate::device_worker;
use crate::program::{ArgumentCase, LaunchStep, Program, Step};
use crate::station::{CountsUse, GridPart, MemoryOrder, Scrutiny, Station};

const SCRIPT: &str = "LIGHTBENCH_TEST_SCRIPT";
const LIMIT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(300);

/// One script for each side, by its name.
type Scripts = BTreeMap<String, Vec<ScriptedLaunch>>;

/// Opens a scripted device with the script of the side.
fn open(opening: &Opening) -> Result<Station, StationFailure> {
    let scripts = std::env::var(SCRIPT).unwrap();
    let mut scripts: Scripts = serde_json::from_str(&scripts).unwrap();
    let script = scripts.remove(&format!("{:?}", opening.side)).unwrap();
    Station::on(Box::new(ScriptedDevice::new(script)), opening)
}

/// This very test program as a worker. What the test harness prints goes nowhere; descriptor 3 is the parent's pipe.
fn command(candidate: &[ScriptedLaunch], reference: &[ScriptedLaunch]) -> WorkerCommand {
    let program = std::env::current_exe().unwrap();
    let name = "stations::tests::scripted_worker";
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
    server::serve(vec![device_worker::offer_with(open)]).unwrap();
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

fn run_order() -> RunOrder {
    RunOrder {
        case: case(),
        program: program(),
        recipe: RECIPE,
        memory: MemoryOrder::Fresh(lightbench_device::Placement::Left),
        scrutiny: Scrutiny::Memory,
        counts: CountsUse::Drop,
        outputs: None,
        part: GridPart::Whole,
    }
}

fn judge_order() -> JudgeOrder {
    JudgeOrder {
        case: case(),
        program: program(),
        recipe: RECIPE,
        outputs: PathBuf::new(),
        part: GridPart::Whole,
        admission: None,
    }
}

fn writes(values: [i32; 4]) -> ScriptedLaunch {
    ScriptedLaunch::Write(vec![(0, values.iter().flat_map(|value| value.to_le_bytes()).collect())])
}

/// Stations that are open.
fn stations(candidate: &[ScriptedLaunch], reference: &[ScriptedLaunch]) -> Stations {
    let device = DeviceName::parse("virtual:h200").unwrap();
    let mut stations = Stations::new(&command(candidate, reference), &device, None).unwrap();
    reopen(&mut stations);
    stations
}

fn reopen(stations: &mut Stations) {
    let module = [ModuleImage { ptx: String::new(), cubin: None }];
    stations.open(&module, &module, None, 1, &Cancellation::new()).unwrap();
}

fn ran(stations: &mut Stations, limit: Duration) -> Result<RunReport, StationError> {
    stations.run(run_order(), limit, &Cancellation::new())
}

#[test]
fn results_are_handed_over_and_judged() {
    let check = |found, expected, wrong: &[u64]| {
        let mut stations = stations(&[writes(found)], &[writes(expected)]);
        assert_eq!(ran(&mut stations, LIMIT).unwrap().faults, []);
        let judged = stations.judge(judge_order(), LIMIT, &Cancellation::new()).unwrap();
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
    let mut stations = stations(&[half], &[writes([0; 4])]);
    ran(&mut stations, LIMIT).unwrap();
    let judged = stations.judge(judge_order(), LIMIT, &Cancellation::new()).unwrap();
    let wrong = judged.comparisons[0].wrong.as_ref().unwrap();
    assert_eq!((wrong.count, wrong.kind), (2, WrongKind::Unwritten));
}

/// What ends a station, in the words of the error; afterwards both are there again.
fn check_end(act: &ScriptedLaunch, limit: Duration, expected: &str) {
    let mut stations = stations(std::slice::from_ref(act), &[]);
    let error = ran(&mut stations, limit).unwrap_err();
    let found = match &error {
        StationError::TimedOut(_) => "timed out",
        StationError::Lost(_) => "lost",
        StationError::Ended(end) if end.is_crash() => "crashed",
        StationError::Ended(_) => "killed",
        StationError::Cancelled => "cancelled",
        StationError::Failed(_) => "failed",
        StationError::Environment(_) => "environment",
    };
    assert_eq!(found, expected, "{act:?}: {error}");
    reopen(&mut stations);
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
    let mut stations = stations(&[ScriptedLaunch::Trap], &[]);
    let report = ran(&mut stations, LIMIT).unwrap();
    let kinds: Vec<String> =
        report.faults.iter().map(|fault| format!("{:?}", fault.kind)).collect();
    assert_eq!(kinds, ["Trap"]);
    // A new process, whose device nobody opened.
    assert!(matches!(
        ran(&mut stations, LIMIT),
        Err(StationError::Failed(StationFailure::Order(_)))
    ));
}

#[test]
fn a_reference_that_hangs_can_be_cancelled() {
    let mut stations = stations(&[writes([1; 4])], &[ScriptedLaunch::Hang]);
    ran(&mut stations, LIMIT).unwrap();
    let cancellation = Cancellation::new();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            cancellation.cancel();
        });
        stations.judge(judge_order(), LIMIT, &cancellation).unwrap_err()
    });
    assert!(matches!(error, StationError::Cancelled), "{error}");
    reopen(&mut stations);
}

#[test]
fn a_process_that_died_while_nobody_needed_it_is_replaced() {
    let mut stations = stations(&[writes([1; 4])], &[]);
    let process = stations.candidate.worker(&Cancellation::new()).unwrap().id();
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
    reopen(&mut stations);
    assert_eq!(stations.take_replaced(), [Death::Signal { number: 9 }]);
    assert_eq!(stations.take_replaced(), []);
    ran(&mut stations, LIMIT).unwrap();
}

/// Sends a signal to a process in the middle of an order that would take for ever.
fn ran_while_signalled(stations: &mut Stations, signal: rustix::process::Signal) -> StationError {
    let process = stations.candidate.worker(&Cancellation::new()).unwrap().id();
    let number = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            rustix::process::kill_process(number, signal).unwrap();
        });
        ran(stations, LIMIT).unwrap_err()
    })
}

#[test]
fn a_process_that_somebody_kills_or_stops_has_not_crashed() {
    use rustix::process::Signal;
    let check = |signal: Signal, is_crash: bool, expected: Option<Death>| {
        let mut command = command(&[ScriptedLaunch::Hang], &[]);
        command.stopped_limit = SHORT;
        let device = DeviceName::parse("virtual:h200").unwrap();
        let mut stations = Stations::new(&command, &device, None).unwrap();
        reopen(&mut stations);
        let began = Instant::now();
        let error = ran_while_signalled(&mut stations, signal);
        let StationError::Ended(end) = &error else { panic!("{error:?}") };
        assert_eq!(end.is_crash(), is_crash, "{end}");
        assert_eq!(Some(end.death), expected, "{end:?}");
        assert!(began.elapsed() < LIMIT, "{end}");
        reopen(&mut stations);
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
    let mut stations = stations(&[writes([1; 4])], &[ScriptedLaunch::Die]);
    ran(&mut stations, LIMIT).unwrap();
    let error = stations.judge(judge_order(), LIMIT, &Cancellation::new()).unwrap_err();
    let StationError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.role, WorkerRole::Reference, "{end}");
}

#[test]
fn a_process_that_died_between_two_orders_is_an_end_and_not_a_wrong_order() {
    let mut stations = stations(&[writes([1; 4])], &[]);
    let process = stations.candidate.worker(&Cancellation::new()).unwrap().id();
    let number = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
    std::thread::sleep(SHORT);
    let error = ran(&mut stations, LIMIT).unwrap_err();
    let StationError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.death, Death::Signal { number: 9 });
}
