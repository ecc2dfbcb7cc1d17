//! Analyses of kernels on a fake GPU, with counters from a virtual device.
#![cfg(target_os = "linux")]

mod baselines;
mod clocks;
mod large_reference;
mod leftovers;
mod modelled;
mod recorded;
mod specimens;
mod timed_size;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use lightbench_tensors::case::Case;

use super::*;
use crate::compile::artifact::KernelFacts;
use crate::compile::facts::LaunchFacts;
use crate::compile::occupancy::{Occupancy, Resident};
use crate::device::fake_gpu::{FakeGpu, Readings};
use crate::measure::protocol::Protocol;
use crate::measure::timing::{Reading, TimingDefect};
use crate::project::Language;
use crate::project::definition::Summation;
use crate::project::launch::Buffer;
use crate::project::launch::plan::PlannedLaunch;
use crate::speed_of_light::code_mix::CodeMix;
use crate::units::{Hertz, Seconds};
use crate::verify::compiled_candidate::{
    CompiledCandidate, CompiledReference, CompiledWorkload, Extent, Origins,
};
use crate::verify::device_protocol;
use crate::verify::device_session::{DeviceSession, ModuleImage, OpenRequest, SessionFailure};
use crate::verify::program::{ArgumentCase, LaunchStep, Program, Step as ProgramStep};
use crate::verify::reference_source::ReferenceSource;
use crate::verify::verdict::{SizeCheck, WorkloadTiming};
use crate::worker::command::WorkerCommand;
use crate::worker::server;
use specimens::{SPECIMENS, Specimen};

const READINGS: &str = "LIGHTBENCH_TEST_READINGS";

/// Opens the device that is asked for: what is called a GPU passes for one.
fn open(opening: &OpenRequest) -> Result<DeviceSession, SessionFailure> {
    if opening.device != "cuda:0" {
        return DeviceSession::open(opening);
    }
    let readings = std::env::var(READINGS).unwrap();
    let readings: Readings = serde_json::from_str(&readings).unwrap();
    DeviceSession::with_device(Box::new(FakeGpu::new(sheet(), readings)), opening)
}

fn sheet() -> &'static DeviceSheet {
    DeviceSheet::named("h200").unwrap()
}

/// This very test program as a worker; descriptor 3 is the parent's pipe.
fn command(readings: Readings) -> WorkerCommand {
    let program = std::env::current_exe().unwrap();
    let script = "exec \"$0\" \"$@\" 3>&1 1>/dev/null";
    let arguments = ["-c", script, program.to_str().unwrap(), "evaluate::tests::pretended_worker"];
    let harness = ["--exact", "--ignored", "--nocapture"];
    let mut command = WorkerCommand::new("/bin/sh", arguments.into_iter().chain(harness));
    let readings = serde_json::to_string(&readings).unwrap();
    command.environment.push((READINGS.into(), readings.into()));
    command
}

#[test]
#[ignore = "the worker's part of the tests below"]
fn pretended_worker() {
    if std::env::var_os(READINGS).is_none() {
        return;
    }
    let to_parent = File::options().write(true).open("/dev/fd/3").unwrap();
    rustix::stdio::dup2_stdout(&to_parent).unwrap();
    server::serve(vec![device_protocol::offer_with(open), crate::python::offer()]).unwrap();
}

const MANIFEST: &str = r#"(
    schema: 1, name: "next", title: "The next number", summary: "y = x + 1.",
    axes: [(name: "n", min: 1, max: 1048576)],
    tensors: [
        (name: "x", dtype: i32, shape: ["n"], role: input, fill: integers(low: 0, high: 1000)),
        (name: "y", dtype: i32, shape: ["n"], role: output, compare: integer_exact),
    ],
    arguments: ["x", "y", "n: u32"],
    accuracy: exact,
    work: (operations: [(kind: integer, count: "n")]),
    workloads: [
        (name: "small", purpose: verify, axes: {"n": 4096}),
        (name: "middle", purpose: verify, axes: {"n": 16384}),
        (name: "large", purpose: measure, axes: {"n": 131072}),
    ],
)"#;

const KERNEL: &str = r#"/*@ lightbench(title: "Next", steps: [launch(kernel: "k", args: ["x", "y", "n: u32"],
    grid: ["ceil_div(n, 256)"], block: [256])]) @*/
__global__ void k(const int* x, int* y, unsigned n) {}
"#;

fn project(folder: &Path) -> Box<Project> {
    std::fs::create_dir(folder.join("kernels")).unwrap();
    std::fs::write(folder.join("project.ron"), MANIFEST).unwrap();
    for file in ["reference.cu", "kernels/k.cu"] {
        std::fs::write(folder.join(file), KERNEL).unwrap();
    }
    Box::new(Project::load(folder).unwrap())
}

fn image(ptx: String) -> ModuleImage {
    ModuleImage { ptx, cubin: None }
}

fn step(specimen: &Specimen, n: u32) -> LaunchStep {
    let buffer = |tensor| ArgumentCase::Buffer(Buffer::Tensor(tensor));
    let count = ArgumentCase::Bytes(n.to_le_bytes().to_vec());
    LaunchStep {
        kernel: "k".to_owned(),
        grid: [specimen.blocks(n), 1, 1],
        block: [specimen.block, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        residence: None,
        arguments: vec![buffer(0), buffer(1), count],
    }
}

fn program(specimen: &Specimen, n: u32) -> Program {
    Program {
        module: 0,
        scratch: Vec::new(),
        constants: Vec::new(),
        steps: vec![ProgramStep::Launch(step(specimen, n))],
    }
}

fn launch(specimen: &Specimen, n: u32) -> LaunchFacts {
    let LaunchStep { grid, block, .. } = step(specimen, n);
    let warps = specimen.block / 32;
    LaunchFacts {
        planned: PlannedLaunch {
            name_expression: "k".to_owned(),
            arguments: Vec::new(),
            grid,
            block,
            shared_bytes: 0,
            cluster: None,
            cooperative: false,
            carveout: None,
            programmatic: false,
        },
        kernel: KernelFacts {
            expression: None,
            symbol: "k".to_owned(),
            parameters: Vec::new(),
            max_threads: None,
            required_threads: None,
            required_cluster: None,
            uses_dynamic_shared: false,
            resources: None,
            triton: None,
        },
        occupancy: Some(Occupancy::Resident(Resident {
            blocks: 64 / warps,
            warps: 64,
            max_warps: 64,
            allowances: Vec::new(),
        })),
        demand: None,
        problems: Vec::new(),
    }
}

fn trial(project: &Project, specimen: &Specimen, name: &str) -> CompiledWorkload {
    let workload = project.workload(name).unwrap();
    let case = Case::new(&project.definition, workload).unwrap();
    let n = u32::try_from(case.tensors[0].elements).unwrap();
    CompiledWorkload {
        work: f64::from(2 * n),
        adds_and_multiplies: false,
        extent: Extent::Small,
        admission: None,
        as_written: None,
        summation: Summation::Any,
        candidate: program(specimen, n),
        reference: ReferenceSource::Program(program(&SPECIMENS[0], n)),
        launches: vec![launch(specimen, n)],
        code: CodeMix::default(),
        case,
    }
}

fn subject(project: &Project, specimen: &Specimen) -> CompiledCandidate {
    let trials = |names: &[&str]| names.iter().map(|name| trial(project, specimen, name)).collect();
    CompiledCandidate {
        candidate: vec![image(specimen.ptx())],
        preceding_modules: 0,
        origins: vec![Origins {
            file: "k.ptx".to_owned(),
            language: Language::Ptx,
            names: Default::default(),
            lines: Default::default(),
        }],
        reference: CompiledReference::Modules(vec![image(SPECIMENS[0].ptx())]),
        harness_kernels: None,
        workloads: trials(&["small", "middle"]),
        varied: Vec::new(),
        on_few_multiprocessors: Vec::new(),
        not_varied: Vec::new(),
        large_indices: None,
        measured: trials(&["large"]),
        held_out: Vec::new(),
        not_run: Vec::new(),
        evidence: Vec::new(),
        limits: project.definition.limits,
        block_order: project.definition.block_order,
    }
}

/// What is said of a specimen whose executions take so long.
fn said(specimen: &Specimen, readings: Readings, checker: Option<&DeviceName>) -> WorkloadTiming {
    let protocol = Protocol { longest: Duration::from_millis(1), ..Protocol::QUICK };
    timed_by(specimen, readings, checker, protocol)
}

fn timed_by(
    specimen: &Specimen,
    readings: Readings,
    checker: Option<&DeviceName>,
    protocol: Protocol,
) -> WorkloadTiming {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let subject = subject(&project, specimen);
    let device = DeviceName::parse("cuda:0").unwrap();
    let evaluation = Evaluation {
        project: &project,
        kernel: project.kernel("k").unwrap(),
        chosen: &BTreeMap::new(),
        device: &device,
        sheet: sheet(),
        calibration: None,
        workload: None,
        seed: 1,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Measure(protocol),
    };
    let mut passed = verified(&subject, readings, checker, protocol).unwrap();
    performance_analysis::analyse_performance(&evaluation, &subject, &mut passed);
    passed.timings.remove(0)
}

/// What verification says of a subject on the device that passes for a GPU.
fn verified(
    subject: &CompiledCandidate,
    readings: Readings,
    checker: Option<&DeviceName>,
    protocol: Protocol,
) -> Result<Passed, Stop> {
    let device = DeviceName::parse("cuda:0").unwrap();
    let mut workers = DeviceWorkers::new(&command(readings), &device, checker).unwrap();
    let (cancellation, mut watcher) = (Cancellation::new(), |_: Step, _: Option<&str>| {});
    let verification = Verification::new(subject, &mut workers, 1, &cancellation, &mut watcher);
    verification.run(TimingUse::Measure(protocol))
}

/// A kernel that does nothing takes a nanosecond, so that specimens can be small.
fn check(name: &str, nanoseconds: f64, words: &str, evidence: &[&str]) {
    let specimen = SPECIMENS.iter().find(|specimen| specimen.name == name).unwrap();
    let readings = Readings::new(Seconds(nanoseconds * 1e-9), Seconds(1e-9));
    let beside = DeviceName::parse("virtual:h200").unwrap();
    let limiter = said(specimen, readings, Some(&beside)).standing.unwrap().limiter;
    assert_eq!(limiter.words(), words, "{name} in {nanoseconds} ns: {:#?}", limiter.evidence);
    let told = limiter.evidence.join("; ");
    for part in evidence {
        assert!(told.contains(part), "{name} in {nanoseconds} ns: {part}: {told}");
    }
}

#[test]
fn a_stream_near_the_speed_of_light_is_limited_by_memory() {
    check("stream", 120.0, "DRAM", &["speed of light"]);
}

#[test]
fn scattered_accesses_keep_l1_busy_or_waste_what_memory_moves() {
    let counted =
        "extrapolated from counters of virtual:h200 on the workload middle, not counted on the GPU";
    let waste = "loads move 8 times the bytes that they use";
    check(
        "scattered",
        400.0,
        "L1 (about 64.6 % busy, extrapolated from middle)",
        &[waste, counted],
    );
    check(
        "scattered",
        10_000.0,
        "scattered accesses to global memory (extrapolated from middle)",
        &[waste, counted],
    );
}

#[test]
fn bank_conflicts_keep_shared_memory_busy_or_waste_its_passes() {
    let waste = "with bank conflicts, shared memory takes";
    check(
        "banks",
        40_000.0,
        "shared memory (about 82.7 % busy, extrapolated from middle)",
        &[waste],
    );
    check(
        "banks",
        100_000.0,
        "bank conflicts in shared memory (extrapolated from middle)",
        &[waste],
    );
}

#[test]
fn idle_lanes_keep_schedulers_busy_or_waste_instructions() {
    check(
        "divergent",
        6000.0,
        "instruction issue (about 66.2 % busy, extrapolated from middle)",
        &["with inactive threads, warps execute"],
    );
    check(
        "divergent",
        40_000.0,
        "inactive threads (extrapolated from middle)",
        &["with inactive threads, warps execute"],
    );
}

#[test]
fn a_launch_that_does_hardly_anything_is_its_own_limit() {
    check("stream", 1.5, "launch overhead", &["an empty kernel takes 1.00 ns"]);
}

#[test]
fn a_single_block_waits() {
    check(
        "one-block",
        400_000.0,
        "waiting: too few blocks (extrapolated from middle)",
        &["blocks for each multiprocessor"],
    );
}

#[test]
fn threads_that_go_over_all_elements_are_followed_along_a_line() {
    let words = "waiting: too few blocks (extrapolated from middle)";
    check("strided", 5000.0, words, &["a line through it and small", "instruction issue"]);
}

#[test]
fn what_the_virtual_device_does_not_take_is_not_known_for_that_reason() {
    check(
        "own-instruction",
        1000.0,
        "unknown",
        &["the virtual device cannot load the kernel", "tcgen05"],
    );
}

#[test]
fn clocks_that_throttle_and_others_on_the_device_are_said() {
    let calm = Reading {
        sm_clock: Hertz(1.98e9),
        power: None,
        celsius: Some(50),
        is_power_capped: false,
        is_hot: false,
        is_held_down: false,
        other_processes: 0,
        memory: None,
    };
    let check = |second: Reading, taint: &[TimingDefect], words: &str| {
        let doing = [Some(calm), Some(second)];
        let readings = Readings { doing, ..Readings::new(Seconds(1e-6), Seconds(1e-9)) };
        let said = said(&SPECIMENS[0], readings, None);
        assert_eq!(said.timings[0].taint, taint, "{second:?}");
        let line = said.standing.unwrap().line;
        assert!(line.contains(words), "{line}");
    };
    check(calm, &[], "measured by CUDA events, ");
    let hot = Reading { is_hot: true, sm_clock: Hertz(1.1e9), ..calm };
    let both = [TimingDefect::Thermal, TimingDefect::UnsteadyClock];
    check(hot, &both, "although the device slowed down because it was hot");
    let held = Reading { is_held_down: true, ..calm };
    check(held, &[TimingDefect::Hardware], "because of its power supply or cooling");
    let slow = Reading { sm_clock: Hertz(1.1e9), ..calm };
    check(
        slow,
        &[TimingDefect::UnsteadyClock],
        "although the clock changed while samples were taken",
    );
    // A power limit is usual for work that keeps the chip busy.
    check(Reading { is_power_capped: true, ..slow }, &[], "measured by CUDA events, ");
    let busy = Reading { other_processes: 2, ..calm };
    check(busy, &[], ", while 2 other processes used the device");
}

#[test]
fn without_a_virtual_device_nothing_is_counted() {
    let readings = Readings::new(Seconds(1e-6), Seconds(1e-9));
    let limiter = said(&SPECIMENS[0], readings, None).standing.unwrap().limiter;
    assert_eq!(limiter.words(), "unknown");
    assert!(limiter.evidence[0].contains("no virtual device"), "{:?}", limiter.evidence);
}
