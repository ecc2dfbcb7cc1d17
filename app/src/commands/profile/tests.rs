//! Tests of profile reports with synthetic measurements.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser as _;
use lightbench_core::device::{DeviceSheet, LocalDevice};
use lightbench_core::nsight::metric::{MetricSet, Unit, set};
use lightbench_core::nsight::quantity::Quantity;
use lightbench_core::nsight::stalls::{self, Stalls};
use lightbench_core::nsight::{Measured, Profile, ProfiledLaunch};
use lightbench_core::verify::verdict::{Checks, Passed, WorkloadRun};

use super::*;
use crate::args::{Arguments, Command};

fn request(more: &[&str]) -> Result<ProfileRequest, Outcome> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/scale");
    let words = ["lightbench", "profile", project.to_str().unwrap()];
    let arguments = Arguments::try_parse_from(words.iter().chain(more)).unwrap();
    let Some(Command::Profile(arguments)) = &arguments.command else { panic!("it is `profile`") };
    ProfileRequest::from_arguments(arguments)
}

fn chosen() -> ChosenDevice {
    let sheet = DeviceSheet::named("h200").unwrap();
    let (device, title) = (LocalDevice::Cuda(0).into(), "NVIDIA H200".to_owned());
    ChosenDevice { device, sheet, title, virtual_reason: None, gpu: None }
}

fn verified() -> Run {
    let mut checks = Checks::default();
    let workload = "large".to_owned();
    checks.workloads.push(WorkloadRun { workload, seed: 7, runs: 1, warp_instructions: None });
    let passed = Passed { checks, timings: Vec::new() };
    Run { candidate: None, seed: 7, verdict: Ok(passed), elapsed: Duration::ZERO }
}

/// Values for every metric of a set except the last.
fn measured(set: &MetricSet) -> Hardware {
    let last = set.metrics.len() - 1;
    let quantity = |index: usize, unit: Unit| match unit {
        Unit::Seconds => Some(Quantity::Seconds(128.3e-6)),
        Unit::Bytes => Some(Quantity::Bytes(536_870_912.0)),
        Unit::Percent => Some(Quantity::Percent(76.84)),
        Unit::Count | Unit::Ratio if index == last => None,
        Unit::Count => Some(Quantity::Count(1_048_576.0)),
        Unit::Ratio => Some(Quantity::Ratio(3.25)),
    };
    let metrics = set.metrics.iter().enumerate();
    let each =
        metrics.map(|(index, metric)| Measured { metric, quantity: quantity(index, metric.unit) });
    let launch = ProfiledLaunch {
        kernel: "void scale<256, 1>(const float *, float *)".to_owned(),
        grid: "(16384, 1, 1)".to_owned(),
        block: "(256, 1, 1)".to_owned(),
        measured: each.collect(),
    };
    let unknown = vec!["dram__bytes_read.sum".to_owned()];
    let profile = Profile { launches: vec![launch], in_all: 20, unknown };
    Hardware { profile, stalls: Ok(waited()) }
}

/// Stalls at two lines of the kernel and one of a header.
fn waited() -> Stalls {
    let names = "\"Line No\",\"Source\",\"Address\",\"Source\",\"stall_long_sb\",\"stall_wait\"";
    let line = |file: &str, line: u32, long: u64| {
        format!(
            "\"File Path\",\"{file}\"\n{names}\n\"{line}\",\"\",\"-\"\n\"\",\"\",\"0x{line}0\",\"FMUL R2, R2, R4\",\"{long}\",\"5\"\n"
        )
    };
    let own = "/lightbench/kernels/naive.cu";
    stalls::read(&(line(own, 9, 45) + &line(own, 8, 15) + &line("/cache/x.hpp", 70, 25))).unwrap()
}

fn told<T>(
    name: &str,
    written: Option<(&Path, ViewerState)>,
    tell: fn(&ProfileReport<'_>) -> T,
) -> T {
    let request = request(&["--set", name]).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    let hardware = measured(&set(name).unwrap());
    let (chosen, run) = (chosen(), verified());
    let (request, chosen, run, hardware) = (&request, &chosen, &run, &hardware);
    tell(&ProfileReport { request, chosen, run, hardware, written })
}

fn check(name: &str, parts: &[&str]) {
    let text = told(name, None, text::report_text);
    println!("{text}");
    for part in parts {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn a_profile_says_how_it_was_measured_and_what_each_number_means() {
    check(
        "overview",
        &[
            "Scale a matrix · NVIDIA H200",
            "naive is correct",
            "workload `large`\nNsight Compute, clocks not locked, caches flushed before each pass;",
            "launch 1 of 20: void scale<256, 1>(const float *, float *), grid (16384, 1, 1)",
            "128 µs  from the launch's start",
            "not available",
        ],
    );
    check("stalls", &["barrier", "3.25  waiting for the block's other warps"]);
    check("memory", &["512 MiB  from device memory"]);
}

#[test]
fn metrics_of_a_group_stand_beside_each_other() {
    let text = told("compute", None, text::report_text);
    for group in ["  time ", "  work ", "  warps ", "  stalls "] {
        assert_eq!(text.matches(&format!("\n{group}")).count(), 1, "{group} in\n{text}");
    }
}

#[test]
fn lines_at_which_warps_waited_stand_with_their_text_and_reasons() {
    check(
        "overview",
        &[
            "warp stalls by line, of 100 samples:",
            "50.0 %  kernels/naive.cu:9",
            "long scoreboard 90 %, wait 10 %",
            "30.0 %  /cache/x.hpp:70",
            "FMUL R2, R2, R4",
        ],
    );
    let value = told("overview", None, json::report_json);
    let first = &value["stalls"]["lines"][0];
    assert_eq!((&first["line"], &first["share"]), (&9.into(), &0.5.into()));
    assert_eq!(
        (&first["file"], &first["reasons"]["long_sb"]),
        (&"kernels/naive.cu".into(), &45.into())
    );
    assert_eq!(value["stalls"]["samples"], 100);
    let mut hardware = measured(&set("overview").unwrap());
    hardware.stalls = Err("too short".to_owned());
    assert!(
        text::notices(&hardware)
            .join("\n")
            .contains("warp stalls by line are unavailable: too short")
    );
}

#[test]
fn scripts_get_numbers_in_plain_units() {
    let value = told("overview", None, json::report_json);
    assert_eq!(value["schema"], "lightbench.profile/1");
    assert_eq!((&value["verdict"], &value["seed"]), (&"passed".into(), &7.into()));
    let metrics = &value["launches"][0]["metrics"];
    assert_eq!(metrics[0]["name"], "gpu__time_duration.sum");
    assert_eq!(metrics[0]["measured"]["unit"], "seconds");
    assert_eq!(metrics[0]["measured"]["value"], 128.3e-6);
    assert!(metrics[10]["measured"].is_null());
    assert!(value["report"].is_null());
}

#[test]
fn a_report_that_was_written_is_named_with_what_opens_it() {
    let file = Path::new("a.ncu-rep");
    let started = || Some((file, ViewerState::Started(PathBuf::from("/opt/ncu-ui"))));
    let text = told("overview", started(), text::report_text);
    assert!(text.contains("report: a.ncu-rep; `ncu-ui a.ncu-rep` opens it"), "{text}");
    assert!(text.contains("opened with /opt/ncu-ui"), "{text}");
    assert_eq!(told("overview", started(), json::report_json)["report"]["opened"], true);
    let absent = Some((file, ViewerState::NotStarted("there is none".to_owned())));
    assert!(told("overview", absent, text::report_text).contains("not opened: there is none"));
}

#[test]
fn what_was_left_out_is_said() {
    let notices = text::notices(&measured(&set("overview").unwrap())).join("\n");
    assert!(notices.contains("no metric dram__bytes_read.sum"), "{notices}");
    assert!(notices.contains("of 20 launches only the first 16"), "{notices}");
}

#[test]
fn a_request_has_a_kernel_and_a_workload_where_nobody_named_one() {
    let request = request(&[]).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    assert_eq!(
        (request.kernel().name.as_str(), request.workload().name.as_str()),
        ("naive", "large")
    );
    assert_eq!(request.set.name, "overview");
}
