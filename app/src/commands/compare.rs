//! `lightbench compare`: which of two kernels is faster.

use lightbench_core::engine::{Conditions, Ending, Request};
use lightbench_core::evaluate::compare::{ComparedWorkload, Outcome as Found};
use lightbench_core::evaluate::{EvaluateError, Run};
use lightbench_core::measure::{Comparison, Conclusion, Protocol, Timing};
use lightbench_core::project::Kernel;
use lightbench_core::units::Fraction;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Failure, TimingUse};
use serde_json::{Value, json};

use super::bench::{self, Chosen};
use super::check::target;
use super::desk::Desk;
use super::run::{self, Asked, times};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;
use crate::style::{ERROR, GOOD};

/// Compares and reports.
pub fn run(session: &Session, arguments: &args::Compare) -> Outcome {
    compared(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn compared(session: &Session, arguments: &args::Compare) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let lacks = "no definition of what is right";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
    let [a, b] = [&arguments.a, &arguments.b].map(|name| project.kernel(name));
    let (a, b) = (a.map_err(|error| refuse(&error))?, b.map_err(|error| refuse(&error))?);
    if let Some(name) = &arguments.workload {
        project.workload(name).map_err(|error| refuse(&error))?;
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => bench::fresh_seed().map_err(|error| report::environment(&error, as_json))?,
    };
    let (mut desk, chosen) = bench::desk(session, arguments.device.as_deref(), as_json)?;
    let mut asked = Asked::everything(&project, &chosen, seed);
    asked.conditions.timing = TimingUse::Skip;
    let clock = arguments.clock.map_or(Protocol::PAIRED.clock, Into::into);
    let protocol = Protocol { clock, ..Protocol::PAIRED };
    let done = both(&mut desk, &asked, protocol, [a, b]);
    let mut done = done.map_err(|error| run::failed(&error, as_json))?;
    if let (Some(only), Some(workloads)) = (&arguments.workload, &mut done.workloads) {
        workloads.retain(|each| each.workload == *only);
    }
    let told = Told { title: &project.definition.title, chosen: &chosen, kernels: [a, b], done };
    let output = if as_json { document(&told.json()) } else { told.text() };
    let mut notices = chosen.notices();
    notices.extend(desk.notices());
    Ok(Outcome { output, errors: report::notices(&notices), status: told.status() })
}

/// What came of a comparison.
struct Done {
    runs: [Run; 2],
    /// None for kernels of which one is not right; nothing where nobody wanted the times any more.
    workloads: Option<Vec<ComparedWorkload>>,
}

/// The verdicts of both, and where both are right their times beside each other.
fn both(
    desk: &mut Desk<'_>,
    asked: &Asked,
    protocol: Protocol,
    kernels: [&Kernel; 2],
) -> Result<Done, EvaluateError> {
    let mut verdict = |kernel: &Kernel| {
        let (work, conditions) = asked.of(kernel);
        let ending = desk.ending(&kernel.name, Request::Evaluate(work, conditions));
        run::evaluated_run(ending, asked.conditions.seed)
    };
    let [a, b] = kernels;
    let runs = [verdict(a)?, verdict(b)?];
    if !runs.iter().all(|run| run.verdict.is_ok()) {
        return Ok(Done { runs, workloads: Some(Vec::new()) });
    }
    let works = Box::new(kernels.map(|kernel| asked.of(kernel).0));
    let subject = format!("{} and {}", a.name, b.name);
    let timing = TimingUse::Measure(protocol);
    let conditions = Conditions { timing, ..asked.conditions.clone() };
    let workloads = match desk.ending(&subject, Request::Compare(works, conditions)) {
        Ending::Compared(workloads) => Some(workloads),
        Ending::Cancelled { .. } => None,
        other @ (Ending::Evaluated(_)
        | Ending::Screened(_)
        | Ending::Examined(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Impossible(_)
        | Ending::Panicked { .. }
        | Ending::Stopped) => return Err(run::no_verdict(other)),
    };
    Ok(Done { runs, workloads })
}

/// What is told.
struct Told<'a> {
    title: &'a str,
    chosen: &'a Chosen,
    kernels: [&'a Kernel; 2],
    done: Done,
}

impl Told<'_> {
    fn status(&self) -> Status {
        let cancelled = |run: &Run| matches!(run.verdict, Err(Failure::Cancelled));
        match &self.done.runs {
            _ if self.done.workloads.is_none() => Status::Interrupted,
            runs if runs.iter().any(cancelled) => Status::Interrupted,
            runs if runs.iter().all(|run| run.verdict.is_ok()) => Status::Passed,
            _ => Status::KernelFailed,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{} · {}", self.title, self.chosen.title);
        if let Some(reason) = &self.chosen.instead {
            text += &format!(" ({})", reason.split(';').next().unwrap_or_default());
        }
        text += "\n\n";
        for ((letter, kernel), run) in ["A", "B"].iter().zip(self.kernels).zip(&self.done.runs) {
            let sentence = sentence::verdict(&kernel.name, &run.verdict);
            text += &match run.verdict {
                Ok(_) => format!("{letter}  {GOOD}✓{GOOD:#} {sentence}\n"),
                Err(_) => format!("{letter}  {ERROR}✗{ERROR:#} {sentence}\n"),
            };
        }
        let workloads = match self.done.workloads.as_deref() {
            None => return text + "\ncancelled before they were compared\n",
            Some([]) => return text + "\nonly kernels that are right are compared\n",
            Some(workloads) => workloads,
        };
        for each in workloads {
            text += &format!("\n{}\n", each.workload);
            text +=
                &lines(each).into_iter().map(|line| format!("    {line}\n")).collect::<String>();
        }
        text
    }

    fn json(&self) -> Value {
        let kernels = self.kernels.iter().zip(&self.done.runs).map(|(kernel, run)| {
            json!({
                "kernel": kernel.name,
                "candidate": run.candidate.map(|hash| format!("{hash:#}")),
                "seed": run.seed,
                "sentence": sentence::verdict(&kernel.name, &run.verdict),
                "verdict": match &run.verdict {
                    Ok(_) => "passed",
                    Err(failure) => failure.word(),
                },
            })
        });
        json!({
            "schema": "lightbench.compare/1",
            "device": self.chosen.device.to_string(),
            "device_title": self.chosen.title,
            "instead_of_gpu": self.chosen.instead,
            "kernels": kernels.collect::<Vec<_>>(),
            "workloads": self.done.workloads.iter().flatten().map(workload).collect::<Vec<_>>(),
        })
    }
}

fn lines(each: &ComparedWorkload) -> Vec<String> {
    let both = |timings: &[Timing; 2]| {
        let letters = ["A", "B"].iter().zip(timings);
        letters.map(|(letter, timing)| format!("{letter}  {}", times::one(timing))).collect()
    };
    match &each.outcome {
        Found::Measured { timings, comparison } => {
            let mut lines: Vec<String> = both(timings);
            lines.push(conclusion(comparison));
            lines
        }
        Found::Modelled { timings, ratio } => {
            let mut lines: Vec<String> = both(timings);
            lines.push(format!(
                "modelled: the bound of B is {} of that of A; a model does not tell which is faster",
                share(*ratio)
            ));
            lines
        }
        Found::Withheld(reason) => vec![format!("not compared: {reason}")],
    }
}

/// One sentence: which is faster, by how much, how sure.
fn conclusion(comparison: &Comparison) -> String {
    let Comparison { ratio, interval: (low, high), rounds, conclusion } = comparison;
    let sure = format!("99 % interval {} to {}, {rounds} rounds", share(*low), share(*high));
    let takes = format!("B takes {} of the time of A", share(*ratio));
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

fn workload(each: &ComparedWorkload) -> Value {
    let both = |timings: &[Timing; 2]| timings.iter().map(times::timing).collect::<Vec<_>>();
    let mut value = json!({ "workload": each.workload });
    match &each.outcome {
        Found::Measured { timings, comparison } => {
            value["times"] = json!(both(timings));
            value["comparison"] = json!(comparison);
        }
        Found::Modelled { timings, ratio } => {
            value["times"] = json!(both(timings));
            value["modelled_bound_ratio"] = json!(ratio);
        }
        Found::Withheld(reason) => value["withheld"] = json!(reason),
    }
    value
}
