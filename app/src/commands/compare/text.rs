//! A comparison as text.

use lightbench_core::evaluate::compare::{ComparedWorkload, Outcome};
use lightbench_core::measure::{Comparison, Conclusion, Timing};
use lightbench_core::speed_of_light::bound::{Bound, PhysicalBound};
use lightbench_core::speed_of_light::bound_comparison::NoBoundComparison;
use lightbench_core::speed_of_light::verdict_line;
use lightbench_core::units::Fraction;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verification::library::LibraryTimes;

use super::{ComparisonReport, LIBRARY, SideResult};
use crate::commands::run::times;
use crate::style::{ERROR, GOOD};

/// Names of the sides.
const LETTERS: [&str; 2] = ["A", "B"];

/// Both sides, both results, and which is faster.
pub(super) fn report_text(told: &ComparisonReport<'_>) -> String {
    let mut text = format!("{} · {}", told.project.definition.title, told.chosen.title);
    if let Some(reason) = &told.chosen.virtual_reason {
        text += &format!(" ({})", reason.split(';').next().unwrap_or_default());
    }
    text += "\n\n";
    for (side, letter) in LETTERS.into_iter().enumerate() {
        text += &verdict(told, side, letter);
    }
    let workloads = match told.done.workloads.as_deref() {
        None => return text + "\ncancelled before the comparison\n",
        Some([]) => return text + "\nnot compared: both must pass\n",
        Some(workloads) => workloads,
    };
    for each in workloads {
        text += &format!("\n{}\n", each.workload);
        text += &lines(each).into_iter().map(|line| format!("    {line}\n")).collect::<String>();
    }
    text
}

fn verdict(told: &ComparisonReport<'_>, side: usize, letter: &str) -> String {
    let title = told.sides[side].title();
    let (is_right, sentence) = match &told.done.found[side] {
        SideResult::Kernel(run) => {
            let is_right = match &run.verdict {
                Ok(_) => Some(true),
                Err(NotPassed::Failed(_)) => Some(false),
                Err(NotPassed::NotJudged(_)) => None,
            };
            (is_right, sentence::verdict(&title, &run.verdict))
        }
        SideResult::Library(None) => (None, format!("{title} was not run")),
        SideResult::Library(Some(Ok(times))) => (Some(true), library(times)),
        SideResult::Library(Some(Err(unfit))) => (Some(false), format!("{title}: {unfit}")),
    };
    let mut text = match is_right {
        Some(true) => format!("{letter}  {GOOD}✓{GOOD:#} {sentence}\n"),
        Some(false) => format!("{letter}  {ERROR}✗{ERROR:#} {sentence}\n"),
        None => format!("{letter}  · {sentence}\n"),
    };
    for difference in told.since(side) {
        text += &format!("     changed since it ran: {difference}\n");
    }
    text
}

/// A sentence about the library: name, correctness and configuration.
pub(super) fn library(times: &LibraryTimes) -> String {
    let error = Fraction(times.worst_error);
    match &times.used {
        Some(used) => format!(
            "{} {} is correct, with errors of at most {error} of the tolerance ({})",
            used.name, used.version, used.call
        ),
        None => format!("{LIBRARY} ran nowhere"),
    }
}

/// Both times of a workload, and the conclusion.
pub(super) fn lines(each: &ComparedWorkload) -> Vec<String> {
    let told = |(letter, timing): (&str, &Timing)| format!("{letter}  {}", time(each, timing));
    let mut lines: Vec<String> = each.bound().map(bound).into_iter().collect();
    match &each.outcome {
        Outcome::Measured { timings, comparison } => {
            lines.extend(LETTERS.into_iter().zip(timings.iter()).map(told));
            lines.extend(times::without_stamps(timings.as_slice()));
            lines.push(conclusion(comparison, timings));
        }
        Outcome::Modelled { timings, ratio } => {
            lines.extend(LETTERS.into_iter().zip(timings.iter()).map(
                |(letter, timing)| match timing {
                    Ok(timing) => told((letter, timing)),
                    Err(reason) => format!("{letter}  no time: {reason}"),
                },
            ));
            lines.push(match ratio {
                Some(ratio) => format!(
                    "B takes {} of the time of A by the model; only a GPU can show which is faster",
                    share(*ratio)
                ),
                None => "no comparison: one side has no time".to_owned(),
            });
        }
        Outcome::Withheld(reason) => lines.push(format!("not compared: {reason}")),
    }
    lines
}

fn bound(physical: &PhysicalBound) -> String {
    let Bound { time, limit, basis, .. } = physical.bound();
    format!("least time of any correct kernel: {time} ({limit}, {basis})")
}

/// A time, and its fraction of the bound.
fn time(each: &ComparedWorkload, timing: &Timing) -> String {
    let words = times::time_text(timing);
    match each.standing(timing) {
        Ok(standing) => match standing.best() {
            Some(best) => format!(
                "{words}, {}",
                verdict_line::bound_fraction_text(&best.bound_fraction, timing)
            ),
            None => words,
        },
        Err(NoBoundComparison::NoBound) => words,
        Err(finding) => format!("{words}; {finding}"),
    }
}

/// A sentence: which is faster, by how much and with what certainty. Times at the launch floor cannot be distinguished.
pub(super) fn conclusion(comparison: &Comparison, timings: &[Timing; 2]) -> String {
    let Comparison { ratio, interval: (low, high), rounds, conclusion } = comparison;
    let sure = format!("99 % interval {} to {}, {rounds} rounds", share(*low), share(*high));
    let takes = format!("B takes {} of the time of A", share(*ratio));
    let unresolved = match timings.each_ref().map(Timing::is_at_floor) {
        [true, true] => return "not resolved: both times are at the launch floor".to_owned(),
        [true, false] | [false, true] => "; the difference is not resolved",
        [false, false] => "",
    };
    let sure = format!("{sure}{unresolved}");
    match conclusion {
        Conclusion::Faster => format!("B is faster: {takes} ({sure})"),
        Conclusion::Slower => format!("B is slower: {takes} ({sure})"),
        Conclusion::NoMeasurableDifference => format!("no measurable difference: {takes} ({sure})"),
    }
}

/// A percentage with one digit more than other times have, because small differences matter here.
fn share(ratio: Fraction) -> String {
    let percent = 100.0 * ratio.0;
    if percent < 10.0 { format!("{percent:.3} %") } else { format!("{percent:.2} %") }
}
