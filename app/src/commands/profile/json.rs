//! A profile for scripts.

use lightbench_core::nsight::{Measured, ProfiledLaunch};
use serde_json::{Value, json};

use super::viewer::Viewer;
use super::{CONDITIONS, Report, lines};

pub(super) fn of(report: &Report<'_>) -> Value {
    let Report { request, chosen, run, hardware, written } = report;
    let profile = &hardware.profile;
    let mut value = json!({
        "schema": "lightbench.profile/1",
        "project": request.project.definition.name,
        "kernel": request.kernel().name,
        "candidate": run.candidate.map(|hash| format!("{hash:#}")),
        "workload": request.workload().name,
        "device": chosen.device.to_string(),
        "device_title": chosen.title,
        "seed": run.seed,
        "verdict": "passed",
        "conditions": CONDITIONS,
        "set": request.set.name,
        "launches_in_all": profile.in_all,
        "unknown_metrics": profile.unknown,
        "launches": profile.launches.iter().map(launch).collect::<Vec<_>>(),
        "stalls": lines::json(&hardware.stalls),
    });
    if let Some((file, viewer)) = written {
        value["report"] = json!({
            "file": file.display().to_string(),
            "opened": matches!(viewer, Viewer::Started(_)),
        });
    }
    value
}

fn launch(launch: &ProfiledLaunch) -> Value {
    json!({
        "kernel": launch.kernel,
        "grid": launch.grid,
        "block": launch.block,
        "metrics": launch.measured.iter().map(measured).collect::<Vec<_>>(),
    })
}

fn measured(measured: &Measured) -> Value {
    let Measured { metric, quantity } = measured;
    json!({
        "name": metric.name,
        "title": metric.title,
        "group": metric.group,
        "measured": quantity,
    })
}
