//! The documents of `lightbench explain`: definitions of numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::explain::Card;

/// The definition of one number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationReport {
    /// The schema of this document.
    pub schema: ExplanationSchema,
    /// The number.
    #[serde(flatten)]
    pub number: ExplainedNumber,
}

/// The schema of an [`ExplanationReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExplanationSchema {
    /// The first schema.
    #[serde(rename = "lightbench.explain/1")]
    V1,
}

/// The definitions of all numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationsReport {
    /// The schema of this document.
    pub schema: ExplanationsSchema,
    /// Each number.
    pub numbers: Vec<ExplainedNumber>,
}

/// The schema of an [`ExplanationsReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExplanationsSchema {
    /// The first schema.
    #[serde(rename = "lightbench.explanations/1")]
    V1,
}

/// A number with its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedNumber {
    /// The displayed name.
    pub name: String,
    /// Other names.
    pub also: Vec<String>,
    /// The commands that show it.
    pub shown_by: String,
    /// The unit; `1` for a ratio.
    pub unit: String,
    /// The equivalent metric of Nsight Compute.
    pub nsight: Option<String>,
    /// The meaning, with differences from the metric of Nsight Compute.
    pub what: String,
    /// The formula.
    pub formula: String,
    /// Good and bad values.
    pub good: String,
    /// Techniques of the playbook that rest on it.
    pub techniques: Vec<ExplainedTechnique>,
}

/// A technique of the playbook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedTechnique {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
}

impl From<&Card> for ExplainedNumber {
    fn from(card: &Card) -> Self {
        let techniques = card.techniques();
        Self {
            name: card.name.to_owned(),
            also: card.also.to_vec(),
            shown_by: card.shown.to_owned(),
            unit: card.unit.to_owned(),
            nsight: card.nsight.map(str::to_owned),
            what: card.what.to_owned(),
            formula: card.formula.to_owned(),
            good: card.good.to_owned(),
            techniques: techniques
                .map(|each| ExplainedTechnique { id: each.id.clone(), title: each.title.clone() })
                .collect(),
        }
    }
}
