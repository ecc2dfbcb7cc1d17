//! `lightbench run --screen`: screens kernels, in a form that cannot be confused with a verdict.

use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::engine::{Ending, Request, ScreeningBatch};
use lightbench_core::evaluate::{EvaluateError, Screening};
use lightbench_core::measure::Protocol;
use lightbench_core::project::{BrokenFile, Kernel};
use lightbench_core::report::document::{ScreeningReport, ScreeningReports, ScreeningsSchema};
use lightbench_core::verify::not_judged::NotPassed;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::TimingUse;

use super::super::engine_client::EngineClient;
use super::{
    ChosenDevice, EvaluationInput, OutputForm, RunResults, failed, no_verdict, status, text,
};
use crate::outcome::{Outcome, Status, report_document};
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
    let report = RunResults { project: &asked.project, chosen, runs: Vec::new(), broken };
    let project = &asked.project.definition.name;
    let value = |(kernel, screening): &(&Kernel, Screening)| {
        ScreeningReport::new((project, &kernel.name), chosen.reported(), screening)
    };
    let output = match (OutputForm::from_flags(as_json, wanted), screenings.first()) {
        (OutputForm::Text, _) => screening_text(&report, &screenings),
        (OutputForm::OneDocument, Some(screening)) => report_document(&value(screening)),
        (OutputForm::OneDocument | OutputForm::Documents, _) => {
            report_document(&ScreeningReports {
                schema: ScreeningsSchema::V1,
                project: project.clone(),
                screenings: screenings.iter().map(value).collect(),
                broken: report.reported_broken(),
            })
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
        | Ending::CompiledAhead { .. }
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_)
        | Ending::Impossible(_)
        | Ending::Panicked { .. }
        | Ending::Stopped) => Err(no_verdict(other)),
    }
}

fn screening_text(report: &RunResults<'_>, screenings: &[(&Kernel, Screening)]) -> String {
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
