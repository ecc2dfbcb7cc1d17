//! The planning tree: every open action of every candidate with the gain that is predicted of
//! it, best first; predictions give way to what the same action has really given.
//!
//! After K-Search's world model, with arithmetic in place of a language model: open actions on
//! known-good bases, ordered by what they promise, and marked down where they proved too hard.

use std::collections::BTreeMap;

use super::{Choice, Strategy, choice};
use crate::archive::{Action, Archive, Node, Outcome};

/// A prediction counts as much as so many attempts.
const WEIGHT_OF_PREDICTION: f64 = 1.0;

/// Best-first over all open actions.
pub(super) struct Plan;

impl Strategy for Plan {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let experience = Experience::from_archive(archive);
        let mut best: Option<(f64, f64, &Node, usize)> = None;
        for node in archive.nodes() {
            let start = start_gain(archive, node);
            for (place, action) in node.open_actions() {
                let promised = experience.promises(action);
                let reached = start + promised;
                if best.is_none_or(|(highest, ..)| reached > highest) {
                    best = Some((reached, promised, node, place));
                }
            }
        }
        let (reached, promised, node, place) = best?;
        let reason = format!(
            "Of all open actions this one promises most: {:.2} times as fast as its start, {:.2} times as fast as the first",
            pxfm::f_exp(promised),
            pxfm::f_exp(reached)
        );
        Some(choice(node, place, reason))
    }

    fn name(&self) -> String {
        "plan".to_owned()
    }
}

/// What attempts have really given.
struct Experience<'a> {
    /// By key: how many attempts, and the sum of their gains.
    by_key: BTreeMap<&'a str, (f64, f64)>,
    /// By operator: how many attempts, and how many of them gave a right candidate.
    by_operator: BTreeMap<&'a str, (f64, f64)>,
}

impl<'a> Experience<'a> {
    fn from_archive(archive: &'a Archive) -> Self {
        let mut experience = Self { by_key: BTreeMap::new(), by_operator: BTreeMap::new() };
        for action in archive.nodes().iter().flat_map(|node| &node.actions) {
            experience.by_key.entry(&action.key).or_default().0 += action.tried as f64;
            experience.by_operator.entry(&action.operator).or_default().0 += action.tried as f64;
        }
        for node in archive.nodes() {
            let Some(origin) = node.origin else { continue };
            let parent = &archive.nodes()[origin.node];
            let action = &parent.actions[origin.action];
            if let Some(gain) = node.outcome.gain() {
                let gained = gain - start_gain(archive, parent);
                experience.by_key.entry(&action.key).or_default().1 += gained;
                experience.by_operator.entry(&action.operator).or_default().1 += 1.0;
            }
        }
        experience
    }

    /// What an action promises: the prediction and all attempts of the same key averaged (an
    /// attempt that failed gave nothing), as reliable as its operator has been, and the less the
    /// more often it was tried on this very candidate.
    fn promises(&self, action: &Action) -> f64 {
        let (tried, gained) = self.by_key.get(action.key.as_str()).copied().unwrap_or_default();
        let mean =
            (WEIGHT_OF_PREDICTION * action.expected() + gained) / (WEIGHT_OF_PREDICTION + tried);
        let (attempts, right) =
            self.by_operator.get(action.operator.as_str()).copied().unwrap_or_default();
        let reliable = ((right + 1.0) / (attempts + 1.0)).min(1.0);
        // What is predicted to lose does not lose less for being unreliable.
        if mean > 0.0 { mean * reliable / (1.0 + action.tried as f64) } else { mean }
    }
}

/// From which gain a change starts: a failed candidate's is that of what it was made from.
fn start_gain(archive: &Archive, node: &Node) -> f64 {
    let mut node = node;
    loop {
        match (node.outcome, node.parent()) {
            (Outcome::Right { gain, .. }, _) if gain.is_finite() => return gain,
            (Outcome::Right { .. } | Outcome::Failed, Some(parent)) => {
                node = &archive.nodes()[parent];
            }
            (Outcome::Right { .. } | Outcome::Failed, None) => return 0.0,
        }
    }
}
