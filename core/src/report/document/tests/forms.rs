//! The written form of results that the frozen outputs do not have, and that it is read again.

use std::fmt::Debug;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::compile::CompileError;
use crate::compile::facts::FactsError;
use crate::measure::energy::{Energy, Joules};
use crate::measure::{Clock, NoStamps};
use crate::project::includes::{Reason, Refusal, SourceLocation};
use crate::project::launch::expectation::FaultKind;
use crate::project::manifest::Evidence;
use crate::report::document::build_failure::ReportedBuildFailure;
use crate::report::document::failure::NotPassedReport;
use crate::report::document::timing::{ReportedBaseline, ReportedClock, ReportedEnergy};
use crate::tensors::inputs::{InputMode, InputSpec};
use crate::units::{Seconds, Watts};
use crate::verify::baseline::{BaselineOutcome, BaselineTiming};
use crate::verify::evidence::{Found, Origin};
use crate::verify::fault_report::{CodePlace, FaultReport, OtherReport, Seen};
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{Failure, Fault, Refused, Step, Wrong};
use crate::worker::error::Death;

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: &Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), *expected);
    assert_eq!(serde_json::from_value::<T>(expected.clone()).unwrap(), *value);
}

fn check_reason(reason: impl Into<NotPassed>, expected: &Value) {
    let reason = reason.into();
    let report = NotPassedReport::from(&reason);
    check(&report, &json!({ reason.word(): expected }));
    assert_eq!(report.details().unwrap(), *expected);
}

fn place(line: u32) -> CodePlace {
    CodePlace { ptx: (line, 2), source: Some(("kernels/a.cu".to_owned(), 7, 3)) }
}

fn fault(seen: Option<Seen>, other: Option<OtherReport>) -> FaultReport {
    FaultReport {
        kind: FaultKind::DataRace,
        kernel: "scale".to_owned(),
        seen,
        buffer: Some("x".to_owned()),
        other,
        details: "two threads write".to_owned(),
    }
}

#[test]
fn faults() {
    let seen = Seen { block: [1, 0, 0], thread: [2, 0, 0], place: place(40), address: None };
    let place = CodePlace { ptx: (41, 1), source: None };
    let (block, thread, access) = ([1, 0, 0], [3, 0, 0], "write".to_owned());
    let other = OtherReport { block, thread, place, access };
    let recipe = InputSpec { seed: u64::MAX, draw: InputMode::Repeating };
    let faults = vec![fault(Some(seen), Some(other)), fault(None, None)];
    let (workload, printed) = ("large".to_owned(), String::new());
    let fault = Fault { workload, recipe, step: Step::Results, faults, printed };
    let unseen = json!({
        "kind": "data_race", "kernel": "scale", "buffer": "x", "details": "two threads write",
    });
    let mut observed = unseen.clone();
    observed.as_object_mut().unwrap().extend(
        json!({
            "block": [1, 0, 0], "thread": [2, 0, 0], "address": null, "ptx_line": 40, "ptx_column": 2,
            "file": "kernels/a.cu", "line": 7, "column": 3,
            "other": {
                "block": [1, 0, 0], "thread": [3, 0, 0], "access": "write",
                "ptx_line": 41, "ptx_column": 1,
            },
        })
        .as_object()
        .unwrap()
        .clone(),
    );
    check_reason(
        Failure::Fault(Box::new(fault)),
        &json!({
            "kind": "data_race", "workload": "large", "step": "results", "printed": "",
            "recipe": { "seed": u64::MAX, "draw": "repeating" }, "faults": [observed, unseen],
        }),
    );
}

#[test]
fn refusals() {
    let include = || {
        let place = SourceLocation { file: "kernels/a.cu".to_owned(), line: 2, column: 10 };
        let reason = Reason::Backslash { name: "a\\b".to_owned() };
        FactsError::Include(vec![Refusal { place, reason }])
    };
    let reason = "`a\\b` contains a backslash: separate folders with `/`";
    let refusals = json!([{ "file": "kernels/a.cu", "line": 2, "column": 10, "reason": reason }]);
    let message = include().to_string();
    check(
        &ReportedBuildFailure::from(&include()),
        &json!({ "kind": "refused", "message": message, "refusals": refusals }),
    );
    check_reason(
        Failure::Refused(Refused::Build(Box::new(include()))),
        &json!({ "kind": "include", "message": message, "refusals": refusals }),
    );
    let cancelled = || FactsError::Compile(CompileError::Cancelled);
    check_reason(
        Failure::Compile(Box::new(cancelled())),
        &json!({ "kind": "cancelled", "message": cancelled().to_string() }),
    );
    let arguments = FactsError::Arguments { kernel: "scale".to_owned(), mismatches: Vec::new() };
    check_reason(
        Failure::Refused(Refused::Build(Box::new(arguments))),
        &json!({ "kind": "arguments", "message": "`scale`: ", "mismatches": [] }),
    );
    let found = Found {
        evidence: Evidence::Clocks,
        what: "reads `%clock64`".to_owned(),
        instruction: "mov.u64 %rd1, %clock64;".to_owned(),
        ptx_line: 9,
        source: Vec::new(),
        entry: "scale".to_owned(),
        origin: Origin::Toolkit(None),
    };
    check_reason(
        Failure::Refused(Refused::Evidence(vec![found])),
        &json!({ "kind": "evidence", "evidence": [{
            "evidence": "clocks", "what": "reads `%clock64`", "instruction": "mov.u64 %rd1, %clock64;",
            "ptx_line": 9, "source": [], "entry": "scale", "origin": { "toolkit": null },
        }] }),
    );
    let (workload, problems) = ("large".to_owned(), vec!["too large".to_owned()]);
    check_reason(
        Failure::Refused(Refused::Launch { workload, problems }),
        &json!({ "kind": "launch", "workload": "large", "problems": ["too large"] }),
    );
    check_reason(
        Failure::Refused(Refused::Load("no".to_owned())),
        &json!({ "kind": "load", "message": "no" }),
    );
    check_reason(
        Failure::Refused(Refused::Memory("no".to_owned())),
        &json!({ "kind": "memory", "message": "no" }),
    );
}

#[test]
fn time_outs_and_held_out_workloads() {
    let at = Some(Box::new(fault(None, None)));
    let limit = Duration::from_millis(1500);
    check_reason(
        Failure::TimedOut { step: Step::HeldOut, workload: None, limit, at },
        &json!({ "step": "held_out", "workload": null, "limit_seconds": 1.5, "at": {
            "kind": "data_race", "kernel": "scale", "buffer": "x", "details": "two threads write",
        } }),
    );
    check_reason(Failure::Wrong(Box::new(Wrong::HeldOut)), &json!({ "kind": "held_out" }));
}

#[test]
fn kernels_that_were_not_judged() {
    check_reason(
        NotJudged::DeviceLost { step: Step::Measure, reason: "fell off the bus".to_owned() },
        &json!({ "step": "measure", "reason": "fell off the bus" }),
    );
    let death = Death::Signal { number: 11 };
    check_reason(
        NotJudged::CrashesWorker { step: Step::Load, workload: None, death },
        &json!({ "step": "load", "workload": null, "death": death.to_string() }),
    );
    check_reason(
        NotJudged::NotSupported { reason: "wgmma".to_owned() },
        &json!({ "message": "wgmma" }),
    );
    check_reason(NotJudged::Cancelled, &json!({}));
}

#[test]
fn clocks_energy_and_baselines() {
    let (offset, floor) = (Seconds(1e-6), Seconds(2e-6));
    let without = Some(NoStamps::Unloadable);
    check(
        &ReportedClock::from(Clock::Events { offset, floor, without }),
        &json!({
            "clock": "events", "offset_seconds": 1e-6, "floor_seconds": 2e-6,
            "without_stamps": "libcupti cannot be loaded",
        }),
    );
    check(
        &ReportedClock::from(Clock::Cupti { offset, floor, version: 26 }),
        &json!({
            "clock": "cupti", "offset_seconds": 1e-6, "floor_seconds": 2e-6, "cupti_version": 26,
        }),
    );
    let energy = Energy {
        each: Joules(2.0),
        interval: (Joules(1.5), Joules(2.5)),
        power: Watts(600.0),
        idle: Watts(100.0),
        executions: 9,
        elapsed: Seconds(1.0),
    };
    check(
        &ReportedEnergy::from(&energy),
        &json!({
            "joules": 2.0, "interval_joules": [1.5, 2.5], "power_watts": 600.0,
            "idle_watts": 100.0, "executions": 9, "elapsed_seconds": 1.0,
        }),
    );
    let baseline = |outcome| BaselineTiming { name: "library".to_owned(), outcome };
    let source = "a paper".to_owned();
    check(
        &ReportedBaseline::from(&baseline(BaselineOutcome::Recorded { seconds: offset, source })),
        &json!({ "name": "library", "recorded_seconds": 1e-6, "source": "a paper" }),
    );
    check(
        &ReportedBaseline::from(&baseline(BaselineOutcome::None("no GPU".to_owned()))),
        &json!({ "name": "library", "finding": "no GPU" }),
    );
}
