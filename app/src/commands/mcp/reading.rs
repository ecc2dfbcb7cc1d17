//! Documents that need no run: the project, differences, and parts of recorded runs.

use std::path::Path;

use lightbench_core::project::{BrokenFile, Kernel, Project, Purpose, Workload};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::budget::Budget;
use super::candidates::Candidates;
use crate::args::{self, Selection, Sort};
use crate::commands::history;
use crate::outcome::{Outcome, Status};
use crate::session::Session;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The task, its kernels, the candidates and the budget. Held-out workloads are left out.
pub(super) fn project(project: &Project, candidates: &Candidates, budget: &Budget) -> Value {
    let definition = &project.definition;
    let axes = definition.axes.iter().map(|axis| {
        json!({ "name": axis.name, "min": axis.min, "max": axis.max, "multiple_of": axis.multiple_of, "note": axis.note })
    });
    let tensors = definition.tensors.iter().map(|tensor| {
        let shape: Vec<&str> = tensor.shape.iter().map(|each| each.text()).collect();
        json!({ "name": tensor.name, "dtype": tensor.dtype.name(), "shape": shape, "writes": tensor.role.fill().is_none() })
    });
    let shown = project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
    json!({
        "schema": "lightbench.project/1",
        "name": definition.name,
        "title": definition.title,
        "summary": definition.summary,
        "axes": axes.collect::<Vec<_>>(),
        "tensors": tensors.collect::<Vec<_>>(),
        "workloads": shown.map(|each| workload(project, each)).collect::<Vec<_>>(),
        "kernels": project.kernels.iter().map(listed).collect::<Vec<_>>(),
        "unreadable_files": project.broken.iter().map(BrokenFile::name).collect::<Vec<_>>(),
        "candidates": candidates.names().collect::<Vec<_>>(),
        "evaluations_left": budget.evaluations_left(),
        "device_seconds_left": budget.device_seconds_left(),
    })
}

fn workload(project: &Project, workload: &Workload) -> Value {
    json!({
        "name": workload.name,
        "purpose": workload.purpose,
        "axes": axes(project, workload),
        "note": workload.note,
    })
}

/// The sizes of a workload, by axis.
pub(super) fn axes(project: &Project, workload: &Workload) -> Map<String, Value> {
    let axes = project.definition.axes.iter().zip(&workload.axes);
    axes.map(|(axis, value)| (axis.name.clone(), json!(value))).collect()
}

fn listed(kernel: &Kernel) -> Value {
    json!({ "name": kernel.name, "title": kernel.launch.title, "file": kernel.file })
}

/// The text of a kernel.
pub(super) fn source(name: &str, source: &str) -> Value {
    json!({ "schema": "lightbench.source/1", "kernel": name, "source": source })
}

/// The text of a kernel of the project, or of its reference.
pub(super) fn text_of<'a>(project: &'a Project, name: &str) -> Result<&'a str, String> {
    if name == "reference" {
        return Ok(project.reference.source());
    }
    let kernel = project.kernel(name).map_err(|error| error.to_string())?;
    Ok(&kernel.source)
}

/// The difference between two kernels.
pub(super) fn difference(project: &Project, a: &str, b: &str) -> Result<Value, String> {
    let [old, new] = [text_of(project, a)?, text_of(project, b)?];
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(CONTEXT).header(a, b).to_string();
    Ok(json!({ "schema": "lightbench.diff/1", "a": a, "b": b, "diff": text }))
}

/// What of a recorded run is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Counters,
    Faults,
    SpeedOfLight,
}

impl Part {
    const fn schema(self) -> &'static str {
        match self {
            Self::Counters => "lightbench.counters/1",
            Self::Faults => "lightbench.faults/1",
            Self::SpeedOfLight => "lightbench.speed_of_light/1",
        }
    }

    /// The fields of a recorded outcome.
    const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Counters => &["numbers"],
            Self::Faults => &["word", "sentence", "evidence"],
            Self::SpeedOfLight => &["timings", "withheld", "energy"],
        }
    }
}

/// The listed runs, as `lightbench history --json` writes them.
pub(super) fn history(
    session: &Session,
    root: &Path,
    kernel: Option<String>,
    limit: usize,
) -> Outcome {
    let selection = Selection { kernel, device: None, verdict: None, label: None, limit };
    let arguments = args::History {
        project: root.to_owned(),
        sort: Sort::Newest,
        choose_baseline: None,
        set_label: None,
        words: None,
        json: true,
        csv: false,
        selection,
    };
    history::run(session, &arguments)
}

/// A part of the newest run of a kernel; `None` if it has no run.
pub(super) fn part(outcome: &Outcome, part: Part) -> Option<Value> {
    if outcome.status != Status::Passed {
        return None;
    }
    let listing: Value = serde_json::from_str(&outcome.output).ok()?;
    let run = listing["runs"].as_array()?.first()?;
    let record = &run["record"];
    let mut document = json!({
        "schema": part.schema(),
        "run": run["run"],
        "kernel": record["kernel"],
        "device": record["device"]["name"],
    });
    if part == Part::SpeedOfLight {
        document["sol_score"] = run["sol_score"].clone();
    }
    for field in part.fields() {
        document[*field] = record["outcome"].get(*field).cloned().unwrap_or(Value::Null);
    }
    Some(document)
}

/// What a command wrote with `--json`, with its notices.
pub(super) fn document(outcome: &Outcome) -> Value {
    let unreadable = || json!({ "schema": "lightbench.error/1", "error": { "kind": "environment", "message": plain(&outcome.errors) } });
    let mut document: Value =
        serde_json::from_str(&outcome.output).unwrap_or_else(|_no_document| unreadable());
    let notices = plain(&outcome.errors);
    if let (false, Some(fields)) = (notices.trim().is_empty(), document.as_object_mut()) {
        fields.insert("notices".to_owned(), notices.into());
    }
    document
}

/// A text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
