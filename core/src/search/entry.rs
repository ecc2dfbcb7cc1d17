//! Entries of a search: the lines of its journal, which listeners receive and from which its state is computed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::budget::{Budget, Cost};
use super::roles::Roles;
use crate::history::record::Origin;
use crate::project::Kernel;
use crate::suggest::descriptor::Descriptor;
use crate::suggest::knowledge::Knowledge;
use crate::units::Seconds;

/// Version of the journal format; a journal of another version is not read.
pub const SCHEMA: &str = "lightbench.search/1";

/// A step of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The search began; always the first entry.
    Began(Box<Header>),
    /// An operator proposed a variant. The first proposal is the kernel of the user.
    Proposed(Box<Proposal>),
    /// An operator was called and proposed nothing.
    Nothing {
        /// The variant that it was to change.
        parent: usize,
        /// Key of the action.
        action: String,
        /// Why it proposed nothing, in a sentence.
        why: String,
        /// Tokens and money that the attempt cost.
        cost: Cost,
        /// The questions to a model and its last reply, if one was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        talk: Option<Box<ModelExchange>>,
    },
    /// A configuration of the parameters of a variant was screened.
    Tried {
        /// The variant.
        variant: usize,
        /// A value for each parameter.
        parameters: BTreeMap<String, i64>,
        /// Result of the screening.
        look: ScreeningResult,
    },
    /// A variant was screened.
    Looked {
        /// Its number.
        variant: usize,
        /// Result of the screening.
        look: ScreeningResult,
        /// Its place in the archive of the search; none if it did not compile.
        descriptor: Option<Descriptor>,
    },
    /// A variant was evaluated with every check.
    Judged {
        /// Its number.
        variant: usize,
        /// The verdict.
        verdict: Verdict,
    },
    /// The search accepted, kept or rejected a variant.
    Decided {
        /// Its number.
        variant: usize,
        /// The decision and its reason.
        decision: Decision,
    },
    /// The user turned a variant down: it is not changed further, and it cannot be the best.
    TurnedDown {
        /// Its number; never the first variant, which all others are compared with.
        variant: usize,
        /// The reason that the user gave.
        why: String,
    },
    /// The search ended. A resumed search appends further entries.
    Ended {
        /// The reason.
        why: End,
    },
}

/// Project, device, strategy and limits of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Identifier of the search.
    pub id: String,
    /// Start of the search.
    pub began_at: jiff::Timestamp,
    /// Name of the project.
    pub project: String,
    /// Hash of the definition, see [`crate::history::definition_hash::definition_hash`].
    pub definition: String,
    /// Name of the kernel that the search began with.
    pub kernel: String,
    /// Name of the device, as on the command line.
    pub device: String,
    /// Product name of the device.
    pub device_title: String,
    /// The workloads whose times the search minimises.
    pub workloads: Vec<String>,
    /// Name of the strategy, or `sweep` if only parameters are tuned.
    pub strategy: String,
    /// Name of the tuner.
    pub tuner: String,
    /// Names of the operators.
    pub operators: Vec<String>,
    /// Roles of models.
    #[serde(default)]
    pub roles: Roles,
    /// Most other variants in a prompt.
    #[serde(default)]
    pub contrast: usize,
    /// Limits of evaluations, time, tokens and money.
    pub budget: Budget,
    /// Seed of all random choices.
    pub seed: u64,
    /// Version of the program that began the search; empty in journals of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Knowledge of techniques at the start, from which expected gains are computed; none in journals of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
}

/// A proposed variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Number of the variant, from 0.
    pub variant: usize,
    /// The variant that was changed; none for the first.
    pub parent: Option<usize>,
    /// The author: a person, a rule, the tuner or a model.
    pub origin: Origin,
    /// Key of the action that the operator carried out.
    pub action: String,
    /// The change, in a sentence.
    pub what: String,
    /// Why the strategy chose this action, in a sentence.
    pub why: String,
    /// Identifier of the technique of the playbook, if the change applies one.
    pub technique: Option<String>,
    /// Text of the kernel file.
    pub source: String,
    /// The questions to a model and its last reply, if a model proposed the variant.
    pub talk: Option<ModelExchange>,
    /// Tokens and money that the proposal cost.
    pub cost: Cost,
}

impl Proposal {
    /// The first variant: the kernel that the search begins with, unchanged.
    #[must_use]
    pub fn first(kernel: &Kernel, why: &str) -> Self {
        Self {
            variant: 0,
            parent: None,
            origin: Origin::Person,
            action: String::new(),
            what: format!("`{}` as it is", kernel.name),
            why: why.to_owned(),
            technique: None,
            source: kernel.source.clone(),
            talk: None,
            cost: Cost::default(),
        }
    }
}

/// The questions to a model for one proposal, and its last reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelExchange {
    /// Name of the model in the settings.
    pub model: String,
    /// All messages before the last reply, as one text.
    pub prompt: String,
    /// The last reply, with secrets redacted.
    pub reply: String,
}

/// Result of a screening, which suffices to drop a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreeningResult {
    /// No failure was found; the times are approximate.
    Right {
        /// Times, for each workload that has one.
        times: Vec<WorkloadTime>,
    },
    /// No failure was found, and on some workload the first execution took so long that no other was timed.
    Slow {
        /// Times, for each workload that has one.
        times: Vec<WorkloadTime>,
    },
    /// A check failed.
    Failed(FailureRecord),
    /// The device or the machine ended the screening, which shows nothing about the candidate.
    NotJudged(FailureRecord),
}

/// A failure of a candidate, or why it was not judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// Kind of the failure, as in all JSON documents.
    pub kind: String,
    /// Description, in a sentence.
    pub sentence: String,
}

/// Approximate time of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadTime {
    /// Name of the workload.
    pub workload: String,
    /// Median of measured times, or geometric mean of the modelled interval, which only ranks candidates.
    pub seconds: Seconds,
    /// Whether the time is measured or modelled.
    pub basis: Basis,
}

/// Source of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured on the device.
    Measured,
    /// Computed by the model of the device.
    Modelled,
}

/// Verdict of an evaluation with every check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All checks passed.
    Passed {
        /// Times, for each workload that has one.
        times: Vec<WorkloadTime>,
        /// One line for each workload: its time against the speed of light.
        lines: Vec<String>,
        /// Bottleneck of the slowest workload, by its name in the knowledge base.
        bottleneck: Option<String>,
        /// Techniques that the playbook advises for it, each with its expected speedup.
        advised: Vec<(String, f64)>,
        /// Timed workloads whose results were not checked at their size; their times are modelled.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_checked: Vec<String>,
    },
    /// A check failed.
    Failed(FailureRecord),
    /// The device or the machine ended the evaluation, which shows nothing about the candidate.
    NotJudged(FailureRecord),
}

/// Decision about a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// New best variant.
    Accepted {
        /// The reason, with times.
        why: String,
    },
    /// Not faster than the best; kept, so that operators can change it further.
    Kept {
        /// The reason.
        why: String,
    },
    /// Failed or too slow; not used further.
    Rejected {
        /// The reason.
        why: String,
    },
    /// The device or the machine ended its evaluation, which is repeated once later in the search.
    NotJudged {
        /// The reason.
        why: String,
    },
}

impl Decision {
    /// The reason.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Accepted { why }
            | Self::Kept { why }
            | Self::Rejected { why }
            | Self::NotJudged { why } => why,
        }
    }
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The strategy has no further action.
    NothingLeft,
    /// A limit of the budget is reached; the limit.
    Budget(String),
    /// Stopped by the user.
    Stopped,
    /// The search cannot continue; the reason.
    Impossible(String),
}
