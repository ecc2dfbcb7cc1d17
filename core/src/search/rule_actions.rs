//! Actions of the rewrite rules: their keys, their expected gains, and the texts that they make.

use super::operators::{ParentVariant, RULES};
use crate::project::{Kernel, Project};
use crate::strategies::Action;
use crate::suggest::rewrite::{KernelSource, Rule, rule, rules};

/// Most places of one rule that become actions.
const MAX_PLACES: usize = 8;

/// The actions of all rules on a kernel.
pub(super) fn rule_actions(subject: &ParentVariant<'_>, kernel: &Kernel) -> Vec<Action> {
    let Ok(read) = KernelSource::from_kernel(subject.project, kernel) else { return Vec::new() };
    let each = rules().iter().filter_map(|rule| Some((rule, rule.rewrites(&read).ok()?)));
    each.flat_map(|(rule, rewrites)| {
        let gain = expected_gain(rule, subject);
        let places = rewrites.into_iter().take(MAX_PLACES).enumerate();
        places.map(move |(place, _)| Action {
            key: action_key(rule.id, place),
            operator: RULES.to_owned(),
            expected_gain: gain.ln(),
            repeatable: false,
            evaluations: 1,
            tried: 0,
        })
    })
    .collect()
}

/// The text of a kernel after the rule of an action, and the change in a sentence; none if it does not apply.
pub(super) fn changed(project: &Project, kernel: &Kernel, key: &str) -> Option<(String, String)> {
    let (id, place) = rule_and_number(key)?;
    let read = KernelSource::from_kernel(project, kernel).ok()?;
    let rewrite = rule(id)?.rewrites(&read).ok()?.into_iter().nth(place)?;
    Some((rewrite.apply(&kernel.source), rewrite.what))
}

/// The rule of an action, also of one on a kernel of a joined variant.
pub(super) fn applied_rule(key: &str) -> Option<&'static Rule> {
    let (id, _) = rule_and_number(key)?;
    rule(id.rsplit('/').next().unwrap_or(id))
}

/// The key of a rule at a place.
pub(super) fn action_key(id: &str, place: usize) -> String {
    format!("rule:{id}#{place}")
}

/// The parts of a key of a rule: its name, and the number of the place or the partner.
pub(super) fn rule_and_number(key: &str) -> Option<(&str, usize)> {
    let (id, number) = key.strip_prefix("rule:")?.split_once('#')?;
    Some((id, number.parse().ok()?))
}

/// Expected speedup of a rule.
fn expected_gain(rule: &Rule, subject: &ParentVariant<'_>) -> f64 {
    let advised = subject.advised.iter().find(|(technique, _)| technique == rule.technique);
    let advised = advised.map(|(_, gain)| *gain);
    subject.knowledge.forecast(rule.technique, subject.bottleneck, advised).gain
}
