//! The planning tree: all open actions of all candidates by predicted gain for each evaluation, best first; measured
//! gains of the same action replace its prediction.
//!
//! After K-Search's world model, with arithmetic in place of a language model: open actions on correct candidates,
//! ordered by expected gain, which decreases with failed attempts.

use std::collections::BTreeMap;

use super::{Choice, Strategy, choice};
use crate::archive::{Action, Archive, Node, Outcome};

/// The weight of a prediction, in attempts.
const WEIGHT_OF_PREDICTION: f64 = 1.0;

/// Best-first over all open actions.
pub(super) struct Plan;

impl Strategy for Plan {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let experience = Experience::from_archive(archive);
        let incumbent = archive.incumbent().map_or(0.0, |node| start_gain(archive, node));
        let mut best: Option<(f64, Promise<'_>)> = None;
        for node in archive.nodes() {
            let start = start_gain(archive, node);
            for (place, action) in node.open_actions() {
                let promised = experience.promises(action);
                let reached = start + promised;
                let ahead = reached - incumbent;
                // A loss does not become smaller because it takes many evaluations.
                let rank = if ahead > 0.0 { ahead / action.evaluations as f64 } else { ahead };
                if best.as_ref().is_none_or(|(highest, _)| rank > *highest) {
                    best = Some((rank, Promise { reached, promised, node, place }));
                }
            }
        }
        let (_, Promise { reached, promised, node, place }) = best?;
        let reason = format!(
            "Largest expected gain per evaluation among all open actions: {:.2} times as fast as its starting candidate, {:.2} times as fast as the first",
            pxfm::f_exp(promised),
            pxfm::f_exp(reached)
        );
        Some(choice(node, place, reason))
    }

    fn name(&self) -> String {
        "plan".to_owned()
    }
}

/// Logarithms of what an action is expected to reach.
struct Promise<'a> {
    /// Relative to the first candidate.
    reached: f64,
    /// Relative to its candidate.
    promised: f64,
    node: &'a Node,
    place: usize,
}

/// Measured gains of attempts.
struct Experience<'a> {
    /// By key: number of attempts, and the sum of their gains.
    by_key: BTreeMap<&'a str, (f64, f64)>,
    /// By operator: number of attempts, and number of correct candidates.
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

    /// The expected gain of an action: the average of the prediction and all attempts of the same key (a failed attempt
    /// has gain 0), weighted with the reliability of its operator, and decreasing with the number of attempts on this
    /// candidate.
    fn promises(&self, action: &Action) -> f64 {
        let (tried, gained) = self.by_key.get(action.key.as_str()).copied().unwrap_or_default();
        let mean =
            (WEIGHT_OF_PREDICTION * action.expected() + gained) / (WEIGHT_OF_PREDICTION + tried);
        let (attempts, right) =
            self.by_operator.get(action.operator.as_str()).copied().unwrap_or_default();
        let reliable = ((right + 1.0) / (attempts + 1.0)).min(1.0);
        // Unreliability does not reduce a predicted loss.
        if mean > 0.0 { mean * reliable / (1.0 + action.tried as f64) } else { mean }
    }
}

/// The gain from which a change starts: for a failed candidate, that of the candidate it was derived from.
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
