//! The plan of the next search, and the request that starts it.

use std::collections::BTreeSet;
use std::sync::Arc;

use lightbench_core::device::DeviceName;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::operators::MODEL_PREFIX;
use lightbench_core::search::roles::Roles;
use lightbench_core::search::{Budget, Pace};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use serde::{Deserialize, Serialize};

use super::stored_plan::WrittenPlan;

/// Default number of evaluations.
const DEFAULT_EVALUATIONS: usize = 80;

/// Operator names, as on the command line.
pub(super) const RULES: &str = "rules";
pub(super) const TUNING: &str = "tuner";

/// The plan of the next search; stored in the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenPlan", into = "WrittenPlan")]
pub struct SearchPlan {
    /// How the next parent is selected.
    pub strategy: StrategyKind,
    /// How parameters are tuned.
    pub tuner: TunerKind,
    /// Whether rewrite rules propose variants.
    pub rules: Participation,
    /// Whether the tuner proposes variants.
    pub tuning: Participation,
    /// Names of the models that propose variants, from the settings.
    pub models: BTreeSet<String>,
    /// The roles of models.
    pub roles: Roles,
    /// Maximum number of other variants in a prompt.
    pub contrast: usize,
    pub budget: Budget,
    /// Set the share of the device's time that the search uses.
    pub pace: Pace,
}

/// Whether an operator takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participation {
    Included,
    Excluded,
}

impl Default for SearchPlan {
    fn default() -> Self {
        Self {
            strategy: StrategyKind::Plan,
            tuner: TunerKind::LocalSearch,
            rules: Participation::Included,
            tuning: Participation::Included,
            models: BTreeSet::new(),
            roles: Roles::default(),
            contrast: 0,
            budget: Budget { evaluations: Some(DEFAULT_EVALUATIONS), ..Budget::default() },
            pace: Pace::Full,
        }
    }
}

impl SearchPlan {
    /// The participating operators, by their names on the command line.
    #[must_use]
    pub fn operators(&self) -> Vec<String> {
        let all = [(self.rules, RULES), (self.tuning, TUNING)];
        let taking = all.into_iter().filter(|(taking, _)| *taking == Participation::Included);
        let models = self.models.iter().map(|name| format!("{MODEL_PREFIX}{name}"));
        taking.map(|(_, name)| name.to_owned()).chain(models).collect()
    }
}

/// A request to start or resume a search.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub project: Arc<Project>,
    pub device: DeviceName,
    pub start: SearchStart,
    /// Set the share of the device's time that the search uses.
    pub pace: Pace,
}

/// Whether a search is new or resumed.
#[derive(Clone, Debug)]
pub enum SearchStart {
    /// Start from this kernel.
    New(Arc<Kernel>, SearchPlan),
    /// Resume the search of this name with these limits.
    Resumed(String, Budget),
}
