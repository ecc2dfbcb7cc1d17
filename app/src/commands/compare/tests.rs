//! Tests of compared libraries and runs, and of refused requests.

use lightbench_core::device::{DeviceSheet, LibraryUsed, LocalDevice};
use lightbench_core::evaluate::compare::Outcome as Between;
use lightbench_core::measure::{Clock, Comparison, Stopped, Timing};
use lightbench_core::speed_of_light::bound::{CacheState, PhysicalBound};
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings};
use lightbench_core::speed_of_light::minimal_work::MinimalWork;
use lightbench_core::units::Seconds;

use super::*;
use crate::commands::run::EvaluationInput;

fn sample(name: &str) -> Box<Project> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    Box::new(Project::load(&root.join(name)).unwrap())
}

fn chosen(instead: Option<&str>) -> ChosenDevice {
    let sheet = DeviceSheet::named("h200").unwrap();
    let (device, title) = (LocalDevice::Virtual(sheet).into(), "virtual H200".to_owned());
    ChosenDevice { device, sheet, title, virtual_reason: instead.map(str::to_owned), gpu: None }
}

fn words(refused: &HistoryCommandError) -> (Status, String) {
    match refused {
        HistoryCommandError::Request(message) => (Status::BadRequest, message.clone()),
        HistoryCommandError::Environment(message) => (Status::Environment, message.clone()),
    }
}

fn check_refused<Found>(found: Result<Found, HistoryCommandError>, status: Status, parts: &[&str]) {
    let Err(refused) = found else { panic!("it is taken") };
    let (found, message) = words(&refused);
    assert_eq!(found, status, "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} in {message:?}");
    }
}

/// A session without any history.
fn session() -> Session {
    Session::new(lightbench_core::toolchain::HostEnvironment::default())
}

#[test]
fn a_side_is_a_kernel_a_run_or_a_library() {
    let (sgemm, session) = (sample("sgemm"), session());
    let named = |name| Side::parse(&session, &sgemm, name);
    assert_eq!(named("naive").ok().unwrap().title(), "naive");
    for spelling in ["cublas", "cuBLAS", "CUBLAS"] {
        assert_eq!(named(spelling).ok().unwrap().title(), "cuBLAS");
    }
    let expected = ["unknown kernel `nowhere`", "the number of a run", "or cuBLAS"];
    check_refused(named("nowhere"), Status::BadRequest, &expected);
    check_refused(named("7"), Status::BadRequest, &["7"]);
    let other = sample("softmax");
    let expected = ["has no cuBLAS baseline", "project-format.md"];
    check_refused(Side::parse(&session, &other, "cublas"), Status::BadRequest, &expected);
}

#[test]
fn the_order_of_two_is_kept_and_one_is_a_kernel() {
    let (sgemm, session) = (sample("sgemm"), session());
    let asked = EvaluationInput::evaluate_all_workloads(&sgemm, &chosen(None), 1);
    let pair = |a, b| {
        let named = |name| Side::parse(&session, &sgemm, name).ok().unwrap();
        side::pair(&[named(a), named(b)], &asked)
    };
    assert!(matches!(pair("naive", "register-tile"), Ok(Pair::Kernels(_))));
    assert!(matches!(pair("naive", "cublas"), Ok(Pair::KernelAndLibrary(..))));
    assert!(matches!(pair("cublas", "naive"), Ok(Pair::LibraryAndKernel(..))));
    check_refused(pair("cublas", "cublas"), Status::BadRequest, &["at least one side"]);
}

#[test]
fn what_needs_a_gpu_says_so_elsewhere() {
    let (sgemm, session) = (sample("sgemm"), session());
    let sides = |b| ["naive", b].map(|name| Side::parse(&session, &sgemm, name).ok().unwrap());
    let (kernels, library) = (sides("register-tile"), sides("cublas"));
    let check = |sides: &[Side; 2], mode, instead, status, parts: &[&str]| {
        check_refused(on_a_gpu(sides, mode, &chosen(instead)), status, parts);
    };
    let (wrong, lacks) = (Status::BadRequest, Status::Environment);
    check(
        &library,
        Mode::Cold,
        None,
        wrong,
        &["cuBLAS runs on GPUs only", "virtual H200 is a virtual device"],
    );
    let none = Some("no CUDA driver; take a virtual one");
    check(&library, Mode::Cold, none, lacks, &["but this machine has none: no CUDA driver"]);
    check(&kernels, Mode::Graph, None, wrong, &["graph times are taken on GPUs only"]);
    check(&kernels, Mode::Server, none, lacks, &["server times", "no CUDA driver"]);
    assert!(on_a_gpu(&kernels, Mode::Cold, &chosen(none)).is_ok());
}

#[test]
fn only_workloads_that_are_timed_are_taken() {
    let sgemm = sample("sgemm");
    assert!(measured(&sgemm, "square").is_ok());
    let expected = ["`odd` is not timed", "square, gpt2-mlp, awkward"];
    check_refused(measured(&sgemm, "odd"), Status::BadRequest, &expected);
    check_refused(measured(&sgemm, "held-out-thin"), Status::BadRequest, &["not timed"]);
    check_refused(measured(&sgemm, "nowhere"), Status::BadRequest, &["unknown workload"]);
}

#[test]
fn a_library_is_told_with_its_version_and_call() {
    let used = LibraryUsed {
        name: "cuBLAS".to_owned(),
        version: "13.1.0".to_owned(),
        file: "libcublas.so.13".to_owned(),
        call: "cublasGemmEx with CUBLAS_COMPUTE_32F".to_owned(),
    };
    let times = LibraryTimes { used: Some(used), worst_error: 0.116, workloads: Vec::new() };
    let expected = "cuBLAS 13.1.0 is correct, with errors of at most 11.6 % of the tolerance (cublasGemmEx with \
                    CUBLAS_COMPUTE_32F)";
    assert_eq!(text::library(&times), expected);
}

#[test]
fn what_no_clock_resolves_is_said() {
    let floor = Seconds(1.5e-6);
    let timing = |seconds: f64| {
        let clock = Clock::Events { offset: floor, floor, without: None };
        let rounds = vec![vec![Seconds(seconds); 5]; 20];
        Timing::measured(clock, Mode::Server, rounds, (1, Stopped::Precise), &[]).unwrap()
    };
    let check = |a: f64, b: f64, expected: &str| {
        let rounds = |seconds| vec![vec![Seconds(seconds); 5]; 20];
        let comparison = Comparison::from_rounds(&rounds(a), &rounds(b)).unwrap();
        let told = text::conclusion(&comparison, &[timing(a), timing(b)]);
        assert!(told.contains(expected), "{expected:?} in {told:?}");
    };
    check(2.2e-6, 1.4e-6, "B is faster: B takes 63.64 % of the time of A");
    check(2.2e-6, 1.4e-6, "; the difference is not resolved)");
    check(1.2e-6, 1.4e-6, "not resolved: both");
    check(
        2.2e-6,
        4.4e-6,
        "200.00 % of the time of A (99 % interval 200.00 % to 200.00 %, 20 rounds)",
    );
}

#[test]
fn what_has_no_time_has_a_bound_and_a_reason() {
    let project = sample("rmsnorm");
    let workload = project.workload("llama-70b-prefill").unwrap();
    let work = MinimalWork::new(&project.definition, workload);
    let ceilings = Ceilings::new(DeviceSheet::named("h200").unwrap(), None, Basis::Sheet);
    let bounds = vec![PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap()];
    let timing = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), Vec::new());
    let check = |b: Result<Timing, String>, ratio, expected: [&str; 2]| {
        let outcome = Between::Modelled { timings: Box::new([Ok(timing.clone()), b]), ratio };
        let (workload, bounds) = (workload.name.clone(), bounds.clone());
        let lines = text::lines(&ComparedWorkload { workload, bounds, outcome });
        let [bound, a, b, told] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!(bound, "least time of any correct kernel: 98.5 µs (DRAM, sheet)");
        let share = "about 56.8 % of the speed of light (39.4 % to 82.0 %)";
        assert_eq!(*a, format!("A  modelled: 120 µs to 250 µs, at least 100 µs (DRAM), {share}"));
        assert!(b.starts_with(expected[0]) && told.starts_with(expected[1]), "{lines:?}");
    };
    let reason = "nothing was counted".to_owned();
    check(Err(reason), None, ["B  no time: nothing was counted", "no comparison"]);
    let ratio = Some(lightbench_core::units::Fraction(1.0));
    let takes = "B takes 100.00 % of the time of A by the model";
    check(Ok(timing.clone()), ratio, ["B  modelled: 120 µs", takes]);
}
