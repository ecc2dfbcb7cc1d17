//! Runs as text.

use std::fmt::Write as _;

use lightbench_core::display_text::visible;
use lightbench_core::history::query::Listing;
use lightbench_core::history::record::Outcome;
use lightbench_core::history::timing::{Clock, Mode};
use lightbench_core::history::{Provenance, StoredRun};
use lightbench_core::units::grouped;

use super::ListedRuns;
use crate::table::Table;

/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 60;

/// One line per run; `None` if the project has no history.
pub(super) fn runs_text(shown: Option<&ListedRuns>) -> String {
    let Some(shown) = shown else {
        return none(0);
    };
    if shown.listing.runs.is_empty() {
        return none(shown.count) + &damaged(&shown.listing);
    }
    let mut table = Table::new(&[
        ">run",
        "when (UTC)",
        "kernel",
        "verdict",
        ">cold median",
        "device",
        "by",
        "",
    ])
    .spare(&["by", "device", "when (UTC)"]);
    for run in &shown.listing.runs {
        table.row(cells(shown, run));
    }
    let mut text = table.to_string();
    let (listed, count) = (shown.listing.runs.len() as u64, shown.count);
    if listed < count {
        writeln!(text, "\n{listed} of {count} runs").ok();
    }
    if shown.listing.runs.iter().any(is_mean) {
        text +=
            "\na time over several workloads is their geometric mean; reports list each workload\n";
    }
    text + &damaged(&shown.listing)
}

/// The number of damaged rows, and their names.
fn damaged(listing: &Listing) -> String {
    let rows = &listing.damaged;
    let mut text = match rows.len() {
        0 => return String::new(),
        1 => "\n1 damaged row was skipped:\n".to_owned(),
        count => format!("\n{} damaged rows were skipped:\n", grouped(count as u64)),
    };
    for row in rows {
        writeln!(text, "  {}", visible(&row.to_string())).ok();
    }
    text
}

/// The message for an empty list: no run exists, or none passes the filter.
pub(super) fn none(count: u64) -> String {
    match count {
        0 => "no runs yet: start one with `lightbench run`\n".to_owned(),
        1 => "the only run does not match the selection\n".to_owned(),
        _ => format!("none of {} runs matches the selection\n", grouped(count)),
    }
}

/// Whether the time of a run is a mean over several workloads.
fn is_mean(run: &StoredRun) -> bool {
    let cold = run.record.timings().iter().filter(|timing| timing.mode == Mode::Cold);
    run.record.score().is_some() && cold.count() > 1
}

fn cells(shown: &ListedRuns, run: &StoredRun) -> [String; 8] {
    let record = &run.record;
    [
        run.number.to_string(),
        record.made_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        visible(&record.kernel).into_owned(),
        record.verdict().replace('_', " "),
        time(run),
        visible(&record.device.name).into_owned(),
        visible(&record.origin.to_string()).into_owned(),
        remark(shown, run),
    ]
}

/// The scored time and its source.
fn time(run: &StoredRun) -> String {
    let Some(score) = run.record.score() else { return String::new() };
    let cold = run.record.timings().iter().find(|timing| timing.mode == Mode::Cold);
    match cold.map(|timing| &timing.clock) {
        Some(Clock::Modelled) => format!("≈ {} modelled", score.seconds),
        Some(Clock::Measured { .. } | Clock::Unstated) | None => score.seconds.to_string(),
    }
}

fn remark(shown: &ListedRuns, run: &StoredRun) -> String {
    let mut words: Vec<String> = run.label.iter().map(|label| format!("“{label}”")).collect();
    match run.provenance {
        Provenance::Own => {}
        Provenance::Recorded => words.push("recorded".to_owned()),
    }
    if shown.best.contains(&run.number) {
        words.push("best".to_owned());
    }
    if shown.baseline == Some(run.number) {
        words.push("baseline".to_owned());
    }
    match &run.record.outcome {
        Outcome::Passed { .. } => {}
        Outcome::Failed { sentence, .. } => words.push(shortened(&visible(sentence))),
    }
    words.join(", ")
}

fn shortened(sentence: &str) -> String {
    match sentence.char_indices().nth(SENTENCE) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}
