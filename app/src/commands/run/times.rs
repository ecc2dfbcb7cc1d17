//! How long a candidate takes, for people and for scripts. Measured and modelled times never look alike.

use lightbench_core::measure::{Basis, Clock, Mode, Timing};
use lightbench_core::units::Seconds;
use lightbench_core::verify::verdict::{WorkloadStanding, WorkloadTiming};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

/// A line for each workload.
pub(super) fn lines(all: &[WorkloadTiming]) -> Vec<String> {
    let width = all.iter().map(|each| each.workload.width()).max().unwrap_or(0);
    all.iter()
        .flat_map(|each| {
            let padding = " ".repeat(width.saturating_sub(each.workload.width()));
            let said = match &each.withheld {
                Some(reason) => format!("no modelled time: {reason}"),
                None => each.timings.iter().map(one).collect::<Vec<_>>().join(" · "),
            };
            let times = format!("{}{padding}  {said}", each.workload);
            let line = each.standing.as_ref().map(|standing| format!("  {}", standing.line));
            std::iter::once(times).chain(line).collect::<Vec<_>>()
        })
        .collect()
}

/// A time in words.
pub(in crate::commands) fn one(timing: &Timing) -> String {
    let (low, high) = timing.summary.interval;
    match (&timing.basis, timing.clock) {
        (Basis::Model { bound, limit, .. }, _) => {
            format!("modelled: {low} to {high}, at least {bound} ({limit})")
        }
        (Basis::Samples { .. }, Clock::Events { floor, .. }) if timing.is_at_floor() => {
            format!("{} at most {floor}, which an empty kernel takes", mode(timing.mode))
        }
        (Basis::Samples { .. }, _) => {
            let mut text = format!(
                "{} {} ± {}",
                mode(timing.mode),
                timing.summary.median,
                timing.relative_error()
            );
            for taint in &timing.taint {
                text += &format!(" ({taint})");
            }
            text
        }
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Cold => "cold",
        Mode::Warm => "warm",
    }
}

/// Every number, without the raw samples.
pub(super) fn document(all: &[WorkloadTiming]) -> Vec<Value> {
    all.iter()
        .map(|each| {
            json!({
                "workload": each.workload,
                "withheld": each.withheld,
                "timings": each.timings.iter().map(timing).collect::<Vec<_>>(),
                "standing": each.standing.as_ref().map(standing),
            })
        })
        .collect()
}

/// Where a workload stands.
fn standing(of: &WorkloadStanding) -> Value {
    let bound = of.bound.as_ref().map(|bound| {
        json!({
            "seconds": bound.time.0,
            "limited_by": bound.limit.to_string(),
            "basis": bound.basis,
            "assumptions": bound.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    let (fraction, finding) = match &of.standing {
        Some(Ok(standing)) => (standing.best().map(|best| best.fraction.0), None),
        Some(Err(reason)) => (None, Some(reason.to_string())),
        None => (None, None),
    };
    json!({
        "line": of.line,
        "bound": bound,
        "fraction": fraction,
        "finding": finding,
        "limited_by": of.limiter.words(),
        "advice": of.advice.sentence(),
    })
}

/// A time with all that it rests on.
pub(in crate::commands) fn timing(timing: &Timing) -> Value {
    let summary = &timing.summary;
    let pair = |(low, high): (Seconds, Seconds)| json!([low.0, high.0]);
    let mut value = json!({
        "mode": timing.mode,
        "median_seconds": summary.median.0,
        "interval_seconds": pair(summary.interval),
        "quartiles_seconds": pair(summary.quartiles),
        "minimum_seconds": summary.minimum.0,
        "samples": summary.samples,
        "conditions": timing.conditions,
        "taint": timing.taint,
    });
    match timing.clock {
        Clock::Events { offset, floor } => {
            value["clock"] = json!("events");
            value["offset_seconds"] = json!(offset.0);
            value["floor_seconds"] = json!(floor.0);
        }
        Clock::Modelled => value["clock"] = json!("modelled"),
    }
    match &timing.basis {
        Basis::Samples { batch, stopped, .. } => {
            value["batch"] = json!(batch);
            value["stopped"] = json!(stopped);
        }
        Basis::Model { bound, limit, assumptions } => {
            value["bound_seconds"] = json!(bound.0);
            value["limited_by"] = json!(limit);
            value["assumptions"] = json!(assumptions);
        }
    }
    value
}
