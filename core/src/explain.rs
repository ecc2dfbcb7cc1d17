//! What each number means: for `lightbench explain`, and for whoever shows a number and is asked about it.
//!
//! `assets/explain.ron` is the data. What a counter counts is declared where it is counted, in `virtual_gpu::cost`; which
//! technique speaks of a number follows from the playbook.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde::Deserialize;

use crate::project::nearest::nearest;
use crate::speed_of_light::fact::Fact;
use crate::speed_of_light::playbook::{Gain, Technique, playbook};
use crate::virtual_gpu::cost::{Metric, metric};

const TEXT: &str = include_str!("../../assets/explain.ron");

/// One number, explained.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// What it is called where it is shown.
    pub name: &'static str,
    /// Other names of it.
    pub also: &'static [String],
    /// Where it is shown.
    pub shown: &'static str,
    /// What it counts; `1` for a plain ratio.
    pub unit: &'static str,
    /// The metric of Nsight Compute that means the same, but for what `what` says.
    pub nsight: Option<&'static str>,
    /// What it is.
    pub what: &'static str,
    /// How it comes about.
    pub formula: &'static str,
    /// What is good, and what is not.
    pub good: &'static str,
    /// The facts of the playbook that rest on it.
    pub facts: &'static [Fact],
}

/// A name that no number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNumber {
    /// The name that was most likely meant.
    pub nearest: Option<&'static str>,
}

/// Where counters are shown.
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

/// All cards: what is shown of kernels and runs, then counters.
pub fn cards() -> impl Iterator<Item = Card> {
    let Explanations { counters, quantities } = explanations();
    let counted = counters.iter().filter_map(|each| Some(counter(each, metric(&each.name)?)));
    quantities.iter().map(quantity).chain(counted)
}

/// The card of a number, by any of its names, that of Nsight Compute too.
///
/// # Errors
/// No number has this name; the nearest that there is.
pub fn card(name: &str) -> Result<Card, UnknownNumber> {
    let wanted = normalised(name);
    let has_name = |card: &Card| names(card).any(|own| normalised(own) == wanted);
    cards().find(has_name).ok_or_else(|| UnknownNumber { nearest: nearest(name, all_names()) })
}

impl Card {
    /// The techniques of the playbook that speak of it: a fact that rests on it is their evidence, or what they gain.
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

/// A name as people may type it: `Blocks per SM`, `blocks_per_sm` and `blocks-per-sm` are one.
fn normalised(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.chars().map(|each| if matches!(each, ' ' | '-') { '_' } else { each }).collect()
}
