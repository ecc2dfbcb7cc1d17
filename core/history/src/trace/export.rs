//! Exports runs as traces.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::schema::{
    Correctness, Environment, Evaluation, Input, Number, Performance, Status, Trace, Workload,
};
use crate::record::{
    ChecksSummary, CorrectnessSource, FailureKind, Outcome, RecordedScalar, RecordedWorkload,
    ReportedCorrectness, RunRecord,
};
use crate::timing::{Clock, Mode, RecordedTiming};

/// Milliseconds in a second.
const MILLISECONDS: f64 = 1e3;

/// The digits of a candidate's hash that distinguish solutions of one project.
const SHORT: usize = 12;

/// Traces, and the runs without a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// One trace a line.
    pub lines: String,
    /// The number of traces.
    pub traces: usize,
    /// The omissions, with their counts.
    pub omitted: BTreeMap<Omission, usize>,
}

/// Why something has no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Omission {
    /// A workload on which a run passed without being timed: the schema has no pass without a time.
    NotTimed,
    /// A time that a model made: the schema would show it as a measured one.
    Modelled,
    /// A run that failed without a workload that may be named.
    NoWorkload,
}

impl fmt::Display for Omission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotTimed => "passed without being timed, for which the schema has no place",
            Self::Modelled => "have a modelled time, which the schema would show as a measured one",
            Self::NoWorkload => "failed where no workload may be named",
        })
    }
}

/// The traces of runs.
///
/// # Errors
/// A trace cannot be serialised, which does not happen for traces made here.
pub fn export<'a>(
    records: impl IntoIterator<Item = &'a RunRecord>,
) -> Result<Exported, serde_json::Error> {
    let mut exported = Exported::default();
    for record in records {
        for trace in traces(record) {
            match trace {
                Ok(trace) => {
                    exported.lines.push_str(&serde_json::to_string(&trace)?);
                    exported.lines.push('\n');
                    exported.traces += 1;
                }
                Err(omission) => *exported.omitted.entry(omission).or_default() += 1,
            }
        }
    }
    Ok(exported)
}

fn traces(record: &RunRecord) -> Vec<Result<Trace, Omission>> {
    match &record.outcome {
        Outcome::Passed { by, .. } => {
            let each = |workload| passed(record, by, workload);
            record.workloads.iter().filter(|workload| did_run(by, workload)).map(each).collect()
        }
        Outcome::Failed { word, sentence, evidence } => {
            let failed = failed_on(record, *word, evidence);
            if failed.is_empty() {
                return vec![Err(Omission::NoWorkload)];
            }
            let status = status(*word);
            let correctness = (status == Status::IncorrectNumerical).then(|| errors(evidence));
            let evaluation =
                evaluation(record, status, (sentence.clone(), correctness, None), BTreeMap::new());
            failed
                .into_iter()
                .map(|workload| Ok(trace(record, workload, evaluation.clone())))
                .collect()
        }
    }
}

fn did_run(by: &CorrectnessSource, workload: &RecordedWorkload) -> bool {
    match by {
        CorrectnessSource::Verification(checks) => !checks.not_run.contains_key(&workload.name),
        CorrectnessSource::Report(_) => true,
    }
}

fn passed(
    record: &RunRecord,
    by: &CorrectnessSource,
    workload: &RecordedWorkload,
) -> Result<Trace, Omission> {
    let timings = record.timings().iter().filter(|timing| timing.workload == workload.name);
    let scored = |timing: &&RecordedTiming| matches!(timing.mode, Mode::Cold | Mode::Unstated);
    let timing = timings.clone().find(scored).ok_or(Omission::NotTimed)?;
    let mut libs = BTreeMap::new();
    match &timing.clock {
        Clock::Modelled => return Err(Omission::Modelled),
        Clock::Measured { method } => {
            libs.insert("lightbench.clock".to_owned(), method.clone());
        }
        Clock::Unstated => {}
    }
    let performance = Performance {
        latency_ms: timing.median.seconds().0 * MILLISECONDS,
        ..Performance::default()
    };
    let correctness = match by {
        CorrectnessSource::Verification(checks) => verified(checks),
        CorrectnessSource::Report(reported) => told(reported),
    };
    let told = (String::new(), Some(correctness), Some(performance));
    Ok(trace(record, workload, evaluation(record, Status::Passed, told, libs)))
}

/// Lightbench's error is a fraction of the tolerance, for which the schema has no field.
fn verified(checks: &ChecksSummary) -> Correctness {
    let extra = json!({ "lightbench.worst_error_of_accepted": checks.worst_error });
    let Value::Object(extra) = extra else { return Correctness::default() };
    Correctness { extra: Some(extra), ..Correctness::default() }
}

fn told(reported: &ReportedCorrectness) -> Correctness {
    Correctness {
        max_relative_error: reported.max_relative_error.map(Number::Finite),
        max_absolute_error: reported.max_absolute_error.map(Number::Finite),
        ..Correctness::default()
    }
}

/// The workloads that a failure is about: the one that its evidence names, or all where it never ran.
fn failed_on<'a>(
    record: &'a RunRecord,
    word: FailureKind,
    evidence: &Value,
) -> Vec<&'a RecordedWorkload> {
    let named = evidence.get("workload").and_then(Value::as_str);
    match (word, named) {
        (_, Some(name)) => {
            record.workloads.iter().filter(|workload| workload.name.as_str() == name).collect()
        }
        (FailureKind::Compile | FailureKind::Refused | FailureKind::NotSupported, None) => {
            record.workloads.iter().collect()
        }
        (
            FailureKind::Fault
            | FailureKind::Wrong
            | FailureKind::TimedOut
            | FailureKind::DeviceLost
            | FailureKind::CrashesWorker,
            None,
        ) => Vec::new(),
    }
}

const fn status(word: FailureKind) -> Status {
    match word {
        FailureKind::Compile => Status::CompileError,
        FailureKind::Wrong => Status::IncorrectNumerical,
        FailureKind::TimedOut => Status::Timeout,
        // The schema's `REWARD_HACK` states an intent; a refusal names evidence.
        FailureKind::Refused
        | FailureKind::Fault
        | FailureKind::DeviceLost
        | FailureKind::CrashesWorker
        | FailureKind::NotSupported => Status::RuntimeError,
    }
}

/// The largest errors in the evidence, and whether it contains NaN.
fn errors(evidence: &Value) -> Correctness {
    let mut correctness = Correctness {
        max_relative_error: number(evidence, "max_relative_error"),
        max_absolute_error: number(evidence, "max_absolute_error"),
        ..Correctness::default()
    };
    let outputs = evidence.get("outputs").and_then(Value::as_array);
    let worst = outputs.into_iter().flatten().filter_map(|output| output.get("worst"));
    let mut largest: Option<(f64, f64)> = None;
    for mismatch in worst {
        let value = |name: &str| mismatch.get(name).and_then(Value::as_f64);
        match (value("found"), value("expected")) {
            (Some(found), Some(expected)) => {
                let error = (found - expected).abs();
                let relative = error / expected.abs();
                if largest.is_none_or(|(known, _)| error > known) {
                    largest = Some((error, relative));
                }
            }
            (found, _) => {
                let name = mismatch.pointer("/found/value").and_then(Value::as_str);
                correctness.has_nan =
                    Some(correctness.has_nan == Some(true) || name == Some("nan"));
                correctness.has_inf = Some(
                    correctness.has_inf == Some(true)
                        || (found.is_none() && name.is_some_and(|name| name.ends_with("inf"))),
                );
            }
        }
    }
    if let Some((absolute, relative)) = largest {
        correctness.max_absolute_error = Some(Number::Finite(absolute));
        // A relative error of zero is undefined.
        correctness.max_relative_error = relative.is_finite().then_some(Number::Finite(relative));
    }
    correctness
}

fn number(evidence: &Value, name: &str) -> Option<Number> {
    evidence.get(name).and_then(Value::as_f64).map(Number::Finite)
}

type ExportedOutcome = (String, Option<Correctness>, Option<Performance>);

fn evaluation(
    record: &RunRecord,
    status: Status,
    (log, correctness, performance): ExportedOutcome,
    mut libs: BTreeMap<String, String>,
) -> Evaluation {
    libs.extend(record.environment.versions.clone());
    let environment = Environment { hardware: record.device.title.clone(), libs };
    let timestamp = record.made_at.to_string();
    Evaluation { status, environment, timestamp, log, correctness, performance }
}

fn trace(record: &RunRecord, workload: &RecordedWorkload, evaluation: Evaluation) -> Trace {
    let scalars = workload.scalars.iter().map(|(name, value)| {
        let value = match value {
            RecordedScalar::Boolean(value) => json!(value),
            RecordedScalar::Integer(value) => json!(value),
            RecordedScalar::Real(value) => json!(value),
            RecordedScalar::Text(value) => json!(value),
        };
        (name.clone(), Input::Scalar { value })
    });
    let solution = match &record.candidate {
        Some(candidate) => {
            format!("{}@{}", record.kernel, candidate.get(..SHORT).unwrap_or(candidate))
        }
        None => record.kernel.clone(),
    };
    Trace {
        definition: record.project.clone(),
        workload: Workload {
            axes: workload.axes.clone(),
            inputs: scalars.collect(),
            uuid: workload.name.to_string(),
        },
        solution: Some(solution),
        evaluation: Some(evaluation),
    }
}
