//! The engine with the real processes: what it says, and what it leaves behind whatever is done to them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_core::device::{DeviceName, LocalDevice};
use lightbench_core::engine::{
    AskedBy, Conditions, DeviceSetting, Engine, Request, Settings, Work,
};
use lightbench_core::evaluate::PolicyUse;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::python::PythonAccess;
use lightbench_core::remote::hosts::Hosts;
use lightbench_core::toolchain::{Libraries, Toolchain};
use lightbench_core::verify::verdict::TimingUse;
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{Bench, repository};

#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod meddler;

const DEVICES: [&str; 2] = ["virtual:h200", "virtual:t4"];

fn device(name: &str) -> DeviceName {
    DeviceName::parse(name).unwrap()
}

/// An engine with both devices.
fn engine(toolchain: &Toolchain, cache: &Path) -> Engine {
    engine_with(command(), toolchain, cache)
}

fn command() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"])
}

/// The same with workers that are started like this.
fn engine_with(command: WorkerCommand, toolchain: &Toolchain, cache: &Path) -> Engine {
    let devices = DEVICES.map(|name| DeviceSetting {
        device: device(name),
        checker: None,
        libraries: Libraries::default(),
    });
    Engine::start(Settings {
        command,
        hosts: Hosts::default(),
        toolchain: toolchain.clone(),
        cache: Some(cache.to_owned()),
        devices: devices.into(),
        python: PythonAccess::default(),
        wake: None,
    })
    .unwrap()
}

fn work(project: &Arc<Project>, kernel: &Kernel) -> Work {
    let (project, kernel) = (Arc::clone(project), Arc::new(kernel.clone()));
    Work { project, kernel, chosen: BTreeMap::new(), asked_by: AskedBy::Person }
}

fn evaluate(work: Work, name: &str, seed: u64) -> Request {
    let device = device(name);
    let LocalDevice::Virtual(sheet) = device.local else { panic!("{name} is virtual") };
    let (policy, timing) = (PolicyUse::Refuse, TimingUse::Skip);
    let conditions =
        Conditions { device, sheet, calibration: None, workload: None, seed, policy, timing };
    Request::Evaluate(work, conditions)
}

#[test]
fn a_quick_look_is_never_called_right() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let sample = repository().join("tests/cheats");
    let arguments = |kernel| {
        let project = sample.to_str().unwrap();
        vec!["run", project, "--screen", "--kernel", kernel, "--device", "virtual:h200"]
    };
    let said = bench.run(&arguments("honest"));
    said.expect(0, &["honest is screened, not verified: nothing wrong was seen in `"]);
    assert!(!said.everything().contains("is correct"), "{}", said.everything());
    let document = bench.run(&[&arguments("honest")[..], &["--json"]].concat()).json();
    assert_eq!(document["schema"], "lightbench.screening/1");
    assert_eq!(document["verdict"], "screened");
    assert_eq!(document["tier"], "screened, not verified");
    assert_eq!(document["screened"]["workloads"].as_array().unwrap().len(), 1);
    assert_eq!(document["screened"]["held_out"], 0);
    assert!(document["passed"].is_null(), "{document:#}");
    bench.run(&arguments("zeros")).expect(1, &["zeros is wrong in workload `"]);
    bench.run(&arguments("zeroes")).expect(2, &["did you mean `zeros`"]);
    let everything = bench.run(&["run", "scale", "--screen", "--json", "--device", "virtual:h200"]);
    assert_eq!(everything.json()["screenings"].as_array().unwrap().len(), 2);
}

/// Compiles run side by side; what is told is what is first in the order of the workloads.
#[test]
fn the_first_workload_that_does_not_compile_is_the_one_that_is_told() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let odd = "(name: \"odd\", purpose: verify, axes: {\"rows\": 3, \"cols\": 37}),";
    let more =
        ["41", "43", "47"].map(|cols| odd.replace("odd", &format!("c{cols}")).replace("37", cols));
    bench.edit("project.ron", odd, &format!("{odd}{}", more.concat()));
    bench.edit("kernels/naive.cu", "    title:", "    constants: [\"cols\"],\n    title:");
    let refusals = "static_assert(axis::cols != 43, \"forty-three\");\n\
                    static_assert(axis::cols != 47, \"forty-seven\");\n__global__";
    bench.edit("kernels/naive.cu", "__global__", refusals);
    let arguments = ["run", "scale", "--kernel", "naive", "--device", "virtual:h200", "--json"];
    for _ in 0..3 {
        let said = bench.run(&arguments);
        said.expect(1, &["naive does not compile", "forty-three"]);
        assert!(!said.everything().contains("forty-seven"), "{}", said.everything());
    }
}

#[test]
fn control_c_ends_a_run() {
    check_control_c(&["run", "CHEATS", "--kernel", "never-ends"], "never-ends was cancelled");
}

#[test]
fn control_c_ends_a_comparison() {
    check_control_c(&["compare", "CHEATS", "never-ends", "zeros"], "never-ends was cancelled");
}

#[test]
fn control_c_ends_an_audit() {
    check_control_c(&["audit", "CHEATS"], "cancelled");
}

/// A command about the project of cheats is ended in its midst, and leaves nothing behind.
fn check_control_c(arguments: &[&str], told: &str) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let cheats = repository().join("tests/cheats");
    let cheats = cheats.to_str().unwrap();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| if *argument == "CHEATS" { cheats } else { argument })
        .collect();
    let mut command = bench.command(&arguments);
    command.args(["--device", "virtual:h200"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let process = program.id().to_string();
    Command::new("kill").args(["-INT", &process]).status().unwrap();
    let ended = Instant::now();
    let said = crate::program::Said::from(program.wait_with_output().unwrap());
    let took = ended.elapsed();
    said.expect(130, &[told]);
    // What is not ended goes on for longer.
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(bench.temporary()).unwrap().count(), 0);
}
