//! The operator that applies rewrite rules, to a variant or to one kernel of a joined variant, and joins variants.

use super::budget::Cost;
use super::by_shape;
use super::operators::{Draft, DraftCheck, NoProposal, Operator, ParentVariant, RULES};
use super::rule_actions::{applied_rule, changed, rule_actions};
use crate::history::record::Origin;
use crate::strategies::Action;

/// The operator that applies rewrite rules.
#[derive(Debug, Default)]
pub struct Rules;

impl Operator for Rules {
    fn name(&self) -> &'static str {
        RULES
    }

    fn actions(&self, subject: &ParentVariant<'_>) -> Vec<Action> {
        let joined = by_shape::actions(subject).into_iter();
        joined.chain(rule_actions(subject, subject.kernel)).collect()
    }

    fn propose(
        &mut self,
        subject: &ParentVariant<'_>,
        action: &Action,
        _check: DraftCheck<'_>,
    ) -> Result<Draft, NoProposal> {
        let made = by_shape::propose(subject, &action.key).unwrap_or_else(|| {
            changed(subject.project, subject.kernel, &action.key)
                .ok_or_else(|| format!("`{}` does not apply to this variant", action.key))
        });
        let (source, what) =
            made.map_err(|why| NoProposal { why, cost: Cost::default(), talk: None })?;
        let rule = applied_rule(&action.key);
        Ok(Draft {
            source,
            what,
            technique: rule.map(|rule| rule.technique.to_owned()),
            origin: Origin::Rule { name: rule.map_or(by_shape::NAME, |rule| rule.id).to_owned() },
            talk: None,
            cost: Cost::default(),
        })
    }
}
