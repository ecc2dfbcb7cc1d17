//! The text of a tour: what each kernel does, its result, and the changes against its predecessor.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::display_text::visible;
use lightbench_core::evaluate::Run;
use lightbench_core::project::Workload;
use lightbench_core::speed_of_light::fact::Fact;
use lightbench_core::speed_of_light::time_comparison::TimeComparison;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::WorkloadTiming;

use super::Tour;
use crate::style::{DIM, ERROR, GOOD, NOTE, STRONG};

/// Facts that may be reported as changed, in order of importance.
const TOLD: [Fact; 14] = [
    Fact::SpilledBytes,
    Fact::GlobalAtomicShare,
    Fact::LoadWaste,
    Fact::StoreWaste,
    Fact::WidestLoad,
    Fact::Rereads,
    Fact::ConflictShare,
    Fact::BarriersPerWarp,
    Fact::ActiveLanes,
    Fact::TensorInstructions,
    Fact::ProductsPerSharedRequest,
    Fact::InstructionsPerWarp,
    Fact::Occupancy,
    Fact::BytesPerThread,
];

/// Maximum number of reported changes per step.
const MOST_CHANGES: usize = 4;

/// Numbers that differ by a smaller factor count as unchanged.
const CHANGED: f64 = 1.2;

/// All steps with their headings.
pub(super) fn story_text(tour: &Tour<'_>) -> String {
    let title = visible(&tour.project.definition.title);
    let mut text = format!("{STRONG}{title}{STRONG:#} · {}", tour.chosen.title);
    if let Some(reason) = &tour.chosen.virtual_reason {
        text += &format!(" ({})", reason.split(';').next().unwrap_or_default());
    }
    if let Some(ceilings) = tour.chosen.ceilings() {
        text += &format!("\n{DIM}{ceilings}{DIM:#}");
    }
    text += &format!("\n{}\n", visible(&tour.project.definition.summary));
    if let Some(workload) = workload(tour) {
        text += &format!("{DIM}times are for {}{DIM:#}\n", sizes(tour, workload));
    }
    for (index, (step, run)) in tour.steps.iter().enumerate() {
        let (name, title) = (&step.kernel.name, visible(&step.kernel.launch.title));
        text += &format!("\n{STRONG}{} {name}{STRONG:#} · {title}\n", index + 1);
        text += &result_text(name, run);
        let against = step.against.and_then(|against| {
            tour.steps.iter().find(|(other, _)| other.kernel.name == against.name)
        });
        if let (Some((before, other)), Some(now)) = (against, summary_timing(run)) {
            text += &changes(&before.kernel.name, now, summary_timing(other));
        }
    }
    text
}

/// The workload of the tour: the first timed one.
pub(super) fn workload<'a>(tour: &'a Tour<'_>) -> Option<&'a Workload> {
    let name = &tour.steps.iter().find_map(|(_, run)| summary_timing(run))?.workload;
    tour.project.workloads.iter().find(|workload| workload.name == *name)
}

/// The timing of a run that passed.
pub(super) fn summary_timing(run: &Run) -> Option<&WorkloadTiming> {
    run.verdict.as_ref().ok()?.timings.first()
}

pub(super) fn sizes(tour: &Tour<'_>, workload: &Workload) -> String {
    let axes = tour.project.definition.axes.iter().zip(&workload.axes);
    let axes: Vec<_> = axes.map(|(axis, value)| format!("{} {value}", axis.name)).collect();
    format!("{}: {}", workload.name, axes.join(", "))
}

fn result_text(name: &str, run: &Run) -> String {
    let sentence = sentence::verdict(name, &run.verdict);
    match &run.verdict {
        Err(NotPassed::Failed(_)) => {
            format!("  {ERROR}✗{ERROR:#} {}\n", with_readable_names(&sentence))
        }
        Err(NotPassed::NotJudged(_)) => {
            format!("  {NOTE}?{NOTE:#} {}\n", with_readable_names(&sentence))
        }
        Ok(_) => {
            let line = summary_timing(run)
                .and_then(|timed| timed.standing.as_ref())
                .map(|stands| &stands.line);
            format!("  {GOOD}✓{GOOD:#} {}\n", line.unwrap_or(&sentence))
        }
    }
}

/// The changes against the previous step.
fn changes(before: &str, now: &WorkloadTiming, other: Option<&WorkloadTiming>) -> String {
    let Some(other) = other else {
        return format!("  {DIM}`{before}` has no numbers to compare with{DIM:#}\n");
    };
    let mut lines = Vec::new();
    if let (Some(now), Some(other)) = (now.cold(), other.cold()) {
        lines.push(TimeComparison::new(now, other).words(&format!("`{before}`")));
    }
    if let (Some(now), Some(other)) = (&now.standing, &other.standing) {
        let (mine, theirs) = (now.limiter.words(), other.limiter.words());
        if now.limiter.bottleneck != other.limiter.bottleneck {
            lines.push(format!("limited by {mine}, no longer by {theirs}"));
        }
        lines.extend(changed(&now.facts, &other.facts));
    }
    if lines.is_empty() {
        lines.push(format!("no counter changed against `{before}`"));
    }
    lines.iter().map(|line| format!("    {DIM}→{DIM:#} {line}\n")).collect()
}

/// The changed facts, the most important first.
fn changed(now: &BTreeMap<Fact, f64>, before: &BTreeMap<Fact, f64>) -> Vec<String> {
    let sentence = |fact: &Fact| {
        let (mine, theirs) = (*now.get(fact)?, *before.get(fact)?);
        // From zero to a positive number is a change; 0 ÷ 0 is NaN, and none.
        let factor = if mine > theirs { mine / theirs } else { theirs / mine };
        (factor >= CHANGED)
            .then(|| format!("{} ({} before)", fact.sentence(mine), fact.number(theirs)))
    };
    TOLD.iter().filter_map(sentence).take(MOST_CHANGES).collect()
}

/// The summary, and further commands.
pub(super) fn end(tour: &Tour<'_>, folder: &Path, took: Duration) -> String {
    let is_cancelled =
        |(_, run): &(_, Run)| run.verdict.as_ref().is_err_and(NotPassed::is_cancelled);
    if tour.steps.iter().any(is_cancelled) {
        let (ended, all) = (tour.steps.len() - 1, tour.project.kernels.len());
        return format!("stopped: {ended} of {all} kernels were evaluated\n");
    }
    let right = tour.steps.iter().filter(|(_, run)| run.verdict.is_ok()).count();
    let (all, seconds) = (tour.steps.len(), took.as_secs_f64());
    let count = match right {
        _ if right == all => format!("{GOOD}all {all} passed{GOOD:#}"),
        _ => format!("{ERROR}{right} of {all} passed{ERROR:#}"),
    };
    let shown = folder.display();
    let wrong = tour.steps.iter().find(|(_, run)| run.verdict.is_err());
    let now = match (wrong, tour.steps.last()) {
        (Some((step, _)), _) => {
            let name = &step.kernel.name;
            format!("`lightbench run {shown} --kernel {name}` shows the failure and its location")
        }
        (None, Some((step, _))) => {
            let name = &step.kernel.name;
            format!(
                "edit {shown}/kernels/{name}.cu, then run `lightbench run {shown} --kernel {name}`"
            )
        }
        (None, None) => format!("`lightbench run {shown}`"),
    };
    format!(
        "{count} · {seconds:.1} s\n\n{DIM}next: {now}; `lightbench explain` explains each number{DIM:#}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_what_matters_most() {
        let facts = |all: &[(Fact, f64)]| all.iter().copied().collect::<BTreeMap<_, _>>();
        let check = |now: &[(Fact, f64)], before: &[(Fact, f64)], expected: &[&str]| {
            assert_eq!(changed(&facts(now), &facts(before)), expected);
        };
        check(&[], &[], &[]);
        check(&[(Fact::Occupancy, 0.5)], &[], &[]);
        check(&[(Fact::Occupancy, 0.5)], &[(Fact::Occupancy, 0.55)], &[]);
        check(&[(Fact::SpilledBytes, 0.0)], &[(Fact::SpilledBytes, 0.0)], &[]);
        check(
            &[(Fact::Occupancy, 0.5), (Fact::LoadWaste, 1.0)],
            &[(Fact::Occupancy, 1.0), (Fact::LoadWaste, 1.25)],
            &[
                "loads move 1 times the bytes that they use (1.25 before)",
                "50.0 % of the warp slots are occupied (100 % before)",
            ],
        );
        check(
            &[(Fact::SpilledBytes, 16.0)],
            &[(Fact::SpilledBytes, 0.0)],
            &["16 bytes a thread are spilled because registers run out (0 before)"],
        );
    }
}
