//! Runs as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::ListedRuns;

/// The listed runs; `None` if the project has no history.
pub(super) fn runs_json(root: &Path, shown: Option<&ListedRuns>) -> Value {
    let runs: Vec<Value> = shown
        .into_iter()
        .flat_map(|shown| shown.listing.runs.iter().map(move |run| (shown, run)))
        .map(|(shown, run)| {
            json!({
                "run": run.number,
                "provenance": run.provenance,
                "best": shown.best.contains(&run.number),
                "label": run.label,
                "baseline": shown.baseline == Some(run.number),
                "cold_median_seconds": run.record.score().map(|score| score.seconds),
                "sol_score": run.record.sol_score(),
                "record": run.record,
            })
        })
        .collect();
    let damaged = shown.map(|shown| &shown.listing.damaged);
    let unreadable = damaged.map(|rows| rows.iter().map(|row| row.run).collect::<Vec<_>>());
    json!({
        "schema": "lightbench.history/1",
        "project": root.display().to_string(),
        "count": shown.map_or(0, |shown| shown.count),
        "runs": runs,
        "unreadable": unreadable,
        "damaged": damaged,
    })
}
