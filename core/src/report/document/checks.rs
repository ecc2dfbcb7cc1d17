//! The checks of a verification: those that were done, and those that were not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::number::ReportedNumber;
use crate::project::manifest::Evidence;
use crate::verify::evidence::{Found, Origin};
use crate::verify::verdict::{Checks, DomainInputs, SizeCheck, Step, WorkloadTiming};

/// The checks that were done, and those that were not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedChecks {
    /// The workloads that ran.
    pub workloads: Vec<ReportedWorkload>,
    /// The number of held-out workloads that ran.
    pub held_out: usize,
    /// Workloads that did not run.
    pub not_run: Vec<ReportedNotRun>,
    /// Checks that were not done.
    pub not_checked: Vec<String>,
    /// Accepted behaviour that CUDA does not promise.
    pub notes: Vec<String>,
    /// What the code shows without running it, refused or not.
    pub evidence: Vec<ReportedEvidence>,
    /// Whether outputs were the same bit for bit in every order of threads.
    pub deterministic: bool,
    /// Accesses that the idiom of CUDA accepts and the memory model does not.
    pub accepted_races: usize,
    /// Workloads on which the precision probe was exact and passed.
    pub precision_probed: usize,
    /// Inputs from the whole domain of tensors and scalars: `passed` with correct results, and `inadmissible` ones.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub domain_inputs: DomainInputs,
    /// The largest error of any output, as a fraction of the tolerance.
    pub worst_error: ReportedNumber,
    /// The duration of each step.
    pub costs: Vec<ReportedCost>,
}

/// One workload that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedWorkload {
    /// Its name.
    pub workload: String,
    /// The seed of all of its inputs.
    pub seed: u64,
    /// How often the candidate ran on it.
    pub runs: usize,
    /// Warp instructions of one run, if the device counts them.
    pub warp_instructions: Option<u64>,
}

/// A workload that did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedNotRun {
    /// Its name; null for a held-out workload.
    pub workload: Option<String>,
    /// Why not.
    pub reason: String,
}

/// The duration of a step of verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCost {
    /// The step.
    #[schemars(with = "String")]
    pub step: Step,
    /// Its duration.
    pub seconds: f64,
}

/// One use of something that a policy may refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedEvidence {
    /// The kind of use.
    #[schemars(with = "String")]
    pub evidence: Evidence,
    /// The use in words.
    pub what: String,
    /// The instruction in the PTX; empty for an empty assembly statement.
    pub instruction: String,
    /// The line of the PTX, from 1.
    pub ptx_line: u32,
    /// The source: the innermost line first, then each line into which it was inlined. Empty if the PTX has no line
    /// information.
    pub source: Vec<ReportedLine>,
    /// The first of the launched kernels that reaches it.
    pub entry: String,
    /// Whose code it is.
    pub origin: CodeOrigin,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedLine {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Whose code a finding is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeOrigin {
    /// The kernel's own.
    Candidate,
    /// From a header of the toolkit; its file, if line information names it.
    Toolkit(Option<String>),
}

/// How the results of a timed workload were checked at its own size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedTimedSize {
    /// The workload.
    pub workload: String,
    /// The check.
    #[serde(flatten)]
    pub check: ReportedSizeCheck,
}

/// A check of the results of a timed workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum ReportedSizeCheck {
    /// All outputs of a run at this size were compared.
    Whole,
    /// Sampled blocks ran, and elements that they wrote were compared.
    Sampled {
        /// Blocks that ran.
        blocks: u64,
        /// Blocks of the grid.
        of_blocks: u64,
        /// Elements that were compared.
        elements: u64,
    },
    /// Nothing was compared at this size.
    NotChecked {
        /// Why not.
        reason: String,
    },
}

impl From<&Checks> for ReportedChecks {
    fn from(checks: &Checks) -> Self {
        let workloads = checks.workloads.iter().map(|run| ReportedWorkload {
            workload: run.workload.clone(),
            seed: run.seed,
            runs: run.runs,
            warp_instructions: run.warp_instructions,
        });
        let not_run = checks.not_run.iter().map(|each| ReportedNotRun {
            workload: each.workload.clone(),
            reason: each.reason.clone(),
        });
        let costs = checks.costs.iter();
        Self {
            workloads: workloads.collect(),
            held_out: checks.held_out,
            not_run: not_run.collect(),
            not_checked: checks.not_checked.clone(),
            notes: checks.notes.clone(),
            evidence: checks.evidence.iter().map(Into::into).collect(),
            deterministic: checks.deterministic,
            accepted_races: checks.accepted_races,
            precision_probed: checks.precision_probed,
            domain_inputs: checks.domain_inputs,
            worst_error: checks.worst_error.into(),
            costs: costs
                .map(|(step, took)| ReportedCost { step: *step, seconds: took.as_secs_f64() })
                .collect(),
        }
    }
}

impl From<&Found> for ReportedEvidence {
    fn from(found: &Found) -> Self {
        let source = found.source.iter();
        Self {
            evidence: found.evidence,
            what: found.what.clone(),
            instruction: found.instruction.clone(),
            ptx_line: found.ptx_line,
            source: source
                .map(|place| ReportedLine { file: place.file.clone(), line: place.line })
                .collect(),
            entry: found.entry.clone(),
            origin: match &found.origin {
                Origin::Candidate => CodeOrigin::Candidate,
                Origin::Toolkit(file) => CodeOrigin::Toolkit(file.clone()),
            },
        }
    }
}

impl From<&WorkloadTiming> for ReportedTimedSize {
    fn from(timing: &WorkloadTiming) -> Self {
        let check = match &timing.check {
            SizeCheck::Whole => ReportedSizeCheck::Whole,
            SizeCheck::Sampled { blocks, of, elements } => {
                ReportedSizeCheck::Sampled { blocks: *blocks, of_blocks: *of, elements: *elements }
            }
            SizeCheck::NotChecked(reason) => {
                ReportedSizeCheck::NotChecked { reason: reason.clone() }
            }
        };
        Self { workload: timing.workload.clone(), check }
    }
}
