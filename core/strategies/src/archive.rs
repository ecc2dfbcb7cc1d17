//! All candidates of a search, with their possible actions and past attempts: the input of every strategy.
//!
//! The archive is data: it can be written, read and extended, and a strategy makes the same choice for the same
//! archive. This allows a search to resume after a restart, and a recorded search to be replayed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A place on the grid of descriptors: levels from 0 to 3 of memory, compute, parallelism and
/// tensor work.
pub type Cell = [u8; 4];

/// The result of verifying and measuring a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The results are correct.
    Right {
        /// The logarithm of the root's time divided by its own, averaged over workloads.
        gain: f64,
        /// Whether it is slower than the root on any workload; such a one is never the incumbent.
        regressed: bool,
    },
    /// It did not compile, did not run or was wrong.
    Failed,
}

impl Outcome {
    /// The gain of a candidate that is right and was measured.
    #[must_use]
    pub fn gain(self) -> Option<f64> {
        match self {
            Self::Right { gain, .. } if gain.is_finite() => Some(gain),
            Self::Right { .. } | Self::Failed => None,
        }
    }

    /// The gain of a candidate that may count as a best: right, slower nowhere, and measured.
    #[must_use]
    pub fn sound_gain(self) -> Option<f64> {
        match self {
            Self::Right { regressed: false, .. } => self.gain(),
            Self::Right { regressed: true, .. } | Self::Failed => None,
        }
    }
}

/// Something that can be done with a candidate to make another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// An identifier shared by equal actions: `rule:restrict@line 12`, `tune`, `model`.
    pub key: String,
    /// The component that performs it: `rule`, `tuner`, `model`.
    pub operator: String,
    /// The gain that is expected of it, as a logarithm.
    pub expected_gain: f64,
    /// Whether repeating it can produce another candidate.
    pub repeatable: bool,
    /// Number of evaluations that an attempt takes, at least 1.
    #[serde(default = "one")]
    pub evaluations: usize,
    /// Number of attempts.
    pub tried: usize,
}

const fn one() -> usize {
    1
}

impl Action {
    /// Whether it can be chosen: not yet tried, or of a kind that can be tried again.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.repeatable || self.tried == 0
    }

    /// The expected gain; 0 if it is NaN.
    #[must_use]
    pub fn expected(&self) -> f64 {
        if self.expected_gain.is_finite() { self.expected_gain } else { 0.0 }
    }
}

/// A candidate before it has a place in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub outcome: Outcome,
    /// Its cell on the grid of descriptors.
    pub cell: Cell,
    /// Features for comparing candidates, scaled alike; missing ones count as 0.
    pub fingerprint: Vec<f64>,
    /// Possible actions.
    pub actions: Vec<Action>,
}

/// An action of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// The candidate.
    pub node: usize,
    /// The action's place among its actions.
    pub action: usize,
}

/// An attempted action, from which a candidate may result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The action.
    pub origin: Origin,
    /// Number of earlier attempts.
    pub number: usize,
}

/// A candidate in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its place in the archive.
    pub id: usize,
    /// The action that produced it; `None` for a candidate written by the user.
    pub origin: Option<Origin>,
    /// Number of attempts before the one that produced it, or before the user added it.
    pub attempt: usize,
    /// Candidates derived from it.
    pub children: Vec<usize>,
    pub outcome: Outcome,
    /// Its cell on the grid of descriptors.
    pub cell: Cell,
    /// Features for comparing candidates.
    pub fingerprint: Vec<f64>,
    /// Possible actions.
    pub actions: Vec<Action>,
}

impl Node {
    /// The candidate that it was made from.
    #[must_use]
    pub fn parent(&self) -> Option<usize> {
        self.origin.map(|origin| origin.node)
    }

    /// The actions that can be chosen, with their places.
    pub fn open_actions(&self) -> impl Iterator<Item = (usize, &Action)> {
        self.actions.iter().enumerate().filter(|(_, action)| action.is_open())
    }

    /// The open action with the largest expected gain; among equals the least tried, then the first.
    #[must_use]
    pub fn most_promising(&self) -> Option<(usize, &Action)> {
        self.open_actions().min_by(|(_, left), (_, right)| {
            right.expected().total_cmp(&left.expected()).then(left.tried.cmp(&right.tried))
        })
    }

    /// Whether anything can still be done with it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open_actions().next().is_some()
    }

    /// Orders candidates as starting points: fully correct ones before those slower on some workload, before failed
    /// ones; then by gain, then the earlier one. The greater is the better.
    #[must_use]
    pub fn rank(&self, other: &Self) -> Ordering {
        let level = |node: &Self| {
            let sound = node.outcome.sound_gain().is_some();
            u8::from(node.outcome.gain().is_some()) + u8::from(sound)
        };
        let gain = |node: &Self| node.outcome.gain().unwrap_or(0.0);
        level(self)
            .cmp(&level(other))
            .then(gain(self).total_cmp(&gain(other)))
            .then(other.id.cmp(&self.id))
    }

    /// Number of attempts with this candidate.
    #[must_use]
    pub fn was_tried(&self) -> usize {
        self.actions.iter().map(|action| action.tried).sum()
    }
}

/// All candidates of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    nodes: Vec<Node>,
    attempts: usize,
}

impl Archive {
    /// An archive without candidates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a candidate and returns its index. `attempt` is the attempt that produced it, `None` if the user wrote it.
    /// One attempt may produce several candidates, and attempts may end in any order.
    ///
    /// # Panics
    ///
    /// The attempt's candidate is not in the archive.
    pub fn add(&mut self, attempt: Option<Attempt>, finding: Finding) -> usize {
        let id = self.nodes.len();
        if let Some(attempt) = attempt {
            self.nodes[attempt.origin.node].children.push(id);
        }
        self.nodes.push(Node {
            id,
            origin: attempt.map(|attempt| attempt.origin),
            attempt: attempt.map_or(self.attempts, |attempt| attempt.number),
            children: Vec::new(),
            outcome: finding.outcome,
            cell: finding.cell,
            fingerprint: finding.fingerprint,
            actions: finding.actions,
        });
        id
    }

    /// Records an attempt of an action, whether or not it produces a candidate.
    ///
    /// # Panics
    ///
    /// The action is not in the archive.
    pub fn mark_tried(&mut self, origin: Origin) -> Attempt {
        self.nodes[origin.node].actions[origin.action].tried += 1;
        let number = self.attempts;
        self.attempts += 1;
        Attempt { origin, number }
    }

    /// Records that an action can produce nothing more, even if it was repeatable.
    ///
    /// # Panics
    ///
    /// The action is not in the archive.
    pub fn use_up(&mut self, origin: Origin) {
        let action = &mut self.nodes[origin.node].actions[origin.action];
        action.repeatable = false;
        action.tried = action.tried.max(1);
    }

    /// Closes a candidate: no action will be tried on it any more.
    ///
    /// # Panics
    ///
    /// The candidate is not in the archive.
    pub fn close(&mut self, node: usize) {
        for action in 0..self.nodes[node].actions.len() {
            self.use_up(Origin { node, action });
        }
    }

    /// All candidates in the order in which they were added.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of attempts with all candidates.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// The first ancestor of a candidate, which was not derived from another one.
    #[must_use]
    pub fn root_of(&self, node: usize) -> usize {
        let mut root = node;
        while let Some(parent) = self.nodes[root].parent() {
            root = parent;
        }
        root
    }

    /// The best candidate that is right and slower nowhere; of equal ones the earliest.
    #[must_use]
    pub fn incumbent(&self) -> Option<&Node> {
        let sound = self.nodes.iter().filter(|node| node.outcome.sound_gain().is_some());
        sound.max_by(|left, right| left.rank(right))
    }

    /// The candidates with which something can still be done, best first.
    #[must_use]
    pub fn open_nodes(&self) -> Vec<&Node> {
        let mut open: Vec<&Node> = self.nodes.iter().filter(|node| node.is_open()).collect();
        open.sort_by(|left, right| right.rank(left));
        open
    }

    /// The best right candidate of each cell that has one; sound ones come first. One that is
    /// slower somewhere may hold a cell, because the way to a better one may lead over it, but
    /// is never the incumbent.
    #[must_use]
    pub fn elites(&self) -> BTreeMap<Cell, &Node> {
        let mut elites: BTreeMap<Cell, &Node> = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.outcome.gain().is_some()) {
            let elite = elites.entry(node.cell).or_insert(node);
            if node.rank(elite) == Ordering::Greater {
                *elite = node;
            }
        }
        elites
    }
}
