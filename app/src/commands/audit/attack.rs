//! `lightbench audit --attack`: mutants of the project's kernels, their fates, and those that pass.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use lightbench_core::audit::AuditError;
use lightbench_core::audit::attack::{
    AttackBench, AttackReport, AttackRequest, Attacked, Fate, attack,
};
use lightbench_core::compile::facts::FactsError;
use lightbench_core::compile::{Artifact, Build, CompileError};
use lightbench_core::engine::CompileFor;
use lightbench_core::project::{Kernel, Project, Workload};
use serde_json::json;

use super::super::evaluation_setup::ChosenDevice;
use super::super::run::no_verdict;
use super::{CandidateChecker, failed};
use crate::args;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::style::{DIM, ERROR, GOOD, NOTE};

/// Largest journal, in bytes.
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
    let opened = journal.map(open).transpose();
    let opened = opened.map_err(|error| report::request(&error, as_json))?;
    let (known, mut file) =
        opened.map_or_else(Default::default, |(known, file)| (known, Some(file)));
    let request = AttackRequest {
        project,
        kernel: arguments.kernel.as_deref(),
        budget: arguments.budget,
        seed,
        known: &known,
    };
    let mut record = |mutant: &Attacked| match &mut file {
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
    fn code(&mut self, kernel: &Kernel, workload: &Workload) -> Result<Option<String>, AuditError> {
        let (work, conditions) = self.asked.for_kernel(kernel);
        let target = CompileFor {
            sheet: conditions.sheet,
            workload: workload.name.clone(),
            build: Build::Optimised,
        };
        match self.desk.compiled(work, target).map_err(no_verdict)? {
            Ok(facts) => Ok(Some(code(&facts.artifact))),
            Err(FactsError::Compile(CompileError::Cancelled)) => Err(AuditError::Cancelled),
            Err(_) => Ok(None),
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

/// The mutants of a journal, and its file for appending. A last line that was cut off is removed.
fn open(path: &Path) -> Result<(Vec<Attacked>, File), String> {
    let problem =
        |what: &str, error: io::Error| format!("cannot {what} `{}`: {error}", path.display());
    if fs::metadata(path).is_ok_and(|found| found.len() > MAX_JOURNAL) {
        return Err(format!("`{}` is larger than {MAX_JOURNAL} bytes", path.display()));
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(problem("read", error)),
    };
    let whole = text.rfind('\n').map_or("", |end| text.get(..=end).unwrap_or_default());
    let mutant = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            format!("`{}` is not a journal of attacks: line {}: {error}", path.display(), at + 1)
        })
    };
    let known = whole.lines().enumerate().map(mutant).collect::<Result<_, _>>()?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    let file = file.map_err(|error| problem("write", error))?;
    file.set_len(whole.len() as u64).map_err(|error| problem("write", error))?;
    Ok((known, file))
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
