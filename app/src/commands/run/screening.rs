//! `lightbench run --screen`: screens kernels, in a form that cannot be confused with a verdict.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::engine::{Ending, Request, ScreeningBatch};
use lightbench_core::evaluate::{EvaluateError, Screening};
use lightbench_core::measure::Protocol;
use lightbench_core::project::{BrokenFile, Kernel};
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence::{self, SCREENED};
use lightbench_core::verify::verdict::{ScreenedTiming, ScreeningTiming, TimingUse};
use serde_json::{Value, json};

use super::super::engine_client::EngineClient;
use super::{
    ChosenDevice, EvaluationInput, OutputForm, RunReport, failed, no_verdict, status, text,
};
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::style::GOOD;

/// The screened kernels, and those that could not be read.
#[derive(Clone, Copy)]
pub(super) struct ScreenedKernels<'a> {
    pub(super) kernels: &'a [&'a Kernel],
    pub(super) broken: &'a [&'a BrokenFile],
}

/// Screens each kernel and reports.
pub(super) fn screened(
    desk: &mut EngineClient<'_>,
    asked: &EvaluationInput,
    chosen: &ChosenDevice,
    of: ScreenedKernels<'_>,
    (as_json, wanted): (bool, Option<&str>),
) -> Result<Outcome, Outcome> {
    let mut screenings = Vec::new();
    for kernel in of.kernels {
        let (work, mut conditions) = asked.for_kernel(kernel);
        if let TimingUse::Measure(Protocol { clock, .. }) = conditions.timing {
            conditions.timing = TimingUse::Measure(Protocol { clock, ..Protocol::QUICK });
        }
        let request = Request::Screen(ScreeningBatch::one(work), conditions);
        let ending = desk.wait_for_ending(&kernel.name, request);
        let screening =
            from_ending(ending, asked.conditions.seed).map_err(|error| failed(&error, as_json))?;
        let stopped = screening.verdict.as_ref().is_err_and(NotPassed::is_cancelled);
        screenings.push((*kernel, screening));
        if stopped {
            break;
        }
    }
    let broken = of.broken.to_vec();
    let report = RunReport { project: &asked.project, chosen, runs: Vec::new(), broken };
    let output = match (OutputForm::from_flags(as_json, wanted), screenings.first()) {
        (OutputForm::Text, _) => screening_text(&report, &screenings),
        (OutputForm::OneDocument, Some((kernel, screening))) => {
            document(&value(&report, kernel, screening))
        }
        (OutputForm::OneDocument | OutputForm::Documents, _) => {
            let all = screenings.iter().map(|(kernel, each)| value(&report, kernel, each));
            document(&json!({
                "schema": "lightbench.screenings/1",
                "project": report.project.definition.name,
                "screenings": all.collect::<Vec<Value>>(),
                "broken": report::broken_json(report.broken.iter().copied()),
            }))
        }
    };
    let statuses = screenings.iter().map(|(_, screening)| status(&screening.verdict));
    let broken = of.broken.iter().map(|_| Status::KernelFailed);
    let status = statuses.chain(broken).max().unwrap_or(Status::Passed);
    Ok(Outcome { output, errors: report::notices(&desk.notices()), status })
}

fn from_ending(ending: Ending, seed: u64) -> Result<Screening, EvaluateError> {
    match ending {
        Ending::Screened(screenings) => {
            let stopped = || Screening::cancelled(seed);
            Ok(screenings.into_iter().next().unwrap_or_else(stopped))
        }
        Ending::Cancelled { .. } => Ok(Screening::cancelled(seed)),
        other @ (Ending::Evaluated(_)
        | Ending::Examined(_)
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Impossible(_)
        | Ending::Panicked { .. }
        | Ending::Stopped) => Err(no_verdict(other)),
    }
}

fn screening_text(report: &RunReport<'_>, screenings: &[(&Kernel, Screening)]) -> String {
    let mut text = text::heading(report);
    for (kernel, screening) in screenings {
        let sentence = sentence::screening(&kernel.name, &screening.verdict);
        let (sentence, seconds) = (with_readable_names(&sentence), screening.elapsed.as_secs_f64());
        match &screening.verdict {
            Ok(_) => text.push_str(&format!("{GOOD}?{GOOD:#} {sentence} ({seconds:.1} s)\n")),
            Err(reason) => {
                let sentence = format!("{sentence} ({seconds:.1} s)");
                text.push_str(&text::not_passed(report, kernel, reason, &sentence));
            }
        }
    }
    text.push_str(&text::broken(report));
    if let Some((_, first)) = screenings.first() {
        text.push_str(&text::how_to_repeat(first.seed));
    }
    text
}

fn value(report: &RunReport<'_>, kernel: &Kernel, screening: &Screening) -> Value {
    let mut value = json!({
        // A separate schema: readers of verdicts must not accept a screening.
        "schema": "lightbench.screening/1",
        "project": report.project.definition.name,
        "kernel": kernel.name,
        "candidate": screening.candidate.map(|hash| format!("{hash:#}")),
        "device": report.chosen.device.to_string(),
        "device_title": report.chosen.title,
        "instead_of_gpu": report.chosen.virtual_reason,
        "seed": screening.seed,
        "elapsed_seconds": screening.elapsed.as_secs_f64(),
        "tier": SCREENED,
        "sentence": sentence::screening(&kernel.name, &screening.verdict),
        "verdict": match &screening.verdict {
            Ok(_) => "screened",
            Err(reason) => reason.word(),
        },
        "status": match &screening.verdict {
            Ok(_) => "screened",
            Err(reason) => reason.status(),
        },
    });
    match &screening.verdict {
        Ok(screened) => {
            value["screened"] = super::json::checks(&screened.checks);
            let times = screened.timings.iter().map(timing_json).collect::<Vec<_>>();
            value["screened_times"] = json!(times);
        }
        Err(reason) => value[reason.word()] = super::json::payload(reason),
    }
    value
}

fn timing_json(timing: &ScreenedTiming) -> Value {
    let mut value = json!({ "workload": timing.workload });
    match &timing.timing {
        ScreeningTiming::Taken(timing) => value["time"] = super::times::timing(timing),
        ScreeningTiming::Abandoned { after } => value["abandoned_after_seconds"] = json!(after),
        ScreeningTiming::Withheld { reason, .. } => value["withheld"] = json!(reason),
    }
    value
}
