//! Pairs of variants or configurations, each of which is faster on some workloads, and the kernel that chooses between
//! them by the axes.

use std::collections::BTreeMap;

use super::cost::cost;
use super::entry::{Decision, WorkloadTime};
use super::operators::{ParentVariant, RULES};
use super::rule_actions::{action_key, changed, rule_actions, rule_and_number};
use super::state::{SearchState, Variant};
use crate::project::{Kernel, Project, Workload};
use crate::strategies::Action;
use crate::suggest::parameter_order::with_preferred_values;
use crate::suggest::rewrite::by_shape;

/// The name of the rule in origins and keys.
pub(super) const NAME: &str = "by-shape";

/// Least ratio of two screened times of a workload at which one variant counts as faster.
const FASTER: f64 = 1.05;

/// Least expected gain over the best variant so far.
const LEAST_GAIN: f64 = 1.03;

/// Most partners of one variant.
const MOST_PARTNERS: usize = 2;

/// Least factor between the sizes of two groups of workloads at which one axis alone separates them.
const CLEAR: f64 = 2.0;

/// A candidate joined with another one.
#[derive(Debug, PartialEq)]
struct Pairing {
    /// Cost of the joined kernel, as screened.
    cost: f64,
    /// Where the first candidate is chosen.
    condition: String,
}

/// Actions that join a variant with an earlier one, with expected gains that follow from the screenings, and those that
/// change one kernel of a joined variant.
pub(super) fn actions(subject: &ParentVariant<'_>) -> Vec<Action> {
    let ParentVariant { project, story, variant, .. } = *subject;
    let counted = story.counted();
    let Some(own) = screened(story, variant) else { return Vec::new() };
    let Some(own_cost) = cost(own, &counted) else { return Vec::new() };
    // Later variants do not count, so that a restart finds the same partners.
    let others = (0..variant).filter_map(|number| Some((number, screened(story, number)?)));
    let found = partners(project, &counted, own, &others.collect::<Vec<_>>());
    let action = |(partner, Pairing { cost, .. }): (usize, Pairing)| Action {
        key: action_key(NAME, partner),
        operator: RULES.to_owned(),
        expected_gain: (own_cost / cost).ln(),
        repeatable: false,
        evaluations: 1,
        tried: 0,
    };
    let pairs = found.into_iter().take(MOST_PARTNERS).map(action);
    pairs.chain(side_actions(subject)).collect()
}

/// The two kernels of a joined variant.
struct Parts {
    kernels: [Kernel; 2],
    /// Where the first one is chosen.
    condition: String,
}

/// Words before the name of a rule that changes one kernel of a joined variant.
const SIDES: [&str; 2] = ["first/", "second/"];

/// The side of a joined variant that an action changes, and the key of the change.
fn side(key: &str) -> Option<(usize, String)> {
    let (id, place) = rule_and_number(key)?;
    let mut sides = SIDES.iter().enumerate();
    let (side, rule) = sides.find_map(|(side, word)| Some((side, id.strip_prefix(word)?)))?;
    Some((side, action_key(rule, place)))
}

/// The kernels of a joined variant, made again from the actions that led to it; none for other variants.
fn parts(project: &Project, story: &SearchState, variant: usize) -> Option<Parts> {
    let proposal = &story.variants.get(variant)?.proposal;
    let parent = proposal.parent?;
    if let Some((side, key)) = side(&proposal.action) {
        return Some(parts(project, story, parent)?.with_change(project, side, &key)?.0);
    }
    match rule_and_number(&proposal.action)? {
        (NAME, partner) => paired(project, story, (parent, partner)),
        _ => None,
    }
}

/// Two variants, and the condition on the axes that separates their workloads; none without such a condition.
fn paired(
    project: &Project,
    story: &SearchState,
    (variant, partner): (usize, usize),
) -> Option<Parts> {
    let (own, other) = (screened(story, variant)?, screened(story, partner)?);
    let Pairing { condition, .. } = pairing(project, &story.counted(), own, other)?;
    let kernel = |number: usize| {
        let source = story.variants.get(number)?.proposal.source.clone();
        project.draft(&story.header.kernel, source).ok()
    };
    Some(Parts { kernels: [kernel(variant)?, kernel(partner)?], condition })
}

impl Parts {
    /// The kernels after a rule on one of them, and the change in a sentence.
    fn with_change(mut self, project: &Project, side: usize, key: &str) -> Option<(Self, String)> {
        let kernel = self.kernels.get_mut(side)?;
        let (source, what) = changed(project, kernel, key)?;
        *kernel = project.draft(&kernel.name, source).ok()?;
        Some((self, what))
    }

    fn text(&self, project: &Project) -> Result<String, String> {
        let [first, second] = &self.kernels;
        by_shape(project, first, second, &self.condition).map_err(|why| why.to_string())
    }
}

/// Actions of the rules on each kernel of a joined variant. A change of one kernel is a gain on its workloads only: half of
/// the gain is a guess.
fn side_actions(subject: &ParentVariant<'_>) -> Vec<Action> {
    let Some(parts) = parts(subject.project, subject.story, subject.variant) else {
        return Vec::new();
    };
    let each = SIDES.iter().zip(&parts.kernels).flat_map(|(side, kernel)| {
        let actions = rule_actions(subject, kernel).into_iter();
        actions.filter_map(move |action| {
            let (id, place) = rule_and_number(&action.key)?;
            let key = action_key(&format!("{side}{id}"), place);
            Some(Action { key, expected_gain: action.expected_gain / 2.0, ..action })
        })
    });
    each.collect()
}

/// A variant from an action of this module: its text, and the change in a sentence; none for other actions.
pub(super) fn propose(
    subject: &ParentVariant<'_>,
    key: &str,
) -> Option<Result<(String, String), String>> {
    if let Some((side, key)) = side(key) {
        let made = with_changed_side(subject, side, &key);
        return Some(made.ok_or_else(|| format!("`{key}` does not apply to its kernel")));
    }
    match rule_and_number(key)? {
        (NAME, partner) => Some(joined(subject, partner)),
        _ => None,
    }
}

fn with_changed_side(
    subject: &ParentVariant<'_>,
    side: usize,
    key: &str,
) -> Option<(String, String)> {
    let project = subject.project;
    let parts = parts(project, subject.story, subject.variant)?;
    let (parts, what) = parts.with_change(project, side, key)?;
    let word = if side == 0 { "where" } else { "unless" };
    Some((parts.text(project).ok()?, format!("{word} {}: {what}", parts.condition)))
}

/// The text of the kernel that joins a variant with another one, and the change in a sentence.
fn joined(subject: &ParentVariant<'_>, partner: usize) -> Result<(String, String), String> {
    let ParentVariant { project, story, variant, .. } = *subject;
    let is_out = |variant: &Variant| variant.turned_down.is_some();
    if story.variants.get(partner).is_none_or(is_out) {
        return Err(format!("variant {partner} was turned down"));
    }
    let parts = paired(project, story, (variant, partner))
        .ok_or_else(|| format!("no condition on the axes separates it from variant {partner}"))?;
    let condition = &parts.condition;
    let what = format!("variant {variant} where {condition}, otherwise variant {partner}");
    Ok((parts.text(project)?, what))
}

/// Two configurations of a kernel, each of which is faster on some workloads, as one kernel: its text, and the change in a
/// sentence. None where one configuration is about as fast everywhere.
pub(super) fn of_configurations(
    project: &Project,
    kernel: &Kernel,
    story: &SearchState,
    variant: usize,
) -> Option<(String, String)> {
    let counted = story.counted();
    let tried = &story.variants.get(variant)?.tried;
    let times: Vec<&[WorkloadTime]> = tried.iter().map(|(_, look)| look.times()).collect();
    let each = times.iter().enumerate().filter_map(|(number, own)| {
        let others: Vec<(usize, &[WorkloadTime])> =
            times.iter().copied().enumerate().take(number).collect();
        let (partner, pairing) = partners(project, &counted, own, &others).into_iter().next()?;
        Some((number, partner, pairing))
    });
    let (number, partner, Pairing { condition, cost: joined }) =
        each.min_by(|one, two| one.2.cost.total_cmp(&two.2.cost))?;
    let costs = times.iter().filter_map(|times| cost(times, &counted));
    if joined * LEAST_GAIN > costs.fold(f64::INFINITY, f64::min) {
        return None;
    }
    let chosen = |number: usize| tried.get(number).map(|(parameters, _)| parameters);
    let (first, second) = (chosen(number)?, chosen(partner)?);
    let text = by_shape(
        project,
        &with_values_first(project, kernel, first)?,
        &with_values_first(project, kernel, second)?,
        &condition,
    );
    let values = |parameters: &BTreeMap<String, i64>| {
        let each = parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let what = format!("{} where {condition}, otherwise {}", values(first), values(second));
    Some((text.ok()?, what))
}

/// A kernel whose text has these values first.
fn with_values_first(
    project: &Project,
    kernel: &Kernel,
    parameters: &BTreeMap<String, i64>,
) -> Option<Kernel> {
    let text = with_preferred_values(kernel, parameters);
    project.draft(&kernel.name, text.unwrap_or_else(|| kernel.source.clone())).ok()
}

/// Those of other candidates with which a candidate would be faster than each alone, the fastest first.
fn partners(
    project: &Project,
    counted: &[String],
    own: &[WorkloadTime],
    others: &[(usize, &[WorkloadTime])],
) -> Vec<(usize, Pairing)> {
    let costs = others.iter().map(|(_, times)| *times).chain([own]);
    let best = costs.filter_map(|times| cost(times, counted)).fold(f64::INFINITY, f64::min);
    let pairs = others
        .iter()
        .filter_map(|(number, other)| Some((*number, pairing(project, counted, own, other)?)));
    let mut found: Vec<(usize, Pairing)> =
        pairs.filter(|(_, pairing)| pairing.cost * LEAST_GAIN <= best).collect();
    found.sort_by(|(_, one), (_, two)| one.cost.total_cmp(&two.cost));
    found
}

fn pairing(
    project: &Project,
    counted: &[String],
    own: &[WorkloadTime],
    other: &[WorkloadTime],
) -> Option<Pairing> {
    let (mut times, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for name in counted {
        let of = |times: &[WorkloadTime]| times.iter().find(|time| time.workload == *name).cloned();
        let (own, other) = (of(own)?, of(other)?);
        let workload = project.workloads.iter().find(|workload| workload.name == *name)?;
        let ratio = (other.seconds / own.seconds).0;
        if ratio >= FASTER {
            first.push(workload);
        } else if ratio <= 1.0 / FASTER {
            second.push(workload);
        }
        times.push(if ratio <= 1.0 / FASTER { other } else { own });
    }
    let condition = condition(project, &first, &second)?;
    Some(Pairing { cost: cost(&times, counted)?, condition })
}

/// The screened times of a variant that did not fail.
fn screened(story: &SearchState, number: usize) -> Option<&[WorkloadTime]> {
    let variant = story.variants.get(number)?;
    let failed =
        matches!(variant.decision, Some(Decision::Rejected { .. } | Decision::NotJudged { .. }));
    let look = variant.look.as_ref().filter(|_| !failed && variant.not_judged == 0)?;
    Some(look.times())
}

/// A condition on the axes that holds for all workloads of the first group and none of the second.
fn condition(project: &Project, first: &[&Workload], second: &[&Workload]) -> Option<String> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let axes: Vec<(usize, &str)> =
        project.definition.axes.iter().map(|axis| axis.name.as_str()).enumerate().collect();
    let size = |axis: usize| move |workload: &&Workload| workload.axes.get(axis).copied();
    let single = axes.iter().filter_map(|(axis, name)| {
        let sizes = |group: &[&Workload]| group.iter().map(size(*axis)).collect::<Option<Vec<_>>>();
        threshold(name, &sizes(first)?, &sizes(second)?)
    });
    let pairs = axes.iter().flat_map(|one| axes.iter().map(move |two| (one, two)));
    let products = pairs.clone().filter(|(one, two)| one.0 < two.0);
    let products = products.filter_map(|((one, name), (two, other))| {
        let product =
            |workload: &&Workload| size(*one)(workload)?.checked_mul(size(*two)(workload)?);
        let sizes = |group: &[&Workload]| group.iter().map(product).collect::<Option<Vec<_>>>();
        threshold(&format!("{name} * {other}"), &sizes(first)?, &sizes(second)?)
    });
    let ratios = pairs.filter(|(one, two)| one.0 != two.0);
    let ratios = ratios.filter_map(|((one, name), (two, other))| {
        let quotient = |workload: &&Workload| {
            let divisor = size(*two)(workload)?;
            (divisor > 0).then_some(size(*one)(workload)?.div_ceil(divisor))
        };
        let sizes = |group: &[&Workload]| group.iter().map(quotient).collect::<Option<Vec<_>>>();
        threshold(&format!("ceil_div({name}, {other})"), &sizes(first)?, &sizes(second)?)
    });
    let widest = |found: Vec<(f64, String)>| {
        found.into_iter().reduce(|best, each| if each.0 > best.0 { each } else { best })
    };
    let single = widest(single.collect());
    if let Some((gap, condition)) = &single
        && *gap >= CLEAR
    {
        return Some(condition.clone());
    }
    let rest: Vec<(f64, String)> = single.into_iter().chain(products).chain(ratios).collect();
    widest(rest).map(|(_, condition)| condition)
}

/// A limit of a quantity between two groups of its values, and the factor between the groups.
fn threshold(quantity: &str, first: &[u64], second: &[u64]) -> Option<(f64, String)> {
    let limits = |values: &[u64]| Some((*values.iter().min()?, *values.iter().max()?));
    let ((first_low, first_high), (second_low, second_high)) = (limits(first)?, limits(second)?);
    let (low, high, sign) = if first_high < second_low {
        (first_high, second_low, "<=")
    } else if second_high < first_low {
        (second_high, first_low, ">")
    } else {
        return None;
    };
    let gap = high as f64 / (low as f64).max(1.0);
    let middle = ((low as f64 * high as f64).sqrt() as u64).clamp(low, high - 1);
    Some((gap, format!("{quantity} {sign} {middle}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &[u64], second: &[u64], expected: Option<&str>) {
        let found = threshold("n", first, second).map(|(_, condition)| condition);
        assert_eq!(found.as_deref(), expected, "{first:?} {second:?}");
    }

    #[test]
    fn a_limit_lies_between_the_groups() {
        check(&[1, 4], &[100, 9], Some("n <= 6"));
        check(&[100, 9], &[1, 4], Some("n > 6"));
        check(&[1], &[2], Some("n <= 1"));
        check(&[0], &[1], Some("n <= 0"));
        check(&[1, 10], &[5], None);
        check(&[5], &[5], None);
        check(&[u64::MAX], &[1], Some("n > 4294967296"));
        check(&[], &[1], None);
    }
}
