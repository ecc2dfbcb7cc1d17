//! `lightbench profile` as far as a machine without a GPU goes, and a profiler that is a script around the built program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::device::{DeviceName, LocalDevice};
use lightbench_core::evaluate::profiled::{Profilable, profilable};
use lightbench_core::evaluate::{Evaluation, EvaluationContext as Devices, PolicyUse};
use lightbench_core::nsight::metric::set;
use lightbench_core::nsight::{ProfiledLaunchRequest, Profiler, hardware};
use lightbench_core::project::Project;
use lightbench_core::toolchain::{HostEnvironment, Libraries, NsightProgram, nsight};
use lightbench_core::verify::device_workers::DeviceWorkers;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::verdict::{Failure, TimingUse};
use lightbench_core::worker::command::WorkerCommand;

use crate::compiler;
use crate::program::{Bench, Said};

/// Leaves a file beside itself, runs the process that it is to look at, and writes a table.
const NCU: &str = r#"#!/bin/sh
echo "$@" >> "$0.called"
while :; do
  case "$1" in
    --csv) shift ;;
    --log-file) log=$2; shift 2 ;;
    --export) export=$2; shift 2 ;;
    --import) cat "$2"; exit ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
if "$@"; then
  if [ -n "$export" ]; then
    cat > "$export" <<'END'
"File Path","/lightbench/kernels/tuned.cu"
"Line No","Source","Address","Source","stall_long_sb","stall_selected"
"7","","-","","30","2"
"","","0x10","LDG.E R2, [R2.64]","30","2"
END
    exit
  fi
  cat > "$log" <<'END'
==PROF== Connected to process 7
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum"
"","","","","","","","","","","","ns"
"0","7","lightbench","127.0.0.1","scale","1","7","(256, 1, 1)","(1, 1, 1)","0","9.0","2,144"
END
else
  echo "==ERROR== The application returned an error code ($?)." > "$log"
  exit 1
fi
"#;

/// The script in a folder of its own.
fn script(bench: &Bench) -> PathBuf {
    let folder = bench.path().join("nsight");
    fs::create_dir(&folder).unwrap();
    let ncu = folder.join("ncu");
    fs::write(&ncu, NCU).unwrap();
    fs::set_permissions(&ncu, fs::Permissions::from_mode(0o755)).unwrap();
    ncu
}

/// `profile` with a folder in front of the search path.
fn said(bench: &Bench, folder: &Path, arguments: &[&str]) -> Said {
    let all: Vec<&str> = ["profile", "scale"].iter().chain(arguments).copied().collect();
    let mut command = bench.command(&all);
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path);
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    folders.extend(std::env::split_paths(&path.map(OsString::from).unwrap_or_default()));
    Said::from(command.env("PATH", std::env::join_paths(folders).unwrap()).output().unwrap())
}

#[test]
fn a_request_is_judged_before_anything_is_looked_for() {
    let bench = Bench::new();
    let ncu = script(&bench);
    let check = |arguments: &[&str], expected: &str| {
        said(&bench, ncu.parent().unwrap(), arguments).expect(2, &[expected]);
    };
    check(&["--device", "virtual:h200"], "`lightbench run` and `lightbench launch --counters`");
    check(&["--device", "t4"], "has no hardware counters");
    check(&["--device", "abacus"], "abacus");
    check(&["--set", "stals"], "did you mean `stalls`?");
    check(&["--kernel", "none-such"], "none-such");
    check(&["--workload", "none-such"], "none-such");
    check(&["--param", "NONE=1"], "`naive` has no parameter `NONE`");
    check(&["--report", "a.txt"], "must end in .ncu-rep");
    check(&["--report", "nowhere/a.ncu-rep"], "there is no folder nowhere");
    check(&["--open"], "--report");
    bench.write("../a.ncu-rep", "kept");
    check(&["--report", "a.ncu-rep"], "exists and is not overwritten");
    assert!(!ncu.with_extension("called").exists());
}

#[test]
fn first_the_profiler_is_looked_for_and_then_the_gpu() {
    let bench = Bench::new();
    let machine = HostEnvironment { system: "/".into(), ..HostEnvironment::default() };
    if nsight(&machine, NsightProgram::CommandLine).is_err() {
        let told = said(&bench, bench.path(), &["--device", "cuda:31"]);
        told.expect(3, &["there is no `ncu` on PATH", "/opt/nvidia/nsight-compute", "apt install"]);
        let json = said(&bench, bench.path(), &["--device", "cuda:31", "--json"]).json();
        assert_eq!(json["error"]["kind"], "environment");
    }
    let ncu = script(&bench);
    // Nobody has as many.
    let told = said(&bench, ncu.parent().unwrap(), &["--device", "cuda:31"]);
    told.expect(3, &["only a GPU has hardware counters; `lightbench launch --counters`"]);
    assert!(!ncu.with_extension("called").exists());
}

#[test]
fn the_profiled_process_is_for_profilers_alone() {
    let bench = Bench::new();
    assert!(!bench.run(&["--help"]).output.contains("launch-once"));
    bench.run(&["launch-once", "nowhere"]).expect(1, &["the launch request cannot be read"]);
}

/// What may be profiled of a kernel of the fixture project, on a virtual device.
fn looked_at(bench: &Bench, kernel: &str) -> Option<Profilable> {
    let found = compiler::required()?;
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let device = DeviceName::parse("virtual:h200").unwrap();
    let LocalDevice::Virtual(sheet) = device.local else { panic!("it is virtual") };
    let workers = DeviceWorkers::new(&command, &device, None).unwrap();
    let cache = Some(bench.cache().to_owned());
    let compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let project = Project::load(&bench.project()).unwrap();
    let evaluation = Evaluation {
        project: &project,
        kernel: project.kernel(kernel).unwrap(),
        chosen: &BTreeMap::new(),
        device: &device,
        sheet,
        calibration: None,
        workload: None,
        seed: 1,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Skip,
    };
    let workload = project.workload("odd").unwrap();
    let mut devices = Devices::new(compiler, workers, Libraries::default());
    let cancellation = Cancellation::new();
    Some(profilable(&evaluation, workload, &mut devices, &cancellation, &mut |_, _| {}).unwrap())
}

fn around(ncu: PathBuf) -> Profiler {
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["launch-once"]);
    Profiler { ncu, command, path: vec!["/usr/bin".into(), "/bin".into()] }
}

#[test]
fn what_passed_runs_once_inside_the_profiler() {
    let bench = Bench::new();
    let Some(looked) = looked_at(&bench, "tuned") else { return };
    assert!(looked.run.verdict.is_ok());
    let order = looked.order.unwrap();
    assert_eq!((order.launches(), order.run.case.workload.as_str()), (1, "odd"));
    let (ncu, overview) = (script(&bench), set("overview").unwrap());
    let measure = |order: &ProfiledLaunchRequest| {
        hardware(&around(ncu.clone()), order, &overview, &Cancellation::new())
    };
    let measured = measure(&order).unwrap();
    let stalls = measured.stalls.unwrap();
    let line = &stalls.lines[0];
    assert_eq!((stalls.samples, line.file.as_str(), line.line), (30, "kernels/tuned.cu", 7));
    let profile = measured.profile;
    assert_eq!(profile.launches.len(), 1);
    let duration = &profile.launches[0].measured[0];
    assert_eq!(duration.quantity.as_ref().unwrap().to_string(), "2.14 µs");
    let called = fs::read_to_string(ncu.with_extension("called")).unwrap();
    let symbol = order.symbols().into_iter().next().unwrap().to_owned();
    for part in ["--kernel-name-base mangled", &format!("regex:^({symbol})$"), "launch-once"] {
        assert!(called.contains(part), "{part} in {called}");
    }
    // A process that cannot do it is told apart from one that did.
    let mut broken = order;
    broken.opening.max_steps = 1;
    assert!(measure(&broken).unwrap_err().to_string().contains("error code (1)"));
    let careless = NCU.replace("if \"$@\"", "if \"$@\" || true");
    fs::write(&ncu, careless).unwrap();
    assert!(
        measure(&broken).unwrap_err().to_string().contains("did not finish under Nsight Compute")
    );
}

#[test]
fn a_kernel_that_is_wrong_is_not_profiled() {
    let bench = Bench::new();
    let Some(looked) = looked_at(&bench, "short") else { return };
    assert!(matches!(looked.run.verdict, Err(NotPassed::Failed(Failure::Wrong(_)))), "{looked:?}");
    assert!(looked.order.is_none());
}
