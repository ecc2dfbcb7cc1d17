//! The playbook: techniques in six tiers, each with when it is possible, what speaks for it, when it is already in use, and
//! what it gains. `assets/playbook.ron` is the data; conditions are about [`Fact`]s only.

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
    /// In the order in which ties are broken.
    pub techniques: Vec<Technique>,
}

/// One technique.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technique {
    /// Its name in files.
    pub id: String,
    /// What it is about.
    pub tier: Tier,
    /// What to do, as an order.
    pub title: String,
    /// How, in a sentence or two.
    pub how: String,
    /// What it helps against.
    pub relieves: Vec<Relief>,
    /// The units that have less to do with it; empty where it only hides waiting.
    pub spares: Vec<Unit>,
    /// What has to hold for it to be possible: the device, the task, the way that comes before.
    #[serde(default)]
    pub possible: Vec<Condition>,
    /// What speaks for it; all of it has to hold, and is shown.
    pub evidence: Vec<Condition>,
    /// What shows that it is in use already; each has to be known and not to hold.
    #[serde(default)]
    pub unless: Vec<Condition>,
    /// What it gains.
    pub gain: Gain,
}

/// What a technique is about, from the outside to the inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Grids, blocks, occupancy.
    Launch,
    /// How memory is accessed.
    Memory,
    /// What is computed, and by which unit.
    Compute,
    /// Work that overlaps with other work.
    Overlap,
    /// What only some architectures have.
    Architecture,
    /// Another way to the same result.
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

/// What a technique helps against.
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

/// What a technique may leave less work to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The start and the end of launches.
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
    /// Atomics of one address.
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

/// What a technique gains.
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
    /// At most as many times as fast as the fact says: all of what is counted too much.
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
    /// The fact that it is about.
    #[must_use]
    pub const fn fact(&self) -> Fact {
        match self {
            Self::AtLeast(fact, _) | Self::AtMost(fact, _) => *fact,
        }
    }

    /// Whether it holds; none where the fact is not known.
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
    /// Whether it is possible, everything speaks for it, and it is not in use.
    #[must_use]
    pub fn applies(&self, data: &PerformanceData<'_>) -> bool {
        let holds = |condition: &Condition| condition.holds(data) == Some(true);
        let is_absent = |condition: &Condition| condition.holds(data) == Some(false);
        self.possible.iter().all(holds)
            && self.evidence.iter().all(holds)
            && self.unless.iter().all(is_absent)
    }

    /// Whether a unit has less to do with it.
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

    /// Whether it helps against a bottleneck; against one that is not known anything may help.
    #[must_use]
    pub fn helps(&self, against: Bottleneck) -> bool {
        relief(against).is_none_or(|relief| self.relieves.contains(&relief))
    }
}

/// What helps against a bottleneck; none where it is not known.
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
