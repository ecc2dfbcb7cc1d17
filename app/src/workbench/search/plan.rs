//! What the next search is like, and what is handed over to start it.

use std::collections::BTreeSet;
use std::sync::Arc;

use lightbench_core::device::DeviceName;
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::{Budget, Forecasting, Pace};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use lightbench_core::suggest::model::{PREFIX, Roles};
use serde::{Deserialize, Serialize};

use super::written::WrittenPlan;

/// Evaluations of a search unless somebody says otherwise.
const USUAL_EVALUATIONS: usize = 80;

/// Operators by the names that the command line has for them.
pub(super) const RULES: &str = "rules";
pub(super) const TUNING: &str = "tuner";

/// What the next search is like; kept in settings for the time after that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenPlan", into = "WrittenPlan")]
pub struct Plan {
    /// Which candidate is changed next.
    pub strategy: StrategyKind,
    /// What chooses parameters.
    pub tuner: TunerKind,
    /// Whether rewrite rules propose.
    pub rules: Taking,
    /// Whether parameters are tuned.
    pub tuning: Taking,
    /// The models of the settings that propose, by their names there.
    pub models: BTreeSet<String>,
    /// Who does what where models propose.
    pub roles: Roles,
    /// Other variants that models are shown, at most.
    pub contrast: usize,
    /// Whether only what is promising or uncertain is looked at.
    pub forecast: Forecasting,
    /// The limits.
    pub budget: Budget,
    /// How much of the device it takes.
    pub pace: Pace,
}

/// Whether an operator takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// It proposes.
    Part,
    /// It does not.
    NoPart,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            strategy: StrategyKind::Plan,
            tuner: TunerKind::LocalSearch,
            rules: Taking::Part,
            tuning: Taking::Part,
            models: BTreeSet::new(),
            roles: Roles::default(),
            contrast: 0,
            forecast: Forecasting::Off,
            budget: Budget { evaluations: Some(USUAL_EVALUATIONS), ..Budget::default() },
            pace: Pace::Full,
        }
    }
}

impl Plan {
    /// Who proposes, by the names that the command line has for them.
    #[must_use]
    pub fn operators(&self) -> Vec<String> {
        let all = [(self.rules, RULES), (self.tuning, TUNING)];
        let taking = all.into_iter().filter(|(taking, _)| *taking == Taking::Part);
        let models = self.models.iter().map(|name| format!("{PREFIX}{name}"));
        taking.map(|(_, name)| name.to_owned()).chain(models).collect()
    }
}

/// A search that is to be started elsewhere.
#[derive(Clone, Debug)]
pub struct SearchOrder {
    /// The project as it is.
    pub project: Arc<Project>,
    /// Where.
    pub device: DeviceName,
    /// A new one, or one that goes on.
    pub beginning: Beginning,
    /// How much of the device it takes.
    pub pace: Pace,
}

/// Whether a search begins or goes on.
#[derive(Clone, Debug)]
pub enum Beginning {
    /// From this kernel.
    New(Arc<Kernel>, Plan),
    /// The one of this name, within these limits.
    Again(String, Budget),
}
