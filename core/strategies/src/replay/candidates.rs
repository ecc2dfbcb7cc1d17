//! Replays strategies on a recorded archive: a chosen action is looked up instead of performed.

use std::collections::BTreeSet;

use super::{Goal, Spread};
use crate::archive::{Action, Archive, Attempt, Finding, Node, Origin};
use crate::strategy::StrategyKind;

/// The number of attempts that a strategy needs until its incumbent is at most `goal.within` slower than the record's.
/// `None` if it stops before, if `goal.most` attempts do not suffice, or if the record has no incumbent.
///
/// Only actions tried in the record are offered, as often as they were tried there. An attempt that produced several
/// candidates produces them again; one that produced none produces none.
#[must_use]
pub fn evaluations(record: &Archive, kind: StrategyKind, seed: u64, goal: Goal) -> Option<usize> {
    let best = record.incumbent()?.outcome.sound_gain()?;
    let enough = best - pxfm::f_log1p(goal.within);
    let mut strategy = kind.start(seed);
    let mut again = ReplayedArchive::new(record);
    loop {
        let reached = again.archive.incumbent().and_then(|node| node.outcome.sound_gain());
        if reached.is_some_and(|gain| gain >= enough) {
            return Some(again.archive.attempts());
        }
        if again.archive.attempts() >= goal.most {
            return None;
        }
        let origin = strategy.choose(&again.archive)?.origin();
        again.attempt(origin);
    }
}

/// The same for several seeds.
#[must_use]
pub fn spread(record: &Archive, kind: StrategyKind, seeds: u64, goal: Goal) -> Spread {
    Spread::from_evaluations((0..seeds).map(|seed| evaluations(record, kind, seed, goal)))
}

/// The archive that grows again.
struct ReplayedArchive<'r> {
    record: &'r Archive,
    archive: Archive,
    /// For each of its candidates the recorded one.
    recorded: Vec<&'r Node>,
}

impl<'r> ReplayedArchive<'r> {
    fn new(record: &'r Archive) -> Self {
        let mut again = Self { record, archive: Archive::new(), recorded: Vec::new() };
        for root in record.nodes().iter().filter(|node| node.origin.is_none()) {
            again.add(None, root);
        }
        again
    }

    fn add(&mut self, attempt: Option<Attempt>, node: &'r Node) {
        let actions = tried_actions(node).map(|(_, action)| Action {
            repeatable: action.tried > 1,
            tried: 0,
            ..action.clone()
        });
        let finding = Finding {
            outcome: node.outcome,
            cell: node.cell,
            fingerprint: node.fingerprint.clone(),
            actions: actions.collect(),
        };
        self.archive.add(attempt, finding);
        self.recorded.push(node);
    }

    /// Repeats the recorded attempt of this action with the same number.
    fn attempt(&mut self, origin: Origin) {
        let node = self.recorded[origin.node];
        let earlier = self.archive.nodes()[origin.node].actions[origin.action].tried;
        let attempt = self.archive.mark_tried(origin);
        let Some((place, action)) = tried_actions(node).nth(origin.action) else { return };
        if earlier + 1 >= action.tried {
            self.archive.use_up(origin);
        }
        let recorded = Some(Origin { node: node.id, action: place });
        let record = self.record;
        let made = node.children.iter().map(|&child| &record.nodes()[child]);
        let made: Vec<&Node> = made.filter(|child| child.origin == recorded).collect();
        let attempts: BTreeSet<usize> = made.iter().map(|child| child.attempt).collect();
        let Some(&number) = attempts.iter().nth(earlier) else { return };
        for child in made.into_iter().filter(|child| child.attempt == number) {
            self.add(Some(attempt), child);
        }
    }
}

/// The actions tried in the record, with their indices there.
fn tried_actions(node: &Node) -> impl Iterator<Item = (usize, &Action)> {
    node.actions.iter().enumerate().filter(|(_, action)| action.tried > 0)
}
