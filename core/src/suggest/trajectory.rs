//! What a search did, for training and study: each action with the state that it met and what came of it, as lines of JSON.
//! `docs/search-format.md` documents the fields.

use std::io::{self, Write};

use serde::Serialize;

use super::model::PREFIX;
use crate::search::entry::{Cost, Decision, Entry, Look, Talk, Verdict, WorkloadTime};
use crate::search::foresight::Foresight;
use crate::search::story::{Story, Unconnected};

/// The form of the lines.
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

/// What the action met.
#[derive(Debug, Serialize)]
struct State<'a> {
    variant: usize,
    /// BLAKE3 of the kernel file.
    source_hash: String,
    source: &'a str,
    times: &'a [WorkloadTime],
    bottleneck: Option<String>,
    /// Speed-up over the first variant.
    speedup: Option<f64>,
    best: Option<usize>,
    evaluations: usize,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Action<'a> {
    operator: &'a str,
    key: &'a str,
    technique: Option<&'a str>,
    why: Option<&'a str>,
    talk: Option<&'a Talk>,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(tag = "came", rename_all = "snake_case")]
enum Outcome<'a> {
    /// A variant.
    Variant(Box<Came<'a>>),
    /// Nothing.
    Nothing { why: &'a str, cost: Cost },
}

#[derive(Debug, Serialize)]
struct Came<'a> {
    variant: usize,
    source_hash: String,
    source: &'a str,
    what: &'a str,
    /// What was predicted of it, in searches that forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreseen: Option<&'a Foresight>,
    look: Option<&'a Look>,
    verdict: Option<&'a Verdict>,
    decision: Option<&'a Decision>,
    /// Why a person does not want it.
    turned_down: Option<&'a str>,
    /// How many times as fast as what it was made of.
    gain: Option<f64>,
    cost: Cost,
}

/// Writes a line for each action of a search, in their order; how many there were.
///
/// # Errors
/// The entries do not follow from each other, or the writer takes no more.
pub fn export(entries: &[Entry], to: &mut dyn Write) -> io::Result<usize> {
    let unconnected = |error: Unconnected| io::Error::new(io::ErrorKind::InvalidData, error);
    let whole = Story::of(entries.iter().cloned()).map_err(unconnected)?;
    let (Some(whole), Some(Entry::Began(header))) = (whole, entries.first()) else {
        return Ok(0);
    };
    let mut before = Story::new((**header).clone());
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

fn step_of<'a>(entry: &'a Entry, whole: &'a Story) -> Option<(usize, Action<'a>, Outcome<'a>)> {
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
                foreseen: variant.foreseen.as_ref(),
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
        | Entry::Foreseen { .. }
        | Entry::Looked { .. }
        | Entry::Judged { .. }
        | Entry::Decided { .. }
        | Entry::TurnedDown { .. }
        | Entry::Ended { .. } => None,
    }
}

/// As things were before the action.
fn state(before: &Story, variant: usize) -> State<'_> {
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

/// By its own verdict, else by that of what it was made of.
fn bottleneck(story: &Story, variant: usize) -> Option<String> {
    let mut at = story.variants.get(variant);
    while let Some(variant) = at {
        if let Some(word) = variant.bottleneck() {
            return Some(word.to_owned());
        }
        at = variant.proposal.parent.and_then(|parent| story.variants.get(parent));
    }
    None
}

/// Who carries out an action, from its key: `rule:restrict#0`, `tune`, `model:local:vector-loads`.
fn operator(key: &str) -> &str {
    match key.strip_prefix(PREFIX) {
        Some(rest) => {
            let name = rest.rsplit_once(':').map_or(rest, |(name, _)| name);
            key.get(..PREFIX.len() + name.len()).unwrap_or(key)
        }
        None if key.starts_with("rule:") => "rules",
        None => "tuner",
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
