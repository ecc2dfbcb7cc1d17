//! A comparison as JSON.

use lightbench_core::evaluate::LibraryUnusable;
use lightbench_core::evaluate::compare::{ComparedWorkload, Outcome};
use lightbench_core::measure::Timing;
use lightbench_core::verify::sentence;
use serde_json::{Value, json};

use super::{ComparisonReport, SideResult, text};
use crate::commands::run::times;

pub(super) fn report_json(told: &ComparisonReport<'_>) -> Value {
    json!({
        "schema": "lightbench.compare/3",
        "device": told.chosen.device.to_string(),
        "device_title": told.chosen.title,
        "instead_of_gpu": told.chosen.virtual_reason,
        "mode": told.mode.word(),
        "sides": [side(told, 0), side(told, 1)],
        "workloads": told.done.workloads.iter().flatten().map(workload).collect::<Vec<_>>(),
    })
}

fn side(told: &ComparisonReport<'_>, side: usize) -> Value {
    let title = told.sides[side].title();
    match &told.done.found[side] {
        SideResult::Kernel(run) => json!({
            "kernel": title,
            "run": told.sides[side].number().map(|number| number.0),
            "not_as_when_it_ran": told.since(side),
            "candidate": run.candidate.map(|hash| format!("{hash:#}")),
            "seed": run.seed,
            "sentence": sentence::verdict(&title, &run.verdict),
            "verdict": match &run.verdict {
                Ok(_) => "passed",
                Err(reason) => reason.word(),
            },
            "status": match &run.verdict {
                Ok(_) => "passed",
                Err(reason) => reason.status(),
            },
        }),
        SideResult::Library(asked) => {
            let (verdict, sentence) = match asked {
                None => ("not_asked", None),
                Some(Ok(times)) => ("passed", Some(text::library(times))),
                Some(Err(unfit @ LibraryUnusable::Unusable(_))) => {
                    ("unusable", Some(unfit.to_string()))
                }
                Some(Err(unfit @ LibraryUnusable::Wrong(_))) => ("wrong", Some(unfit.to_string())),
            };
            let used = asked.as_ref().and_then(|asked| asked.as_ref().ok()?.used.as_ref());
            json!({ "library": title, "used": used, "sentence": sentence, "verdict": verdict })
        }
    }
}

fn workload(each: &ComparedWorkload) -> Value {
    let bounds = each.bounds.iter().map(|physical| times::bound(physical.bound()));
    let mut value = json!({ "workload": each.workload, "bounds": bounds.collect::<Vec<_>>() });
    match &each.outcome {
        Outcome::Measured { timings, comparison } => {
            value["times"] = timings.iter().map(|timing| time(each, timing)).collect();
            value["comparison"] = json!(comparison);
        }
        Outcome::Modelled { timings, ratio } => {
            let times = timings.iter().map(|timing| match timing {
                Ok(timing) => time(each, timing),
                Err(reason) => json!({ "withheld": reason }),
            });
            value["times"] = times.collect();
            value["modelled_ratio"] = json!(ratio);
        }
        Outcome::Withheld(reason) => value["withheld"] = json!(reason),
    }
    value
}

/// A time, and its fraction of the bound.
fn time(each: &ComparedWorkload, timing: &Timing) -> Value {
    let mut value = times::timing(timing);
    match each.standing(timing) {
        Ok(standing) => {
            let share = standing.best().map(|best| best.bound_fraction);
            value["fraction"] = json!(share.map(|share| share.middle.0));
            value["fraction_interval"] = json!(share.map(times::between));
        }
        Err(finding) => value["finding"] = json!(finding.to_string()),
    }
    value
}
