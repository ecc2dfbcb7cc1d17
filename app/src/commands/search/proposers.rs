//! The operators of a search by their names: rewrite rules, the tuner, and models from the settings.

use lightbench_core::device::DeviceSheet;
use lightbench_core::display_text::visible;
use lightbench_core::models::{
    self, Ledger, ModelAccess, ModelRegistry, OpenError, RecordedModel, Redactor,
};
use lightbench_core::search::Budget;
use lightbench_core::search::budget::Spent;
use lightbench_core::search::model::{ModelOperator, ModelSetup, RECORDED};
use lightbench_core::search::operators::MODEL_PREFIX;
use lightbench_core::search::operators::Operator;
use lightbench_core::search::roles::Roles;
use lightbench_core::search::rules::Rules;

use crate::commands::models::roster;
use crate::session::Session;

/// What model operators need besides their names.
pub(in crate::commands) struct Proposers<'a> {
    pub(in crate::commands) session: &'a Session,
    pub(in crate::commands) sheet: &'static DeviceSheet,
    pub(in crate::commands) roles: Roles,
    pub(in crate::commands) contrast: usize,
    /// Seed for waits between attempts.
    pub(in crate::commands) seed: u64,
    /// Recorded replies for the model [`RECORDED`].
    pub(in crate::commands) recorded: Option<&'a RecordedModel>,
    /// The budget that all models share.
    pub(in crate::commands) ledger: Ledger,
}

/// The remaining budget of models, after what was spent before a restart.
pub(in crate::commands) fn ledger(budget: &Budget, spent: &Spent) -> Ledger {
    let limit = models::Budget {
        tokens: budget.tokens,
        money: budget.money.map(models::Money),
        requests: None,
    };
    let spent = models::Spent {
        tokens: spent.cost.tokens,
        money: models::Money(spent.cost.money),
        ..models::Spent::default()
    };
    Ledger::continued(limit, spent)
}

impl Proposers<'_> {
    /// Whether parameters are tuned, and the other operators.
    pub(in crate::commands) fn operators(
        &self,
        names: &[String],
    ) -> Result<(bool, Vec<Box<dyn Operator>>), String> {
        let (mut tunes, mut operators): (bool, Vec<Box<dyn Operator>>) = (false, Vec::new());
        let mut known: Option<(ModelRegistry, ModelAccess)> = None;
        for name in names {
            match (name.as_str(), name.strip_prefix(MODEL_PREFIX)) {
                ("tuner", _) => tunes = true,
                ("rules", _) => operators.push(Box::new(Rules)),
                (_, Some(RECORDED)) if let Some(recorded) = self.recorded => {
                    operators.push(Box::new(self.replayed(recorded)));
                }
                (_, Some(model)) => {
                    let (roster, access) = match &known {
                        Some(known) => known,
                        None => known.insert(self.roster_and_access()?),
                    };
                    operators.push(Box::new(self.model(model, roster, access)?));
                }
                (other, None) => {
                    let other = visible(other);
                    return Err(format!(
                        "unknown operator `{other}`; expected rules, tuner or model:NAME"
                    ));
                }
            }
        }
        Ok((tunes, operators))
    }

    /// Recorded replies cost nothing and need no key.
    fn replayed(&self, recorded: &RecordedModel) -> ModelOperator {
        ModelOperator::new(ModelSetup {
            model: Box::new(recorded.clone()),
            prices: None,
            redactor: Redactor::default(),
            sheet: self.sheet,
            roles: self.roles,
            contrast: self.contrast,
            stop: self.session.stop_sign(),
        })
    }

    /// One model without other operators.
    pub(in crate::commands) fn single_model(&self, name: &str) -> Result<ModelOperator, String> {
        let (roster, access) = self.roster_and_access()?;
        self.model(name, &roster, &access)
    }

    /// The models of the settings with their keys. The system may ask the user to unlock the keyring, so this runs only
    /// if a model is named.
    fn roster_and_access(&self) -> Result<(ModelRegistry, ModelAccess), String> {
        let roster = roster(self.session)?;
        let access = self.session.model_access(&roster);
        Ok((roster, access))
    }

    fn model(
        &self,
        name: &str,
        roster: &ModelRegistry,
        access: &ModelAccess,
    ) -> Result<ModelOperator, String> {
        let opened = roster.open(name, access, &self.ledger, self.seed);
        let model = opened.map_err(|error| unopened(&error, roster))?;
        Ok(ModelOperator::new(ModelSetup {
            model,
            prices: roster.prices(name),
            redactor: access.redactor().clone(),
            sheet: self.sheet,
            roles: self.roles,
            contrast: self.contrast,
            stop: self.session.stop_sign(),
        }))
    }
}

fn unopened(error: &OpenError, roster: &ModelRegistry) -> String {
    let told = visible(&error.to_string()).into_owned();
    let names: Vec<&str> = roster.names().collect();
    match (error, names.as_slice()) {
        (OpenError::Unknown { .. }, []) => {
            format!("{told}: they have none; docs/models.md describes how to add one")
        }
        (OpenError::Unknown { .. }, names) => format!("{told}; there are {}", names.join(", ")),
        (OpenError::NoKey { .. } | OpenError::UnreadableKey { .. } | OpenError::Proxy(_), _) => {
            told
        }
    }
}
