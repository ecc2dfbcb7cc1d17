//! `lightbench audit --attack`: mutants of the project's kernels, their fates, and those that pass.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use lightbench_core::audit::AuditError;
use lightbench_core::audit::attack::{
    AttackBench, AttackReport, AttackRequest, Attacked, Fate, attack,
};
use lightbench_core::compile::Artifact;
use lightbench_core::compile::Build;
use lightbench_core::engine::{CompileFor, Ending, Request};
use lightbench_core::project::{Kernel, Project, Purpose, Workload};
use serde_json::json;

use super::super::evaluation_setup::ChosenDevice;
use super::super::run::no_verdict;
use super::{CandidateChecker, failed};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::style::{DIM, ERROR, GOOD, NOTE};

/// Largest journal that is read, in bytes.
const MAX_JOURNAL: u64 = 1 << 28;

/// The columns of the table.
const COLUMNS: [(&str, Fate); 7] = [
    ("caught", Fate::Caught),
    ("hole", Fate::Hole),
    ("rounding", Fate::OtherRounding),
    ("same bits", Fate::Undetermined),
    ("same code", Fate::Equivalent),
    ("invalid", Fate::Invalid),
    ("not judged", Fate::NotJudged),
];

/// Mutates kernels and prints what became of the mutants.
pub(super) fn attacked(
    bench: &mut CandidateChecker<'_>,
    project: &Project,
    chosen: &ChosenDevice,
    seed: u64,
    arguments: &args::Audit,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    if let Some(name) = &arguments.kernel {
        project.kernel(name).map_err(|error| report::request(&error, as_json))?;
    }
    let journal = arguments.journal.as_deref();
    let known = journal.map_or(Ok(Vec::new()), read);
    let known = known.map_err(|error| report::request(&error, as_json))?;
    let mut file = journal.map(open).transpose();
    let file = file.as_mut().map_err(|error| report::request(error, as_json))?;
    let request = AttackRequest {
        project,
        kernel: arguments.kernel.as_deref(),
        budget: arguments.budget,
        seed,
        known: &known,
    };
    let mut record = |mutant: &Attacked| match file {
        Some(file) => append(file, mutant).map_err(|error| AuditError::Record(error.to_string())),
        None => Ok(()),
    };
    let attack = attack(&request, bench, &mut record).map_err(|error| failed(&error, as_json))?;
    let status = match (attack.count(Fate::Hole), attack.count(Fate::NotJudged)) {
        (0, 0) => Status::Passed,
        (0, _) => Status::Environment,
        (_, _) => Status::KernelFailed,
    };
    let output = if as_json {
        document(&json!({
            "schema": "lightbench.attack/1",
            "project": project.definition.name,
            "device": chosen.device.to_string(),
            "seed": seed,
            "score": attack.score(),
            "attack": attack,
        }))
    } else {
        text(project, chosen, seed, &attack)
    };
    Ok(Outcome { output, errors: report::notices(&bench.desk.notices()), status })
}

impl AttackBench for CandidateChecker<'_> {
    fn is_same_code(
        &mut self,
        kernel: &Kernel,
        other: &Kernel,
    ) -> Result<Option<bool>, AuditError> {
        let project = self.asked.for_kernel(kernel).0.project;
        let visible = project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
        for workload in visible {
            let Some(own) = self.code(kernel, workload)? else { return Ok(Some(false)) };
            match self.code(other, workload)? {
                None => return Ok(None),
                Some(code) if code != own => return Ok(Some(false)),
                Some(_) => {}
            }
        }
        Ok(Some(true))
    }
}

impl CandidateChecker<'_> {
    /// A hash of the code for a workload; `None` if it does not compile.
    fn code(&mut self, kernel: &Kernel, workload: &Workload) -> Result<Option<String>, AuditError> {
        let (work, conditions) = self.asked.for_kernel(kernel);
        let target = CompileFor {
            sheet: conditions.sheet,
            workload: workload.name.clone(),
            build: Build::Optimised,
        };
        match self.desk.wait_for_ending(&kernel.name, Request::Compile(work, target)) {
            Ending::Compiled(result) => Ok(result.ok().map(|facts| code(&facts.artifact))),
            Ending::Cancelled { .. } => Err(AuditError::Cancelled),
            other @ (Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::Examined(_)
            | Ending::Compared(_)
            | Ending::Profiled(_)
            | Ending::Impossible(_)
            | Ending::Panicked { .. }
            | Ending::Stopped) => Err(AuditError::Evaluate(no_verdict(other))),
        }
    }
}

/// A hash of the PTX without source lines.
fn code(artifact: &Artifact) -> String {
    let mut hasher = blake3::Hasher::new();
    let is_code = |line: &&str| {
        !line.is_empty() && ![".loc", ".file", "//"].iter().any(|start| line.starts_with(start))
    };
    for line in artifact.ptx.lines().map(str::trim).filter(is_code) {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

/// The mutants of a journal; a line that was cut off is left out.
fn read(path: &Path) -> Result<Vec<Attacked>, String> {
    let problem = |error: io::Error| format!("cannot read `{}`: {error}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(problem(error)),
    };
    let mut text = String::new();
    file.take(MAX_JOURNAL).read_to_string(&mut text).map_err(problem)?;
    let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or_default());
    whole
        .lines()
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| {
                format!(
                    "`{}` is not a journal of attacks: line {}: {error}",
                    path.display(),
                    at + 1
                )
            })
        })
        .collect()
}

/// The journal, for appending; what follows its last line is removed.
fn open(path: &Path) -> Result<File, String> {
    let problem = |error: io::Error| format!("cannot write `{}`: {error}", path.display());
    let file = OpenOptions::new().append(true).create(true).open(path).map_err(problem)?;
    let text = fs::read(path).map_err(problem)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(whole as u64).map_err(problem)?;
    Ok(file)
}

fn append(file: &mut File, mutant: &Attacked) -> io::Result<()> {
    let mut line = serde_json::to_string(mutant)?;
    line.push('\n');
    file.write_all(line.as_bytes())
}

fn text(project: &Project, chosen: &ChosenDevice, seed: u64, attack: &AttackReport) -> String {
    let mut text = format!("{} · {}\n\n", project.definition.title, chosen.title);
    let heads = COLUMNS.map(|(head, _)| head).join("  ");
    let _infallible = writeln!(text, "{:18}  {heads}", "mutants");
    for (mutation, counts) in attack.by_mutation() {
        let _infallible = write!(text, "{mutation:18}");
        for (head, fate) in COLUMNS {
            let count = counts.get(&fate).copied().unwrap_or_default();
            let _infallible = write!(text, "  {count:>width$}", width = head.len());
        }
        text.push('\n');
    }
    let passed = |fate: Fate| attack.mutants.iter().filter(move |mutant| mutant.fate == fate);
    for (fate, style, title) in [
        (Fate::Hole, ERROR, "passed with larger errors than the kernel"),
        (Fate::OtherRounding, NOTE, "passed with other bits and errors as small as the kernel's"),
        (Fate::Undetermined, NOTE, "passed with the same bits"),
    ] {
        if attack.count(fate) > 0 {
            let _infallible = writeln!(text, "\n{title}");
        }
        for mutant in passed(fate) {
            let Attacked { kernel, mutation, line, what, .. } = mutant;
            let _infallible =
                writeln!(text, "  {style}{kernel}, line {line}{style:#}  {mutation}: {what}");
        }
    }
    for why in &attack.left_out {
        let _infallible = writeln!(text, "\n{NOTE}!{NOTE:#} not mutated: {why}");
    }
    let score = match attack.score() {
        Some(score) if attack.count(Fate::Hole) == 0 => {
            format!("{GOOD}{:.1} % caught{GOOD:#}", 100.0 * score)
        }
        Some(score) => format!("{ERROR}{:.1} % caught{ERROR:#}", 100.0 * score),
        None => "no mutant was caught, and none is a hole".to_owned(),
    };
    let _infallible = writeln!(
        text,
        "\n{score}: {} of {} mutants{DIM}; seed {seed}{DIM:#}",
        attack.mutants.len(),
        attack.all
    );
    text
}
