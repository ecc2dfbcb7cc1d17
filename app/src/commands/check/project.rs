//! The kernels of a project: one row each, or one kernel in detail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lightbench_core::compile::Compiler;
use lightbench_core::compile::facts::{Facts, FactsError, LaunchFacts};
use lightbench_core::compile::occupancy::Occupancy;
use lightbench_core::engine::{AskedBy, CompileFor, Work};
use lightbench_core::project::{BrokenFile, Kernel, KernelUnavailable, Project, Purpose, Workload};

use super::super::engine_client::EngineClient;
use super::super::{evaluation_setup, run};
use super::{Checker, failure, json, listing, text, worst};
use crate::outcome::{Outcome, Status, report_document};
use crate::report::{self, Sources};

/// A kernel and its facts or error.
pub(super) struct Row<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) result: Result<Facts, FactsError>,
}

impl Row<'_> {
    pub(super) fn status(&self) -> Status {
        match &self.result {
            Ok(facts) if facts.launches.iter().all(can_launch) => Status::Passed,
            Ok(_) => Status::KernelFailed,
            Err(error) => failure::status(error),
        }
    }
}

/// Whether a block fits on the device; unknown numbers count as fitting.
pub(super) fn can_launch(launch: &LaunchFacts) -> bool {
    let fits = match &launch.occupancy {
        Some(Occupancy::CannotLaunch(_)) => false,
        Some(Occupancy::Resident(_)) | None => true,
    };
    fits && launch.problems.is_empty()
}

/// The results of the check, for text and JSON.
pub(super) struct Checked<'a> {
    pub(super) project: &'a Project,
    pub(super) workload: &'a Workload,
    pub(super) rows: Vec<Row<'a>>,
    /// Files that could not be read, with their problems.
    pub(super) broken: &'a [BrokenFile],
    pub(super) elapsed: Duration,
}

/// Compiles all kernels, or the requested one, and reports.
pub(super) fn check(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    project: &Project,
    kernel: Option<&str>,
) -> Outcome {
    let as_json = checker.arguments.json;
    let wanted = checker.arguments.kernel.as_deref().or(kernel);
    let (workload, kernels) = match chosen(checker, project, wanted) {
        Ok(chosen) => chosen,
        Err(KernelUnavailable::Broken(broken)) => {
            return report::broken_kernel(&broken, project, as_json);
        }
        Err(KernelUnavailable::Unknown(error)) => return report::request(&error, as_json),
    };
    let parameters: BTreeMap<String, i64> = checker.arguments.parameters.iter().cloned().collect();
    if let Some(name) = unknown_parameter(&kernels, &parameters) {
        let message = format!("no kernel of this project has a parameter `{name}`");
        return report::request(&message, as_json);
    }
    let started = Instant::now();
    let mut desk = match evaluation_setup::compiling_client(checker.session, as_json) {
        Ok(desk) => desk,
        Err(outcome) => return outcome,
    };
    let shared = Arc::new(project.clone());
    let broken = if wanted.is_none() { project.broken.as_slice() } else { &[] };
    let (rows, elapsed) = (Vec::new(), Duration::ZERO);
    let mut checked = Checked { project, workload, rows, broken, elapsed };
    for kernel in kernels {
        // For a whole project, a parameter applies to the kernels that declare it.
        let mut chosen = parameters.clone();
        chosen.retain(|name, _| has_parameter(kernel, name));
        let (project, asked_by) = (Arc::clone(&shared), AskedBy::Person);
        let work = Work { project, kernel: Arc::new(kernel.clone()), chosen, asked_by };
        let result = match facts(checker, &mut desk, work, workload) {
            Ok(result) => result,
            Err(outcome) => return outcome,
        };
        let row = Row { kernel, result };
        let status = row.status();
        checked.rows.push(row);
        // A problem of the machine would repeat for the next kernel.
        if matches!(status, Status::Interrupted | Status::Environment) {
            break;
        }
    }
    checked.elapsed = started.elapsed();
    let outcome = outcome(checker, compiler, &checked, wanted.is_some());
    Outcome { errors: report::notices(&desk.notices()) + &outcome.errors, ..outcome }
}

/// The facts of a kernel, from the engine.
fn facts(
    checker: &Checker<'_>,
    desk: &mut EngineClient<'_>,
    work: Work,
    workload: &Workload,
) -> Result<Result<Facts, FactsError>, Outcome> {
    let (sheet, build) = (checker.sheet, checker.build());
    let for_what = CompileFor { sheet, workload: workload.name.clone(), build };
    desk.compiled(work, for_what)
        .map_err(|ending| run::failed(&run::no_verdict(ending), checker.arguments.json))
}

fn chosen<'a>(
    checker: &Checker<'_>,
    project: &'a Project,
    wanted: Option<&str>,
) -> Result<(&'a Workload, Vec<&'a Kernel>), KernelUnavailable> {
    let workload = match &checker.arguments.workload {
        Some(name) => project.workload(name).map_err(KernelUnavailable::Unknown)?,
        None => default_workload(project),
    };
    let kernels = match wanted {
        Some(name) => vec![project.kernel(name)?],
        None => project.kernels.iter().chain(project.reference.kernel()).collect(),
    };
    Ok((workload, kernels))
}

/// The first timed workload.
fn default_workload(project: &Project) -> &Workload {
    let measured = |workload: &&Workload| workload.purpose == Purpose::Measure;
    // A loaded project has at least one workload.
    project.workloads.iter().find(measured).unwrap_or(&project.workloads[0])
}

fn has_parameter(kernel: &Kernel, name: &str) -> bool {
    kernel.launch.parameters.iter().any(|parameter| parameter.name == name)
}

pub(in crate::commands) fn unknown_parameter<'a>(
    kernels: &[&Kernel],
    chosen: &'a BTreeMap<String, i64>,
) -> Option<&'a str> {
    let known = |name: &str| kernels.iter().any(|kernel| has_parameter(kernel, name));
    chosen.keys().map(String::as_str).find(|name| !known(name))
}

fn outcome(
    checker: &Checker<'_>,
    compiler: &mut Compiler,
    checked: &Checked<'_>,
    detailed: bool,
) -> Outcome {
    let broken = checked.broken.iter().map(|_| Status::KernelFailed);
    let status = worst(checked.rows.iter().map(Row::status).chain(broken));
    let mut errors = String::new();
    for broken in checked.broken {
        errors.push_str(&(report::broken_text(broken, checked.project) + "\n"));
    }
    for row in &checked.rows {
        let sources = sources(checked.project, row.kernel);
        match &row.result {
            Err(error) => errors.push_str(&failure::to_text(&row.kernel.name, error, &sources)),
            Ok(facts) => errors.push_str(&text::warnings(&facts.artifact, &sources)),
        }
    }
    let mut listed = Vec::new();
    for row in &checked.rows {
        let Ok(facts) = &row.result else { continue };
        match listing::new(checker, compiler, &facts.candidate, &facts.artifact) {
            Ok(listings) => listed.push((row, listings)),
            Err(error) => {
                let (status, error) = (failure::compile_status(&error), FactsError::Compile(error));
                return report::failed(status, (&error).into(), checker.arguments.json);
            }
        }
    }
    let output = if checker.arguments.json {
        report_document(&json::report(checker, compiler, json::project(checked, &listed)))
    } else {
        let mut text = text::project_text(checker, compiler, checked, detailed);
        for (row, listings) in &listed {
            let sources = sources(checked.project, row.kernel);
            text.push_str(&listings.to_text(&row.kernel.name, &sources));
        }
        text
    };
    Outcome { output, errors, status }
}

/// The texts that a kernel's diagnostics may quote.
pub(in crate::commands) fn sources<'a>(project: &'a Project, kernel: &'a Kernel) -> Sources<'a> {
    let mut sources = Sources::default();
    for file in &project.includes {
        let name = file.file.strip_prefix("include").unwrap_or(&file.file);
        sources.add(name.display().to_string(), &project.root.join(&file.file), &file.source);
    }
    let own = project.root.join(&kernel.file);
    sources.add_main(kernel.file.display().to_string(), &own, &kernel.source);
    sources
}
