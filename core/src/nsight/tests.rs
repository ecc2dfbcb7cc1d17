//! A script as the profiler, and a launch request for a virtual device.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::{InputMode, InputSpec};

use super::metric::set;
use super::*;
use crate::device::Placement;
use crate::nsight::profiler_message::ProfilerMessage;
use crate::project::Purpose;
use crate::project::definition::Subnormals;
use crate::project::manifest::{Accuracy, Distribution};
use crate::toolchain::ProgramError;
use crate::verify::device_session::{
    BufferPlacement, CountsUse, GridPart, ModuleImage, OpenRequest, RunRequest, Scrutiny, Side,
};
use crate::verify::program::{LaunchStep, Program, Step};
use crate::worker::command::WorkerCommand;

/// Reads the options as the profiler does: the first word that is none is the program.
const OPTIONS: &str = r#"#!/bin/sh
while :; do
  case "$1" in
    --csv) shift ;;
    --log-file) log=$2; shift 2 ;;
    --export) export=$2; shift 2 ;;
    --import) cat "$2"; exit ;;
    --metrics) metrics=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
"#;

/// The order is the last word, and what is beside it says that it was carried out.
const DONE: &str = "for order; do :; done; : > \"$order.done\"\n";

const TABLE: &str = r#"cat > "$log" <<'END'
==PROF== Connected to process 4242 (/usr/bin/lightbench)
==PROF== Profiling "nothing" - 0: 0%....50%....100% - 2 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","launch__registers_per_thread"
"","","","","","","","","","","","byte","ns","register/thread"
"0","4242","lightbench","127.0.0.1","void nothing<256, 1>(const float *, int)","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","1,048,576","2,144","n/a"
END
"#;

/// What a report says of lines, as if it were the report.
const PAGE: &str = r#"cat > "$export" <<'END'
"File Path","/lightbench/kernels/nothing.cu"
"Function Name","nothing(const float *, int)"
"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)","stall_barrier","stall_long_sb","stall_selected"
"3","-","-","-","31","0","30","1"
"","","0x7f00","LDG.E R2, [R2.64]","11","0","10","1"
"","","0x7f10","FMUL R2, R2, R4","20","0","20","0"
"4","-","-","-","10","10","0","0"
"","","0x7f20","BAR.SYNC.DEFER_BLOCKING 0x0","10","10","0","0"
END
"#;

const FINE: &str =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() {\n ret;\n}\n";
const TRAP: &str =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() {\n trap;\n}\n";

fn order(ptx: &str, launches: u64) -> ProfiledLaunchRequest {
    let (side, device) = (Side::Candidate, "virtual:h200".to_owned());
    let modules = vec![ModuleImage { ptx: ptx.to_owned(), cubin: None }];
    let launch = Step::Launch(LaunchStep {
        kernel: "nothing".to_owned(),
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        residence: None,
        arguments: Vec::new(),
    });
    let steps = vec![Step::Repeat { count: launches, swap: Vec::new(), steps: vec![launch] }];
    let (scratch, constants) = (Vec::new(), Vec::new());
    let (workload, tensors) = ("test".to_owned(), Vec::new());
    let draw = InputMode::Distribution(Distribution::AsDeclared);
    let run = RunRequest {
        case: Case {
            workload,
            purpose: Purpose::Verify,
            accuracy: Accuracy::F32,
            subnormals: Subnormals::default(),
            tensors,
        },
        program: Program { module: 0, scratch, constants, steps },
        recipe: InputSpec { seed: 1, draw },
        memory: BufferPlacement::Fresh(Placement::Left),
        scrutiny: Scrutiny::Memory,
        counts: CountsUse::Drop,
        outputs: None,
        part: GridPart::Whole,
    };
    ProfiledLaunchRequest {
        opening: OpenRequest { side, device, max_steps: 1000, modules, harness_kernels: None },
        run,
    }
}

/// A profiler whose script ends like this, in a folder that lives as long.
fn profiler(script: &str) -> (tempfile::TempDir, Profiler) {
    let folder = tempfile::tempdir().unwrap();
    let ncu = folder.path().join("ncu");
    fs::write(&ncu, format!("{OPTIONS}{script}")).unwrap();
    fs::set_permissions(&ncu, fs::Permissions::from_mode(0o755)).unwrap();
    let command = WorkerCommand::new("/bin/test", ["-s"]);
    let path = vec!["/usr/bin".into(), "/bin".into()];
    (folder, Profiler { ncu, command, path })
}

fn profiled(script: &str) -> Result<Profile, ProfileError> {
    let (_folder, profiler) = profiler(script);
    profile(&profiler, &order(FINE, 1), &set("overview").unwrap(), &Cancellation::new())
}

fn check(script: &str, expected: &str) {
    let error = profiled(script).unwrap_err().to_string();
    assert!(error.contains(expected), "{expected} in {error}");
}

#[test]
fn the_metrics_of_a_set_are_measured_in_its_order() {
    // The profiled process is started with a file that is not empty: the order.
    let profile = profiled(&format!("\"$@\" || exit 9\n{DONE}{TABLE}")).unwrap();
    assert_eq!((profile.in_all, profile.launches.len()), (1, 1));
    let launch = &profile.launches[0];
    assert_eq!(launch.kernel, "void nothing<256, 1>(const float *, int)");
    assert_eq!((launch.grid.as_str(), launch.block.as_str()), ("(1, 1, 1)", "(32, 1, 1)"));
    let shown: Vec<(&str, String)> = launch
        .measured
        .iter()
        .filter_map(|each| Some((each.metric.title.as_str(), each.quantity.as_ref()?.to_string())))
        .collect();
    let expected = [("duration", "2.14 µs"), ("DRAM bytes read", "1 MiB")];
    assert_eq!(shown, expected.map(|(title, value)| (title, value.to_owned())));
    assert_eq!(launch.measured.len(), set("overview").unwrap().metrics.len());
}

#[test]
fn nothing_of_our_surroundings_reaches_the_profiler_but_the_search_path() {
    let script = "[ -z \"$CARGO_MANIFEST_DIR\" ] && [ \"$HOME\" = \"$PWD\" ] && [ \"$TMPDIR\" = \"$PWD\" ] || exit 9\n";
    assert!(profiled(&format!("{script}{DONE}{TABLE}")).is_ok());
}

#[test]
fn reasons_of_the_profiler_are_told() {
    let say = |text: &str| format!("echo '==ERROR== {text}' > \"$log\"; exit 1\n");
    check(
        &say("ERR_NVGPUCTRPERM - The user does not have permission"),
        "NVreg_RestrictProfilingToAdminUsers=0",
    );
    check(&say("The application returned an error code (11)."), "error code (11)");
    check("echo '==WARNING== No kernels were profiled.' > \"$log\"\n", "saw no launch");
    // Where it could not write to its file, its words come with everybody's.
    check("echo '==ERROR== ERR_NVGPUCTRPERM' >&2; exit 1\n", "CAP_SYS_ADMIN");
    check("echo 'a library is missing' >&2; exit 127\n", "a library is missing");
    check("exit 127\n", "127");
}

#[test]
fn numbers_of_a_launch_that_did_not_end_are_none() {
    check(&format!("{TABLE}echo 'the kernel faulted'\n"), "did not finish under Nsight Compute");
    check(&format!("{TABLE}echo 'the kernel faulted'\n"), "the kernel faulted");
}

#[test]
fn what_the_kernel_prints_is_no_table() {
    let printed = TABLE.replace("> \"$log\"", "");
    check(&printed, "wrote no table");
}

#[test]
fn metrics_that_this_gpu_has_not_are_left_out() {
    let script = format!(
        "case \"$metrics\" in *dram__bytes_write.sum*) \
         echo '==ERROR== Failed to find metric dram__bytes_write.sum' > \"$log\"; exit 1 ;; esac\n{DONE}{TABLE}"
    );
    let profile = profiled(&script).unwrap();
    assert_eq!(profile.unknown, ["dram__bytes_write.sum"]);
    let measured = profile.launches[0].measured.len();
    assert_eq!(measured, set("overview").unwrap().metrics.len() - 1);
    let all = "echo \"==ERROR== Failed to find metric $metrics\" > \"$log\"; exit 1\n";
    let error = profiled(all).unwrap_err();
    assert!(
        matches!(error, ProfileError::Complaint(ProfilerMessage::UnknownMetrics(_))),
        "{error}"
    );
}

#[test]
fn lines_at_which_warps_waited_come_from_a_report_of_the_same_launch() {
    let sample = |script: &str| {
        let (_folder, profiler) = profiler(script);
        sampled(&profiler, &order(FINE, 1), &Cancellation::new())
    };
    let stalls = sample(&format!("{DONE}{PAGE}")).unwrap();
    assert_eq!(stalls.samples, 40);
    let lines: Vec<_> = stalls.lines.iter().map(|each| (each.line, each.samples)).collect();
    assert_eq!(lines, [(3, 30), (4, 10)]);
    assert_eq!(stalls.lines[0].instruction, "FMUL R2, R2, R4");
    let check = |script: &str, expected: &str| {
        let error = sample(script).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected} in {error}");
    };
    check(PAGE, "did not finish under Nsight Compute");
    check(&format!("{DONE}echo no lines > \"$export\"\n"), "no table of source lines");
    check(DONE, "wrote no report");
    check("echo '==ERROR== ERR_NVGPUCTRPERM' > \"$log\"\n", "CAP_SYS_ADMIN");
}

#[test]
fn whoever_gives_up_ends_the_profiler_and_what_it_started() {
    let marker = tempfile::tempdir().unwrap();
    let alive = marker.path().join("alive");
    let script = format!("(sleep 2; touch {}) & sleep 60\n", alive.display());
    let (_folder, profiler) = profiler(&script);
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let started = Instant::now();
    let overview = set("overview").unwrap();
    let error = profile(&profiler, &order(FINE, 1), &overview, &cancellation).unwrap_err();
    assert!(matches!(error, ProfileError::Program(ProgramError::Cancelled)), "{error}");
    assert!(started.elapsed() < Duration::from_secs(30));
    std::thread::sleep(Duration::from_millis(2500));
    assert!(!alive.exists());
}

#[test]
fn a_report_is_written_once_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ncu-rep");
    let write = |script: &str, file: &Path| {
        let (_folder, profiler) = profiler(&format!("{DONE}{script}"));
        write_report(&profiler, &order(FINE, 1), file, &Cancellation::new())
    };
    write("printf everything > \"$export\"\n", &file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"everything");
    let again = write("printf other > \"$export\"\n", &file).unwrap_err();
    assert!(matches!(again, ProfileError::Exists(_)), "{again}");
    assert_eq!(fs::read(&file).unwrap(), b"everything");
    let other = folder.path().join("b.ncu-rep");
    let nothing = write("echo nothing; exit 3\n", &other).unwrap_err().to_string();
    assert!(nothing.contains("wrote no report") && nothing.contains("nothing"), "{nothing}");
    let (_folder, careless) = profiler("printf half > \"$export\"\n");
    let half = write_report(&careless, &order(FINE, 1), &other, &Cancellation::new());
    assert!(matches!(half, Err(ProfileError::Unfinished { .. })));
    let nowhere = write("printf it > \"$export\"\n", &folder.path().join("no/a.ncu-rep"));
    assert!(matches!(nowhere, Err(ProfileError::Storage { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_order_survives_the_file_and_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("order");
    let fine = order(FINE, 3);
    assert_eq!((fine.launches(), fine.symbols().len()), (3, 1));
    fine.write(&file).unwrap();
    assert_eq!(ProfiledLaunchRequest::read(&file).unwrap(), fine);
    let mark = file.with_extension("done");
    launch_once(&file).unwrap();
    fs::remove_file(&mark).unwrap();
    order(TRAP, 1).write(&file).unwrap();
    assert!(matches!(launch_once(&file), Err(LaunchOnceError::Fault(_))));
    assert!(!mark.exists());
    for wrong in ["", "no frame at all"] {
        fs::write(&file, wrong).unwrap();
        assert!(matches!(launch_once(&file), Err(LaunchOnceError::Unreadable(_))));
    }
    let mut absent = fine;
    absent.opening.device = "virtual:abacus".to_owned();
    absent.write(&file).unwrap();
    assert!(matches!(launch_once(&file), Err(LaunchOnceError::Session(_))));
}
