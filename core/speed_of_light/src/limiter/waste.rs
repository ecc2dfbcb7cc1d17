//! Wasted work of units: unused bytes of sectors, bank conflicts, inactive threads.

use lightbench_units::Seconds;
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::super::fact::Fact;
use super::super::performance_data::PerformanceData;
use super::Waste;

/// A unit with at least this fraction of the work of the most loaded unit is worth relieving.
const HEAVY: f64 = 0.5;

/// At and above this factor, wasted work is the limiter.
const WASTED: f64 = 2.0;

/// An access with at least this number of sectors is scattered; 4 sectors hold 32 words of 4 bytes.
const SCATTERED: f64 = 5.0;

/// A waste with its factor and evidence.
pub(super) struct Wasted {
    pub(super) waste: Waste,
    factor: f64,
    pub(super) evidence: String,
}

impl Wasted {
    pub(super) fn is_in(&self, unit: LimitingResource) -> bool {
        is_in(self.waste, unit)
    }
}

/// Whether a waste takes time of the unit.
const fn is_in(waste: Waste, unit: LimitingResource) -> bool {
    match unit {
        LimitingResource::Launch | LimitingResource::Atomics => false,
        LimitingResource::GlobalWavefronts | LimitingResource::L2 | LimitingResource::Dram => {
            matches!(waste, Waste::Sectors)
        }
        LimitingResource::Shared => matches!(waste, Waste::Banks),
        LimitingResource::Issue
        | LimitingResource::Single
        | LimitingResource::Double
        | LimitingResource::Half
        | LimitingResource::Integer
        | LimitingResource::Special
        | LimitingResource::Tensor => matches!(waste, Waste::Lanes),
    }
}

/// The largest accepted waste in a heavily loaded unit; `weights` are the loads of units.
pub(super) fn largest(
    data: &PerformanceData<'_>,
    weights: &[(LimitingResource, Seconds)],
    counts: impl Fn(Waste) -> bool,
) -> Option<Wasted> {
    let heaviest = weights.iter().map(|(_, time)| time.0).fold(0.0, f64::max);
    let is_heavy = |waste: &Wasted| {
        let own = weights.iter().filter(|(unit, _)| waste.is_in(*unit));
        own.map(|(_, time)| time.0).fold(0.0, f64::max) >= HEAVY * heaviest
    };
    let all = wastes(data).filter(is_heavy).filter(|waste| counts(waste.waste));
    // Of equal wastes, the first.
    all.reduce(|most, next| if next.factor > most.factor { next } else { most })
}

pub(super) fn wastes(data: &PerformanceData<'_>) -> impl Iterator<Item = Wasted> {
    let scattered = |sectors: Fact| sectors.value(data).is_some_and(|count| count >= SCATTERED);
    let all = [
        (Waste::Sectors, Fact::LoadWaste, scattered(Fact::LoadSectors)),
        (Waste::Sectors, Fact::StoreWaste, scattered(Fact::StoreSectors)),
        (Waste::Banks, Fact::ConflictFactor, true),
        (Waste::Lanes, Fact::IdleLaneFactor, true),
    ];
    let known = all.map(|(waste, fact, holds)| {
        let factor = fact.value(data).filter(|factor| holds && *factor >= WASTED)?;
        Some(Wasted { waste, factor, evidence: fact.sentence(factor) })
    });
    known.into_iter().flatten()
}
