//! Times as text and JSON. Measured and modelled times are formatted differently.

use lightbench_core::device::LibraryUsed;
use lightbench_core::measure::{Basis, Clock, Energy, Mode, Timing};
use lightbench_core::speed_of_light::bound::Bound;
use lightbench_core::speed_of_light::bound_comparison::{BoundComparison, ComparedBound};
use lightbench_core::speed_of_light::bound_fraction::BoundFraction;
use lightbench_core::speed_of_light::limiter::{Bottleneck, Limiter};
use lightbench_core::units::Seconds;
use lightbench_core::verify::baseline::{BaselineOutcome, BaselineTiming};
use lightbench_core::verify::verdict::{WorkloadStanding, WorkloadTiming};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

/// A paragraph for each workload: its sentence, and the times that the sentence omits.
pub(super) fn lines(all: &[WorkloadTiming]) -> Vec<String> {
    let width = all.iter().map(|each| each.workload.width()).max().unwrap_or(0);
    all.iter()
        .flat_map(|each| {
            let padding = " ".repeat(width.saturating_sub(each.workload.width()));
            let mut said = additional_times(each).into_iter();
            let first = said.next().unwrap_or_default();
            let rest = said.map(|line| format!("{}  {line}", " ".repeat(width)));
            let first = format!("{}{padding}  {first}", each.workload);
            std::iter::once(first).chain(rest).collect::<Vec<_>>()
        })
        .collect()
}

fn additional_times(of: &WorkloadTiming) -> Vec<String> {
    let sentence = of.standing.as_ref().map(|standing| standing.line.clone());
    let in_sentence = |timing: &&Timing| sentence.is_some() && timing.mode == Mode::Cold;
    let others: Vec<String> =
        of.timings.iter().filter(|timing| !in_sentence(timing)).map(time_text).collect();
    let others = (!others.is_empty()).then(|| others.join(" · "));
    let stamps = without_stamps(&of.timings);
    let more = energy(of).into_iter().chain(stamps).chain(grounds(of));
    let baselines = of.baselines.iter().map(baseline);
    sentence.into_iter().chain(others).chain(more).chain(baselines).collect()
}

/// Energy per execution, or why it is unknown.
fn energy(of: &WorkloadTiming) -> Option<String> {
    Some(match of.energy.as_ref()? {
        Ok(Energy { each, interval: (low, high), power, idle, executions, .. }) => format!(
            "energy {each} per execution ({low} to {high}) above {idle} idle, {power} total power, {executions} executions"
        ),
        Err(reason) => format!("no energy: {reason}"),
    })
}

/// Why times were taken with events instead of device time stamps.
pub(in crate::commands) fn without_stamps(timings: &[Timing]) -> Option<String> {
    let reason = timings.iter().find_map(|timing| match timing.clock {
        Clock::Events { without, .. } => without,
        Clock::Cupti { .. } | Clock::Modelled => None,
    });
    reason.map(|reason| format!("timed with CUDA events: {reason}"))
}

/// The time of a baseline.
fn baseline(of: &BaselineTiming) -> String {
    let name = &of.name;
    match &of.outcome {
        BaselineOutcome::None(reason) => format!("{name}: no time, {reason}"),
        BaselineOutcome::Recorded { seconds, source } => {
            format!("{name}: {seconds}, recorded elsewhere ({source})")
        }
        BaselineOutcome::Measured(measured) => {
            let times: Vec<String> = measured.timings.iter().map(time_text).collect();
            let score = match &measured.score {
                Some(Ok(score)) => format!("; score {:.3}", score.value()),
                Some(Err(reason)) => format!("; no score, {reason}"),
                None => String::new(),
            };
            format!("{}: {}{score}", measured.title(), times.join(" · "))
        }
    }
}

/// The basis of the limiter for a kernel whose counters are from another workload.
fn grounds(of: &WorkloadTiming) -> Option<String> {
    let Limiter { bottleneck, counted_at, evidence, .. } = &of.standing.as_ref()?.limiter;
    let has_grounds =
        counted_at.is_some() || (*bottleneck == Bottleneck::Unknown && of.profile.is_err());
    (has_grounds && !evidence.is_empty()).then(|| evidence.join("; "))
}

/// A time as text.
pub(in crate::commands) fn time_text(timing: &Timing) -> String {
    let (low, high) = timing.summary.interval;
    match (&timing.basis, timing.clock) {
        (Basis::Model { bound, limit, .. }, _) => {
            format!("modelled: {low} to {high}, at least {bound} ({limit})")
        }
        (Basis::Samples { .. }, Clock::Events { floor, .. } | Clock::Cupti { floor, .. })
            if timing.is_at_floor() =>
        {
            format!("{} at most {floor}, the time of an empty kernel", timing.mode.word())
        }
        (Basis::Samples { .. }, _) => {
            let mut text = format!(
                "{} {} ± {}",
                timing.mode.word(),
                timing.summary.median,
                timing.relative_error()
            );
            if let Some(floor) = timing.near_floor() {
                text += &format!(" (an empty launch of this shape takes {floor})");
            }
            if let Some(locked) = timing.conditions.locked {
                text += &format!(" (clock locked at {locked})");
            }
            for taint in &timing.taint {
                text += &format!(" ({taint})");
            }
            text
        }
    }
}

/// Every number except the raw samples.
pub(super) fn document(all: &[WorkloadTiming]) -> Vec<Value> {
    all.iter()
        .map(|each| {
            json!({
                "workload": each.workload,
                "withheld": each.withheld,
                "timings": each.timings.iter().map(timing).collect::<Vec<_>>(),
                "energy": each.energy.as_ref().map(|energy| match energy {
                    Ok(energy) => joules(energy),
                    Err(reason) => json!({ "withheld": reason.to_string() }),
                }),
                "standing": each.standing.as_ref().map(standing),
                "baselines": each.baselines.iter().map(baseline_document).collect::<Vec<_>>(),
            })
        })
        .collect()
}

/// Energy per execution.
fn joules(energy: &Energy) -> Value {
    let Energy { each, interval: (low, high), power, idle, executions, elapsed } = energy;
    json!({
        "joules": each.0,
        "interval_joules": [low.0, high.0],
        "power_watts": power.0,
        "idle_watts": idle.0,
        "executions": executions,
        "elapsed_seconds": elapsed.0,
    })
}

/// The time of a baseline.
fn baseline_document(of: &BaselineTiming) -> Value {
    let name = &of.name;
    match &of.outcome {
        BaselineOutcome::None(reason) => json!({ "name": name, "finding": reason }),
        BaselineOutcome::Recorded { seconds, source } => {
            json!({ "name": name, "recorded_seconds": seconds.0, "source": source })
        }
        BaselineOutcome::Measured(measured) => {
            let LibraryUsed { version, file, call, .. } = &measured.used;
            let score = measured.score.as_ref();
            json!({
                "name": name,
                "version": version,
                "file": file,
                "call": call,
                "worst_error": measured.worst_error,
                "timings": measured.timings.iter().map(timing).collect::<Vec<_>>(),
                "score": score.and_then(|score| score.as_ref().ok()).map(|score| score.value()),
                "no_score": score.and_then(|score| score.as_ref().err()).map(ToString::to_string),
            })
        }
    }
}

/// The speed of light of a workload.
fn standing(of: &WorkloadStanding) -> Value {
    let (share, finding) = match &of.standing {
        Some(Ok(standing)) => (standing.best().map(|best| best.bound_fraction), None),
        Some(Err(reason)) => (None, Some(reason.to_string())),
        None => (None, None),
    };
    json!({
        "line": of.line,
        "bound": of.bound.as_ref().map(bound),
        "fraction": share.map(|share| share.middle.0),
        "fraction_interval": share.map(between),
        "physical": against(of, |standing| &standing.physical),
        "method": against(of, |standing| &standing.method),
        "finding": finding,
        "limited_by": of.limiter.words(),
        "limiter_evidence": of.limiter.evidence,
        "advice": of.advice.sentence(),
    })
}

/// A bound with its basis.
pub(in crate::commands) fn bound(of: &Bound) -> Value {
    json!({
        "seconds": of.time.0,
        "limited_by": of.limit.to_string(),
        "basis": of.basis,
        "assumptions": of.assumptions.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Both ends of the interval of a fraction.
pub(in crate::commands) fn between(share: BoundFraction) -> [f64; 2] {
    let (low, high) = share.interval;
    [low.0, high.0]
}

/// A time relative to one kind of bound, for every basis.
fn against(of: &WorkloadStanding, kind: fn(&BoundComparison) -> &Vec<ComparedBound>) -> Vec<Value> {
    let stands = of.standing.iter().flatten();
    let all = stands.flat_map(kind).map(|against| {
        json!({
            "basis": against.basis,
            "bound_seconds": against.bound.0,
            "limited_by": against.limit.to_string(),
            "fraction": against.bound_fraction.middle.0,
            "fraction_interval": between(against.bound_fraction),
        })
    });
    all.collect()
}

/// A time with its basis.
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
        "launch_floor_seconds": timing.launch_floor.map(|floor| floor.0),
    });
    match timing.clock {
        Clock::Events { offset, floor, without } => {
            value["clock"] = json!("events");
            value["offset_seconds"] = json!(offset.0);
            value["floor_seconds"] = json!(floor.0);
            if let Some(reason) = without {
                value["without_stamps"] = json!(reason.to_string());
            }
        }
        Clock::Cupti { offset, floor, version } => {
            value["clock"] = json!("cupti");
            value["offset_seconds"] = json!(offset.0);
            value["floor_seconds"] = json!(floor.0);
            value["cupti_version"] = json!(version);
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

#[cfg(test)]
mod tests {
    use lightbench_core::explain::card;
    use lightbench_core::measure::Stopped;
    use lightbench_core::speed_of_light::advice::Advice;

    use super::*;

    /// The top-level keys of a document.
    fn keys(value: &Value) -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    #[test]
    fn every_number_is_explained() {
        let clock = Clock::Events { offset: Seconds(1e-6), floor: Seconds(1e-6), without: None };
        let rounds = vec![vec![Seconds(1e-4); 5]; 10];
        let measured = Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Budget), &[]);
        let modelled = Timing::modelled(Seconds(1e-4), (1.2, 2.5), "DRAM".to_owned(), Vec::new());
        let limiter = Limiter {
            bottleneck: Bottleneck::Unknown,
            busy: None,
            counted_at: None,
            evidence: Vec::new(),
        };
        let stands = WorkloadStanding {
            bound: None,
            standing: None,
            limiter,
            advice: Advice::Nothing,
            facts: std::collections::BTreeMap::new(),
            launch: None,
            line: String::new(),
        };
        let documents = [timing(&measured.unwrap()), timing(&modelled), standing(&stands)];
        for key in documents.iter().flat_map(keys) {
            let name = key.trim_end_matches("_seconds");
            assert!(card(name).is_ok(), "{key}");
        }
    }
}
