//! `lightbench audit`: the catch matrix of the checker for one project.

mod attack;

use std::fmt::{Display, Write as _};

use lightbench_core::audit::{AuditError, Cell, Matrix, Outcome as Found, VerdictSource, audit};
use lightbench_core::compile::signature::with_readable_names;
use lightbench_core::engine::Request;
use lightbench_core::evaluate::{EvaluateError, PolicyUse, Run};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::verify::verdict::TimingUse;
use serde_json::json;

use super::engine_client::EngineClient;
use super::evaluation_setup::{self, ChosenDevice};
use super::run::{EvaluationInput, evaluated_run};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;
use crate::style::{DIM, ERROR, GOOD, NOTE};

/// Evaluates every cheat and prints the matrix.
pub fn run(session: &Session, arguments: &args::Audit) -> Outcome {
    audited(session, arguments).unwrap_or_else(|outcome| outcome)
}

fn audited(session: &Session, arguments: &args::Audit) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let project = Project::load(&arguments.project)
        .map_err(|error| report::project_error(&error, &arguments.project, as_json))?;
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => {
            evaluation_setup::fresh_seed().map_err(|error| report::environment(&error, as_json))?
        }
    };
    let (desk, chosen) =
        evaluation_setup::engine_client(session, arguments.device.as_deref(), as_json)?;
    let mut asked = EvaluationInput::evaluate_all_workloads(&project, &chosen, seed);
    asked.conditions.timing = TimingUse::Skip;
    let mut bar = CandidateChecker { desk, asked };
    if arguments.attack {
        return attack::attacked(&mut bar, &project, &chosen, seed, arguments);
    }
    let matrix = audit(&project, &mut bar).map_err(|error| failed(&error, as_json))?;
    let status = match (matrix.holes(), matrix.not_judged()) {
        (0, 0) if arguments.strict && !matrix.gaps.is_empty() => Status::KernelFailed,
        (0, 0) => Status::Passed,
        (0, _) => Status::Environment,
        (_, _) => Status::KernelFailed,
    };
    let output = if as_json {
        document(&json!({
            "schema": "lightbench.audit/1",
            "project": project.definition.name,
            "device": chosen.device.to_string(),
            "seed": seed,
            "holes": matrix.holes(),
            "gaps": matrix.gaps.len(),
            "not_judged": matrix.not_judged(),
            "matrix": matrix,
        }))
    } else {
        text(&project, &chosen, seed, &matrix)
    };
    Ok(Outcome { output, errors: report::notices(&bar.desk.notices()), status })
}

/// Evaluates each kernel of the audit with the engine.
struct CandidateChecker<'a> {
    desk: EngineClient<'a>,
    asked: EvaluationInput,
}

impl VerdictSource for CandidateChecker<'_> {
    fn verdict(
        &mut self,
        name: &str,
        kernel: &Kernel,
        policy: PolicyUse,
    ) -> Result<Run, EvaluateError> {
        let (work, mut conditions) = self.asked.for_kernel(kernel);
        conditions.policy = policy;
        let seed = conditions.seed;
        evaluated_run(self.desk.wait_for_ending(name, Request::Evaluate(work, conditions)), seed)
    }
}

fn failed(error: &AuditError, as_json: bool) -> Outcome {
    match error {
        AuditError::Evaluate(EvaluateError::Environment(_)) => report::environment(error, as_json),
        AuditError::NotJudged(_) | AuditError::Record(_) => report::environment(error, as_json),
        AuditError::Cancelled => Outcome::failed(Status::Interrupted, error),
        AuditError::Evaluate(EvaluateError::Request(_))
        | AuditError::Unsuitable(_)
        | AuditError::Generated { .. } => report::request(error, as_json),
    }
}

fn text(project: &Project, chosen: &ChosenDevice, seed: u64, matrix: &Matrix) -> String {
    let mut text = format!("{} · {}\n", project.definition.title, chosen.title);
    section(&mut text, "cheats (each must be caught)", &matrix.cheats);
    if let Some(reason) = &matrix.not_generated {
        let _infallible = writeln!(text, "  {NOTE}!{NOTE:#} {reason}");
    }
    section(&mut text, "kernels under wrong/ (each must fail as declared)", &matrix.wrong);
    section(&mut text, "correct kernels (each must pass)", &matrix.honest);
    if !matrix.sensitivity.is_empty() {
        text.push_str("\nsmallest detected relative error of all elements\n");
    }
    for each in &matrix.sensitivity {
        let found = match each.exponent {
            Some(exponent) => format!("2^-{exponent} ({:.1e})", 2.0_f64.powi(-(exponent as i32))),
            None => "none".to_owned(),
        };
        let _infallible = writeln!(text, "  {} ({}): {found}", each.output, each.dtype.name());
    }
    if !matrix.gaps.is_empty() {
        text.push_str(
            "\nchecks that this definition omits (gaps are not holes; `--strict` counts them)\n",
        );
    }
    for gap in &matrix.gaps {
        let _infallible =
            writeln!(text, "  {NOTE}!{NOTE:#} {}\n    write {}", gap.sentence, gap.write);
    }
    let inapplicable = matrix.cheats.iter().filter(|cell| cell.outcome == Found::NotApplicable);
    let (holes, inapplicable) = (matrix.holes(), inapplicable.count());
    let summary = match holes {
        0 => format!("{GOOD}no hole{GOOD:#}"),
        1 => format!("{ERROR}1 hole{ERROR:#}"),
        count => format!("{ERROR}{count} holes{ERROR:#}"),
    };
    let not_judged = match matrix.not_judged() {
        0 => String::new(),
        count => format!("; {NOTE}{count} not judged{NOTE:#}"),
    };
    let gaps = match matrix.gaps.len() {
        0 => String::new(),
        1 => "; 1 gap of the definition".to_owned(),
        count => format!("; {count} gaps of the definition"),
    };
    let inapplicable = match (&matrix.not_generated, inapplicable) {
        (Some(_), _) => "; no cheat was tried".to_owned(),
        (None, 1) => "; 1 cheat gives the correct result bit for bit here".to_owned(),
        (None, count) => format!("; {count} cheats give the correct result bit for bit here"),
    };
    let _infallible = writeln!(text, "\n{summary}{not_judged}{gaps}{inapplicable}; seed {seed}");
    text
}

fn section<Name: Display>(text: &mut String, title: &str, cells: &[Cell<Name>]) {
    let _infallible = writeln!(text, "\n{title}");
    for cell in cells {
        let sentence = with_readable_names(&cell.sentence);
        let line = match cell.outcome {
            Found::Good => format!("  {GOOD}✓{GOOD:#} {sentence}"),
            Found::Hole => format!("  {ERROR}✗ {sentence}{ERROR:#}"),
            Found::NotJudged => format!("  {NOTE}? {sentence}{NOTE:#}"),
            Found::NotApplicable => {
                format!("  {DIM}- {}: same as the correct results{DIM:#}", cell.name)
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
}
