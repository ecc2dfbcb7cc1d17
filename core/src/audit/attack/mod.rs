//! An attack on the checker: kernels that pass are mutated, and the mutants that pass too are counted.
//!
//! ```text
//!  kernel ──► mutants ──► same machine code in every workload? ──► equivalent
//!                              │ no
//!                              ▼
//!                          verdict ──► failed: caught
//!                              │       not judged
//!                              ▼
//!                  the same bits as the kernel? ──► yes: undetermined
//!                              │ no
//!                              ▼
//!                  errors as small as the kernel's? ──► yes: other rounding
//!                              └──────────────────────► no: a hole
//! ```

mod mutants;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{AuditError, VerdictSource, digests};
use crate::evaluate::{PolicyUse, Run};
use crate::history::definition_hash::definition_hash;
use crate::project::{Kernel, Language, Project, Purpose, Workload};
use crate::verify::not_judged::NotPassed;
use crate::verify::sentence;
use crate::verify::verdict::Failure;

pub use mutants::{Mutant, Mutation, mutants};

/// Errors up to this many times the kernel's may come from another order of operations.
const SAME_ERROR: f64 = 2.0;

/// Gives verdicts to an attack, and compiles for it.
pub trait AttackBench: VerdictSource {
    /// A hash of the code of a kernel for a workload, source lines left out; `None` if it does not compile.
    ///
    /// # Errors
    /// The machine cannot compile it, or the user cancelled.
    fn code(&mut self, kernel: &Kernel, workload: &Workload) -> Result<Option<String>, AuditError>;
}

/// The fate of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It failed.
    Caught,
    /// It passed with larger errors than the kernel.
    Hole,
    /// It passed with other bits and errors as small as the kernel's, as after another order of additions.
    OtherRounding,
    /// It passed with the same bits in every run: equivalent, or wrong only where no check looks.
    Undetermined,
    /// Its machine code is that of the kernel.
    Equivalent,
    /// It does not compile, or its launch block is not valid.
    Invalid,
    /// The device or the machine ended its evaluation.
    NotJudged,
}

/// A mutant and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attacked {
    /// A hash of the definition, the seed and the text of the mutant.
    pub key: String,
    /// The kernel.
    pub kernel: String,
    /// The kind of the change.
    pub mutation: Mutation,
    /// The line of the change.
    pub line: usize,
    /// The change.
    pub what: String,
    /// The fate.
    pub fate: Fate,
    /// The verdict in a sentence; empty without one.
    pub sentence: String,
}

/// The input of an attack.
#[derive(Clone, Debug)]
pub struct AttackRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// Only this kernel; none: all of the project.
    pub kernel: Option<&'a str>,
    /// The largest number of mutants, including known ones.
    pub budget: usize,
    /// The seed of all inputs and of the choice of mutants.
    pub seed: u64,
    /// Mutants of an earlier attack.
    pub known: &'a [Attacked],
}

/// The result of an attack.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AttackReport {
    /// The mutants, in the order of the attack.
    pub mutants: Vec<Attacked>,
    /// The number of mutants that exist.
    pub all: usize,
    /// Kernels that are not mutated, and why.
    pub left_out: Vec<String>,
}

impl AttackReport {
    /// The number of mutants with this fate.
    #[must_use]
    pub fn count(&self, fate: Fate) -> usize {
        self.mutants.iter().filter(|mutant| mutant.fate == fate).count()
    }

    /// The fraction of caught mutants among those that were caught or are holes.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let (caught, holes) = (self.count(Fate::Caught), self.count(Fate::Hole));
        (caught + holes > 0).then(|| caught as f64 / (caught + holes) as f64)
    }

    /// The number of mutants of each kind and fate.
    #[must_use]
    pub fn by_mutation(&self) -> BTreeMap<Mutation, BTreeMap<Fate, usize>> {
        let mut table: BTreeMap<Mutation, BTreeMap<Fate, usize>> = BTreeMap::new();
        for mutant in &self.mutants {
            *table.entry(mutant.mutation).or_default().entry(mutant.fate).or_default() += 1;
        }
        table
    }
}

/// A kernel that passed, with what its mutants are compared with.
struct Original<'a> {
    kernel: &'a Kernel,
    /// The visible workloads, each with a hash of the code.
    codes: Vec<(&'a Workload, Option<String>)>,
    /// `None` if its results differ between runs.
    digests: Option<Vec<String>>,
    /// The largest error, relative to its limit.
    error: f64,
}

/// Mutates the kernels of a project and reports each result to `record`. The mutants are those whose keys are the smallest,
/// so that an attack with a larger budget continues a smaller one.
///
/// # Errors
/// Something could not be evaluated, or the user cancelled.
pub fn attack(
    request: &AttackRequest<'_>,
    bench: &mut dyn AttackBench,
    record: &mut dyn FnMut(&Attacked) -> Result<(), AuditError>,
) -> Result<AttackReport, AuditError> {
    let AttackRequest { project, kernel: wanted, budget, seed, known } = *request;
    let mut report = AttackReport::default();
    let mut waiting: Vec<(String, usize, Mutant)> = Vec::new();
    let mut originals = Vec::new();
    for kernel in
        project.kernels.iter().filter(|kernel| wanted.is_none_or(|one| kernel.name == one))
    {
        match original(project, kernel, bench)? {
            Ok(original) => originals.push(original),
            Err(why) => {
                report.left_out.push(why);
                continue;
            }
        }
        let mut seen = BTreeSet::from([kernel.source.clone()]);
        for mutant in mutants(&kernel.source) {
            if seen.insert(mutant.source.clone()) {
                let key = key(project, seed, &kernel.name, &mutant.source);
                waiting.push((key, originals.len() - 1, mutant));
            }
        }
    }
    waiting.sort_by(|left, right| left.0.cmp(&right.0));
    report.all = waiting.len();
    for (key, at, mutant) in waiting.into_iter().take(budget) {
        if let Some(earlier) = known.iter().find(|earlier| earlier.key == key) {
            report.mutants.push(earlier.clone());
            continue;
        }
        let Some(original) = originals.get(at) else { continue };
        let (fate, sentence) = fate(project, original, &mutant, bench)?;
        let Mutant { mutation, line, what, .. } = mutant;
        let kernel = original.kernel.name.clone();
        let attacked = Attacked { key, kernel, mutation, line, what, fate, sentence };
        record(&attacked)?;
        report.mutants.push(attacked);
    }
    Ok(report)
}

/// The kernel with its code and results; otherwise why it is not mutated.
fn original<'a>(
    project: &'a Project,
    kernel: &'a Kernel,
    bench: &mut dyn AttackBench,
) -> Result<Result<Original<'a>, String>, AuditError> {
    let name = &kernel.name;
    if kernel.language != Language::Cuda {
        return Ok(Err(format!("`{name}` is not CUDA C++")));
    }
    let run = judged(bench, name, kernel)?;
    match &run.verdict {
        Ok(passed) => {
            let is_same = passed.checks.deterministic;
            let digests = digests(&run).filter(|_| is_same).cloned();
            let error = passed.checks.worst_error;
            let visible = project.workloads.iter().filter(|each| each.purpose != Purpose::HeldOut);
            let codes = visible.map(|workload| Ok((workload, bench.code(kernel, workload)?)));
            let codes = codes.collect::<Result<_, AuditError>>()?;
            Ok(Ok(Original { kernel, codes, digests, error }))
        }
        Err(_) => Ok(Err(sentence::verdict(name, &run.verdict))),
    }
}

fn fate(
    project: &Project,
    original: &Original<'_>,
    mutant: &Mutant,
    bench: &mut dyn AttackBench,
) -> Result<(Fate, String), AuditError> {
    let name = &original.kernel.name;
    let Ok(kernel) = project.draft(name, mutant.source.clone()) else {
        return Ok((Fate::Invalid, String::new()));
    };
    match is_same_code(original, &kernel, bench)? {
        None => return Ok((Fate::Invalid, String::new())),
        Some(true) => return Ok((Fate::Equivalent, String::new())),
        Some(false) => {}
    }
    let run = judged(bench, &format!("{name}, line {}", mutant.line), &kernel)?;
    let is_same = match (&original.digests, digests(&run)) {
        (Some(own), Some(other)) => own == other,
        // Results that differ between runs of one kernel say nothing of another one.
        (None, _) => true,
        (Some(_), None) => false,
    };
    let fate = match &run.verdict {
        Err(NotPassed::Failed(Failure::Compile(_))) => Fate::Invalid,
        Err(NotPassed::Failed(_)) => Fate::Caught,
        Err(NotPassed::NotJudged(_)) => Fate::NotJudged,
        Ok(_) if is_same => Fate::Undetermined,
        Ok(passed) if passed.checks.worst_error <= SAME_ERROR * original.error => {
            Fate::OtherRounding
        }
        Ok(_) => Fate::Hole,
    };
    Ok((fate, sentence::verdict(name, &run.verdict)))
}

/// Whether a mutant has the code of its kernel in every visible workload; `None` if it does not compile.
fn is_same_code(
    original: &Original<'_>,
    mutant: &Kernel,
    bench: &mut dyn AttackBench,
) -> Result<Option<bool>, AuditError> {
    for (workload, own) in &original.codes {
        match bench.code(mutant, workload)? {
            None => return Ok(None),
            code if code != *own => return Ok(Some(false)),
            Some(_) => {}
        }
    }
    Ok(Some(true))
}

fn judged(bench: &mut dyn AttackBench, name: &str, kernel: &Kernel) -> Result<Run, AuditError> {
    let run = bench.verdict(name, kernel, PolicyUse::Refuse)?;
    match run.verdict {
        Err(ref reason) if reason.is_cancelled() => Err(AuditError::Cancelled),
        Ok(_) | Err(_) => Ok(run),
    }
}

fn key(project: &Project, seed: u64, kernel: &str, source: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let definition = definition_hash(project);
    for part in [definition.as_str(), &seed.to_string(), kernel, source] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
