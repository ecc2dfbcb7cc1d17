//! A profile as JSON.

use lightbench_core::nsight::{Measured, ProfiledLaunch};
use serde_json::{Value, json};

use super::viewer::ViewerState;
use super::{CONDITIONS, ProfileReport, stalled_lines};

pub(super) fn report_json(report: &ProfileReport<'_>) -> Value {
    let ProfileReport { request, chosen, run, hardware, written } = report;
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
        "launches": profile.launches.iter().map(launch_json).collect::<Vec<_>>(),
        "stalls": stalled_lines::json(&hardware.stalls),
    });
    if let Some((file, viewer)) = written {
        value["report"] = json!({
            "file": file.display().to_string(),
            "opened": matches!(viewer, ViewerState::Started(_)),
        });
    }
    value
}

fn launch_json(launch: &ProfiledLaunch) -> Value {
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
