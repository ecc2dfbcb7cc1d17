//! The sample projects: every kernel's facts on four architectures, and every kernel that must not compile.

use std::fs;
use std::path::Path;
use std::process::Command;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::{Facts, Setting, facts};
use lightbench_core::compile::{Build, Compiler};
use lightbench_core::device::{ComputeCapability, DeviceSheet};
use lightbench_core::project::{Kernel, Project, Purpose, Workload};
use lightbench_core::worker::command::WorkerCommand;

use super::*;
use crate::compiler::Found;
use crate::program::{repository, shared_cache};

const PROJECTS: [&str; 19] = [
    "vector-add",
    "rmsnorm",
    "softmax",
    "softmax-bf16",
    "vector-sum",
    "transpose",
    "histogram",
    "sgemm",
    "layernorm",
    "cross-entropy",
    "rotary",
    "scan",
    "spmv-csr",
    "jacobi",
    "hgemm",
    "attention",
    "paged-decode",
    "fp8-gemm",
    "grouped-gemm",
];
/// Compute capabilities 7.5, 8.0, 9.0 and 12.0.
const DEVICES: [&str; 4] = ["t4", "a100-80gb", "h200", "rtx5090"];
/// Devices with the instructions of `sm_90a`.
const HOPPER: [&str; 2] = ["h100-sxm", "h200"];

#[test]
fn vector_add_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[0], &DEVICES);
}

#[test]
fn rmsnorm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[1], &DEVICES);
}

#[test]
fn softmax_f32_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[2], &DEVICES);
}

#[test]
fn softmax_bf16_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[3], &DEVICES);
}

#[test]
fn vector_sum_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[4], &DEVICES);
}

#[test]
fn transpose_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[5], &DEVICES);
}

#[test]
fn histogram_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[6], &DEVICES);
}

#[test]
fn sgemm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[7], &DEVICES);
}

#[test]
fn layernorm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[8], &DEVICES);
}

#[test]
fn cross_entropy_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[9], &DEVICES);
}

#[test]
fn rotary_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[10], &DEVICES);
}

#[test]
fn scan_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[11], &DEVICES);
}

#[test]
fn spmv_csr_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[12], &DEVICES);
}

#[test]
fn jacobi_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[13], &DEVICES);
}

#[test]
fn hgemm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[14], &HOPPER);
}

#[test]
fn attention_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[15], &HOPPER);
}

#[test]
fn paged_decode_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[16], &DEVICES);
}

#[test]
fn fp8_gemm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[17], &HOPPER);
}

#[test]
fn grouped_gemm_has_the_facts_of_its_machine_code() {
    check_project(PROJECTS[18], &HOPPER);
}

/// On every device: passes, spills nothing, and says what NVIDIA's own reader says of the same machine code.
fn check_project(name: &str, devices: &[&str]) {
    let Some(found) = compiler::required() else { return };
    let folder = repository().join("sample-projects").join(name);
    let project = Project::load(&folder).unwrap();
    assert_eq!(project.broken, []);
    let bench = Bench::new();
    for device in devices {
        let said = bench.run(&["check", folder.to_str().unwrap(), "--device", device, "--json"]);
        said.expect(0, &[]);
        let document = said.json();
        assert_eq!(document["kernels"].as_array().unwrap().len(), project.kernels.len() + 1);
        for kernel in project.kernels.iter().chain(project.reference.kernel()) {
            let shown = super::kernel(&document, &kernel.name);
            for launch in shown["launches"].as_array().unwrap() {
                check_resources(&format!("{name}/{} on {device}", kernel.name), launch);
            }
        }
        check_against_reader(found, &project, &document, device);
    }
}

fn check_resources(what: &str, launch: &Value) {
    let resources = &launch["resources"];
    assert_eq!(resources["spill_store_bytes"], 0, "{what}");
    assert_eq!(resources["spill_load_bytes"], 0, "{what}");
    assert!(launch["occupancy"]["blocks_per_sm"].as_u64().unwrap() > 0, "{what}");
}

fn check_against_reader(found: &Found, project: &Project, document: &Value, device: &str) {
    let Some(reader) = &found.toolchain.cuobjdump else {
        println!("skipped: no cuobjdump");
        return;
    };
    let sheet = DeviceSheet::named(device).unwrap();
    let capability = &sheet.capability;
    // From 9.0 on the reader adds the 1 KiB that the system takes from every block, if the kernel has shared memory
    // of its own, declared or dynamic; 8.0 takes as much, and there it does not.
    let is_counted = capability.compute_capability >= ComputeCapability(9, 0);
    let reserved = capability.reserved_shared_per_block.get().filter(|_| is_counted);
    let allocated = |declared: u64, has_more: bool| {
        if declared == 0 && !has_more { 0 } else { declared + reserved.map_or(0, |it| it.0) }
    };
    let folder = tempfile::tempdir().unwrap();
    for kernel in project.kernels.iter().chain(project.reference.kernel()) {
        let facts = compiled(found, project, kernel, sheet);
        let cubin = folder.path().join("kernel.cubin");
        fs::write(&cubin, facts.artifact.cubin.as_ref().unwrap()).unwrap();
        let usage = resource_usage(&reader.program, &cubin);
        for launch in super::kernel(document, &kernel.name)["launches"].as_array().unwrap() {
            let resources = &launch["resources"];
            let symbol = launch["symbol"].as_str().unwrap();
            let number = |name: &str| resources[name].as_u64().unwrap();
            let mut kernels = facts.artifact.kernels.iter();
            let dynamic =
                kernels.find(|kernel| kernel.symbol == symbol).unwrap().uses_dynamic_shared;
            let shared = allocated(number("static_shared_bytes"), dynamic);
            let shown = (number("registers"), shared);
            let what = format!("registers and shared memory of {} on {device}", kernel.name);
            assert_eq!(shown, usage_of(&usage, symbol), "{what}\n{usage}");
        }
    }
}

/// The same compile as the program's, from the same cache.
fn compiled(found: &Found, project: &Project, kernel: &Kernel, sheet: &DeviceSheet) -> Facts {
    let command = WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"]);
    let cache = Some(shared_cache().to_owned());
    let mut compiler = Compiler::new(found.toolchain.clone(), command, cache);
    let measured = |workload: &&Workload| workload.purpose == Purpose::Measure;
    let setting = Setting {
        project,
        workload: project.workloads.iter().find(measured).unwrap(),
        chosen: &std::collections::BTreeMap::new(),
        sheet,
        multiprocessors: None,
        build: Build::Optimised,
    };
    facts(&mut compiler, kernel, &setting, &Cancellation::new()).unwrap()
}

fn resource_usage(reader: &Path, cubin: &Path) -> String {
    let output = Command::new(reader).arg("-res-usage").arg(cubin).output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// `REG:24 … SHARED:1024 …` in the line after ` Function symbol:`
fn usage_of(usage: &str, symbol: &str) -> (u64, u64) {
    let heading = format!("Function {symbol}:");
    let mut lines = usage.lines().skip_while(|line| line.trim() != heading).skip(1);
    let line = lines.next().unwrap_or_else(|| panic!("{symbol} in\n{usage}"));
    let number = |key: &str| {
        let mut words = line.split_whitespace();
        words.find_map(|word| word.strip_prefix(key)).unwrap().parse().unwrap()
    };
    (number("REG:"), number("SHARED:"))
}

#[test]
fn wrong_kernels_compile_unless_that_is_what_is_wrong_with_them() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    for name in PROJECTS {
        let folder = repository().join("sample-projects").join(name);
        for kernel in Project::load(&folder).unwrap().wrong {
            let file = folder.join(&kernel.file);
            let said = bench.run(&["check", file.to_str().unwrap(), "--json"]);
            let failure = &said.json()["kernels"][0]["failure"]["kind"];
            let expected = serde_json::to_string(&kernel.launch.expect).unwrap();
            let (status, kind) = match expected.as_str() {
                "\"compile\"" => (1, Some("compile")),
                r#"{"refused":"arguments"}"# | r#"{"refused":"include"}"# => (1, Some("refused")),
                // Evidence is found in machine code, faults and wrong results when it runs.
                _ => (0, None),
            };
            let what = format!("{name}/{}: {}", kernel.file.display(), said.errors);
            assert_eq!((said.status, failure.as_str()), (status, kind), "{what}");
        }
    }
}
