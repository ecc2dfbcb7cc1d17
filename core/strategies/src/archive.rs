//! Every candidate of a search, what could be done with each, and what was: all that a strategy
//! decides from.
//!
//! The archive is data: it can be written, read and grown again, and a strategy that is handed
//! the same archive decides the same. That is how a search goes on after a restart, and how a
//! recorded one is replayed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A place on the grid of descriptors: levels from 0 to 3 of memory, compute, parallelism and
/// tensor work.
pub type Cell = [u8; 4];

/// What verification and measurement made of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It computes what it should.
    Right {
        /// The logarithm of the root's time over its own, averaged over workloads.
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
    /// What it is, alike wherever it is the same: `rule:restrict@line 12`, `tune`, `model`.
    pub key: String,
    /// What carries it out: `rule`, `tuner`, `model`.
    pub operator: String,
    /// The gain that is expected of it, as a logarithm.
    pub expected_gain: f64,
    /// Whether trying it again can give something else.
    pub repeatable: bool,
    /// How often it was tried.
    pub tried: usize,
}

impl Action {
    /// Whether it can be chosen: not yet tried, or of a kind that can be tried again.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.repeatable || self.tried == 0
    }

    /// The expected gain; 0 where it is not a number.
    #[must_use]
    pub fn expected(&self) -> f64 {
        if self.expected_gain.is_finite() { self.expected_gain } else { 0.0 }
    }
}

/// A candidate before it has a place in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What came of it.
    pub outcome: Outcome,
    /// Where it lies on the grid of descriptors.
    pub cell: Cell,
    /// Features by which candidates are compared, scaled alike; missing ones count as 0.
    pub fingerprint: Vec<f64>,
    /// What can be done with it.
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

/// An action that was tried: what a candidate has to show to come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// What was tried.
    pub origin: Origin,
    /// How many attempts came before.
    pub number: usize,
}

/// A candidate in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its place in the archive.
    pub id: usize,
    /// What it was made from; none for a candidate that a person wrote.
    pub origin: Option<Origin>,
    /// How many attempts came before the one that made it, or before a person added it.
    pub attempt: usize,
    /// What was made from it.
    pub children: Vec<usize>,
    /// What came of it.
    pub outcome: Outcome,
    /// Where it lies on the grid of descriptors.
    pub cell: Cell,
    /// Features by which candidates are compared.
    pub fingerprint: Vec<f64>,
    /// What can be done with it.
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

    /// The open action of which most is expected; of equal ones the least tried, then the first.
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

    /// How it compares as a start for others: sound ones before those that are slower somewhere
    /// before failed ones, then by gain, then the earlier one. The greater is the better.
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

    /// How often something was tried with it.
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

    /// Adds a candidate that came of an attempt, or of none where a person wrote it, and returns
    /// its place. One attempt may make several, and attempts may end in any order.
    ///
    /// # Panics
    ///
    /// When the attempt's candidate is not in the archive.
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

    /// Notes that an action is tried, whether or not a candidate comes of it.
    ///
    /// # Panics
    ///
    /// When the action is not in the archive.
    pub fn mark_tried(&mut self, origin: Origin) -> Attempt {
        self.nodes[origin.node].actions[origin.action].tried += 1;
        let number = self.attempts;
        self.attempts += 1;
        Attempt { origin, number }
    }

    /// Notes that an action can give nothing more, even if it was repeatable.
    ///
    /// # Panics
    ///
    /// When the action is not in the archive.
    pub fn use_up(&mut self, origin: Origin) {
        let action = &mut self.nodes[origin.node].actions[origin.action];
        action.repeatable = false;
        action.tried = action.tried.max(1);
    }

    /// Notes that nothing more is to be made of a candidate.
    ///
    /// # Panics
    ///
    /// When the candidate is not in the archive.
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

    /// How often something was tried with any candidate.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// The candidate that was made from nothing else at the beginning of this one's line.
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
