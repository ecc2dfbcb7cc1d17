//! Numbers and what they mean: the tour, the cards, calibration, and runs against those before.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::calibrate::BENCHMARKS;
use lightbench_core::device::{DeviceName, LocalDevice};
use lightbench_core::engine::{
    AskedBy, Conditions, DeviceSetting, Ending, Engine, Event, Request, Settings, Work,
};
use lightbench_core::evaluate::{PolicyUse, Run};
use lightbench_core::measure::Protocol;
use lightbench_core::project::Project;
use lightbench_core::python::PythonAccess;
use lightbench_core::remote::hosts::Hosts;
use lightbench_core::speed_of_light::calibration::Calibration;
use lightbench_core::speed_of_light::ceilings::Basis;
use lightbench_core::toolchain::Libraries;
use lightbench_core::verify::verdict::TimingUse;
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{Bench, repository};

#[test]
fn every_number_can_be_asked_for() {
    let bench = Bench::new();
    bench.run(&["explain"]).expect(0, &["occupancy", "warp_instructions", "explain NAME"]);
    bench
        .run(&["explain", "Blocks per SM"])
        .expect(0, &["blocks/SM", "formula", "good", "playbook"]);
    bench.run(&["explain", "ocupancy"]).expect(2, &["did you mean `occupancy`?"]);
    let all = bench.run(&["explain", "--json"]).json();
    assert!(all["numbers"].as_array().unwrap().len() > 100);
    let error = bench.run(&["explain", "☃", "--json"]).json();
    assert_eq!(error["error"]["kind"], "request");
}

#[test]
fn only_a_gpu_is_calibrated() {
    let bench = Bench::new();
    let check = |device: &str, status: i32, expected: &str| {
        bench.run(&["calibrate", "--device", device]).expect(status, &[expected]);
    };
    check(
        "virtual:h200",
        2,
        "a virtual device takes its rates from its device sheet: only a GPU can be calibrated",
    );
    check("t4", 2, "only a GPU can be calibrated");
    check("no-such-sheet", 2, "no device sheet is named `no-such-sheet`");
    check("cuda:x", 2, "names no device");
    // Nobody has as many.
    check("cuda:31", 3, "only a GPU has ceilings to measure");
    assert!(!bench.path().join(".local/state/lightbench/calibrations").exists());
}

/// A wrong one would leave its ceiling unmeasured.
#[test]
fn every_benchmark_of_a_calibration_is_correct() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    for benchmark in BENCHMARKS {
        benchmark.written_to(bench.path()).unwrap();
        let run = ["run", benchmark.name, "--device", "virtual:h200", "--no-times"];
        bench.run(&run).expect(0, &["best is correct"]);
    }
}

#[test]
fn a_tour_leads_through_a_project_and_writes_its_report() {
    let bench = Bench::new();
    bench.run(&["tour"]).expect(2, &["neither sample-projects/rmsnorm nor a project"]);
    bench.run(&["tour", "nowhere"]).expect(2, &["nowhere"]);
    if compiler::required().is_none() {
        return;
    }
    let tour = bench.run(&["tour", "scale", "--device", "virtual:h200"]);
    tour.expect(0, &["1 naive", "2 tuned", "roofline", "the report of 2 runs", "all 2 passed"]);
    let report = bench.project().join(".lightbench/report.html");
    assert!(fs::read_to_string(report).unwrap().contains("Scale a matrix"));
    bench.edit("kernels/naive.cu", "{", "{ no such thing;");
    let tour = bench.run(&["tour", "scale", "--device", "virtual:h200", "--output", "page.html"]);
    tour.expect(1, &["naive does not compile", "1 of 2 passed", "page.html"]);
    assert!(bench.path().join("page.html").is_file());
}

#[test]
fn a_run_is_told_against_the_one_before() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let run = |device: &str| bench.run(&["run", "scale", "--kernel", "naive", "--device", device]);
    let first = run("virtual:h200");
    first.expect(0, &["is correct"]);
    assert!(!first.everything().contains("the previous run"), "{}", first.everything());
    bench.edit("kernels/naive.cu", "{", "{ // edited");
    run("virtual:h200").expect(0, &["modelled the same as the previous run"]);
    bench.edit("kernels/naive.cu", "// edited", "// edited again");
    let other = run("virtual:t4");
    other.expect(0, &["is correct"]);
    assert!(!other.everything().contains("the previous run"), "{}", other.everything());
    run("virtual:h200").expect(0, &["modelled the same as the previous run"]);
}

/// What comes of the kernel `tuned` where somebody calibrated the device, or nobody did.
fn evaluated(bench: &Bench, calibration: Option<Arc<Calibration>>) -> Option<Run> {
    let found = compiler::required()?;
    let device = DeviceName::parse("virtual:h200").unwrap();
    let LocalDevice::Virtual(sheet) = device.local else { panic!("it is virtual") };
    let engine = Engine::start(Settings {
        hosts: Hosts::default(),
        python: PythonAccess::default(),
        command: WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]),
        toolchain: found.toolchain.clone(),
        cache: Some(bench.cache().to_owned()),
        devices: vec![DeviceSetting {
            device: device.clone(),
            checker: None,
            libraries: Libraries::default(),
        }],
        wake: None,
    })
    .unwrap();
    let project = Arc::new(Project::load(&bench.project()).unwrap());
    let kernel = Arc::new(project.kernel("tuned").unwrap().clone());
    let work = Work { project, kernel, chosen: BTreeMap::new(), asked_by: AskedBy::Person };
    let (policy, timing) = (PolicyUse::Refuse, TimingUse::Measure(Protocol::FINAL));
    let conditions =
        Conditions { device, sheet, calibration, workload: None, seed: 1, policy, timing };
    engine.ask(Request::Evaluate(work, conditions)).unwrap();
    loop {
        match engine.next_event(Duration::from_secs(120)).unwrap() {
            Event::Finished { ending: Ending::Evaluated(run), .. } => return Some(*run),
            Event::Finished { ending, .. } => panic!("{ending:?}"),
            Event::Began { .. } | Event::Queued { .. } | Event::Noticed(_) => {}
        }
    }
}

#[test]
fn times_stand_on_measured_ceilings_and_on_the_sheet_where_the_device_was_calibrated() {
    let text = fs::read_to_string(repository().join("tests/data/calibration.json")).unwrap();
    let calibration = Arc::new(Calibration::from_json(&text).unwrap());
    let bench = Bench::new();
    let bases = |calibration| {
        let passed = evaluated(&bench, calibration)?.verdict.unwrap();
        let stands = passed.timings[0].standing.clone().unwrap();
        let physical = stands.standing.unwrap().unwrap().physical;
        Some((physical.iter().map(|against| against.basis).collect::<Vec<_>>(), stands.line))
    };
    let Some((found, line)) = bases(None) else { return };
    assert_eq!(found, [Basis::Sheet]);
    assert!(line.contains(", sheet)"), "{line}");
    let (found, line) = bases(Some(calibration)).unwrap();
    assert_eq!(found, [Basis::Sheet, Basis::Measured]);
    // A model knows the sheet only, and may be faster than what was measured.
    let is_said = line.contains("measured ceilings; ") || line.contains("; beyond the measured");
    assert!(is_said, "{line}");
}
