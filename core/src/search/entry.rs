//! All that can happen in a search: what its journal has, what its listeners hear, and what its story is made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::budget::{Budget, Cost};
use super::forecast::{Forecasting, Foresight};
use super::roles::Roles;
use crate::history::record::Origin;
use crate::project::Kernel;
use crate::suggest::descriptor::Descriptor;
use crate::suggest::knowledge::Knowledge;
use crate::units::Seconds;

/// The form of journals; one of another form is not read.
pub const SCHEMA: &str = "lightbench.search/1";

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The search began: always the first.
    Began(Box<Header>),
    /// An operator made a variant of another one; the first is what somebody handed over.
    Proposed(Box<Proposal>),
    /// An operator was asked and made nothing.
    Nothing {
        /// The variant that it was asked about.
        parent: usize,
        /// What it was to do.
        action: String,
        /// Why there is nothing, in a sentence.
        why: String,
        /// What it cost all the same.
        cost: Cost,
        /// What a model was told and said, where one was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        talk: Option<Box<Talk>>,
    },
    /// A configuration of a variant's parameters was looked at.
    Tried {
        /// The variant.
        variant: usize,
        /// A value for each parameter.
        parameters: BTreeMap<String, i64>,
        /// What was seen.
        look: Look,
    },
    /// What a variant will come to was forecast, before it was looked at.
    Foreseen {
        /// Which.
        variant: usize,
        /// What, and what follows from it.
        foresight: Box<Foresight>,
    },
    /// A variant was looked at.
    Looked {
        /// Which.
        variant: usize,
        /// What was seen.
        look: Look,
        /// Where it lies among all possible ones; none where it did not come that far.
        descriptor: Option<Descriptor>,
    },
    /// A variant went through every check.
    Judged {
        /// Which.
        variant: usize,
        /// What came of it.
        verdict: Verdict,
    },
    /// What becomes of a variant.
    Decided {
        /// Which.
        variant: usize,
        /// What, and why.
        decision: Decision,
    },
    /// A person does not want a variant: it is not gone on from, and it is no best.
    TurnedDown {
        /// Which; never the first, which all others are held against.
        variant: usize,
        /// Why, in the person's words.
        why: String,
    },
    /// It ended; a search that is resumed goes on behind this.
    Ended {
        /// Why.
        why: End,
    },
}

/// What is searched, on what, within which limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// The name of the search.
    pub id: String,
    /// When it began.
    pub began_at: jiff::Timestamp,
    /// The project.
    pub project: String,
    /// What the project asks for, see [`crate::history::record::definition_hash`].
    pub definition: String,
    /// The kernel that was handed over.
    pub kernel: String,
    /// The device.
    pub device: String,
    /// What people call the device.
    pub device_title: String,
    /// The workloads whose times count.
    pub workloads: Vec<String>,
    /// Which candidate is changed next, or that parameters alone are.
    pub strategy: String,
    /// What chooses parameters.
    pub tuner: String,
    /// What proposes candidates.
    pub operators: Vec<String>,
    /// Who does what where models propose.
    #[serde(default)]
    pub roles: Roles,
    /// Other variants that models are shown, at most.
    #[serde(default)]
    pub contrast: usize,
    /// Whether it forecasts.
    #[serde(default, skip_serializing_if = "Forecasting::is_off")]
    pub forecast: Forecasting,
    /// The limits.
    pub budget: Budget,
    /// What everything random comes from.
    pub seed: u64,
    /// The version of the program that began it; empty in journals that began before it was recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// What was known of techniques when it began, from which all expected gains follow. None in journals that began
    /// before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
}

/// A variant as it was proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its number: they are counted from 0.
    pub variant: usize,
    /// The variant that it was made of; none of the first.
    pub parent: Option<usize>,
    /// Who made it.
    pub origin: Origin,
    /// What the operator was asked to do: the key of an action.
    pub action: String,
    /// What was done, in a sentence.
    pub what: String,
    /// Why this was tried now, in a sentence.
    pub why: String,
    /// The technique of the playbook that it carries out.
    pub technique: Option<String>,
    /// The whole kernel file.
    pub source: String,
    /// What a model was told and said.
    pub talk: Option<Talk>,
    /// What it cost to make.
    pub cost: Cost,
}

impl Proposal {
    /// The kernel that everything begins with.
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

/// What a model was told, and what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// The model's name in the user's settings.
    pub model: String,
    /// Everything that was said, as one text.
    pub prompt: String,
    /// The reply as it came, secrets blotted out.
    pub reply: String,
}

/// What a quick look saw: enough to drop a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Nothing wrong, and about this fast.
    Right {
        /// One for each workload that has a time.
        times: Vec<WorkloadTime>,
    },
    /// So slow that nobody waited for its end.
    Slow {
        /// What was seen until then: at least this long.
        times: Vec<WorkloadTime>,
    },
    /// Something is wrong.
    Failed(Failed),
    /// The device or the machine ended the quick look: it shows nothing of the candidate.
    NotJudged(Failed),
}

/// What is wrong, or why nothing was found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// The kind of failure, as in every document.
    pub kind: String,
    /// In a sentence.
    pub sentence: String,
}

/// About how long one workload takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadTime {
    /// Its name.
    pub workload: String,
    /// About how long; of a model the middle of what it can imagine, which ranks candidates and is no time.
    pub seconds: Seconds,
    /// Whether something ran this long, or a model imagines it.
    pub basis: Basis,
}

/// Where a time of a search comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A device ran it.
    Measured,
    /// A model of the device.
    Modelled,
}

/// What came of every check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is right everywhere.
    Passed {
        /// Its times.
        times: Vec<WorkloadTime>,
        /// What the verdict says of each workload.
        lines: Vec<String>,
        /// What limits it on the workload that takes longest: what the playbook and the knowledge base go by.
        bottleneck: Option<String>,
        /// Techniques that the playbook advises there, and times as fast that it expects of each.
        advised: Vec<(String, f64)>,
        /// Timed workloads of which no result was judged: their times are modelled only.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_checked: Vec<String>,
    },
    /// It is not.
    Failed(Failed),
    /// The device or the machine ended the evaluation: it shows nothing of the candidate.
    NotJudged(Failed),
}

/// What becomes of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is the best so far.
    Accepted {
        /// Why, with the numbers.
        why: String,
    },
    /// It is kept to go on from, and not better than the best.
    Kept {
        /// Why.
        why: String,
    },
    /// It is not used.
    Rejected {
        /// Why.
        why: String,
    },
    /// It was not looked at, because it is predicted to be slow.
    Skipped {
        /// Why.
        why: String,
    },
    /// The device or the machine ended its evaluation. It is evaluated once more later in the search.
    NotJudged {
        /// Why.
        why: String,
    },
}

impl Decision {
    /// Why.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Accepted { why }
            | Self::Kept { why }
            | Self::Rejected { why }
            | Self::Skipped { why }
            | Self::NotJudged { why } => why,
        }
    }
}

/// Why a search ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Nothing is left that its strategy would try.
    NothingLeft,
    /// The budget is used up, and which part of it.
    Budget(String),
    /// Somebody stopped it.
    Stopped,
    /// It cannot go on.
    Impossible(String),
}
