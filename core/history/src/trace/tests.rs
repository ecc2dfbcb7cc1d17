//! Exported traces are imported again; invalid traces are refused.

use serde_json::{Value, json};

use super::{Omission, export, import};
use crate::fixture::{failed, passed};
use crate::record::{Outcome, RunRecord, Scope};
use crate::timing::Clock;

/// A trace as the other projects write it.
fn trace(status: &str, correctness: Value, performance: Value) -> Value {
    let mut trace = json!({
        "definition": "rmsnorm_h4096",
        "workload": {
            "axes": { "batch_size": 14509 },
            "inputs": {
                "hidden_states": { "type": "random" },
                "weight": { "type": "safetensors", "path": "w.safetensors", "tensor_key": "w" },
                "eps": { "type": "scalar", "value": 1e-5 },
                "causal": { "type": "scalar", "value": true },
                "heads": { "type": "scalar", "value": 8 },
            },
            "uuid": "0a1b",
        },
        "solution": "rmsnorm_triton_v1",
        "evaluation": {
            "status": status,
            "environment": { "hardware": "NVIDIA H200", "libs": { "torch": "2.11.0" } },
            "timestamp": "2026-11-21T19:28:53.125Z",
            "log": "",
        },
    });
    trace["evaluation"]["correctness"] = correctness;
    trace["evaluation"]["performance"] = performance;
    trace
}

fn back(trace: &Value) -> Value {
    let imported = import(&trace.to_string(), "somebody").unwrap();
    let exported = export(&imported.runs).unwrap();
    assert_eq!((exported.traces, exported.omitted.len()), (1, 0), "{trace}");
    serde_json::from_str(&exported.lines).unwrap()
}

#[test]
fn what_the_page_promises_comes_back() {
    let check = |status: &str, correctness: Value, performance: Value| {
        let mut expected = trace(status, correctness, performance);
        let found = back(&expected);
        // Lost, as docs/traces.md says: where tensors come from, and the reference's time.
        let inputs = expected["workload"]["inputs"].as_object_mut().unwrap();
        inputs.retain(|_, input| input["type"] == "scalar");
        if expected["evaluation"]["performance"].is_object() {
            let latency = expected["evaluation"]["performance"]["latency_ms"].clone();
            expected["evaluation"]["performance"] = json!({
                "latency_ms": latency, "reference_latency_ms": 0.0, "speedup_factor": 0.0,
            });
        }
        assert_eq!(found, expected, "{status}");
    };
    let errors = || json!({ "max_relative_error": 1e-3, "max_absolute_error": 0.25 });
    let times = json!({ "latency_ms": 0.125, "reference_latency_ms": 0.5, "speedup_factor": 4.0 });
    check("PASSED", errors(), times);
    check("INCORRECT_NUMERICAL", errors(), Value::Null);
    for status in ["RUNTIME_ERROR", "COMPILE_ERROR", "TIMEOUT"] {
        check(status, Value::Null, Value::Null);
    }
}

#[test]
fn other_ways_to_be_wrong_become_plainly_wrong() {
    let check = |status: &str, expected: &str| {
        let found = back(&trace(status, Value::Null, Value::Null));
        assert_eq!(found["evaluation"]["status"], expected, "{status}");
    };
    check("INCORRECT_SHAPE", "INCORRECT_NUMERICAL");
    check("INCORRECT_DTYPE", "INCORRECT_NUMERICAL");
    check("REWARD_HACK", "RUNTIME_ERROR");
}

#[test]
fn a_run_of_ours_comes_back_as_far_as_the_schema_goes() {
    let (record, _) = passed("vector", "0123456789abcdef", Some(1.25e-5));
    let exported = export([&record]).unwrap();
    let imported = import(&exported.lines, "lightbench").unwrap().runs;
    let [found] = imported.as_slice() else { panic!("{imported:?}") };
    assert_eq!(found.project, record.project);
    assert_eq!(found.kernel, "vector@0123456789ab");
    assert_eq!(found.made_at, record.made_at);
    assert_eq!(found.workloads, record.workloads);
    assert_eq!(found.device.title, record.device.title);
    assert_eq!(found.environment.versions["nvrtc"], "13.5.37");
    assert_eq!(found.timings()[0].median, record.timings()[0].median);
    assert_eq!(found.timings()[0].clock, Clock::Measured { method: "cupti".to_owned() });
    assert_eq!(found.scope, Scope::OneWorkload, "a trace never says that everything passed");
    let (record, _) = failed("vector", "0123456789abcdef");
    let exported = export([&record]).unwrap();
    let found = import(&exported.lines, "lightbench").unwrap().runs.remove(0);
    let sentence = |record: &RunRecord| match &record.outcome {
        Outcome::Failed { sentence, .. } => sentence.clone(),
        Outcome::Passed { .. } => panic!("it failed"),
    };
    assert_eq!((found.verdict(), sentence(&found)), ("wrong", sentence(&record)));
}

#[test]
fn nothing_is_made_up_where_the_schema_has_no_place() {
    let check = |change: &dyn Fn(&mut RunRecord), omission: Omission| {
        let (mut record, _) = passed("vector", "a", Some(1e-5));
        change(&mut record);
        let exported = export([&record]).unwrap();
        assert_eq!((exported.lines.as_str(), exported.traces), ("", 0));
        assert_eq!(exported.omitted.into_iter().collect::<Vec<_>>(), [(omission, 1)]);
    };
    check(&|record| record.outcome = passed("v", "a", None).0.outcome, Omission::NotTimed);
    check(
        &|record| match &mut record.outcome {
            Outcome::Passed { timings, .. } => timings[0].clock = Clock::Modelled,
            Outcome::Failed { .. } => panic!("it passed"),
        },
        Omission::Modelled,
    );
    check(
        &|record| {
            let (failed, _) = failed("v", "a");
            record.outcome = failed.outcome;
            let Outcome::Failed { evidence, .. } = &mut record.outcome else { panic!("it failed") };
            *evidence = json!({ "kind": "held_out" });
        },
        Omission::NoWorkload,
    );
}

#[test]
fn errors_of_wrong_results_are_those_of_the_evidence() {
    let check = |outputs: Value, expected: Value| {
        let (mut record, _) = failed("vector", "a");
        let Outcome::Failed { evidence, .. } = &mut record.outcome else { panic!("it failed") };
        *evidence = json!({ "workload": "small", "outputs": outputs });
        let exported = export([&record]).unwrap();
        let found: Value = serde_json::from_str(&exported.lines).unwrap();
        assert_eq!(found["evaluation"]["correctness"], expected);
    };
    let worst =
        |found: Value, expected: f64| json!({ "worst": { "found": found, "expected": expected } });
    check(json!([]), json!({}));
    check(
        json!([worst(json!(3.0), 2.0)]),
        json!({ "max_absolute_error": 1.0, "max_relative_error": 0.5 }),
    );
    check(
        json!([worst(json!(3.0), 2.0), worst(json!(8.0), 4.0)]),
        json!({ "max_absolute_error": 4.0, "max_relative_error": 1.0 }),
    );
    check(json!([worst(json!(3.0), 0.0)]), json!({ "max_absolute_error": 3.0 }));
    let named = |name: &str| json!({ "value": name, "bits": "0x7ff8000000000000" });
    check(json!([worst(named("nan"), 2.0)]), json!({ "has_nan": true, "has_inf": false }));
    check(json!([worst(named("-inf"), 2.0)]), json!({ "has_nan": false, "has_inf": true }));
}

#[test]
fn what_is_no_trace_is_refused_with_its_line() {
    let passed = |performance: Value| trace("PASSED", json!({}), performance).to_string();
    let check = |text: &str, line: usize, says: &str| {
        let error = import(text, "somebody").unwrap_err();
        assert_eq!(error.problems[0].line, line, "{error}");
        assert!(error.to_string().contains(says), "{says:?} in {error}");
    };
    check("{", 1, "EOF");
    check("\n\n[1, 2]", 3, "line 3");
    check("{}", 1, "missing field `definition`");
    check(&trace("PASSED", json!({}), Value::Null).to_string(), 1, "`performance` is missing");
    check(&trace("PASSED", Value::Null, json!({})).to_string(), 1, "`correctness` is missing");
    check(&trace("TIMEOUT", json!({}), Value::Null).to_string(), 1, "does not permit");
    check(&trace("PERFECT", json!({}), Value::Null).to_string(), 1, "unknown variant");
    check(&passed(json!({ "latency_ms": -1.0 })), 1, "no time");
    check(&passed(json!({ "latency_ms": "NaN" })), 1, "expected f64");
    check(&passed(json!({})).replace("2026-11-21T", "yesterday "), 1, "`timestamp`");
    let good = passed(json!({ "latency_ms": 1.0 }));
    check(&format!("{good}\n{good}\n{{}}\n"), 3, "nothing is imported");
}

#[test]
fn lines_that_say_nothing_of_a_solution_are_counted() {
    let mut only = trace("PASSED", json!({}), json!({}));
    only["solution"] = Value::Null;
    only["evaluation"] = Value::Null;
    let invalid = trace("INVALID_REFERENCE", Value::Null, Value::Null);
    let untimed = trace("PASSED", json!({}), json!({}));
    let naive =
        trace("PASSED", json!({ "max_absolute_error": "NaN" }), json!({ "latency_ms": 2.0 }))
            .to_string()
            .replace("53.125Z", "53.125");
    let text = format!("{only}\n{invalid}\n{untimed}\n{naive}\n");
    let imported = import(&text, "somebody").unwrap();
    assert_eq!((imported.workloads_only, imported.invalid_references), (1, 1));
    let times: Vec<_> = imported.runs.iter().map(|run| run.timings().len()).collect();
    assert_eq!(times, [0, 1]);
    assert_eq!(imported.runs[0].made_at, imported.runs[1].made_at, "no zone is UTC");
}
