//! An epsilon-net: develops only candidates that differ sufficiently from every better one, with a frequency determined
//! by gain and novelty.
//!
//! After POLCA, which keeps candidates at pairwise distances above epsilon and selects them by an optimistic priority
//! (UCB1: Auer, Cesa-Bianchi, Fischer, 2002).

use super::{Choice, Strategy, choice};
use crate::archive::{Archive, Node};

/// Epsilon, as a share of the median distance of candidates from the first.
const SHARE_OF_MEDIAN: f64 = 0.25;
/// Weight of exploration, as a logarithm of time.
const CURIOSITY: f64 = 0.3;

/// Diverse candidates, by upper confidence bound.
pub(super) struct EpsilonNet;

impl Strategy for EpsilonNet {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let members = net(archive);
        let total: usize = members.iter().map(|member| member.was_tried()).sum();
        let log = pxfm::f_log(1.0 + total as f64);
        let priority = |member: &Node| {
            let unknown = (log / (1.0 + member.was_tried() as f64)).sqrt();
            member.outcome.gain().unwrap_or(0.0) + CURIOSITY * unknown
        };
        let open = members.iter().copied().filter(|member| member.is_open());
        let first =
            open.reduce(|best, next| if priority(next) > priority(best) { next } else { best });
        let (parent, why) = match first {
            Some(parent) => (parent, "has the highest bound on its gain"),
            None => {
                (*archive.open_nodes().first()?, "is the best available, because these are used up")
            }
        };
        let (place, _) = parent.most_promising()?;
        let reason = format!(
            "Of {} sufficiently different candidates, the starting one {why}",
            members.len()
        );
        Some(choice(parent, place, reason))
    }

    fn name(&self) -> String {
        "epsilon-net".to_owned()
    }
}

/// Correct candidates, best first, without those within epsilon of a better one.
fn net(archive: &Archive) -> Vec<&Node> {
    let mut right: Vec<&Node> =
        archive.nodes().iter().filter(|node| node.outcome.gain().is_some()).collect();
    let Some(first) = right.first().copied() else { return right };
    let mut distances: Vec<f64> = right
        .iter()
        .map(|node| distance(&first.fingerprint, &node.fingerprint))
        .filter(|distance| *distance > 0.0)
        .collect();
    distances.sort_by(f64::total_cmp);
    let epsilon = SHARE_OF_MEDIAN * distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    right.sort_by(|left, right| right.rank(left));
    let mut members: Vec<&Node> = Vec::new();
    for node in right {
        let apart = |member: &&Node| distance(&member.fingerprint, &node.fingerprint) > epsilon;
        if members.iter().all(apart) {
            members.push(node);
        }
    }
    members
}

/// The distance between two fingerprints; a feature that is missing or no number counts as 0.
fn distance(left: &[f64], right: &[f64]) -> f64 {
    let feature = |of: &[f64], place: usize| {
        of.get(place).copied().filter(|value| value.is_finite()).unwrap_or(0.0)
    };
    let squares = (0..left.len().max(right.len())).map(|place| {
        let apart = feature(left, place) - feature(right, place);
        apart * apart
    });
    squares.sum::<f64>().sqrt()
}
