//! The table of `lightbench rejudge`: counts by outcome, and a line for each solution that did not pass.

use std::collections::BTreeMap;

use lightbench_core::display_text::visible;
use lightbench_core::report::document::EvalReport;
use lightbench_core::report::document::eval::{EvalEvidence, EvalOutcome};
use lightbench_core::units::counted;

use super::stream::Summary;
use crate::table::Table;

/// Both tables.
pub(super) fn text(summary: &Summary, mut reports: Vec<EvalReport>) -> String {
    reports.sort_by_key(|report| report.line);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failures = Table::new(&["solution", "outcome", "line", "cause"]);
    for report in &reports {
        let word = word(&report.outcome);
        *counts.entry(word).or_default() += 1;
        let Some(cause) = cause(&report.outcome) else { continue };
        let id =
            report.id.as_ref().map_or_else(|| format!("line {}", report.line), |id| id.to_string());
        let line = report.outcome.source_line().map(|at| at.line.to_string());
        let line = line.unwrap_or_default();
        failures.row([
            visible(&id).into_owned(),
            word.to_owned(),
            line,
            visible(&cause).into_owned(),
        ]);
    }
    let mut by_outcome = Table::new(&["outcome", ">solutions"]);
    for (word, count) in &counts {
        by_outcome.row([(*word).to_owned(), count.to_string()]);
    }
    let total = counted(reports.len() as u64, "solution", "solutions");
    let devices = summary.devices.join(", ");
    let mut text = format!("{total} · {devices}\n\n{by_outcome}");
    if reports.iter().any(|report| cause(&report.outcome).is_some()) {
        text.push_str(&format!("\n{failures}"));
    }
    text
}

/// The verdict in one word, as `run --json` has it.
fn word(outcome: &EvalOutcome) -> &str {
    match outcome {
        EvalOutcome::Passed { run }
        | EvalOutcome::Failed(EvalEvidence::Run { run })
        | EvalOutcome::NotJudged(EvalEvidence::Run { run }) => &run.verdict,
        EvalOutcome::Failed(EvalEvidence::Error { .. }) => "unreadable",
        EvalOutcome::NotJudged(EvalEvidence::Error { .. }) => "not_judged",
        EvalOutcome::Error { .. } => "error",
    }
}

/// Why a solution did not pass, in one line.
fn cause(outcome: &EvalOutcome) -> Option<String> {
    let error = match outcome {
        EvalOutcome::Passed { .. } => return None,
        EvalOutcome::Failed(EvalEvidence::Run { run })
        | EvalOutcome::NotJudged(EvalEvidence::Run { run }) => {
            return Some(without_name(&run.sentence, &run.kernel).to_owned());
        }
        EvalOutcome::Failed(EvalEvidence::Error { error })
        | EvalOutcome::NotJudged(EvalEvidence::Error { error })
        | EvalOutcome::Error { error } => error,
    };
    Some(error.message.lines().next().unwrap_or_default().to_owned())
}

/// The sentence without the kernel's name at its beginning, which the table has already.
fn without_name<'a>(sentence: &'a str, kernel: &str) -> &'a str {
    sentence.strip_prefix(kernel).map_or(sentence, str::trim_start)
}
