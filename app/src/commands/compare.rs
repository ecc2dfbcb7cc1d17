//! `lightbench compare`: which of two kernels is faster.

use std::collections::BTreeMap;

use lightbench_core::evaluate::compare::{Compared, ComparedWorkload, Outcome as Found, compare};
use lightbench_core::evaluate::{Evaluation, PolicyUse, Run};
use lightbench_core::measure::{Comparison, Conclusion, Protocol, Timing};
use lightbench_core::project::Kernel;
use lightbench_core::units::Fraction;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::{Failure, TimingUse};
use serde_json::{Value, json};

use super::bench::{self, Chosen};
use super::check::target;
use super::run::times;
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
    let (mut bench, chosen) = bench::open(session, arguments.device.as_deref(), as_json)?;
    let parameters = BTreeMap::new();
    let evaluations = [a, b].map(|kernel| Evaluation {
        project: &project,
        kernel,
        chosen: &parameters,
        device: &chosen.device,
        sheet: chosen.sheet,
        calibration: chosen.calibration().map(AsRef::as_ref),
        workload: None,
        seed,
        policy: PolicyUse::Refuse,
        timing: TimingUse::Skip,
    });
    let cancellation = &session.cancellation;
    let clock = arguments.clock.map_or(Protocol::PAIRED.clock, Into::into);
    let protocol = Protocol { clock, ..Protocol::PAIRED };
    let done = compare(evaluations, protocol, &mut bench, cancellation, &mut |_step, _name| {});
    let mut done = done.map_err(|error| report::environment(&error, as_json))?;
    if let Some(only) = &arguments.workload {
        done.workloads.retain(|each| each.workload == *only);
    }
    let told = Told { title: &project.definition.title, chosen: &chosen, kernels: [a, b], done };
    let output = if as_json { document(&told.json()) } else { told.text() };
    let errors = report::notices(&chosen.notices());
    Ok(Outcome { output, errors, status: told.status() })
}

/// What is told.
struct Told<'a> {
    title: &'a str,
    chosen: &'a Chosen,
    kernels: [&'a Kernel; 2],
    done: Compared,
}

impl Told<'_> {
    fn status(&self) -> Status {
        let cancelled = |run: &Run| matches!(run.verdict, Err(Failure::Cancelled));
        match &self.done.runs {
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
        if self.done.workloads.is_empty() {
            return text + "\nonly kernels that are right are compared\n";
        }
        for each in &self.done.workloads {
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
            "workloads": self.done.workloads.iter().map(workload).collect::<Vec<_>>(),
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
