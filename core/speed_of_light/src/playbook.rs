//! The playbook: techniques in six tiers, each with its prerequisites, its evidence, the signs that it is already in use,
//! and its gain. `assets/playbook.ron` is the data; every condition tests a [`Fact`].

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lightbench_virtual_gpu::cost::time::LimitingResource;
use serde::Deserialize;

use super::fact::Fact;
use super::limiter::{Bottleneck, Waste};
use super::performance_data::PerformanceData;

const TEXT: &str = include_str!("../../../assets/playbook.ron");

/// All techniques.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Playbook {
    /// Documents by key.
    pub sources: BTreeMap<String, String>,
    /// The techniques; their order breaks ties.
    pub techniques: Vec<Technique>,
}

/// One technique.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technique {
    /// The identifier.
    pub id: String,
    /// The tier.
    pub tier: Tier,
    /// The advice, in the imperative.
    pub title: String,
    /// How, in a sentence or two.
    pub how: String,
    /// The bottlenecks that the technique relieves.
    pub relieves: Vec<Relief>,
    /// The units that have less to do with it; empty where it only hides waiting.
    pub spares: Vec<Unit>,
    /// Prerequisites: conditions on the device, the task, and techniques that come first.
    #[serde(default)]
    pub possible: Vec<Condition>,
    /// Evidence; all conditions must hold, and are shown.
    pub evidence: Vec<Condition>,
    /// Signs that the technique is already in use; each must be known and must not hold.
    #[serde(default)]
    pub unless: Vec<Condition>,
    /// The gain.
    pub gain: Gain,
}

/// The tier of a technique, from the launch to the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Grids, blocks, occupancy.
    Launch,
    /// Memory accesses.
    Memory,
    /// Computation and its units.
    Compute,
    /// Work that overlaps with other work.
    Overlap,
    /// Features of certain architectures.
    Architecture,
    /// Another algorithm.
    Algorithm,
}

impl Tier {
    /// All tiers in order.
    pub const ALL: [Self; 6] = [
        Self::Launch,
        Self::Memory,
        Self::Compute,
        Self::Overlap,
        Self::Architecture,
        Self::Algorithm,
    ];
}

/// A bottleneck that techniques relieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relief {
    /// The launch itself.
    Launch,
    /// Global memory, from L1 to DRAM.
    Memory,
    /// Shared memory.
    Shared,
    /// Schedulers.
    Issue,
    /// Pipes and functions.
    Compute,
    /// Atomics that queue.
    Atomics,
    /// Waiting.
    Waiting,
}

/// A unit whose work a technique may reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Launch overhead.
    Launches,
    /// Passes over global memory in multiprocessors.
    L1,
    /// Sectors of L2.
    L2,
    /// Bytes of device memory.
    Dram,
    /// Passes over shared memory.
    Shared,
    /// Instructions.
    Issue,
    /// Pipes that compute, and functions.
    Pipes,
    /// Atomics on one address.
    Atomics,
}

/// A comparison of a fact with a number.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The fact is this number or more.
    AtLeast(Fact, f64),
    /// The fact is this number or less.
    AtMost(Fact, f64),
}

/// The gain of a technique.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Gain {
    /// Times as fast, as reported elsewhere.
    Reported {
        /// From.
        from: f64,
        /// To.
        to: f64,
        /// A key of [`Playbook::sources`].
        source: String,
    },
    /// At most the value of the fact: the technique removes all of the counted waste.
    UpTo {
        /// A factor of at least 1.
        fact: Fact,
        /// A key of [`Playbook::sources`].
        source: String,
    },
}

/// The playbook.
#[must_use]
#[expect(clippy::expect_used, reason = "the playbook is a part of the program; a test reads it")]
pub fn playbook() -> &'static Playbook {
    static READ: LazyLock<Playbook> =
        LazyLock::new(|| read(TEXT).expect("assets/playbook.ron is a playbook"));
    &READ
}

fn read(text: &str) -> Result<Playbook, ron::error::SpannedError> {
    ron::from_str(text)
}

impl Condition {
    /// The fact.
    #[must_use]
    pub const fn fact(&self) -> Fact {
        match self {
            Self::AtLeast(fact, _) | Self::AtMost(fact, _) => *fact,
        }
    }

    /// Whether the condition holds; `None` if the fact is unknown.
    #[must_use]
    pub fn holds(&self, data: &PerformanceData<'_>) -> Option<bool> {
        let value = self.fact().value(data)?;
        Some(match self {
            Self::AtLeast(_, number) => value >= *number,
            Self::AtMost(_, number) => value <= *number,
        })
    }
}

impl Technique {
    /// Whether all prerequisites and all evidence hold, and the technique is not in use.
    #[must_use]
    pub fn applies(&self, data: &PerformanceData<'_>) -> bool {
        let holds = |condition: &Condition| condition.holds(data) == Some(true);
        let is_absent = |condition: &Condition| condition.holds(data) == Some(false);
        self.possible.iter().all(holds)
            && self.evidence.iter().all(holds)
            && self.unless.iter().all(is_absent)
    }

    /// Whether the technique reduces the work of a unit.
    #[must_use]
    pub fn spares(&self, limit: LimitingResource) -> bool {
        self.spares.contains(&match limit {
            LimitingResource::Launch => Unit::Launches,
            LimitingResource::GlobalWavefronts => Unit::L1,
            LimitingResource::L2 => Unit::L2,
            LimitingResource::Dram => Unit::Dram,
            LimitingResource::Shared => Unit::Shared,
            LimitingResource::Issue => Unit::Issue,
            LimitingResource::Single
            | LimitingResource::Double
            | LimitingResource::Half
            | LimitingResource::Integer
            | LimitingResource::Special
            | LimitingResource::Tensor => Unit::Pipes,
            LimitingResource::Atomics => Unit::Atomics,
        })
    }

    /// Whether the technique relieves a bottleneck; for an unknown bottleneck every technique qualifies.
    #[must_use]
    pub fn helps(&self, against: Bottleneck) -> bool {
        relief(against).is_none_or(|relief| self.relieves.contains(&relief))
    }
}

/// The relief for a bottleneck; `None` if the bottleneck is unknown.
#[must_use]
pub fn relief(against: Bottleneck) -> Option<Relief> {
    use super::bound::Limit as Light;
    Some(match against {
        Bottleneck::Launch
        | Bottleneck::Unit(LimitingResource::Launch)
        | Bottleneck::Bound(Light::Launch) => Relief::Launch,
        Bottleneck::Unit(
            LimitingResource::GlobalWavefronts | LimitingResource::L2 | LimitingResource::Dram,
        )
        | Bottleneck::Bound(Light::Dram | Light::L2) => Relief::Memory,
        Bottleneck::Unit(LimitingResource::Shared) => Relief::Shared,
        Bottleneck::Unit(LimitingResource::Issue) => Relief::Issue,
        Bottleneck::Unit(
            LimitingResource::Single
            | LimitingResource::Double
            | LimitingResource::Half
            | LimitingResource::Integer
            | LimitingResource::Special
            | LimitingResource::Tensor,
        )
        | Bottleneck::Bound(Light::Pipe(_) | Light::Special) => Relief::Compute,
        Bottleneck::Atomics | Bottleneck::Unit(LimitingResource::Atomics) => Relief::Atomics,
        Bottleneck::Traffic | Bottleneck::Waste(Waste::Sectors) => Relief::Memory,
        Bottleneck::Waste(Waste::Banks) => Relief::Shared,
        Bottleneck::Waste(Waste::Lanes) => Relief::Issue,
        Bottleneck::Waiting(_) => Relief::Waiting,
        Bottleneck::Unknown => return None,
    })
}
