//! What the doctor says about made-up machines.

use std::fs;

use lightbench_device::{Card, DescribedGpu};

use super::super::{Version, tests as trees};
use super::driver::{Driver, Gpu, findings as driver_findings, remarks_of};
use super::*;

fn check(findings: &[Finding], topic: Topic, state: State, words: &str) {
    let finding = findings.iter().find(|finding| finding.topic == topic).unwrap();
    assert_eq!(finding.state, state, "{finding:?}");
    let text = serde_json::to_string(finding).unwrap();
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_bare_machine_is_told_the_one_command() {
    let root = trees::tree(&[]);
    let report = examine(&trees::surroundings(root.path()));
    assert!(!report.can_compile);
    let native = super::super::naming::native().is_some();
    check(
        &report.findings,
        Topic::Compiler,
        State::Missing,
        if native { FETCH_COMMAND } else { "no CUDA" },
    );
    check(&report.findings, Topic::Disassembler, State::Missing, FETCH_COMMAND);
    check(&report.findings, Topic::Assembler, State::Info, "not needed");
    check(&report.findings, Topic::Pip, State::Missing, "install it");
    check(&report.findings, Topic::Cache, State::Ok, "made on first use");
    check(&report.findings, Topic::Cublas, State::Info, "pip install nvidia-cublas");
    check(&report.findings, Topic::Cupti, State::Info, "pip install nvidia-cuda-cupti");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["schema"], "lightbench.doctor/1");
    assert_eq!(json["findings"][0]["topic"], "compiler");
}

#[test]
fn a_compiler_that_is_passed_over_is_named_with_the_reason() {
    let root =
        trees::tree(&["opt/cuda/lib64/libnvrtc.so.12", "opt/cuda/lib64/libnvrtc-builtins.so.12.8"]);
    let report = examine(&trees::surroundings(root.path()));
    check(&report.findings, Topic::Compiler, State::Problem, "12.8");
    check(&report.findings, Topic::Compiler, State::Problem, FETCH_COMMAND);
}

#[cfg(target_os = "linux")]
#[test]
fn libraries_of_a_toolkit_are_named_with_their_files() {
    let (cublas, cupti) = ("lib64/libcublas.so.13", "extras/CUPTI/lib64/libcupti.so.13");
    let files = [cublas, cupti].map(|file| format!("usr/local/cuda/{file}"));
    let root = trees::tree(&files.each_ref().map(String::as_str));
    let report = examine(&trees::surroundings(root.path()));
    check(&report.findings, Topic::Cublas, State::Ok, cublas);
    check(&report.findings, Topic::Cupti, State::Ok, cupti);
}

fn present(version: &str) -> Driver {
    let gpu = Gpu { name: "GPU".to_owned(), compute_capability: (9, 0), memory_bytes: 1 << 33 };
    Driver::Present {
        version: version.to_owned(),
        cuda: Version::new(13, 0),
        gpus: vec![gpu],
        remarks: Vec::new(),
    }
}

#[test]
fn the_driver_is_matched_to_the_compiler() {
    let root = trees::tree(&[]);
    let surroundings = trees::surroundings(root.path());
    let compiler = Some(Version::new(13, 5));
    let on = |driver: &Driver| driver_findings(driver, &surroundings, compiler);
    check(&on(&Driver::Absent), Topic::Driver, State::Info, "need none");
    check(&on(&present("580.95.05")), Topic::Driver, State::Ok, "runs its cubins, not its PTX");
    check(&on(&present("550.54")), Topic::Driver, State::Problem, "NVRTC 12.9 fits");
    check(&on(&present("550.54")), Topic::Driver, State::Problem, FETCH_COMMAND);
    check(
        &on(&present("470.256.02")),
        Topic::Driver,
        State::Problem,
        "driver 525 or newer, 580 for",
    );
    let with_12 = |version: &str| {
        driver_findings(&present(version), &surroundings, Some(Version::new(12, 9)))
    };
    check(&with_12("550.54"), Topic::Driver, State::Ok, "550.54");
    check(&with_12("580.95.05"), Topic::Driver, State::Ok, "580.95.05");
    check(&with_12("470.256.02"), Topic::Driver, State::Problem, "no kernel runs on this GPU");
    let without = driver_findings(&present("550.54"), &surroundings, None);
    check(&without, Topic::Driver, State::Ok, "550.54");
    check(&on(&present("580.95.05")), Topic::Gpu, State::Ok, "compute capability 9.0, 8 GiB");
    let Driver::Present { version, cuda, gpus, .. } = present("580.95.05") else { unreachable!() };
    let other = Card::find("gh200").unwrap().unwrap();
    let remarks = remarks_of(0, DescribedGpu::from_attributes(&other.attributes));
    let unlike = Driver::Present { version, cuda, gpus, remarks };
    let words =
        "cuda:0: memory bus: the driver reports 6144 bit, the sheet `h100-sxm` states 5120 bit";
    check(&on(&unlike), Topic::Gpu, State::Ok, words);
    let silent = Driver::Silent { message: "version mismatch".to_owned() };
    check(&on(&silent), Topic::Driver, State::Problem, "version mismatch");
}

#[cfg(target_os = "linux")]
#[test]
fn counter_permission_and_modules_are_read_from_the_system() {
    let root = trees::tree(&[]);
    let surroundings = trees::surroundings(root.path());
    let on = || driver_findings(&present("580.1"), &surroundings, None);
    check(&on(), Topic::UnifiedMemoryModule, State::Problem, "nvidia-modprobe");
    check(&on(), Topic::CounterPermission, State::Info, "cannot be read");
    fs::create_dir_all(root.path().join("proc/driver/nvidia")).unwrap();
    fs::create_dir_all(root.path().join("dev/nvidia-uvm")).unwrap();
    let write = |value: u8| {
        let text = format!("EnableMSI: 1\nRmProfilingAdminOnly: {value}\n");
        fs::write(root.path().join("proc/driver/nvidia/params"), text).unwrap();
    };
    write(0);
    check(&on(), Topic::UnifiedMemoryModule, State::Ok, "loaded");
    check(&on(), Topic::CounterPermission, State::Ok, "every user");
    write(1);
    if rustix::process::geteuid().is_root() {
        check(&on(), Topic::CounterPermission, State::Ok, "administrator");
    } else {
        check(
            &on(),
            Topic::CounterPermission,
            State::Problem,
            "NVreg_RestrictProfilingToAdminUsers=0",
        );
    }
}
