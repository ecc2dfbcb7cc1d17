//! The document of `lightbench suggest`: rewrite rules and the places where they apply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rewrite rules for kernels of a project, or a kernel that a rule has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestReport {
    /// The schema of this document.
    pub schema: SuggestSchema,
    /// The result.
    #[serde(flatten)]
    pub result: SuggestResult,
}

/// The schema of a [`SuggestReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SuggestSchema {
    /// The first schema.
    #[serde(rename = "lightbench.suggest/1")]
    V1,
}

/// What `lightbench suggest` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SuggestResult {
    /// It tried rules.
    Rules {
        /// Each kernel with each rule.
        rules: Vec<TriedRule>,
    },
    /// It wrote a kernel.
    Written {
        /// The file.
        written: String,
        /// The change in words.
        what: String,
    },
}

/// A rule tried on a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriedRule {
    /// The kernel.
    pub kernel: String,
    /// The rule.
    pub rule: String,
    /// The change, as an imperative sentence.
    pub title: String,
    /// Why the change may reduce the time.
    pub reason: String,
    /// Requirements on the kernel.
    pub needs: String,
    /// The technique of the playbook.
    pub technique: String,
    /// The tier of the technique.
    pub tier: Option<String>,
    /// The expected gain of the technique, in words.
    pub gain: Option<String>,
    /// Whether the rule applies.
    pub applies: bool,
    /// The places, or what is missing.
    #[serde(flatten)]
    pub result: TriedRuleResult,
}

/// Where a rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TriedRuleResult {
    /// In these places.
    Places {
        /// Each place, in the order of the text.
        places: Vec<RewritePlace>,
    },
    /// Nowhere.
    Missing {
        /// The missing requirement and its place.
        missing: String,
    },
}

/// A place where a rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewritePlace {
    /// The change in words.
    pub what: String,
    /// The line of the kernel file, from 1.
    pub line: usize,
    /// The changes of the text.
    pub edits: Vec<RewriteEdit>,
    /// The changes as a unified diff, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A replaced part of a kernel file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewriteEdit {
    /// The first replaced byte.
    pub start: usize,
    /// The byte after the last replaced one.
    pub end: usize,
    /// The new text.
    pub replacement: String,
}
