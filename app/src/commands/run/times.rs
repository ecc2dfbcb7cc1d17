//! Times as text. Measured and modelled times are formatted differently.

use lightbench_core::measure::{Basis, Clock, Energy, Mode, Timing};
use lightbench_core::speed_of_light::limiter::{Bottleneck, Limiter};
use lightbench_core::verify::baseline::{BaselineOutcome, BaselineTiming};
use lightbench_core::verify::verdict::WorkloadTiming;
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
