//! Export of a search for training and study: each action with the state before it and its outcome, as lines of JSON.
//! `docs/search-format.md` documents the fields.

use std::io::{self, Write};

use serde::Serialize;

use super::budget::Cost;
use super::entry::{Decision, Entry, ModelExchange, ScreeningResult, Verdict, WorkloadTime};
use super::operators::MODEL_PREFIX;
use super::state::{EntryOrderError, SearchState};

/// Version of the format of the lines.
pub const SCHEMA: &str = "lightbench.trajectory/1";

/// One action.
#[derive(Debug, Serialize)]
struct Step<'a> {
    schema: &'static str,
    search: &'a str,
    project: &'a str,
    definition: &'a str,
    device: &'a str,
    /// Counted from 0.
    step: usize,
    state: State<'a>,
    action: Action<'a>,
    outcome: Outcome<'a>,
}

/// State before the action.
#[derive(Debug, Serialize)]
struct State<'a> {
    variant: usize,
    /// BLAKE3 of the kernel file.
    source_hash: String,
    source: &'a str,
    times: &'a [WorkloadTime],
    bottleneck: Option<String>,
    /// Time of the first variant divided by the time of this one.
    speedup: Option<f64>,
    best: Option<usize>,
    evaluations: usize,
}

/// The action.
#[derive(Debug, Serialize)]
struct Action<'a> {
    operator: &'a str,
    key: &'a str,
    technique: Option<&'a str>,
    why: Option<&'a str>,
    talk: Option<&'a ModelExchange>,
}

/// Outcome of the action.
#[derive(Debug, Serialize)]
#[serde(tag = "came", rename_all = "snake_case")]
enum Outcome<'a> {
    /// It made a variant.
    Variant(Box<Came<'a>>),
    /// It made no variant.
    Nothing { why: &'a str, cost: Cost },
}

#[derive(Debug, Serialize)]
struct Came<'a> {
    variant: usize,
    source_hash: String,
    source: &'a str,
    what: &'a str,
    look: Option<&'a ScreeningResult>,
    verdict: Option<&'a Verdict>,
    decision: Option<&'a Decision>,
    /// Why the user turned it down.
    turned_down: Option<&'a str>,
    /// Time of the parent divided by its time.
    gain: Option<f64>,
    cost: Cost,
}

/// Writes a line for each action of a search, in order; returns their number.
///
/// # Errors
/// An entry contradicts the entries before it, or writing fails.
pub fn export(entries: &[Entry], to: &mut dyn Write) -> io::Result<usize> {
    let unconnected = |error: EntryOrderError| io::Error::new(io::ErrorKind::InvalidData, error);
    let whole = SearchState::from_entries(entries.iter().cloned()).map_err(unconnected)?;
    let (Some(whole), Some(Entry::Began(header))) = (whole, entries.first()) else {
        return Ok(0);
    };
    let mut before = SearchState::new((**header).clone());
    let mut step = 0;
    for entry in entries.iter().skip(1) {
        if let Some((parent, action, outcome)) = step_of(entry, &whole) {
            let state = state(&before, parent);
            let header = &whole.header;
            let line = Step {
                schema: SCHEMA,
                search: &header.id,
                project: &header.project,
                definition: &header.definition,
                device: &header.device,
                step,
                state,
                action,
                outcome,
            };
            serde_json::to_writer(&mut *to, &line)?;
            to.write_all(b"\n")?;
            step += 1;
        }
        before.add(entry).map_err(unconnected)?;
    }
    Ok(step)
}

fn step_of<'a>(
    entry: &'a Entry,
    whole: &'a SearchState,
) -> Option<(usize, Action<'a>, Outcome<'a>)> {
    match entry {
        Entry::Proposed(proposal) => {
            let parent = proposal.parent?;
            let variant = whole.variants.get(proposal.variant)?;
            let action = Action {
                operator: operator(&proposal.action),
                key: &proposal.action,
                technique: proposal.technique.as_deref(),
                why: Some(&proposal.why),
                talk: proposal.talk.as_ref(),
            };
            let gain = whole.cost(parent).zip(whole.cost(proposal.variant));
            let came = Came {
                variant: proposal.variant,
                source_hash: hash(&proposal.source),
                source: &proposal.source,
                what: &proposal.what,
                look: variant.look.as_ref(),
                verdict: variant.verdict.as_ref(),
                decision: variant.decision.as_ref(),
                turned_down: variant.turned_down.as_deref(),
                gain: gain.map(|(old, new)| old / new),
                cost: proposal.cost,
            };
            Some((parent, action, Outcome::Variant(Box::new(came))))
        }
        Entry::Nothing { parent, action, why, cost, talk } => {
            let (operator, talk) = (operator(action), talk.as_deref());
            let action = Action { operator, key: action, technique: None, why: None, talk };
            Some((*parent, action, Outcome::Nothing { why, cost: *cost }))
        }
        Entry::Began(_)
        | Entry::Tried { .. }
        | Entry::Looked { .. }
        | Entry::Judged { .. }
        | Entry::Decided { .. }
        | Entry::TurnedDown { .. }
        | Entry::Ended { .. } => None,
    }
}

/// The state of the search before an action on this variant.
fn state(before: &SearchState, variant: usize) -> State<'_> {
    let source =
        before.variants.get(variant).map_or("", |variant| variant.proposal.source.as_str());
    State {
        variant,
        source_hash: hash(source),
        source,
        times: before.times(variant),
        bottleneck: bottleneck(before, variant),
        speedup: before.speedup(variant),
        best: before.best,
        evaluations: before.spent.evaluations,
    }
}

/// Bottleneck from the verdict of the variant, otherwise of its nearest ancestor with one.
fn bottleneck(story: &SearchState, variant: usize) -> Option<String> {
    let mut at = story.variants.get(variant);
    while let Some(variant) = at {
        if let Some(word) = variant.bottleneck() {
            return Some(word.to_owned());
        }
        at = variant.proposal.parent.and_then(|parent| story.variants.get(parent));
    }
    None
}

/// Name of the operator of an action, from its key: `rule:restrict#0`, `tune`, `model:local:vector-loads`.
fn operator(key: &str) -> &str {
    match key.strip_prefix(MODEL_PREFIX) {
        Some(rest) => {
            let name = rest.rsplit_once(':').map_or(rest, |(name, _)| name);
            key.get(..MODEL_PREFIX.len() + name.len()).unwrap_or(key)
        }
        None if key.starts_with("rule:") => "rules",
        None => "tuner",
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
