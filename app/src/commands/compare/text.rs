//! A comparison for people.

use lightbench_core::evaluate::compare::{ComparedWorkload, Outcome};
use lightbench_core::measure::{Comparison, Conclusion, Timing};
use lightbench_core::speed_of_light::bound::{Bound, PhysicalBound};
use lightbench_core::speed_of_light::standing::NoStanding;
use lightbench_core::speed_of_light::verdict_line;
use lightbench_core::units::Fraction;
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verification::library::LibraryTimes;

use super::{Found, LIBRARY, Told};
use crate::commands::run::times;
use crate::style::{ERROR, GOOD};

/// What the two are called.
const LETTERS: [&str; 2] = ["A", "B"];

/// What both are, what came of each, and which is faster.
pub(super) fn of(told: &Told<'_>) -> String {
    let mut text = format!("{} · {}", told.project.definition.title, told.chosen.title);
    if let Some(reason) = &told.chosen.instead {
        text += &format!(" ({})", reason.split(';').next().unwrap_or_default());
    }
    text += "\n\n";
    for (side, letter) in LETTERS.into_iter().enumerate() {
        text += &verdict(told, side, letter);
    }
    let workloads = match told.done.workloads.as_deref() {
        None => return text + "\ncancelled before they were compared\n",
        Some([]) => return text + "\nnot compared: both have to be right\n",
        Some(workloads) => workloads,
    };
    for each in workloads {
        text += &format!("\n{}\n", each.workload);
        text += &lines(each).into_iter().map(|line| format!("    {line}\n")).collect::<String>();
    }
    text
}

fn verdict(told: &Told<'_>, side: usize, letter: &str) -> String {
    let title = told.sides[side].title();
    let (is_right, sentence) = match &told.done.found[side] {
        Found::Kernel(run) => {
            let is_right = match &run.verdict {
                Ok(_) => Some(true),
                Err(NotPassed::Failed(_)) => Some(false),
                Err(NotPassed::NotJudged(_)) => None,
            };
            (is_right, sentence::verdict(&title, &run.verdict))
        }
        Found::Library(None) => (None, format!("{title} was not asked")),
        Found::Library(Some(Ok(times))) => (Some(true), library(times)),
        Found::Library(Some(Err(unfit))) => (Some(false), format!("{title}: {unfit}")),
    };
    let mut text = match is_right {
        Some(true) => format!("{letter}  {GOOD}✓{GOOD:#} {sentence}\n"),
        Some(false) => format!("{letter}  {ERROR}✗{ERROR:#} {sentence}\n"),
        None => format!("{letter}  · {sentence}\n"),
    };
    for difference in told.since(side) {
        text += &format!("     not as when it ran: {difference}\n");
    }
    text
}

/// One sentence: which library, that it is right, how it was asked.
pub(super) fn library(times: &LibraryTimes) -> String {
    let error = Fraction(times.worst_error);
    match &times.used {
        Some(used) => format!(
            "{} {} is correct, its errors are at most {error} of what is accepted ({})",
            used.name, used.version, used.call
        ),
        None => format!("{LIBRARY} ran nowhere"),
    }
}

/// Both times of a workload, and what follows from them.
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
                    "B is expected to take {} of the time of A, as modelled; only a GPU tells which is faster",
                    share(*ratio)
                ),
                None => "no comparison: that takes a time of both".to_owned(),
            });
        }
        Outcome::Withheld(reason) => lines.push(format!("not compared: {reason}")),
    }
    lines
}

/// `no correct kernel takes less than 97.6 µs (DRAM, sheet)`.
fn bound(physical: &PhysicalBound) -> String {
    let Bound { time, limit, basis, .. } = physical.bound();
    format!("no correct kernel takes less than {time} ({limit}, {basis})")
}

/// A time, and how near it is to that.
fn time(each: &ComparedWorkload, timing: &Timing) -> String {
    let words = times::one(timing);
    match each.standing(timing) {
        Ok(standing) => match standing.best() {
            Some(best) => format!("{words}, {}", verdict_line::of_light(&best.share, timing)),
            None => words,
        },
        Err(NoStanding::NoBound) => words,
        Err(finding) => format!("{words}; {finding}"),
    }
}

/// One sentence: which is faster, by how much, how sure. No clock tells apart what takes as long as an empty kernel.
pub(super) fn conclusion(comparison: &Comparison, timings: &[Timing; 2]) -> String {
    let Comparison { ratio, interval: (low, high), rounds, conclusion } = comparison;
    let sure = format!("99 % interval {} to {}, {rounds} rounds", share(*low), share(*high));
    let takes = format!("B takes {} of the time of A", share(*ratio));
    let unresolved = match timings.each_ref().map(Timing::is_at_floor) {
        [true, true] => return "not resolved: both take no longer than an empty kernel".to_owned(),
        [true, false] | [false, true] => "; by how much is not resolved",
        [false, false] => "",
    };
    let sure = format!("{sure}{unresolved}");
    match conclusion {
        Conclusion::Faster => format!("B is faster: {takes} ({sure})"),
        Conclusion::Slower => format!("B is slower: {takes} ({sure})"),
        Conclusion::NoMeasurableDifference => format!("no measurable difference: {takes} ({sure})"),
    }
}

/// Per cent with a digit more than times have, as small differences are what is looked for.
fn share(ratio: Fraction) -> String {
    let percent = 100.0 * ratio.0;
    if percent < 10.0 { format!("{percent:.3} %") } else { format!("{percent:.2} %") }
}
