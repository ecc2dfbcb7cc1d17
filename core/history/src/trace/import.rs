//! Imports traces as runs, which count as recorded.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use lightbench_units::Seconds;
use serde_json::{Value, json};

use super::schema::{Evaluation, Input, Performance, Status, Trace, Workload};
use crate::record::{
    CorrectnessSource, DeviceIdentity, Environment, FailureKind, Origin, Outcome, RecordedScalar,
    RecordedWorkload, ReportedCorrectness, RunId, RunRecord, Scope, WorkloadName,
};
use crate::timing::{Clock, Duration, Mode, RecordedTiming};

/// The longest line that is read, in bytes.
const LONGEST: usize = 16 << 20;

/// The largest number of reported problems.
const MOST_PROBLEMS: usize = 20;

/// The content of a file of traces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// One run for each trace.
    pub runs: Vec<RunRecord>,
    /// Traces that describe a workload and no solution.
    pub workloads_only: usize,
    /// Traces of a failed reference, which state nothing about a solution.
    pub invalid_references: usize,
}

/// A line that is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: usize,
    /// The error.
    pub reason: String,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.reason)
    }
}

/// Why nothing is imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} of the lines are no traces, so nothing is imported:\n{}", problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n"))]
pub struct TraceError {
    /// The number of wrong lines.
    pub count: usize,
    /// The first wrong lines.
    pub problems: Vec<LineProblem>,
}

/// Reads a file with one trace per line; empty lines are skipped. `author` becomes the origin of the runs.
///
/// # Errors
/// A line is not a trace; the first such lines are reported.
pub fn import(text: &str, author: &str) -> Result<Import, TraceError> {
    let mut import = Import::default();
    let mut error = TraceError { count: 0, problems: Vec::new() };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    // Two equal lines are two runs, identified by their order.
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in lines {
        let line = line.trim();
        let before = told.entry(line).or_default();
        *before += 1;
        match read(line, *before, author) {
            Ok(Read::Run(run)) => import.runs.push(*run),
            Ok(Read::WorkloadOnly) => import.workloads_only += 1,
            Ok(Read::InvalidReference) => import.invalid_references += 1,
            Err(reason) => {
                error.count += 1;
                if error.problems.len() < MOST_PROBLEMS {
                    error.problems.push(LineProblem { line: index + 1, reason });
                }
            }
        }
    }
    if error.count == 0 { Ok(import) } else { Err(error) }
}

enum Read {
    Run(Box<RunRecord>),
    WorkloadOnly,
    InvalidReference,
}

fn read(line: &str, occurrence: usize, author: &str) -> Result<Read, String> {
    if line.len() > LONGEST {
        return Err(format!("{} bytes, at most {LONGEST} are read", line.len()));
    }
    let trace: Trace = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let (solution, evaluation) = match (trace.solution, trace.evaluation) {
        (Some(solution), Some(evaluation)) => (solution, evaluation),
        (None, None) => return Ok(Read::WorkloadOnly),
        (Some(_), None) => return Err("a solution without an evaluation".to_owned()),
        (None, Some(_)) => return Err("an evaluation without a solution".to_owned()),
    };
    complete(&evaluation)?;
    let workload = workload(trace.workload);
    let Some(outcome) = outcome(&evaluation, &workload.name)? else {
        return Ok(Read::InvalidReference);
    };
    let hardware = evaluation.environment.hardware;
    Ok(Read::Run(Box::new(RunRecord {
        id: RunId::of_import(line, occurrence),
        made_at: point_in_time(&evaluation.timestamp)?,
        project: trace.definition,
        definition: None,
        kernel: solution,
        candidate: None,
        parent: None,
        origin: Origin::Import { author: author.to_owned() },
        parameters: BTreeMap::new(),
        sources: Vec::new(),
        device: DeviceIdentity { name: hardware.clone(), title: hardware, uuid: None },
        seed: None,
        workloads: vec![workload],
        scope: Scope::OneWorkload,
        outcome,
        environment: Environment { versions: evaluation.environment.libs, clocks: BTreeMap::new() },
        elapsed: None,
        evidence: None,
    })))
}

/// Checks the fields that the schema requires for each status.
fn complete(evaluation: &Evaluation) -> Result<(), String> {
    let (correctness, performance) = match evaluation.status {
        Status::Passed => (true, true),
        Status::IncorrectNumerical => (true, false),
        Status::IncorrectShape
        | Status::IncorrectDtype
        | Status::RuntimeError
        | Status::CompileError
        | Status::Timeout
        | Status::RewardHack
        | Status::InvalidReference => (false, false),
    };
    let must = |name: &str, there: bool, expected: bool| match (there, expected) {
        (true, false) => Err(format!("`{name}` is there, which the status does not permit")),
        (false, true) => Err(format!("`{name}` is missing, which the status requires")),
        (true, true) | (false, false) => Ok(()),
    };
    must("correctness", evaluation.correctness.is_some(), correctness)?;
    must("performance", evaluation.performance.is_some(), performance)
}

fn workload(workload: Workload) -> RecordedWorkload {
    let scalars = workload.inputs.into_iter().filter_map(|(name, input)| match input {
        Input::Scalar { value } => Some((name, scalar(&value))),
        Input::Random | Input::Safetensors { .. } | Input::Custom => None,
    });
    RecordedWorkload {
        name: WorkloadName::from_import(workload.uuid),
        axes: workload.axes,
        scalars: scalars.collect(),
    }
}

fn scalar(value: &Value) -> RecordedScalar {
    serde_json::from_value(value.clone())
        .unwrap_or_else(|_| RecordedScalar::Text(value.to_string()))
}

fn outcome(evaluation: &Evaluation, workload: &WorkloadName) -> Result<Option<Outcome>, String> {
    let word = match evaluation.status {
        Status::InvalidReference => return Ok(None),
        Status::Passed => return passed(evaluation, workload).map(Some),
        Status::IncorrectShape | Status::IncorrectNumerical | Status::IncorrectDtype => {
            FailureKind::Wrong
        }
        Status::RuntimeError => FailureKind::Fault,
        Status::CompileError => FailureKind::Compile,
        Status::Timeout => FailureKind::TimedOut,
        Status::RewardHack => FailureKind::Refused,
    };
    let mut evidence = json!({ "status": evaluation.status, "workload": workload });
    if let Some(correctness) = &evaluation.correctness {
        let reported = reported(evaluation);
        evidence["max_relative_error"] = json!(reported.max_relative_error);
        evidence["max_absolute_error"] = json!(reported.max_absolute_error);
        evidence["has_nan"] = json!(correctness.has_nan);
        evidence["has_inf"] = json!(correctness.has_inf);
    }
    Ok(Some(Outcome::Failed { word, sentence: evaluation.log.clone(), evidence }))
}

fn reported(evaluation: &Evaluation) -> ReportedCorrectness {
    let correctness = evaluation.correctness.clone().unwrap_or_default();
    ReportedCorrectness {
        max_relative_error: correctness.max_relative_error.and_then(|error| error.finite()),
        max_absolute_error: correctness.max_absolute_error.and_then(|error| error.finite()),
    }
}

fn passed(evaluation: &Evaluation, workload: &WorkloadName) -> Result<Outcome, String> {
    let performance = evaluation.performance.unwrap_or_default();
    let timings = timing(evaluation, performance, workload)?.into_iter().collect();
    Ok(Outcome::Passed {
        by: CorrectnessSource::Report(reported(evaluation)),
        timings,
        withheld: BTreeMap::new(),
        energy: BTreeMap::new(),
        numbers: BTreeMap::new(),
    })
}

fn timing(
    evaluation: &Evaluation,
    performance: Performance,
    workload: &WorkloadName,
) -> Result<Option<RecordedTiming>, String> {
    // The schema's default, which means not measured.
    if performance.latency_ms == 0.0 {
        return Ok(None);
    }
    let seconds = Seconds(performance.latency_ms / 1e3);
    let median = Duration::try_from(seconds).map_err(|error| format!("`latency_ms`: {error}"))?;
    let method = evaluation.environment.libs.get("lightbench.clock");
    Ok(Some(RecordedTiming {
        workload: workload.clone(),
        clock: method.map_or(Clock::Unstated, |method| Clock::Measured { method: method.clone() }),
        mode: Mode::Unstated,
        median,
        spread: None,
        samples: None,
        taint: Vec::new(),
        standing: None,
        limiter: None,
        baselines: Vec::new(),
    }))
}

/// A point in time; one without a time zone, as Python writes it, is taken as UTC.
fn point_in_time(text: &str) -> Result<Timestamp, String> {
    let zoned = text.parse::<Timestamp>();
    let plain = || text.parse::<DateTime>().and_then(|time| time.to_zoned(TimeZone::UTC));
    zoned
        .or_else(|_| plain().map(|zoned| zoned.timestamp()))
        .map_err(|error| format!("`timestamp`: {error}"))
}
