//! Explanations of numbers, for `lightbench explain` and for the cards of the window.
//!
//! `assets/explain.ron` is the data. `virtual_gpu::cost` declares what each counter counts; the playbook determines the
//! techniques that concern a number.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde::Deserialize;

use crate::project::nearest::nearest;
use crate::speed_of_light::fact::Fact;
use crate::speed_of_light::playbook::{Gain, Technique, playbook};
use crate::virtual_gpu::cost::{Metric, metric};

const TEXT: &str = include_str!("../../assets/explain.ron");

/// The explanation of one number.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The displayed name.
    pub name: &'static str,
    /// Other names.
    pub also: &'static [String],
    /// The commands that show it.
    pub shown: &'static str,
    /// The unit; `1` for a ratio.
    pub unit: &'static str,
    /// The equivalent metric of Nsight Compute; `what` states differences.
    pub nsight: Option<&'static str>,
    /// The meaning.
    pub what: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// Good and bad values.
    pub good: &'static str,
    /// The facts of the playbook that are computed from it.
    pub facts: &'static [Fact],
}

/// A name that no number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNumber {
    /// The most similar name.
    pub nearest: Option<&'static str>,
}

/// The command that shows counters.
const COUNTERS_SHOWN: &str = "launch --counters";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Explanations {
    counters: Vec<Counter>,
    quantities: Vec<Quantity>,
}

/// A counter of the virtual GPU, or a ratio of such.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counter {
    name: String,
    formula: String,
    good: String,
    facts: Vec<Fact>,
}

/// Any other number that a command shows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    name: String,
    also: Vec<String>,
    unit: String,
    shown: String,
    what: String,
    formula: String,
    good: String,
    facts: Vec<Fact>,
}

/// All cards: quantities of kernels and runs, then counters.
pub fn cards() -> impl Iterator<Item = Card> {
    let Explanations { counters, quantities } = explanations();
    let counted = counters.iter().filter_map(|each| Some(counter(each, metric(&each.name)?)));
    quantities.iter().map(quantity).chain(counted)
}

/// The card of a number, by any of its names, including that of Nsight Compute.
///
/// # Errors
/// No number has this name; the error has the most similar name.
pub fn card(name: &str) -> Result<Card, UnknownNumber> {
    let wanted = normalised(name);
    let has_name = |card: &Card| names(card).any(|own| normalised(own) == wanted);
    cards().find(has_name).ok_or_else(|| UnknownNumber { nearest: nearest(name, all_names()) })
}

impl Card {
    /// The techniques of the playbook that concern the number: one of its facts is their evidence or their gain.
    pub fn techniques(&self) -> impl Iterator<Item = &'static Technique> + use<> {
        let facts = self.facts;
        playbook().techniques.iter().filter(move |technique| {
            let conditions = technique.evidence.iter().chain(&technique.unless);
            let gained = match &technique.gain {
                Gain::UpTo { fact, .. } => Some(*fact),
                Gain::Reported { .. } => None,
            };
            conditions.map(|each| each.fact()).chain(gained).any(|fact| facts.contains(&fact))
        })
    }
}

#[expect(clippy::expect_used, reason = "the cards are a part of the program; a test reads them")]
fn explanations() -> &'static Explanations {
    static READ: LazyLock<Explanations> =
        LazyLock::new(|| ron::from_str(TEXT).expect("assets/explain.ron has the cards"));
    &READ
}

fn counter(written: &'static Counter, metric: &'static Metric) -> Card {
    Card {
        name: &written.name,
        also: &[],
        shown: COUNTERS_SHOWN,
        unit: metric.unit,
        nsight: metric.nsight,
        what: metric.meaning,
        formula: &written.formula,
        good: &written.good,
        facts: &written.facts,
    }
}

fn quantity(written: &'static Quantity) -> Card {
    Card {
        name: &written.name,
        also: &written.also,
        shown: &written.shown,
        unit: &written.unit,
        nsight: None,
        what: &written.what,
        formula: &written.formula,
        good: &written.good,
        facts: &written.facts,
    }
}

fn names(card: &Card) -> impl Iterator<Item = &'static str> {
    [card.name].into_iter().chain(card.nsight).chain(card.also.iter().map(String::as_str))
}

fn all_names() -> impl Iterator<Item = &'static str> {
    cards().flat_map(|card| names(&card).collect::<Vec<_>>())
}

/// The normalised form of a typed name: `Blocks per SM`, `blocks_per_sm` and `blocks-per-sm` are equal.
fn normalised(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.chars().map(|each| if matches!(each, ' ' | '-') { '_' } else { each }).collect()
}
