//! Verdicts and evidence as JSON.

use lightbench_core::compile::facts::FactsError;
use lightbench_core::evaluate::Run;
use lightbench_core::project::Kernel;
use lightbench_core::scalar_value::ScalarValue;
use lightbench_core::tensors::compare::{Mismatch, OutputError};
use lightbench_core::verify::evidence::{Found, Origin};
use lightbench_core::verify::fault_report::{CodePlace, FaultReport};
use lightbench_core::verify::not_judged::{NotJudged, NotPassed};
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Checks, Failure, Passed, Refused, SizeCheck, Wrong};
use serde_json::{Value, json};

use super::{RunReport, times};
use crate::commands::check::failure;
use crate::report;

/// One kernel's run.
pub(super) fn run(report: &RunReport<'_>, kernel: &Kernel, run: &Run) -> Value {
    let mut value = json!({
        "schema": "lightbench.run/1",
        "project": report.project.definition.name,
        "kernel": kernel.name,
        "candidate": run.candidate.map(|hash| format!("{hash:#}")),
        "device": report.chosen.device.to_string(),
        "device_title": report.chosen.title,
        "instead_of_gpu": report.chosen.virtual_reason,
        "ceilings": report.chosen.ceilings(),
        "seed": run.seed,
        "elapsed_seconds": run.elapsed.as_secs_f64(),
        "sentence": sentence::verdict(&kernel.name, &run.verdict),
        "verdict": match &run.verdict {
            Ok(_) => "passed",
            Err(reason) => reason.word(),
        },
        "status": status(&run.verdict),
    });
    match &run.verdict {
        Ok(passed) => {
            value["passed"] = checks(&passed.checks);
            value["passed"]["only_modelled"] =
                passed.not_checked_sizes().map(|(workload, _)| workload).collect();
            value["passed"]["timed_sizes"] = timed_sizes(passed);
            value["passed"]["times"] = json!(times::document(&passed.timings));
        }
        Err(reason) => value[reason.word()] = payload(reason),
    }
    value
}

pub(super) fn runs(report: &RunReport<'_>) -> Value {
    let runs: Vec<Value> =
        report.runs.iter().map(|(kernel, each)| run(report, kernel, each)).collect();
    json!({
        "schema": "lightbench.runs/1",
        "project": report.project.definition.name,
        "runs": runs,
        "broken": report::broken_json(report.broken.iter().copied()),
    })
}

/// How each timed workload was checked at its own size.
fn timed_sizes(passed: &Passed) -> Value {
    let each = passed.timings.iter().map(|timing| match &timing.check {
        SizeCheck::Whole => json!({ "workload": timing.workload, "check": "whole" }),
        SizeCheck::Sampled { blocks, of, elements } => json!({
            "workload": timing.workload, "check": "sampled",
            "blocks": blocks, "of_blocks": of, "elements": elements,
        }),
        SizeCheck::NotChecked(reason) => {
            json!({ "workload": timing.workload, "check": "not_checked", "reason": reason })
        }
    });
    each.collect()
}

pub(super) fn checks(checks: &Checks) -> Value {
    let workloads = checks.workloads.iter().map(|run| {
        json!({
            "workload": run.workload, "seed": run.seed, "runs": run.runs,
            "warp_instructions": run.warp_instructions,
        })
    });
    let not_run = checks
        .not_run
        .iter()
        .map(|each| json!({ "workload": each.workload, "reason": each.reason }));
    let costs = checks
        .costs
        .iter()
        .map(|(step, took)| json!({ "step": step, "seconds": took.as_secs_f64() }));
    json!({
        "workloads": workloads.collect::<Vec<_>>(),
        "held_out": checks.held_out,
        "not_run": not_run.collect::<Vec<_>>(),
        "not_checked": checks.not_checked,
        "notes": checks.notes,
        "evidence": checks.evidence.iter().map(found).collect::<Vec<_>>(),
        "deterministic": checks.deterministic,
        "accepted_races": checks.accepted_races,
        "precision_probed": checks.precision_probed,
        "domain_inputs": checks.domain_inputs,
        "worst_error": real(checks.worst_error),
        "costs": costs.collect::<Vec<_>>(),
    })
}

/// The value of `status`: one of three outcomes.
pub(super) fn status<Tier>(verdict: &Result<Tier, NotPassed>) -> &'static str {
    verdict.as_ref().map_or_else(NotPassed::status, |_| "passed")
}

pub(super) fn payload(reason: &NotPassed) -> Value {
    match reason {
        NotPassed::Failed(failure) => failure_json(failure),
        NotPassed::NotJudged(reason) => not_judged(reason),
    }
}

fn not_judged(reason: &NotJudged) -> Value {
    match reason {
        NotJudged::DeviceLost { step, reason } => json!({ "step": step, "reason": reason }),
        NotJudged::CrashesWorker { step, workload, death } => {
            json!({ "step": step, "workload": workload, "death": death.to_string() })
        }
        NotJudged::NotSupported { reason } => json!({ "message": reason }),
        NotJudged::Cancelled => json!({}),
    }
}

fn failure_json(failure: &Failure) -> Value {
    match failure {
        Failure::Compile(error) => failure::to_json(error),
        Failure::Refused(refused) => refusal(refused),
        Failure::Fault(fault) => json!({
            "kind": fault.faults.first().map(|first| first.kind),
            "workload": fault.workload,
            "recipe": fault.recipe,
            "step": fault.step,
            "faults": fault.faults.iter().map(one_fault).collect::<Vec<_>>(),
            "printed": fault.printed,
        }),
        Failure::Wrong(wrong) => wrongs(wrong),
        Failure::TimedOut { step, workload, limit, at } => json!({
            "step": step, "workload": workload, "limit_seconds": limit.as_secs_f64(),
            "at": at.as_ref().map(|at| one_fault(at)),
        }),
    }
}

fn refusal(refused: &Refused) -> Value {
    match refused {
        Refused::Build(error) => {
            let mut value = failure::to_json(error);
            value["kind"] = json!(match error.as_ref() {
                FactsError::Include(_) => "include",
                FactsError::Arguments { .. } => "arguments",
                FactsError::Plan(_) | FactsError::NoSuchKernel { .. } | FactsError::Compile(_) => {
                    "build"
                }
            });
            value
        }
        Refused::Evidence(all) => json!({
            "kind": "evidence",
            "evidence": all.iter().map(found).collect::<Vec<_>>(),
        }),
        Refused::Launch { workload, problems } => {
            json!({ "kind": "launch", "workload": workload, "problems": problems })
        }
        Refused::Load(reason) => json!({ "kind": "load", "message": reason }),
        Refused::Memory(reason) => json!({ "kind": "memory", "message": reason }),
        Refused::Subnormals(flag) => {
            json!({ "kind": "subnormals", "flag": flag, "message": sentence::describe_flushing_flag(flag) })
        }
    }
}

fn found(found: &Found) -> Value {
    let source = found.source.iter().map(|place| json!({ "file": place.file, "line": place.line }));
    json!({
        "evidence": found.evidence,
        "what": found.what,
        "instruction": found.instruction,
        "ptx_line": found.ptx_line,
        "source": source.collect::<Vec<_>>(),
        "entry": found.entry,
        "origin": match &found.origin {
            Origin::Candidate => json!("candidate"),
            Origin::Toolkit(file) => json!({ "toolkit": file }),
        },
    })
}

fn one_fault(fault: &FaultReport) -> Value {
    let mut value = json!({
        "kind": fault.kind,
        "kernel": fault.kernel,
        "buffer": fault.buffer,
        "details": fault.details,
    });
    if let Some(seen) = &fault.seen {
        value["block"] = json!(seen.block);
        value["thread"] = json!(seen.thread);
        value["address"] = json!(seen.address);
        put_place(&mut value, &seen.place);
    }
    if let Some(other) = &fault.other {
        let mut side =
            json!({ "block": other.block, "thread": other.thread, "access": other.access });
        put_place(&mut side, &other.place);
        value["other"] = side;
    }
    value
}

fn put_place(value: &mut Value, place: &CodePlace) {
    value["ptx_line"] = json!(place.ptx.0);
    value["ptx_column"] = json!(place.ptx.1);
    if let Some((file, line, column)) = &place.source {
        value["file"] = json!(file);
        value["line"] = json!(line);
        value["column"] = json!(column);
    }
}

fn wrongs(wrong: &Wrong) -> Value {
    let Wrong::Seen { kind, workload, recipe, step, outputs, details } = wrong else {
        return json!({ "kind": "held_out" });
    };
    let outputs: Vec<Value> = outputs.iter().map(|(name, wrong)| output(name, wrong)).collect();
    json!({
        "kind": kind, "workload": workload, "recipe": recipe, "step": step,
        "outputs": outputs, "details": details,
    })
}

fn output(name: &str, wrong: &OutputError) -> Value {
    json!({
        "output": name,
        "kind": wrong.kind,
        "count": wrong.count,
        "first": wrong.first.as_ref().map(mismatch),
        "worst": wrong.worst.as_ref().map(mismatch),
        "root_mean_square": wrong.root_mean_square.map(|(found, accepted)| {
            json!({ "found": real(found), "accepted": real(accepted) })
        }),
        "map": wrong.map,
    })
}

fn mismatch(mismatch: &Mismatch) -> Value {
    json!({
        "index": mismatch.index,
        "found": number(mismatch.found),
        "expected": number(mismatch.expected),
        "ulps": mismatch.ulps.map(real),
        "accepted_error": mismatch.accepted.map(real),
    })
}

fn number(value: ScalarValue) -> Value {
    match value {
        ScalarValue::Boolean(value) => json!(value),
        // JSON readers lose precision beyond 2^53: larger integers are text.
        ScalarValue::Integer(value) => match i64::try_from(value) {
            Ok(small) if small.unsigned_abs() <= 1 << 53 => json!(small),
            Ok(_) | Err(_) => json!(value.to_string()),
        },
        ScalarValue::Real(value) => real(value),
    }
}

/// A number; values that JSON cannot represent are given by name and bits.
fn real(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else {
        let name = if value.is_nan() { "nan".to_owned() } else { value.to_string() };
        json!({ "value": name, "bits": format!("{:#018x}", value.to_bits()) })
    }
}
